"""Tournaments, their entries and progress: the SQL.

A tournament is the schedule of one game in a competition (`plyhouse.storage.competition_sql`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Connection, func, select
from sqlalchemy.sql.elements import ColumnElement

from plyhouse.storage import audit
from plyhouse.storage.errors import NotNow, Unknown
from plyhouse.storage.locks import locking
from plyhouse.storage.models import (
    bots,
    match_seats,
    matches,
    pairings,
    players,
    select_rows,
    tournament_entries,
    tournaments,
)
from plyhouse.storage.rows import By, EntryRow, PlayedSeat, TournamentRow, TournamentStatus
from plyhouse.storage.tournament_settings import encoded, settings

_COLUMNS = (
    tournaments.c.id,
    tournaments.c.name,
    tournaments.c.game,
    tournaments.c.time_control,
    tournaments.c.format,
    tournaments.c.rounds,
    tournaments.c.mirrored,
    tournaments.c.rated,
    tournaments.c.created_ms,
    tournaments.c.status,
    tournaments.c.started_ms,
    tournaments.c.finished_ms,
    tournaments.c.data,
)


@dataclass(frozen=True, slots=True)
class TournamentView:
    """A tournament as it was at one moment; its counts are of matches."""

    row: TournamentRow
    entries: list[EntryRow]
    """In the order in which they were made."""
    planned: int
    """The matches of the whole schedule, or of the stored pairings if it does not run."""
    created: int
    finished: int
    waiting_for: list[str] = field(default_factory=list)
    """The reasons why possible pairings do not begin: one sentence for each bot at fault, or the
    reason of the suspension."""


def create(
    connection: Connection,
    rows: Sequence[TournamentRow],
    entered: Sequence[tuple[int, int | None]],
) -> None:
    """Store tournaments with their entries: bots, and the versions of them that play.

    A version of None lets any version play.
    """
    connection.execute(tournaments.insert(), [asdict(each) for each in rows])
    playing = [
        {
            "tournament_id": each.id,
            "bot_id": bot,
            "version_id": version,
            "status": "active",
            "created_ms": each.created_ms,
        }
        for each in rows
        for bot, version in entered
    ]
    if playing:
        connection.execute(tournament_entries.insert(), playing)


def find_tournament(
    connection: Connection, tournament_id: str, *, lock: bool = False
) -> TournamentRow:
    """Return a tournament; raise `Unknown` if there is none of that id, or it was deleted.

    ``lock`` keeps others from changing it until the transaction ends.  Use it if you write what
    follows from the row that you read.
    """
    query = select(*_COLUMNS).where(
        tournaments.c.id == tournament_id, tournaments.c.status != "deleted"
    )
    found = connection.execute(locking(query) if lock else query).first()
    if found is None:
        raise Unknown(
            f"there is no competition {tournament_id!r}; take an id from the list of competitions"
        )
    return TournamentRow(*found)


def list_all(connection: Connection) -> list[TournamentRow]:
    """Return all tournaments, newest first."""
    query = (
        select(*_COLUMNS)
        .where(tournaments.c.status != "deleted")
        .order_by(tournaments.c.created_ms.desc(), tournaments.c.id.desc())
    )
    return [TournamentRow(*row) for row in connection.execute(query)]


_FOLLOWED: Final[dict[str, tuple[TournamentStatus, TournamentStatus]]] = {
    "pause": ("running", "paused"),
    "resume": ("paused", "running"),
}
"""Steps of a competition that can be taken back, with the statuses of its tournaments."""


def follow(connection: Connection, tournament_ids: Collection[str], step: str, now_ms: int) -> None:
    """Let the tournaments of a competition follow its step, unless they are over.

    ``step`` is ``pause``, ``resume``, ``finish`` or ``delete``.  A suspended tournament is
    paused or running once it can go on.
    """
    query = select(*_COLUMNS).where(tournaments.c.id.in_(tournament_ids))
    for found in connection.execute(locking(query.order_by(tournaments.c.id))).all():
        row = TournamentRow(*found)
        if step == "delete":
            _update(connection, row.id, {"status": "deleted"})
        elif row.status in ("finished", "deleted"):
            continue
        elif step == "finish":
            _finish(connection, row.id, now_ms)
        else:
            before, after = _FOLLOWED[step]
            if row.status == "suspended":
                change_settings(connection, row, suspended_from=after)
            elif row.status == before:
                _update(connection, row.id, {"status": after})


def finish(connection: Connection, tournament_id: str, now_ms: int) -> None:
    """Note that a tournament is over; raise `Unknown` if it was deleted."""
    find_tournament(connection, tournament_id, lock=True)
    _finish(connection, tournament_id, now_ms)


def _finish(connection: Connection, tournament_id: str, now_ms: int) -> None:
    _update(connection, tournament_id, {"status": "finished", "finished_ms": now_ms})


def suspend(connection: Connection, tournament_id: str, why: str) -> None:
    """Store that a tournament cannot go on, and why; `resume` restores its status.

    Raises `NotNow` for one that is finished.
    """
    row = find_tournament(connection, tournament_id, lock=True)
    if row.status == "finished":
        raise NotNow(f"the competition {row.name!r} is finished and cannot be suspended")
    before = settings(row).suspended_from if row.status == "suspended" else row.status
    data = replace(settings(row), suspended=why, suspended_from=before)
    _update(connection, tournament_id, {"status": "suspended", "data": encoded(data)})


def resume(connection: Connection, tournament_id: str) -> TournamentRow:
    """Give a suspended tournament back the status that it had; return it.

    Any other stays as it is.
    """
    row = find_tournament(connection, tournament_id, lock=True)
    if row.status != "suspended":
        return row
    before = settings(row).suspended_from
    status = before if before in ("open", "paused") else "running"
    data = replace(settings(row), suspended="", suspended_from="running")
    _update(connection, tournament_id, {"status": status, "data": encoded(data)})
    return find_tournament(connection, tournament_id)


def change_settings(connection: Connection, row: TournamentRow, **changes: Any) -> None:
    """Change some settings of a tournament, whose row the transaction has locked."""
    data = encoded(replace(settings(row), **changes))
    _update(connection, row.id, {"data": data})


def reason(row: TournamentRow) -> str:
    """Why a tournament is suspended; empty if it is not."""
    return settings(row).suspended if row.status == "suspended" else ""


def _update(connection: Connection, tournament_id: str, values: Mapping[str, object]) -> None:
    connection.execute(tournaments.update().where(tournaments.c.id == tournament_id).values(values))


def withdraw(connection: Connection, tournament_id: str, bot_id: int, by: By, now_ms: int) -> None:
    """Take a bot out of pairings of one game still to begin, with an entry in the audit log.

    Everybody who sees the board sees the reason.  Raises `Unknown` if the bot was never in the
    tournament.
    """
    row = find_tournament(connection, tournament_id)
    for entry in list_entries(connection, tournament_id):
        if entry.bot_id == bot_id:
            withdraw_some(connection, tournament_id, {bot_id: by.why})
            audit.add(connection, now_ms, by, "competition.withdraw",
                      f"{audit.ABOUT} from {row.name}", row.id, bot_id=bot_id)  # fmt: skip
            return
    raise Unknown(f"this bot has no entry in the competition {tournament_id!r}")


def withdraw_some(connection: Connection, tournament_id: str, whys: Mapping[int, str]) -> None:
    """Note that bots have left a tournament, with reasons that may be told; empty for none."""
    if not whys:
        return
    mine = (
        tournament_entries.c.tournament_id == tournament_id,
        tournament_entries.c.bot_id.in_(whys),
    )
    connection.execute(tournament_entries.update().where(*mine).values(status="withdrawn"))
    reasons = {bot: why for bot, why in whys.items() if why}
    if reasons:
        row = find_tournament(connection, tournament_id, lock=True)
        change_settings(connection, row, gone=settings(row).gone | reasons)


def list_entries(connection: Connection, tournament_id: str) -> list[EntryRow]:
    """Return the entries of a tournament in the order they were made."""
    query = (
        select_rows(EntryRow, tournament_entries)
        .join(bots, bots.c.id == tournament_entries.c.bot_id)
        .join(players, players.c.id == bots.c.player_id)
        .where(tournament_entries.c.tournament_id == tournament_id)
        .order_by(tournament_entries.c.created_ms, tournament_entries.c.bot_id)
    )
    return [EntryRow(*row) for row in connection.execute(query)]


def played_seats(connection: Connection, tournament_id: str) -> list[PlayedSeat]:
    """Return the seats of all matches of a tournament, match by match, in the order of seats."""
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
        .where(pairings.c.tournament_id == tournament_id)
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
    """Return whether all seats of a match were held by the versions that are entered now.

    So the matches of a replaced version no longer count, nor those of a bot that has lost its
    place; for a query of `matches` and `pairings`.  Entries without a version count
    with any.
    """
    seat, entry = match_seats.alias(), tournament_entries.alias()
    entered = (entry.c.tournament_id == pairings.c.tournament_id) & (
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


def note_left(connection: Connection, tournament_id: str, left: Mapping[int, int]) -> None:
    """Keep since which round bots are gone, for who goes on with a tournament later."""
    row = find_tournament(connection, tournament_id, lock=True)
    change_settings(connection, row, left=settings(row).left | dict(left))


def overview(connection: Connection, tournament_id: str) -> TournamentView:
    """Return all that is stored of a tournament; raise `Unknown` if there is none of that id."""
    whole = select(func.coalesce(func.sum(pairings.c.matches), 0)).where(
        pairings.c.tournament_id == tournament_id
    )
    counted = (
        select(whole.scalar_subquery(), func.count(matches.c.id), func.count(matches.c.finished_ms))
        .join(pairings, pairings.c.id == matches.c.pairing_id)
        .where(pairings.c.tournament_id == tournament_id)
    )
    row = find_tournament(connection, tournament_id)
    planned, created, finished = connection.execute(counted).one()
    entries = list_entries(connection, tournament_id)
    return TournamentView(row, entries, int(planned), created, finished)
