"""``plyhouse competition staff``: who has which role in a competition."""

from __future__ import annotations

from typing import get_args

import click

from plyhouse.clients.cli.administration import why_option
from plyhouse.clients.shared.lazy import HintingGroup
from plyhouse.clients.shared.options import Server, competition_argument, json_option, on_server
from plyhouse.clients.shared.output import minute, note, print_json, print_table
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import Role


@click.group(cls=HintingGroup)
def staff() -> None:
    """Choose who may see, run and change a competition.

    An owner may do everything. An assistant runs it: everything but changing or deleting it and
    naming its staff. A reader sees students, entries, reports, exports and grades. The account that
    opens a competition owns it. Staff needs a token with the scope organise.
    """


@staff.command("list")
@competition_argument()
@on_server
@json_option()
def list_staff(name: str, server: Server, as_json: bool) -> None:
    """List the staff of NAME, owners first."""
    rows = server.request(competition_calls.staff(name))
    if as_json:
        print_json(rows)
    elif not rows:
        note(f"{name} has no owner: every organiser of the server counts as one.")
    else:
        cells = [[each.player, each.role, minute(each.since_ms)] for each in rows]
        print_table(f"Staff of {name}", ["player", "role", "since"], cells, "lll")


@staff.command()
@competition_argument("player", "PLAYER")
@click.option(
    "--role",
    type=click.Choice(get_args(Role)),
    required=True,
    help="Role of the player.",
)
@on_server
@why_option(required=False)
def add(name: str, player: str, role: Role, server: Server, why: str) -> None:
    """Give a player a role in a competition.

    It replaces an earlier role.
    """
    made = server.request(competition_calls.add_staff(name, player, role, why=why))
    note(f"{made.player} is {made.role} of {name}.")
    if not made.able:
        note(
            f"{made.player} has no token with the scope organise yet. The administrator makes "
            f"one: plyhouse token create {made.player} --scope play --scope organise"
        )


@staff.command()
@competition_argument("player", "PLAYER")
@on_server
@why_option(required=False)
def remove(name: str, player: str, server: Server, why: str) -> None:
    """Remove a player from the staff."""
    server.request(competition_calls.remove_staff(name, player, why=why))
    note(f"{player} is no longer on the staff of {name}.")
