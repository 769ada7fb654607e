"""The list of competitions, a page for each, and for the report on each of its students.

Links lead here without a token, and show what is public.  The web client asks again with the
token of the tab, if somebody has given one, and takes over what its holder may see.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from cachetools import LRUCache
from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.games.base import Scoring
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.competitions import BEFORE_FREEZE, Announcement, FinalGame
from plyhouse.protocol.api.reports import Report
from plyhouse.protocol.api.standings import Board, NextPairing, ProvenLine
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.accounts.roles import role_in
from plyhouse.server.competition_rules.file import STRICTEST, CompetitionFile, decoded
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.competitions.reports import Reports
from plyhouse.server.competitions.results_cache import PATIENCE
from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.server.competitions.upcoming_pairings import upcoming
from plyhouse.server.competitions.visible_boards import Boards
from plyhouse.server.config import ServerConfig
from plyhouse.server.grades.final_results import Results
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.results.scoring import scoring_rule
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import viewer_of
from plyhouse.server.web.api.standings import board_view
from plyhouse.server.web.forwarding import FROM_DATABASE, leave_to_leader
from plyhouse.server.web.pages.competition_forms import own_of, staff_of
from plyhouse.server.web.pages.matches import running_for
from plyhouse.server.web.pages.rendering import missing, page, plot_answer
from plyhouse.server.web.parameters import Name, service
from plyhouse.server.web.plots import (
    Bar,
    HeatCell,
    Interval,
    Plot,
    Score,
    bars,
    head_to_head,
    intervals,
    progress,
    results,
)
from plyhouse.storage import competition_sql
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.errors import Unknown
from plyhouse.storage.match_lists import MatchFilter, count_matches
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store

WIDEST: Final = 40
"""Entries of the largest crosstable that a page shows."""
RUNNING: Final = 50
CHECKPOINTS: Final = 10
"""Times at which a plot shows the certainty of ratings."""
EVERY: Final = 15_000
"""Milliseconds after which a page of a competition that is not over looks again."""
PUBLIC_FILES: Final = ("csv", "md", "html", "json", "jsonl")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table as it is drawn."""

    line: ProvenLine
    bar: Bar | None
    cells: tuple[HeatCell | None, ...]
    """Scores against the entries of all rows; None for itself and for those never met."""


@dataclass(frozen=True, slots=True)
class Table:
    """A board as it is drawn."""

    board: Board
    rows: tuple[Row, ...]
    crossed: bool


@dataclass(frozen=True, slots=True)
class Practice:
    """A practice ladder as it is drawn."""

    row: CompetitionRow
    table: Table | None
    """None if the viewer may not see its board."""
    own: tuple[ProvenLine, ...]
    """The viewer's lines."""


@get("/competitions", include_in_schema=False, opt=FROM_DATABASE)
async def competitions(state: State) -> Response[str]:
    """List all competitions, the newest first."""
    return page(
        "competitions.html",
        competitions=await service(state, Store).read(competition_sql.list_all),
    )


@get("/competitions/{reference:str}", include_in_schema=False, opt=FROM_DATABASE)
async def one_competition(
    state: State,
    request: Request[Any, Any, Any],
    reference: FromPath[str],
    plot: FromQuery[str] = "",
) -> Response[str]:
    """Show the parts of a competition that the viewer may see.

    With ``plot``, which is ``ratings``, ``heat`` or ``progress``, this is the file of that plot.
    """
    try:
        row = await service(state, Store).read(competition_sql.find, reference)
    except Unknown:
        return missing(f"There is no competition {reference} on this server.")
    try:
        viewer = await viewer_of(request)
    except ProtocolError as error:
        return page("missing.html", status=401, title="Sign in", text=str(error))
    if viewer is not None or not await _over(state, row):
        leave_to_leader(request.scope)  # which knows what runs, and for the staff, what waits
    if plot:
        return await _plot_file(state, row, viewer, plot)
    try:
        return await _with_students(state, row, viewer)
    except GameError:
        return missing(f"A game of {row.name} is not installed on this server any more.")


async def _over(state: State, row: CompetitionRow) -> bool:
    """Return whether a final has ended, with all matches that were being played."""
    parts = tuple([each.tournament_id for each in row.games if each.tournament_id])
    if row.status != "finished" or not parts:
        return False
    read = service(state, Store).read
    return not [
        status
        for status in ("waiting", "running")
        if await read(count_matches, MatchFilter(tournament_ids=parts, status=status))
    ]


