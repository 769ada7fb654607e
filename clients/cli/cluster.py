"""``plyhouse cluster``: the members of a cluster and what they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plyhouse.clients.cli.administration import with_store
from plyhouse.clients.shared.options import database_option, json_option
from plyhouse.clients.shared.output import counted, note, print_json, print_table

if TYPE_CHECKING:
    from plyhouse.storage.members import MemberOverview

COLUMNS = (
    *("member", "process", "address", "version", "state", "started", "lease"),
    *("matches", "plies", "waiting", "leads"),
)


@click.command()
@database_option()
@json_option()
def cluster(database: str, as_json: bool) -> None:
    """Show the members of a cluster and what they run.

    A member is a server process; its number is the epoch of its lease. Column "lease" has the time
    for which the lease is still valid. Columns "matches" and "plies" count what the member runs.
    Column "waiting" counts messages to it that wait in the database, while NATS is away. Column
    "leads" names the jobs that it does for all members.
    """
    from plyhouse.storage.members import cluster_overview

    found = with_store(database, lambda store: store.read(cluster_overview))
    if as_json:
        print_json(found)
        return
    if not found.members:
        note("No member of a cluster runs on this database.")
    else:
        rows = [_cells(each) for each in found.members]
        print_table("Members of the cluster", COLUMNS, rows, "rlllllrrrrl")
    if found.orphans:
        note(f"{counted(found.orphans, 'pairing')} without an owner: members adopt them.")
    if found.free_roles:
        note(f"Without a leader: {', '.join(found.free_roles)}.")


def _cells(row: MemberOverview) -> list[str]:
    member = row.member
    return [
        *(str(member.epoch), member.holder, member.address or "-", member.version or "-"),
        *(member.state, _duration(row.age_ms), f"{member.expires_in_ms / 1000:.1f} s"),
        *(str(row.matches), str(row.plies), str(row.waiting), ", ".join(row.roles) or "-"),
    ]


def _duration(milliseconds: int) -> str:
    """The two largest units of a duration.

    >>> [_duration(seconds * 1000) for seconds in (5, 65, 3_700, 90_061)]
    ['5 s', '1 min 5 s', '1 h 1 min', '1 d 1 h']
    """
    seconds = milliseconds // 1000
    for size, unit, part, small in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if seconds >= size:
            return f"{seconds // size} {unit} {seconds % size // part} {small}"
    return f"{seconds} s"
