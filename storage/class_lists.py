"""Lists of students, also those that an older release has imported already."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlalchemy import Connection, select

from plyhouse.protocol.api.competitions import Joining
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.competition_sql import find
from plyhouse.storage.competition_students import AT_ONCE, take_in
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import competition_members, players
from plyhouse.storage.names import key_of, without_accents
from plyhouse.storage.rows import By


def import_list(
    connection: Connection,
    reference: str,
    people: Sequence[NewMember],
    by: By,
    now_ms: int,
    late_ms: int | None = None,
    adopt: Collection[str] = (),
) -> list[Joining]:
    """Like `take_in`, for a list that an older release may have imported already."""
    older = _with_older_accounts(connection, reference, people)
    meant = {
        key_of(now.account): key_of(each.account) for each, now in zip(people, older, strict=True)
    }
    for each, now in zip(people, older, strict=True):
        if meant[key_of(now.account)] != key_of(each.account):
            raise CompetitionRefusal(
                "competition/account_exists",
                f"two people of the list would share the account {now.account}, which one of them "
                "has from an earlier list; give the other one another name",
            )
    return take_in(connection, reference, older, by, now_ms, late_ms, adopt)


def _with_older_accounts(
    connection: Connection, reference: str, people: Sequence[NewMember]
) -> Sequence[NewMember]:
    """Return the people, with the accounts that members of the competition have there.

    The same list used to make accounts without accents: Zoë Müller became ``Zoe-Muller``.
    """
    plain = {
        key: old
        for each in people
        if (old := key_of(without_accents(each.account))) != (key := key_of(each.account))
    }
    if not plain:
        return people
    here = competition_members.c
    competition_id = find(connection, reference).id
    wanted = sorted(set(plain.values()))
    there: dict[tuple[str, str], str] = {}
    for start in range(0, len(wanted), AT_ONCE):
        query = (
            select(players.c.name_key, here.name_key, players.c.name)
            .join(players, players.c.id == here.player_id)
            .where(here.competition_id == competition_id)
            .where(players.c.name_key.in_(wanted[start : start + AT_ONCE]))
        )
        there |= {(old, member): name for old, member, name in connection.execute(query)}
    older = {
        key: there[plain[key], key_of(each.name)]
        for each in people
        if (plain.get(key := key_of(each.account), ""), key_of(each.name)) in there
    }
    return [replace(each, account=older.get(key_of(each.account), each.account)) for each in people]
