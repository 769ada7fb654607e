"""The report on one student in a final.

It begins with the reason for the grade and one thing to try next.  Then come the results against
each baseline and opponent, forfeits with position and message, the slowest plies, lost matches to
replay, and the history of the rating.

Students get their own report with every setting of the board; organisers get every report.
Opponents appear with their names, as in the student's own matches; hidden baselines have none.
Only the author sees the output of a bot that failed, such as a traceback.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from cachetools import LRUCache
from msgspec import structs

from plyhouse.games.base import Game
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.bots import Holder
from plyhouse.protocol.api.reports import (
    BaselineScore,
    Forfeit,
    LostMatch,
    RatingPoint,
    Report,
    ReportEntry,
    ReportScore,
    SlowPly,
    Summary,
)
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.roles import role_in
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competitions.absence_reasons import withdrawn_texts
from plyhouse.server.competitions.exports import grade_points
from plyhouse.server.competitions.visible_boards import Boards
from plyhouse.server.grades.board_statistics import MatchOutcome, any_time_interval, lines, strength
from plyhouse.server.grades.final_results import Results
from plyhouse.server.grades.missing_games import missing_words
from plyhouse.server.grades.standings import Standing
from plyhouse.server.grades.student_grades import Grade, is_reached
from plyhouse.server.grades.summaries import (
    WITHOUT,
    CostlyPly,
    Evidence,
    Loss,
    Reviewed,
    costly,
    explained,
    match_path,
    reason_of_score,
    summary,
)
from plyhouse.server.grades.visible_entries import Viewer, Visibility, visible_entries
from plyhouse.server.jobs.fair_queue import computed, computed_for
from plyhouse.server.match.events import end_data
from plyhouse.server.match.presence import PRIVATE
from plyhouse.server.match.views import Views
from plyhouse.server.results.intervals import mean_interval
from plyhouse.storage import (
    competition_results,
    competition_sql,
    competition_students,
    match_reads,
    suspensions,
)
from plyhouse.storage.competition_results import State
from plyhouse.storage.competition_rows import CompetitionRow, CompetitionStudent
from plyhouse.storage.errors import Unknown
from plyhouse.storage.names import key_of
from plyhouse.storage.rows import Identity, StoredMatch
from plyhouse.storage.store import Store

if TYPE_CHECKING:
    from plyhouse.server.results.fitted import Estimate

MOST_FORFEITS: Final = 20
"""The largest number of forfeits shown with positions; the count includes all of them."""
MOST_LOST: Final = 200
SLOWEST: Final = 10
LAST_ACTIONS: Final = 12
"""The number of actions listed before a forfeit."""
KEPT: Final = 8

_Met = dict[str, list[tuple[MatchOutcome, int]]]
"""Matches with the seat that one's own entry had, by opponent."""


@dataclass(frozen=True, slots=True)
class _Point:
    matches: int
    estimates: dict[str, Estimate[str]]


