"""Competitions, their entries, progress and tables: the SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import msgspec
from sqlalchemy import Connection, case, func, select
from sqlalchemy.sql.elements import ColumnElement

from plyhouse.storage.errors import AlreadyExists, NotNow, Unknown
from plyhouse.storage.locks import locking
from plyhouse.storage.models import (
    bots,
    class_games,
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
    PlayedSeat,
    Progress,
    TableRow,
)

__all__ = [
    "change_status",
    "competition",
    "create_competition",
    "gone_why",
    "list_competitions",
    "list_entries",
    "note_left",
    "of_present_versions",
    "overview",
    "pairings_of",
    "played_seats",
    "reason",
    "resume",
    "resume_as",
    "set_status",
    "settings",
    "suspend",
    "withdraw",
]

_STATUSES = ("open", "running", "finished")
_SUSPENDED = "suspended"
"""Both a status and the name under which `CompetitionRow.data` says why."""

_BEFORE_SUSPENSION = "suspended_from"
"""The name under which `CompetitionRow.data` keeps the status to which `resume` returns."""

_GONE = "gone"
"""Where `CompetitionRow.data` says why bots were withdrawn, by their ids."""

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


def competition(
    connection: Connection, competition_id: str, *, lock: bool = False
) -> CompetitionRow:
    """Return a competition; `Unknown` if there is none of that id, or it was deleted.

    ``lock`` keeps others from changing it until the transaction ends.  Use it if you write what
    follows from the row that you read.
    """
    query = select(*_COLUMNS).where(
        competitions.c.id == competition_id, competitions.c.status != "deleted"
    )
    found = connection.execute(locking(query) if lock else query).first()
    if found is None:
        raise Unknown(
            f"there is no competition {competition_id!r}; take an id from the list of competitions"
        )
    return CompetitionRow(*found)


def list_competitions(connection: Connection, *, of_classes: bool = False) -> list[CompetitionRow]:
    """Return all competitions, newest first; ``of_classes``: also single games of finals."""
    query = (
        select(*_COLUMNS)
        .where(competitions.c.status != "deleted")
        .order_by(competitions.c.created_ms.desc(), competitions.c.id.desc())
    )
    if not of_classes:
        parts = select(class_games.c.competition_id).where(
            class_games.c.competition_id.is_not(None)
        )
        query = query.where(competitions.c.id.not_in(parts))
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
    competition(connection, competition_id, lock=True)
    _update(connection, competition_id, values)


def suspend(connection: Connection, competition_id: str, why: str) -> None:
    """Note that a competition cannot go on, and why; `resume` gives its status back.

    `NotNow` for one that is finished.
    """
    row = competition(connection, competition_id, lock=True)
    if row.status == "finished":
        raise NotNow(f"the competition {row.name!r} is finished and cannot be suspended")
    data = settings(row) | {_SUSPENDED: why}
    if row.status != _SUSPENDED:
        data[_BEFORE_SUSPENSION] = row.status
    _update(connection, competition_id, {"status": _SUSPENDED, "data": _encoded(data)})


def resume(connection: Connection, competition_id: str) -> CompetitionRow:
    """Give a suspended competition back the status that it had; return it.

    Any other stays as it is.
    """
    row = competition(connection, competition_id, lock=True)
    if row.status != _SUSPENDED:
        return row
    data = settings(row)
    data.pop(_SUSPENDED, None)
    before = data.pop(_BEFORE_SUSPENSION, "running")
    status = before if before in ("open", "paused") else "running"
    _update(connection, competition_id, {"status": status, "data": _encoded(data)})
    return competition(connection, competition_id)


def resume_as(connection: Connection, competition_id: str, status: str) -> None:
    """Let a suspended competition be ``paused`` or ``running`` once it can go on."""
    row = competition(connection, competition_id, lock=True)
    if row.status == _SUSPENDED:
        data = settings(row) | {_BEFORE_SUSPENSION: status}
        _update(connection, competition_id, {"data": _encoded(data)})


def reason(row: CompetitionRow) -> str:
    """Why a competition is suspended; empty if it is not."""
    return str(settings(row).get(_SUSPENDED, "")) if row.status == _SUSPENDED else ""


def settings(row: CompetitionRow) -> dict[str, object]:
    """What is kept of a competition beside its columns; empty if that is damaged."""
    try:
        return msgspec.json.decode(row.data or "{}", type=dict[str, object])
    except msgspec.DecodeError:  # damaged: then that is not what it is about
        return {}


def _encoded(data: Mapping[str, object]) -> str | None:
    return msgspec.json.encode(data).decode() if data else None


def _update(connection: Connection, competition_id: str, values: Mapping[str, object]) -> None:
    connection.execute(
        competitions.update().where(competitions.c.id == competition_id).values(values)
    )


_BEFORE = {
    "paused": ("open", "running"),
    "running": ("paused",),
    "deleted": ("open", "running", "paused", "finished", "suspended"),
}
"""From which statuses an organiser can get to these."""


def change_status(
    connection: Connection, competition_id: str, status: str, now_ms: int
) -> CompetitionRow:
    """Let a competition be paused, running again or deleted; to say so twice is fine.

    `NotNow` where its present status does not allow it.
    """
    row = competition(connection, competition_id, lock=True)
    if row.status == status:
        return row
    if row.status not in _BEFORE[status]:
        raise NotNow(f"the competition {row.name!r} is {row.status} and cannot be {status}")
    values: dict[str, object] = {"status": status}
    if status == "deleted" and row.finished_ms is None:
        values["finished_ms"] = now_ms
    _update(connection, competition_id, values)
    found = select(*_COLUMNS).where(competitions.c.id == competition_id)
    return CompetitionRow(*connection.execute(found).one())


def withdraw(connection: Connection, competition_id: str, bot_id: int, why: str = "") -> EntryRow:
    """Note that a bot has left a competition, and why if that may be told.

    `Unknown` if it was never in it.
    """
    connection.execute(
        entries.update()
        .where(entries.c.competition_id == competition_id, entries.c.bot_id == bot_id)
        .values(status="withdrawn")
    )
    for entry in list_entries(connection, competition_id):
        if entry.bot_id == bot_id:
            if why:
                _note_gone(connection, competition_id, bot_id, why)
            return entry
    raise Unknown(f"this bot has no entry in the competition {competition_id!r}")


def _note_gone(connection: Connection, competition_id: str, bot_id: int, why: str) -> None:
    data = settings(competition(connection, competition_id, lock=True))
    data[_GONE] = {**_texts(data.get(_GONE)), str(bot_id): why}
    _update(connection, competition_id, {"data": _encoded(data)})


def _texts(value: object) -> dict[str, str]:
    return {key: str(text) for key, text in value.items()} if isinstance(value, dict) else {}


def gone_why(row: CompetitionRow) -> dict[int, str]:
    """Why bots were withdrawn from this game in its present run, as far as that may be told."""
    return {int(bot): why for bot, why in _texts(settings(row).get(_GONE)).items()}


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


def played_seats(connection: Connection, competition_id: str) -> list[PlayedSeat]:
    """Return the seats of all matches of a competition, match by match, in the order of seats."""
    query = (
        select(
            pairings.c.id,
            matches.c.id,
            match_seats.c.bot_id,
            match_seats.c.version_id,
            match_seats.c.score,
            match_seats.c.result,
            matches.c.finished_ms,
            matches.c.termination,
            matches.c.culprit,
            match_seats.c.seat,
            matches.c.started_ms,
        )
        .join(matches, matches.c.pairing_id == pairings.c.id)
        .join(match_seats, match_seats.c.match_id == matches.c.id)
        .where(pairings.c.competition_id == competition_id)
        .order_by(matches.c.id, match_seats.c.seat)
    )
    found = []
    for row in connection.execute(query):
        pairing, match, bot, version, score, result, finished = row[:7]
        termination, culprit, seat, started = row[7:]
        ended = termination if seat == culprit else ""
        missed = termination == "aborted" and started is None
        over = finished is not None
        found.append(PlayedSeat(pairing, match, bot, version, score, result, over, ended, missed))
    return found


def of_present_versions() -> ColumnElement[bool]:
    """Whether all seats of a match were held by the versions that are entered now.

    So the matches of a version that was handed in anew no longer count, nor those of a bot that
    has lost its place; for a query of `matches` and `pairings`.  Entries without a version count
    with any.
    """
    seat, entry = match_seats.alias(), entries.alias()
    entered = (entry.c.competition_id == pairings.c.competition_id) & (
        entry.c.bot_id == seat.c.bot_id
    )
    other = (
        select(seat.c.match_id)
        .select_from(seat.outerjoin(entry, entered))
        .where(
            seat.c.match_id == matches.c.id,
            entry.c.bot_id.is_(None) | (entry.c.version_id != seat.c.version_id),
        )
        .correlate(matches, pairings)
    )
    return ~other.exists()


def note_left(connection: Connection, competition_id: str, left: Mapping[int, int]) -> None:
    """Keep since which round bots are gone, for who goes on with a competition later."""
    data = settings(competition(connection, competition_id, lock=True))
    known = data.get("left")
    gone = {str(bot): number for bot, number in left.items()}
    data["left"] = {**(known if isinstance(known, dict) else {}), **gone}
    _update(connection, competition_id, {"data": _encoded(data)})


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
        .where(
            pairings.c.competition_id == competition_id,
            match_seats.c.result.is_not(None),
            of_present_versions(),
        )
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
