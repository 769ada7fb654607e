"""The staff of competitions: who has which role in which; the SQL.

A competition without an owner (it was opened before there were roles, and nobody knows by whom)
is everybody's: every organiser counts as its owner until somebody is made one.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from plyhouse.protocol.api.competitions import Staff
from plyhouse.storage import audit
from plyhouse.storage.competition_sql import find
from plyhouse.storage.errors import CompetitionRefusal, Unknown
from plyhouse.storage.models import (
    competition_entries,
    competition_staff,
    competitions,
    players,
    tokens,
)
from plyhouse.storage.people import player
from plyhouse.storage.rows import By
from plyhouse.storage.statements import copy_rows, parts

OWNER = "owner"


def role(connection: Connection, competition_id: str, player_id: int) -> str | None:
    """Return the role of a player in a competition; None for no role.

    Every organiser is an owner where there is none.
    """
    return _roles(connection, [competition_id], player_id)[competition_id]


def _roles(
    connection: Connection, competition_ids: Collection[str], player_id: int
) -> dict[str, str | None]:
    here = competition_staff.c
    own: dict[str, str] = {}
    owned: set[str] = set()
    for part in parts(sorted(competition_ids)):
        query = select(here.competition_id, here.player_id, here.role).where(
            here.competition_id.in_(part),
            (here.player_id == player_id) | (here.role == OWNER),
        )
        for competition_id, who, what in connection.execute(query):
            if who == player_id:
                own[competition_id] = what
            if what == OWNER:
                owned.add(competition_id)
    return {each: own.get(each) if each in owned else OWNER for each in competition_ids}


def closed_to(connection: Connection, player_id: int) -> frozenset[str]:
    """Return the competitions with owners in which a player has no role, deleted ones too."""
    here = competition_staff.c
    own = select(here.competition_id).where(here.player_id == player_id)
    query = (
        select(here.competition_id)
        .where(here.role == OWNER, here.competition_id.not_in(own))
        .distinct()
    )
    return frozenset(connection.execute(query).scalars())


def bot_roles(
    connection: Connection, player_id: int, bot_ids: Collection[int]
) -> dict[int, list[str | None]]:
    """Return the roles of a player in the competitions in which bots are entered, by bot.

    Bots that are entered nowhere are missing.  Deleted competitions do not count, nor do those
    without students, which take in any bot.
    """
    entered: dict[int, list[str]] = {}
    for part in parts(sorted(bot_ids)):
        query = (
            select(competition_entries.c.bot_id, competition_entries.c.competition_id)
            .join(competitions, competitions.c.id == competition_entries.c.competition_id)
            .where(
                competition_entries.c.bot_id.in_(part),
                competitions.c.status != "deleted",
                competitions.c.most_students > 0,
            )
        )
        for bot, competition_id in connection.execute(query):
            entered.setdefault(bot, []).append(competition_id)
    roles = _roles(connection, {each for some in entered.values() for each in some}, player_id)
    return {bot: [roles[each] for each in some] for bot, some in entered.items()}


def staff_of(connection: Connection, reference: str) -> list[Staff]:
    """Return the staff of a competition, owners first, then by name."""
    row = find(connection, reference)
    here = competition_staff.c
    query = (
        select(players.c.name, here.role, here.since_ms)
        .join(players, players.c.id == here.player_id)
        .where(here.competition_id == row.id)
        .order_by(here.role.desc(), players.c.name_key)
    )
    found = [Staff(*each) for each in connection.execute(query)]
    order = (OWNER, "assistant", "reader")
    return sorted(found, key=lambda each: order.index(each.role))


def add(connection: Connection, reference: str, name: str, role: str, by: By, now_ms: int) -> Staff:
    """Give a player a role in a competition, in the place of the one that it had.

    Raises `Unknown`, and `CompetitionRefusal` if the last owner would lose that role.
    """
    row, who = find(connection, reference, lock=True), player(connection, name)
    if role != OWNER:
        _refuse_last_owner(connection, row.id, who.id, who.name)
    here = competition_staff.c
    mine = here.competition_id == row.id, here.player_id == who.id
    same = select(here.since_ms).where(*mine, here.role == role)
    since = connection.execute(same).scalar_one_or_none()
    if since is None:
        since = now_ms
        connection.execute(competition_staff.delete().where(*mine))
        connection.execute(
            competition_staff.insert().values(
                competition_id=row.id, player_id=who.id, role=role, since_ms=since
            )
        )
        subject = f"{audit.ABOUT} as {role} of {row.name}"
        audit.add(connection, now_ms, by, "staff.add", subject, row.id, player_id=who.id)
    held = connection.execute(
        select(tokens.c.scopes).where(tokens.c.player_id == who.id, tokens.c.revoked_ms.is_(None))
    ).scalars()
    able = any({"organise", "admin"} & set(scopes.split(",")) for scopes in held)
    return Staff(who.name, role, since, able)


def remove(connection: Connection, reference: str, name: str, by: By, now_ms: int) -> str:
    """Take a player's role in a competition away; return the player's name.

    Raises `Unknown` if it has none, and `CompetitionRefusal` for the last owner.
    """
    row, who = find(connection, reference, lock=True), player(connection, name)
    _refuse_last_owner(connection, row.id, who.id, who.name)
    here = competition_staff.c
    gone = connection.execute(
        competition_staff.delete().where(here.competition_id == row.id, here.player_id == who.id)
    )
    if not gone.rowcount:
        raise Unknown(
            f"{who.name} is not on the staff of {row.name!r}; see plyhouse competition staff list"
        )
    subject = f"{audit.ABOUT} from {row.name}"
    audit.add(connection, now_ms, by, "staff.remove", subject, row.id, player_id=who.id)
    return who.name


def _refuse_last_owner(
    connection: Connection, competition_id: str, player_id: int, name: str
) -> None:
    here = competition_staff.c
    owners = select(here.player_id).where(here.competition_id == competition_id, here.role == OWNER)
    if list(connection.execute(owners).scalars()) == [player_id]:
        raise CompetitionRefusal(
            "competition/last_owner",
            f"{name} is the only owner; make somebody else an owner first: plyhouse competition "
            "staff add NAME PLAYER --role owner",
        )


def copy(connection: Connection, source: str, target: str) -> None:
    """Give a competition the staff of another one, by their ids."""
    here = competition_staff.c
    connection.execute(competition_staff.delete().where(here.competition_id == target))
    copy_rows(connection, competition_staff, here.competition_id == source, competition_id=target)