async def _plot_file(
    state: State, row: CompetitionRow, viewer: Identity | None, name: str
) -> Response[Any]:
    boards = service(state, Boards)
    try:
        board = await _board(boards, row.id, viewer)
    except ProtocolError as error:
        return page("missing.html", status=403, title="Forbidden", text=str(error))
    drawn: Plot | None = None
    if name == "ratings":
        found = [each for line in board.lines[:WIDEST] if (each := _interval(line)) is not None]
        drawn = intervals(row.name, found) if found else None
    elif name == "heat" and board.crosstab:
        drawn = await computed(_heat, board)
    elif name == "progress":
        drawn = await _progress(state, row)
    return plot_answer(drawn, row.name)


async def _board(boards: Boards, competition: str, viewer: Identity | None) -> Board:
    """Return a board as the API answers it; raises `ProtocolError` if the viewer may not see it."""
    found = await boards.board(competition, viewer)
    return await computed(board_view, found, crosses=True)


async def _progress(state: State, row: CompetitionRow) -> Plot | None:
    """The matches of a final and the certainty of its ratings over time; None before two ended."""
    found = await service(state, Boards).results.of(row)
    view = await service(state, Competitions).view(row.id)
    ended = {seat.match: seat.finished_ms for seat in found.seats}
    ends = [ended[outcome.match] for outcome in found.outcomes]
    widths = await computed(_widths, found)
    return progress(row.name, ends, sum(game.planned for game in view.games), widths)


_WIDTHS: Final[LRUCache[str, tuple[Any, float, list[tuple[int, float]]]]] = LRUCache(16)
"""By competition: the state of its results, until when they do, and what `_widths` returned."""


def _widths(found: Results) -> list[tuple[int, float]]:
    """Return numbers of matches, and half the mean width of the intervals after each."""
    # This imports numpy, which only competitions need.
    from plyhouse.server.grades.board_fits import checkpoints

    begun = time.monotonic()
    kept = _WIDTHS.get(found.row.id)
    if kept is not None and (kept[0] == found.state or begun < kept[1]):
        return kept[2]
    widths = []
    for count, fitted in checkpoints(found.outcomes, CHECKPOINTS, found.rules.scoring):
        halves = [(each.high - each.low) / 2 for each in fitted.estimates() if each.error > 0]
        if halves:
            widths.append((count, sum(halves) / len(halves)))
    until = time.monotonic() + PATIENCE * (time.monotonic() - begun)
    _WIDTHS[found.row.id] = found.state, until, widths
    return widths


async def _with_students(
    state: State, row: CompetitionRow, viewer: Identity | None
) -> Response[str]:
    store = service(state, Store)
    privacy = service(state, Privacy)
    directory = service(state, Directory)
    config = service(state, ServerConfig)
    boards = service(state, Boards)
    file = decoded(row.parsed)
    if file is STRICTEST:
        told = "" if await role_in(store, row.id, viewer) is None else row.note
        return missing(told or f"The file of {row.name} cannot be read on this server.")
    sight = await privacy.sight(viewer)
    table, refused = None, ""
    following: list[NextPairing] = []
    announced: list[Announcement] = []
    try:
        board = await _board(boards, row.id, viewer)
    except ProtocolError as error:
        refused = str(error)
    else:
        table = await computed(_table, board)
        announced = await boards.announcements(row.id, viewer)
        following = await upcoming(boards, service(state, Tournaments), row.id, viewer)
    practice = await _practice(store, boards, row, viewer)
    course = None if table is None else await _progress(state, row)
    parts = frozenset(each.tournament_id for each in row.games if each.tournament_id)
    view = await service(state, Competitions).view(row.id)
    staff = await staff_of(store, directory, config, service(state, Hosting), view, viewer)
    # The list of waits names entries, so it is for viewers who see all of them.
    named = table is not None and row.id not in sight.closed
    return page(
        "competition.html",
        row=row,
        early=row.status in BEFORE_FREEZE,
        file=file,
        table=table,
        course=course,
        refused=refused,
        games=view.games if staff is not None else _without_hidden(view.games, file),
        announced=announced,
        following=following,
        named=named,
        running=await running_for(privacy, directory, sight, RUNNING, parts) if parts else [],
        files=PUBLIC_FILES if file.board == "public" and table is not None else (),
        every=0 if row.status == "finished" else EVERY,
        staff=staff,
        own=await own_of(store, directory, config, service(state, Hosting), view, viewer),
        practice=practice,
        scoring={
            each.game: scoring_rule(get_game(each.game), Scoring(each.scoring))
            for each in view.games
        },
    )


