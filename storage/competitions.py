"""Competitions, their entries, progress and tables: the SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import msgspec
from sqlalchemy import Connection, case, func, select
from sqlalchemy.sql.elements import ColumnElement

from plyhouse.storage.errors import AlreadyExists, NotNow, Unknown
from plyhouse.storage.models import (
    bots,
    competitions,
    entries,
    match_seats,
    matches,
    pairings,
    players,
)
from plyhouse.storage.rows import (
    CompetitionOverview,
    CompetitionRow,
    EntryRow,
    Progress,
    TableRow,
)

__all__ = [
    "change_status",
    "competition",
    "create_competition",
    "list_competitions",
    "list_entries",
    "overview",
    "pairings_of",
    "reason",
    "resume",
    "set_status",
    "suspend",
    "withdraw",
]

_STATUSES = ("open", "running", "finished", "cancelled")
_SUSPENDED = "suspended"
"""Both a status and the name under which `CompetitionRow.data` says why."""

_COLUMNS = (
    competitions.c.id,
    competitions.c.name,
    competitions.c.game,
    competitions.c.time_control,
    competitions.c.format,
    competitions.c.rounds,
    competitions.c.mirrored,
    competitions.c.rated,
    competitions.c.created_ms,
    competitions.c.status,
    competitions.c.started_ms,
    competitions.c.finished_ms,
    competitions.c.data,
)


def create_competition(connection: Connection, row: CompetitionRow, bot_ids: Sequence[int]) -> None:
    """Store a new competition with its entries."""
    known = select(competitions.c.id).where(competitions.c.id == row.id)
    if connection.execute(known).first() is not None:
        raise AlreadyExists(f"there is a competition {row.id!r} already; give it another id")
    connection.execute(competitions.insert().values(asdict(row)))
    entered = [
        {
            "competition_id": row.id,
            "bot_id": bot_id,
            "version_id": None,
            "status": "active",
            "created_ms": row.created_ms,
        }
        for bot_id in bot_ids
    ]
    if entered:
        connection.execute(entries.insert(), entered)


def competition(connection: Connection, competition_id: str) -> CompetitionRow:
    """Return a competition; `Unknown` if there is none of that id, or it was deleted."""
    query = select(*_COLUMNS).where(
        competitions.c.id == competition_id, competitions.c.status != "deleted"
    )
    found = connection.execute(query).first()
    if found is None:
        raise Unknown(
            f"there is no competition {competition_id!r}; take an id from the list of competitions"
        )
    return CompetitionRow(*found)


def list_competitions(connection: Connection) -> list[CompetitionRow]:
    """Return all competitions, newest first."""
    query = (
        select(*_COLUMNS)
        .where(competitions.c.status != "deleted")
        .order_by(competitions.c.created_ms.desc(), competitions.c.id.desc())
    )
    return [CompetitionRow(*row) for row in connection.execute(query)]


def set_status(connection: Connection, competition_id: str, status: str, now_ms: int) -> None:
    """Move a competition on; starting and ending it are dated."""
    if status not in _STATUSES:
        raise Unknown(f"there is no status {status!r}; use {', '.join(_STATUSES)}")
    values: dict[str, object] = {"status": status}
    if status == "running":
        values["started_ms"] = now_ms
    elif status != "open":
        values["finished_ms"] = now_ms
    competition(connection, competition_id)
    connection.execute(
        competitions.update().where(competitions.c.id == competition_id).values(values)
    )


def suspend(connection: Connection, competition_id: str, why: str) -> None:
    """Note that a competition cannot go on, and why; it is neither finished nor given up."""
    data = _data(competition(connection, competition_id)) | {_SUSPENDED: why}
    _set(connection, competition_id, _SUSPENDED, data)


def resume(connection: Connection, competition_id: str) -> None:
    """Note that a suspended competition goes on."""
    data = _data(competition(connection, competition_id))
    data.pop(_SUSPENDED, None)
    _set(connection, competition_id, "running", data)


def reason(row: CompetitionRow) -> str:
    """Why a competition is suspended; empty if it is not."""
    return str(_data(row).get(_SUSPENDED, "")) if row.status == _SUSPENDED else ""


def _data(row: CompetitionRow) -> dict[str, object]:
    try:
        return msgspec.json.decode(row.data or "{}", type=dict[str, object])
    except msgspec.DecodeError:  # damaged: then that is not what it is about
        return {}


def _set(
    connection: Connection, competition_id: str, status: str, data: Mapping[str, object]
) -> None:
    values = {"status": status, "data": msgspec.json.encode(data).decode() if data else None}
    connection.execute(
        competitions.update().where(competitions.c.id == competition_id).values(values)
    )


_BEFORE = {
    "paused": ("open", "running"),
    "running": ("paused",),
    "deleted": ("open", "running", "paused", "finished", "cancelled", "suspended"),
}
"""From which statuses an organiser can get to these."""


def change_status(
    connection: Connection, competition_id: str, status: str, now_ms: int
) -> CompetitionRow:
    """Let a competition be paused, running again or deleted; to say so twice is fine.

    `NotNow` where its present status does not allow it.
    """
    row = competition(connection, competition_id)
    if row.status == status:
        return row
    if row.status not in _BEFORE[status]:
        raise NotNow(f"the competition {row.name!r} is {row.status} and cannot be {status}")
    values: dict[str, object] = {"status": status}
    if status == "deleted" and row.finished_ms is None:
        values["finished_ms"] = now_ms
    here = competitions.c.id == competition_id
    connection.execute(competitions.update().where(here).values(values))
    found = connection.execute(select(*_COLUMNS).where(here)).one()
    return CompetitionRow(*found)


def withdraw(connection: Connection, competition_id: str, bot_id: int) -> EntryRow:
    """Note that a bot has left a competition; `Unknown` if it was never in it."""
    connection.execute(
        entries.update()
        .where(entries.c.competition_id == competition_id, entries.c.bot_id == bot_id)
        .values(status="withdrawn")
    )
    for entry in list_entries(connection, competition_id):
        if entry.bot_id == bot_id:
            return entry
    raise Unknown(f"this bot has no entry in the competition {competition_id!r}")


def list_entries(connection: Connection, competition_id: str) -> list[EntryRow]:
    """Return the entries of a competition in the order they were made."""
    query = (
        select(
            entries.c.competition_id,
            entries.c.bot_id,
            entries.c.version_id,
            players.c.name,
            bots.c.name,
            entries.c.status,
            entries.c.created_ms,
        )
        .join(bots, bots.c.id == entries.c.bot_id)
        .join(players, players.c.id == bots.c.player_id)
        .where(entries.c.competition_id == competition_id)
        .order_by(entries.c.created_ms, entries.c.bot_id)
    )
    return [EntryRow(*row) for row in connection.execute(query)]


def pairings_of(connection: Connection, competition_id: str) -> list[str]:
    """Return the ids of a competition's pairings that are stored."""
    query = select(pairings.c.id).where(pairings.c.competition_id == competition_id)
    return list(connection.execute(query).scalars())


