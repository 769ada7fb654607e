"""Lists of students, also those that an older release has imported already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, select

from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.competition_sql import find
from plyhouse.storage.errors import CompetitionRefusal
from plyhouse.storage.models import competition_members, players
from plyhouse.storage.names import key_of, without_accents
from plyhouse.storage.statements import parts


def with_older_accounts(
    connection: Connection, reference: str, people: Sequence[NewMember]
) -> Sequence[NewMember]:
    """Return the people of a list, with the accounts that members of the competition have there.

    The same list used to make accounts without accents: Zoë Müller became ``Zoe-Muller``.  Raises
    `CompetitionRefusal` if two people would share such an account.
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
    there: dict[tuple[str, str], str] = {}
    for part in parts(sorted(set(plain.values()))):
        query = (
            select(players.c.name_key, here.name_key, players.c.name)
            .join(players, players.c.id == here.player_id)
            .where(here.competition_id == competition_id)
            .where(players.c.name_key.in_(part))
        )
        there |= {(old, member): name for old, member, name in connection.execute(query)}
    older = {
        key: there[plain[key], key_of(each.name)]
        for each in people
        if (plain.get(key := key_of(each.account), ""), key_of(each.name)) in there
    }
    found = []
    owners: dict[str, str] = {}
    for each in people:
        own = key_of(each.account)
        account = older.get(own, each.account)
        if owners.setdefault(key_of(account), own) != own:
            raise CompetitionRefusal(
                "competition/account_exists",
                f"two people of the list would share the account {account}, which one of them "
                "has from an earlier list; give the other one another name",
            )
        found.append(replace(each, account=account))
    return found