def _without_hidden(games: Iterable[FinalGame], file: CompetitionFile) -> list[FinalGame]:
    """Leave out what names a hidden baseline."""
    hidden = [each.bot.lower() for each in file.baselines if each.hidden]

    def shown(texts: Iterable[str]) -> list[str]:
        return [text for text in texts if not any(name in text.lower() for name in hidden)]

    return [
        replace(each, waiting_for=shown(each.waiting_for), absent=shown(each.absent))
        for each in games
    ]


async def _practice(
    store: Store, boards: Boards, row: CompetitionRow, viewer: Identity | None
) -> Practice | None:
    """The practice ladder of a competition; None if it has not begun."""
    try:
        ladder = await store.read(competition_sql.find, row.practice_id)
    except Unknown:
        return None
    try:
        board = await _board(boards, ladder.id, viewer)
    except ProtocolError:
        return Practice(ladder, None, ())
    player = "" if viewer is None else viewer.player
    own = [line for line in board.lines if line.student == player]
    return Practice(ladder, await computed(_table, board), tuple(own))


@get("/competitions/{reference:str}/report", include_in_schema=False)
async def report(
    state: State,
    request: Request[Any, Any, Any],
    reference: FromPath[str],
    student: Name = "",
    plot: FromQuery[str] = "",
) -> Response[str]:
    """The report on a student: for itself, or for an organiser; with ``plot``, its plot's file."""
    try:
        viewer = await viewer_of(request)
        if viewer is None:
            return page(
                "missing.html", status=401, title="Sign in", text="Sign in to see a report."
            )
        found = await service(state, Reports).report(reference, student, viewer)
    except ProtocolError as error:
        return page("missing.html", status=403, title="Forbidden", text=str(error))
    except Unknown as error:
        return missing(f"{str(error)[:1].upper()}{str(error)[1:]}.")
    row = await service(state, Store).read(competition_sql.find, reference)
    drawn = results(found.display or found.student, _scores(found))
    if plot:
        return plot_answer(drawn, f"{row.name}-{found.student}")
    return page("report.html", row=row, report=found, plot=drawn)


HANDLERS: Final[tuple[Any, ...]] = (competitions, one_competition, report)


def _table(board: Board) -> Table:
    lines = board.lines
    crossed = bool(board.crosstab) and 2 < len(lines) <= WIDEST
    cells = _cells(board) if crossed else {}
    return Table(
        board,
        tuple(
            Row(
                line, bar, tuple(cells.get((line.entry, other.entry)) for other in lines if crossed)
            )
            for line, bar in zip(lines, bars([_interval(line) for line in lines]), strict=True)
        ),
        crossed,
    )


def _interval(line: ProvenLine) -> Interval | None:
    at = line.rating
    if at is None:
        return None
    return Interval(line.entry, at.elo, at.low, at.high, at.any_low, at.any_high)


def _cells(board: Board) -> dict[tuple[str, str], HeatCell]:
    """Return the cells of the crosstable by the names of row and column."""
    return {
        (each.entry, each.other): HeatCell(each.score.mean, each.matches) for each in board.crosstab
    }


def _heat(board: Board) -> Plot:
    names, cells = [line.entry for line in board.lines[:WIDEST]], _cells(board)
    rows = [[cells.get((name, other)) for other in names] for name in names]
    return head_to_head(board.name, names, rows)


def _scores(found: Report) -> list[Score]:
    """Return the results of a report as they are drawn: baselines, then the others."""
    baselines = [
        Score(
            *(each.name, each.score, each.low, each.high, each.matches),
            *(each.at_least if each.grade else None, each.grade),
        )
        for each in found.baselines
    ]
    known = {each.name for each in baselines}
    others = [
        Score(each.name, each.score, each.low, each.high, each.matches)
        for each in found.opponents
        if each.name not in known
    ]
    return [*baselines, *others]
