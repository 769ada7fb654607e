"""The list of competitions, and a page for each: what is known, and how sure it is.

Links lead here without a token, and show what is public.  The web client asks again with the
token of the tab, if somebody has given one, and takes over what its holder may see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath

from plyhouse.games.registry import get_game
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.competition.evidence import Line
from plyhouse.server.competition.file import (
    CompetitionFile,
    InvalidCompetition,
    read_competition,
)
from plyhouse.server.contests.announcements import announcements_for
from plyhouse.server.contests.boards import Board
from plyhouse.server.contests.courses import GameProgress
from plyhouse.server.contests.upcoming import Upcoming, upcoming
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.results.intervals import Interval
from plyhouse.server.results.scoring import scoring_rule
from plyhouse.server.web.api.access import viewer_of
from plyhouse.server.web.pages.classroom import own_of, staff_of
from plyhouse.server.web.pages.matches import running_for
from plyhouse.server.web.pages.rendering import missing, page
from plyhouse.server.web.parameters import hub_of
from plyhouse.storage import class_sql
from plyhouse.storage.announcements import Announcement
from plyhouse.storage.class_rows import ClassCompetition
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import Identity
from plyhouse.storage.submission_rows import OUTCOMES

__all__ = ["HANDLERS"]

WIDEST: Final = 40
"""Entries of the largest crosstable that a page shows."""
RUNNING: Final = 50
EVERY: Final = 15_000
"""Milliseconds after which a page of a competition that is not over looks again."""
PUBLIC_FILES: Final = ("csv", "md", "html", "json", "jsonl")


class Bar(NamedTuple):
    """An interval drawn: positions from 0 to 100."""

    wide_at: float
    wide: float
    near_at: float
    near: float
    at: float


class Mean(NamedTuple):
    """A mean return with its interval."""

    mean: float | None
    low: float | None
    high: float | None
    watched: tuple[float, float] | None = None
    """The interval for who watches all the time."""


class Cell(NamedTuple):
    """A cell of the crosstable."""

    score: float | None
    heat: int
    """From 0, lost everything, to 10."""
    matches: int


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table as it is written."""

    line: Line
    bar: Bar | None
    means: tuple[Mean, ...]
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A board as it is drawn."""

    rows: tuple[Row, ...]
    means: tuple[tuple[str, bool], ...]
    """Columns of returns: the game, and whether luck is taken out."""
    nash: bool
    crossed: bool
    notes: tuple[str, ...]
    repeated: int
    any_time: bool = False
    """Whether all intervals are any-time ones."""


@dataclass(frozen=True, slots=True)
class Practice:
    """A practice ladder as it is drawn."""

    row: ClassCompetition
    table: Table
    own: tuple[Line, ...]
    """The lines of whoever looks."""


@get("/competitions", include_in_schema=False)
async def competitions(state: State) -> Response[str]:
    """List all competitions, the newest first."""
    store = hub_of(state).store
    return page(
        "competitions.html",
        courses=await store.read(class_sql.list_all),
        others=await store.competitions(),
    )


@get("/competitions/{reference:str}", include_in_schema=False)
async def one_competition(
    state: State, request: Request[Any, Any, Any], reference: FromPath[str]
) -> Response[str]:
    """Show a competition as far as whoever asks may see it."""
    hub = hub_of(state)
    try:
        row = await hub.store.read(class_sql.find, reference)
    except Unknown:
        return await _without_class(hub, reference)
    try:
        viewer = await viewer_of(request, hub)
    except ProtocolError as error:
        return page("missing.html", status=401, text=str(error))
    return await _with_class(hub, row, viewer)


async def _with_class(hub: Hub, row: ClassCompetition, viewer: Identity | None) -> Response[str]:
    try:
        file = await asyncio.to_thread(read_competition, row.file)
    except InvalidCompetition:
        return missing(f"A game of {row.name} is not installed on this server any more.")
    sight = await hub.privacy.sight(viewer)
    table, refused = None, ""
    following: list[Upcoming] = []
    announced: list[Announcement] = []
    try:
        board = await hub.boards.board(row.id, viewer)
    except ProtocolError as error:
        refused = str(error)
    else:
        table = await asyncio.to_thread(_table, board)
        announced = await announcements_for(hub.store, hub.boards, row, viewer)
        following = await upcoming(hub.store, hub.boards, hub.competitions, row.id, viewer)
    practice = await _practice(hub, row, viewer)
    parts = frozenset(each.competition_id for each in row.games if each.competition_id)
    view = await hub.courses.view(row.id)
    staff = await staff_of(hub, view, viewer)
    # What is waited for names entries: for those who see all of them.
    named = table is not None and row.id not in sight.closed
    return page(
        "competition.html",
        row=row,
        file=file,
        table=table,
        refused=refused,
        games=view.games if staff is not None else _without_hidden(view.games, file),
        announced=announced,
        following=following,
        named=named,
        running=await running_for(hub, sight, RUNNING, parts) if parts else [],
        files=PUBLIC_FILES if file.board == "public" and table is not None else (),
        every=0 if row.status == "finished" else EVERY,
        staff=staff,
        own=await own_of(hub, view, viewer),
        practice=practice,
        outcomes=OUTCOMES,
        scoring={each.game: scoring_rule(get_game(each.game), each.scoring) for each in view.games},
    )


def _without_hidden(games: Iterable[GameProgress], file: CompetitionFile) -> list[GameProgress]:
    """Leave out what names a hidden baseline."""
    hidden = [each.bot.lower() for each in file.baselines if each.hidden]

    def shown(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if not any(name in text.lower() for name in hidden))

    return [
        replace(each, waiting_for=shown(each.waiting_for), absent=shown(each.absent))
        for each in games
    ]


async def _practice(hub: Hub, row: ClassCompetition, viewer: Identity | None) -> Practice | None:
    """The practice ladder of a competition, for who may see its board."""
    try:
        ladder = await hub.store.read(class_sql.find, row.practice_id)
        board = await hub.boards.board(ladder.id, viewer)
    except (Unknown, ProtocolError):
        return None
    player = "" if viewer is None else viewer.player
    own = [line for line in board.lines if line.standing.entrant.student == player]
    return Practice(ladder, await asyncio.to_thread(_table, board), tuple(own))


async def _without_class(hub: Hub, reference: str) -> Response[str]:
    """A round robin that everybody may see; one game of a final has no page of its own."""
    try:
        if await hub.store.read(class_sql.game_of, reference) is not None:
            raise Unknown(reference)
        view = await hub.competitions.view(reference)
    except Unknown:
        return missing(f"There is no competition {reference} on this server.")
    sight = await hub.privacy.sight(None)
    return page(
        "robin.html",
        view=view,
        running=await running_for(hub, sight, RUNNING, frozenset((reference,))),
        every=0 if view.row.status == "finished" else EVERY,
    )


HANDLERS: Final[tuple[Any, ...]] = (competitions, one_competition)


def _table(board: Board) -> Table:
    lines = board.lines
    bounds = [
        bound
        for line in lines
        if line.estimate is not None
        for bound in (line.estimate.any_low, line.estimate.any_high)
    ]
    least, most = (min(bounds), max(bounds)) if bounds else (0.0, 1.0)
    scale = 100.0 / max(most - least, 1e-9)
    means: list[tuple[str, bool]] = []
    for game in sorted({game for line in lines for game in line.returns}):
        means.append((game, False))
        if game in board.evidence.lucky:
            means.append((game, True))
    crossed = bool(board.crosstab) and 2 < len(lines) <= WIDEST
    return Table(
        tuple(
            Row(
                line,
                _bar(line, least, scale),
                tuple(_mean(line, game, adjusted=adjusted) for game, adjusted in means),
                _cells(board, line, lines) if crossed else (),
            )
            for line in lines
        ),
        tuple(means),
        any(line.nash is not None for line in lines),
        crossed,
        board.notes,
        board.evidence.repeated,
        board.file.until_certain,
    )


def _bar(line: Line, least: float, scale: float) -> Bar | None:
    at = line.estimate
    if at is None:
        return None
    places = [
        (at.any_low - least) * scale,
        (at.any_high - at.any_low) * scale,
        (at.low - least) * scale,
        (at.high - at.low) * scale,
        (at.elo - least) * scale,
    ]
    return Bar(*(round(each, 2) for each in places))


def _mean(line: Line, game: str, *, adjusted: bool) -> Mean:
    found = line.returns.get(game)
    if found is None:
        return Mean(None, None, None)
    interval: Interval = found.adjusted if adjusted else found.raw
    watched = None if adjusted else found.watched
    if abs(interval.low) == float("inf"):
        return Mean(interval.mean, None, None, watched)
    return Mean(*interval[:3], watched)


def _cells(board: Board, line: Line, lines: Sequence[Line]) -> tuple[Cell | None, ...]:
    name = line.standing.entrant.name
    row: list[Cell | None] = []
    for other in lines:
        found = board.crosstab.get((name, other.standing.entrant.name))
        if other is line:
            row.append(None)
        elif found is None:
            row.append(Cell(None, 5, 0))
        else:
            row.append(Cell(found.score.mean, round(found.score.mean * 10), found.matches))
    return tuple(row)