def void_matches(connection: Connection, competition_id: str) -> dict[str, list[tuple[int, ...]]]:
    """Return, by pairing, the finished matches without a result: their bots in seat order."""
    query = (
        select(pairings.c.id, matches.c.id, match_seats.c.bot_id)
        .join(matches, matches.c.pairing_id == pairings.c.id)
        .join(match_seats, match_seats.c.match_id == matches.c.id)
        .where(
            pairings.c.competition_id == competition_id,
            matches.c.finished_ms.is_not(None),
            match_seats.c.result.is_(None),
        )
        .order_by(matches.c.id, match_seats.c.seat)
    )
    seated: dict[tuple[str, str], list[int]] = {}
    for pairing, match, bot_id in connection.execute(query):
        seated.setdefault((pairing, match), []).append(bot_id)
    found: dict[str, list[tuple[int, ...]]] = {}
    for (pairing, _), bot_ids in seated.items():
        found.setdefault(pairing, []).append(tuple(bot_ids))
    return found


def overview(connection: Connection, competition_id: str) -> CompetitionOverview:
    """Return all there is to show of a competition; `Unknown` if there is none of that id."""
    return CompetitionOverview(
        competition(connection, competition_id),
        list_entries(connection, competition_id),
        _progress(connection, competition_id),
        _table(connection, competition_id),
    )


def _progress(connection: Connection, competition_id: str) -> Progress:
    planned = select(func.coalesce(func.sum(pairings.c.matches), 0)).where(
        pairings.c.competition_id == competition_id
    )
    counted = (
        select(
            planned.scalar_subquery(), func.count(matches.c.id), func.count(matches.c.finished_ms)
        )
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .where(pairings.c.competition_id == competition_id)
    )
    return Progress(*map(int, connection.execute(counted).one()))


def _table(connection: Connection, competition_id: str) -> list[TableRow]:
    """Return the table of a competition: by score, wins, then age of the bot.

    All its matches count that are not void, rated or not. Entries without one come last.
    """
    results = (
        select(
            match_seats.c.bot_id,
            func.sum(match_seats.c.score).label("score"),
            func.count(match_seats.c.result).label("games"),
            func.sum(_is("W")).label("wins"),
            func.sum(_is("D")).label("draws"),
            func.sum(_is("L")).label("losses"),
            func.sum(match_seats.c.returned).label("returned"),
        )
        .join(matches, matches.c.id == match_seats.c.match_id)
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .where(pairings.c.competition_id == competition_id, match_seats.c.result.is_not(None))
        .group_by(match_seats.c.bot_id)
        .subquery()
    )
    columns = ("score", "games", "wins", "draws", "losses", "returned")
    score, games, wins, draws, losses, returned = (
        func.coalesce(results.c[name], 0).label(name) for name in columns
    )
    query = (
        select(players.c.name, bots.c.name, bots.c.id, score, games, wins, draws, losses, returned)
        .select_from(entries)
        .join(bots, bots.c.id == entries.c.bot_id)
        .join(players, players.c.id == bots.c.player_id)
        .outerjoin(results, results.c.bot_id == entries.c.bot_id)
        .where(entries.c.competition_id == competition_id)
        .order_by(score.desc(), wins.desc(), bots.c.id)
    )
    table: list[TableRow] = []
    for rank, row in enumerate(connection.execute(query), start=1):
        player, bot, bot_id, points, count, won, drawn, lost, total = row
        numbers = int(count), int(won), int(drawn), int(lost)
        table.append(TableRow(rank, player, bot, bot_id, float(points), *numbers, float(total)))
    return table


def _is(result: str) -> ColumnElement[int]:
    return case((match_seats.c.result == result, 1), else_=0)