@dataclass(slots=True)
class _Points:
    """The history of a final, valid for one state of it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    state: State | None = None
    made: list[_Point] = field(default_factory=list)


class Reports:
    """The reports of one server."""

    def __init__(self, store: Store, boards: Boards, reviewed: Reviewed) -> None:
        self._store = store
        self._boards = boards
        self._reviewed = reviewed
        self._points: LRUCache[str, _Points] = LRUCache(KEPT)

    def forget(self) -> None:
        """Clear the cache, because entries have other names."""
        self._points.clear()

    async def report(self, reference: str, student: str, identity: Identity) -> Report:
        """Return the report of a student's account; empty: the identity's own.

        Raises `ProtocolError` for another student's report, and `Unknown` if there is no such
        student.
        """
        row = await self._store.read(competition_sql.find, reference)
        organiser = await role_in(self._store, row.id, identity) is not None
        wanted = student or identity.player
        own = key_of(wanted) == key_of(identity.player)
        if not (organiser or own):
            raise ProtocolError("auth/scope", "A report is for its own student and the staff.")
        everybody = await self._store.read(competition_students.students_of, row.id)
        found = next((each for each in everybody if key_of(each.player) == key_of(wanted)), None)
        if found is None:
            raise Unknown(f"{wanted!r} is no student of {row.name!r}; take one of its accounts")
        results = await self._boards.results.of(row)
        grade = next(
            (each for each in await self._boards.grades(results) if each.student == found.player),
            Grade(found.player, found.status, None, "", ()),
        )
        points = await self._history(row, results)
        eyes = visible_entries(results.file, Viewer(organiser, found.player), results.entrants)
        placed = await self._boards.placed(results, eyes)
        made = await computed(
            _report, found, results, grade, points, placed, eyes, organiser=organiser
        )
        suspended = await self._store.read(suspensions.suspended_in, row.id, withdrawn=True)
        entered = {each.entry for each in made.entries}
        names = {
            bot: name
            for each in results.entrants
            if each.name in entered
            for bot, name in each.bots.items()
        }
        slowest, forfeited = await self._matches(found, results, eyes, author=own)
        lost = [(each.game, each.match, each.seat) for each in made.lost]
        reviewed = await computed(lambda: costly(self._reviewed(lost)))
        shown = [each.name for each in results.entrants if each.bot_id not in eyes.hidden]
        return structs.replace(
            made,
            days_late=grade.days_late,
            penalty=grade.penalty,
            notes=_missing(grade, results) + withdrawn_texts(suspended, names) + made.notes,
            slowest=slowest,
            forfeited=forfeited,
            summary=_summary(
                made,
                grade,
                explained(grade, made.baselines, results.file, shown),
                _games(grade, placed),
                forfeited,
                reviewed,
            ),
        )

    async def _history(self, row: CompetitionRow, results: Results) -> list[_Point]:
        """Return the history of ratings, fitted once for all students."""
        kept = self._points.setdefault(row.id, _Points())
        async with kept.lock:
            if kept.state != results.state:
                kept.made = await computed_for(row.id, functools.partial(_points, results))
                kept.state = results.state
            return kept.made

    async def _matches(
        self, student: CompetitionStudent, results: Results, eyes: Visibility, *, author: bool
    ) -> tuple[list[SlowPly], list[Forfeit]]:
        """Return the slowest plies, and forfeits with their positions."""
        bots = [
            bot for each in results.entrants
            if each.student == student.player and not each.baseline
            for bot in each.bots
        ]  # fmt: skip
        if not bots:
            return [], []
        slow = await self._store.read(competition_results.slowest, results.row.id, bots, SLOWEST)
        slowest = [
            SlowPly(
                match=each.match,
                game=each.game,
                ply=each.ply,
                action=each.text,
                thought_s=each.thought_ns / 1e9,
                charged_s=each.charged_ns / 1e9,
                left_s=each.remaining_ns / 1e9,
                replay=match_path(each.match, each.ply),
            )
            for each in slow
        ]
        names = {bot: name for each in results.entrants for bot, name in each.bots.items()}
        hidden = {
            bot for each in results.entrants if each.bot_id in eyes.hidden for bot in each.bots
        }
        forfeited: list[Forfeit] = []
        for seat in results.seats:
            if seat.bot_id in bots and seat.culprit == seat.seat and _forfeits(seat.termination):
                if len(forfeited) == MOST_FORFEITS:
                    break
                stored = await self._store.read(match_reads.stored_match, seat.match)
                holders = [
                    Holder(PRIVATE, "") if each.bot_id in hidden else Holder(each.player, each.bot)
                    for each in stored.header.seats
                ]
                forfeited.append(
                    await computed(
                        _forfeit, stored, seat.seat, names[seat.bot_id], holders, author=author
                    )
                )
        return slowest, forfeited


def _forfeits(termination: str) -> bool:
    return termination not in ("normal", "resignation", "")


def _points(results: Results) -> list[_Point]:
    # This imports numpy, which only competitions need.
    from plyhouse.server.grades.board_fits import checkpoints

    return [
        _Point(count, {each.name: each for each in fitted.estimates()})
        for count, fitted in checkpoints(results.outcomes, scoring=results.rules.scoring)
    ]


def _met(results: Results, own: Collection[str]) -> _Met:
    """Return the matches of a student's entries, by the name of the opponent."""
    met: _Met = {}
    for outcome in results.outcomes:
        for seat, name in enumerate(outcome.seats):
            if name in own:
                for other in {*outcome.seats} - {name}:
                    met.setdefault(other, []).append((outcome, seat))
    return met


def _against_baselines(file: CompetitionFile, grade: Grade, met: _Met) -> list[BaselineScore]:
    """Return the results against each baseline that the student has met, and may know."""
    found = []
    for number, each in enumerate(file.originals):
        against = next((other for other in met if other.lower() == each.bot.lower()), None)
        if against is not None:
            counted = grade.against[number] if grade.against else None
            found.append(
                BaselineScore(
                    **structs.asdict(_score(against, met[against], any_time=file.until_certain)),
                    grade=each.grade,
                    at_least=each.at_least,
                    reached=is_reached(counted, each.at_least),
                    counted=counted,
                )
            )
    return found


def _history(name: str, points: Sequence[_Point], *, any_time: bool) -> list[RatingPoint]:
    return [
        _rating_point(point.matches, at, any_time=any_time)
        for point in points
        if (at := point.estimates.get(name)) is not None
    ]


def _report(
    student: CompetitionStudent,
    results: Results,
    grade: Grade,
    points: Sequence[_Point],
    placed: Sequence[Standing],
    eyes: Visibility,
    *,
    organiser: bool,
) -> Report:
    file, any_time = results.file, results.file.until_certain
    entrants = [
        each for each in results.entrants if each.student == student.player and not each.baseline
    ]
    own = {each.name for each in entrants}
    ids = {each.name: each.bot_id for each in results.entrants}

    def shown(name: str) -> bool:
        return ids[name] not in eyes.hidden

    def title(name: str) -> str:
        return name if shown(name) else PRIVATE

    board = {
        line.standing.entrant.name: line
        for line in lines(placed, results.statistics, any_time=any_time)
        if line.standing.entrant.name in own
    }
    met = {name: rows for name, rows in _met(results, own).items() if shown(name)}
    bots = {each.bot_id for each in entrants}
    kinds = Counter(each.forfeit for each in results.results if each.bot_id in bots)
    return Report(
        competition=results.row.name,
        status=results.row.status,
        student=student.player,
        display=student.display,
        grade=grade.grade,
        graded_by=grade.entry,
        entries=[
            ReportEntry(
                each.name, each.version, each.digest, each.status, *_numbers(board, each.name)
            )
            for each in entrants
        ],
        baselines=_against_baselines(file, grade, met),
        opponents=[_score(name, rows, any_time=any_time) for name, rows in sorted(met.items())],
        forfeits={kind: count for kind, count in kinds.items() if kind},
        forfeited=[],
        slowest=[],
        lost=_lost(results, own, title),
        history={name: _history(name, points, any_time=any_time) for name in sorted(own)},
        notes=results.statistics.shown_notes({each.name for each in results.entrants} - own)
        if not organiser
        else list(results.statistics.notes),
        scoring={game: each.value for game, each in results.rules.scoring.items()},
        points=grade_points(grade, file) if file.graded else None,
        any_time=any_time,
    )


def _games(grade: Grade, placed: Sequence[Standing]) -> dict[str, float]:
    """Return the scores of the graded entry by game, without hidden baselines."""
    for line in placed:
        if line.entrant.name == grade.entry:
            return dict(line.games)
    return {}


def _summary(
    made: Report,
    grade: Grade,
    why: tuple[str, BaselineScore | None],
    games: Mapping[str, float],
    forfeited: Sequence[Forfeit],
    reviewed: CostlyPly | None,
) -> Summary:
    """Return the first sentences of a report."""
    evidence = Evidence(
        matches=sum(each.matches for each in made.entries),
        forfeits=made.forfeits,
        forfeited={each.kind: each.replay for each in forfeited},
        games=games,
        losses=[Loss(each.game, tuple(each.opponents), each.replay) for each in made.lost],
        costly=reviewed,
    )
    reason, missed = why
    if reason:
        return summary(reason, evidence, missed)
    best = next((each for each in made.entries if each.entry == grade.entry), None)
    if best is None:
        return summary(WITHOUT["nothing entered"], evidence)
    return summary(reason_of_score(best.score, best.matches, place=best.place), evidence)


def _missing(grade: Grade, results: Results) -> list[str]:
    """Return what the games cost that the graded entry left out."""
    lacks = grade.missing if grade.score is not None else ()
    words = missing_words(lacks, len(results.file.games)) if lacks else ""
    return [f"{grade.entry} is {words}."] if words else []


def _rating_point(matches: int, at: Estimate[str], *, any_time: bool) -> RatingPoint:
    near = (at.any_low, at.any_high) if any_time else (at.low, at.high)
    return RatingPoint(matches, at.elo, *near, at.any_low, at.any_high)


def _numbers(board: dict[str, Any], name: str) -> tuple[Any, ...]:
    line = board.get(name)
    if line is None:
        return None, None, 0, 0, 0, 0, 0, None, None
    standing = line.standing
    return (
        *(standing.rank, standing.score, standing.matches, standing.wins, standing.draws),
        *(standing.losses, standing.forfeits),
        strength(line.estimate),
        standing.place,
    )


def _score(name: str, rows: Sequence[tuple[MatchOutcome, int]], *, any_time: bool) -> ReportScore:
    """Return the score of these seats; ``any_time`` is as in `lines`."""
    results: Counter[str] = Counter()
    pairs: dict[tuple[str, str], list[float]] = {}
    for outcome, seat in rows:
        mine = outcome.returns[seat]
        best = max(value for at, value in enumerate(outcome.returns) if at != seat)
        results["W" if mine > best else "D" if mine == best else "L"] += 1
        pairs.setdefault((outcome.game, outcome.pairing), []).append(outcome.scores[seat])
    means = [min(1.0, max(0.0, sum(each) / len(each))) for each in pairs.values()]
    watched = any_time_interval(means)
    fixed = watched if any_time else mean_interval(means, bounds=(0.0, 1.0))
    return ReportScore(
        name=name,
        matches=len(rows),
        wins=results["W"],
        draws=results["D"],
        losses=results["L"],
        score=watched.mean,
        low=fixed.low,
        high=fixed.high,
        any_low=watched.low,
        any_high=watched.high,
    )


def _lost(results: Results, own: set[str], title: Callable[[str], str]) -> list[LostMatch]:
    """Return the lost matches, the latest first."""
    ends = {each.match: each for each in results.seats}
    found = []
    for outcome in reversed(results.outcomes):
        for seat, name in enumerate(outcome.seats):
            if name not in own or outcome.returns[seat] >= max(outcome.returns):
                continue
            others = [each for each in outcome.seats if each != name]
            end = ends[outcome.match]
            found.append(
                LostMatch(
                    match=outcome.match,
                    game=outcome.game,
                    entry=name,
                    seat=seat,
                    opponents=[title(each) for each in others],
                    termination=end.termination,
                    plies=end.ply,
                    replay=match_path(outcome.match),
                )
            )
    return found[:MOST_LOST]


def _forfeit(
    stored: StoredMatch, seat: int, entry: str, holders: Sequence[Holder], *, author: bool
) -> Forfeit:
    """Return a forfeit with its position as the seat saw it, and holders as the reader does."""
    header = stored.header
    end = next(row for row in reversed(stored.events) if row.kind == "end")
    data = end_data(end)
    actions = [row.text for row in stored.events if row.kind in ("action", "chance")]
    scene: dict[str, Any] | None = None
    # The rules of the game may have changed, or its file may be missing.
    with contextlib.suppress(GameError):
        scene, actions = _seen(stored, get_game(header.game), seat)
    return Forfeit(
        match=header.id,
        game=header.game,
        entry=entry,
        kind=header.termination,
        ply=end.ply,
        reason=data.cause.sentence(holders),
        detail=data.detail if author else "",
        actions=actions[-LAST_ACTIONS:],
        scene=scene,
        replay=match_path(header.id, end.ply),
    )


def _seen(stored: StoredMatch, game: Game, seat: int) -> tuple[dict[str, Any], list[str]]:
    """Return the last position and the actions before it, as a seat saw them."""
    views = Views(game, game.seats)
    position = Position(game)
    for row in stored.events:
        if row.kind in ("action", "chance"):
            before = position.state
            action = position.apply(row.seat, row.text)
            views.record(before, action, row.text, row.seat, row.ply, None)
    actions = [event.action for event in views.events(seat, 0)]
    return views.drawn(position.state, seat)[1], [each or "(hidden)" for each in actions]
