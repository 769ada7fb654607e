"""Boards of competitions: standings and their statistics.

A thread computes the results of a final.  They are kept until the number of finished or void
matches changes.  While a final runs, the next computation waits at least `PATIENCE` times as long
as the last one took, so that viewers cannot take the machine from the matches.  Events of
matches, which show luck and repeated games, are read once.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from cachetools import LRUCache

from plyhouse.games.base import Scoring
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.roles import role_in
from plyhouse.server.competition_rules.board_statistics import (
    PRIVATE,
    BoardLine,
    Crossing,
    MatchOutcome,
    Statistics,
    crosstab,
    lines,
)
from plyhouse.server.competition_rules.duplicate_baselines import DuplicateBaseline, told, twins
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competition_rules.game_scoring import FinalRules, final_rules
from plyhouse.server.competition_rules.places import BY_SCORE, with_places
from plyhouse.server.competition_rules.standings import (
    Entrant,
    Grade,
    SeatResult,
    Standing,
    grades,
    standings,
)
from plyhouse.server.competitions.absence_reasons import gone_texts, withdrawn_texts
from plyhouse.server.competitions.board_visibility import Viewer, Visibility, eyes_of
from plyhouse.server.competitions.game_finals import GameFinal, GameFinals
from plyhouse.server.competitions.late_entries import days_late
from plyhouse.server.match.terminations import FORFEITS
from plyhouse.server.results.luck import Judge, judge_of, match_luck
from plyhouse.server.results.repeats import PlayedLine, repeat_weights
from plyhouse.storage import (
    announcements,
    competition_reruns,
    competition_results,
    competition_sql,
    competition_students,
    suspensions,
    tournaments,
)
from plyhouse.storage.announcements import Announcement
from plyhouse.storage.competition_results import FinalSeat, State
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow
from plyhouse.storage.rows import Identity
from plyhouse.storage.store import Store

__all__ = ["Board", "Boards", "Results", "entrants_of", "standings_for"]

ANY_TIME: Final = (
    "Pairings are played until grades are certain, so every interval here is an any-time one: it "
    "holds however often you look."
)
KEPT: Final = 16
"""Number of competitions whose results are kept in memory: the last ones viewed."""
PATIENCE: Final = 20.0
"""Time between computations of a running final, as a multiple of the last computation's time."""
AT_ONCE: Final = 100
"""Number of matches whose events one query reads."""
MOST_MATCHES: Final = 20_000
"""Most matches whose luck and repeats a board computes; above it, neither is computed."""
MOST_VALUES: Final = 20_000
"""Largest number of positions valued for the luck of one match: about 0.15 s in backgammon, and
most of such a match.  The luck of later rolls stays in the result."""
BUDGET: Final = 2.0
"""Seconds spent on luck in one computation; the next ones continue with the rest."""


@dataclass(frozen=True, slots=True)
class Results:
    """All matches of a final so far, and the results computed from them."""

    row: CompetitionRow
    file: CompetitionFile
    entrants: tuple[Entrant, ...]
    seats: tuple[FinalSeat, ...]
    """The seats of every finished match, void ones included, in the order of their ends."""
    outcomes: tuple[MatchOutcome, ...]
    """Outcomes of the matches that count."""
    results: tuple[SeatResult, ...]
    standings: tuple[Standing, ...]
    statistics: Statistics
    crosstab: dict[tuple[str, str], Crossing]
    state: State
    rules: FinalRules


@dataclass(frozen=True, slots=True)
class Board:
    """A board as one viewer may see it."""

    row: CompetitionRow
    file: CompetitionFile
    lines: tuple[BoardLine, ...]
    notes: tuple[str, ...]
    statistics: Statistics
    crosstab: dict[tuple[str, str], Crossing]
    """Scores between the entries of the lines; empty where they have no names."""
    duplicates: tuple[DuplicateBaseline, ...] = ()
    """The twins among the lines."""
    scoring: Mapping[str, Scoring] = field(default_factory=dict)
    """The scoring of matches, by game."""


@dataclass(slots=True)
class _Kept:
    """The cached results of one competition."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    results: Results | None = None
    entries: tuple[CompetitionEntry, ...] = ()
    complete: bool = False
    """True if luck is known for every match for which it can be computed."""
    until: float = 0.0
    """While the final runs, the cached results are valid until this time."""
    luck: dict[str, tuple[float, ...] | None] = field(default_factory=dict)
    """Luck by match; None where the record does not fit the game."""
    lines: dict[str, PlayedLine] = field(default_factory=dict)
    """Courses of games without chance, by match."""


class Boards:
    """The boards of one server."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._kept: LRUCache[str, _Kept] = LRUCache(KEPT)
        self.games = GameFinals(store, clock)
        """The same finals with the tables and rounds of their formats."""

    def forget(self) -> None:
        """Clear the cache, because entries have other names."""
        self._kept.clear()
        self.games.forget()

    # ---------------------------------------------------------------------------- viewers

    async def admitted(
        self, reference: str, identity: Identity | None
    ) -> tuple[CompetitionRow, CompetitionFile, Viewer]:
        """Return a competition with its file, and what the identity is in it.

        Raises `Unknown`, and `ProtocolError` if the identity may see nothing of the board.
        """
        row = await self._store.read(competition_sql.find, reference)
        file = read_competition(row.file)
        viewer = Viewer(organiser=await role_in(self._store, row.id, identity) is not None)
        if identity is not None and not viewer.organiser:
            for each in await self._store.read(competition_students.students_of, row.id):
                if each.player_id == identity.player_id and each.status != "revoked":
                    viewer = Viewer(student=each.player)
        if not (viewer.organiser or viewer.student or file.board == "public"):
            code = "auth/required" if identity is None else "auth/scope"
            raise ProtocolError(code, f"The board of {row.name!r} is for its class.")
        return row, file, viewer

    async def eyes(
        self, reference: str, identity: Identity | None
    ) -> tuple[CompetitionRow, tuple[Entrant, ...], Visibility]:
        """Return a competition with its entries, and which of them the identity sees.

        Raises as `admitted` does.
        """
        row, file, viewer = await self.admitted(reference, identity)
        played = await self._store.read(competition_reruns.played_entries, row.id, replaced=True)
        entrants = entrants_of(played, file)
        return row, entrants, eyes_of(file, viewer, entrants)

    async def board(self, reference: str, identity: Identity | None) -> Board:
        """Return a board as the identity may see it.

        Organisers see everything, others no hidden baselines.  On an anonymous board a student sees
        its own entries, the baselines, and without names the three entries ahead of its best one.
        Raises `ProtocolError` if the identity may see nothing.
        """
        row, file, viewer = await self.admitted(reference, identity)
        found = await self.results(row)
        finals = await self.games.of(row, state=found.state)
        board = await asyncio.to_thread(_board, found, viewer, finals)
        gone = await self._gone(row, board.lines)
        stopped = [ANY_TIME] if file.until_certain else []
        secret = file.board == "anonymous" and not viewer.organiser
        rules = _rules(finals, secret=secret)
        return replace(board, notes=(*rules, *stopped, *board.notes, *gone))

    async def placed(self, found: Results, eyes: Visibility) -> list[Standing]:
        """Return the standings that a viewer sees, with places and in their order."""
        return standings_for(found, eyes, await self.games.of(found.row, state=found.state))

    async def _gone(self, row: CompetitionRow, shown: Sequence[BoardLine]) -> list[str]:
        """Return which of the named entries were withdrawn, and why."""
        names = {line.standing.entrant.bot_id: line.standing.entrant.name for line in shown}
        suspended = await self._store.read(suspensions.suspended_in, row.id, withdrawn=True)
        return withdrawn_texts(suspended, names) + [
            text
            for game in row.games
            if game.competition_id is not None
            for text in gone_texts(
                await self._store.read(tournaments.competition, game.competition_id), names
            )
        ]

    async def announcements(self, reference: str, identity: Identity | None) -> list[Announcement]:
        """Return the announcements of a competition, newest first; raises as `admitted` does."""
        row, _, _ = await self.admitted(reference, identity)
        return await self._store.read(announcements.list_of, row.id)

    # ---------------------------------------------------------------------------- results

    async def results(self, row: CompetitionRow, *, complete: bool = False) -> Results:
        """Return the results of a final; ``complete`` also computes all luck."""
        kept = self._kept.setdefault(row.id, _Kept())
        async with kept.lock:
            found = await self._good(row, kept, complete=complete)
            while found is None or (complete and not kept.complete):
                found = await self._work(row, kept)
        return found

    async def grades(self, found: Results) -> list[Grade]:
        """Return the grades of all students who were not removed, by name."""
        students = [
            each.player
            for each in await self._store.read(competition_students.students_of, found.row.id)
            if each.status != "revoked"
        ]
        marks = await asyncio.to_thread(
            functools.partial(
                grades,
                students,
                found.entrants,
                found.results,
                found.file.originals,
                every_lower=found.rules.every_lower,
                by_opponent=found.rules.by_opponent,
            )
        )
        late = await self._late(found)
        return [
            replace(
                each, days_late=late[each.entry], penalty=found.file.late.penalty(late[each.entry])
            )
            if each.entry in late
            else each
            for each in marks
        ]

    async def _late(self, found: Results) -> dict[str, int]:
        """Return the late entries of a final with the days that each was late."""
        entries = await self._store.read(competition_reruns.played_entries, found.row.id)
        late = await days_late(self._store, found.row, found.file, entries)
        return {each.name: late[each.bot_id] for each in entries if each.bot_id in late}

    async def _good(self, row: CompetitionRow, kept: _Kept, *, complete: bool) -> Results | None:
        """Return the cached results, or None if they must be computed again."""
        found = kept.results
        if found is None:
            return None
        same = row.file == found.row.file
        if row.status == "running" and same and not complete and self._clock() < kept.until:
            return found
        entries = tuple(
            await self._store.read(competition_reruns.played_entries, row.id, replaced=True)
        )
        if (
            not same
            or entries != kept.entries
            or found.state != await self._store.read(competition_results.state, row.id)
        ):
            return None
        if row != found.row:  # Only the status has changed.
            found = kept.results = replace(found, row=row)
        return found if kept.complete or self._clock() < kept.until else None

    async def _work(self, row: CompetitionRow, kept: _Kept) -> Results:
        begun = self._clock()
        file = read_competition(row.file)
        entries = tuple(
            await self._store.read(competition_reruns.played_entries, row.id, replaced=True)
        )
        state = await self._store.read(competition_results.state, row.id)
        seats = await self._store.read(competition_results.played, row.id)
        outcomes = await asyncio.to_thread(_outcomes, entries, seats)
        extra = await self._read_events(kept, outcomes, seats)
        rules = await final_rules(self._store, row, file)
        left = [
            each
            for each in outcomes
            if _judge(each.game) is not None and each.match not in kept.luck
        ]
        found = kept.results = await asyncio.to_thread(
            _worked, row, file, entries, seats, outcomes, kept, state, extra, rules
        )
        kept.entries = entries
        kept.complete = not left or bool(extra)
        kept.until = self._clock() + PATIENCE * (self._clock() - begun)
        return found

    async def _read_events(
        self,
        kept: _Kept,
        outcomes: Sequence[MatchOutcome],
        seats: Sequence[FinalSeat],
    ) -> list[str]:
        """Read the events of matches; return a note if there are too many."""
        dicey = [each for each in outcomes if _judge(each.game) is not None]
        repeatable = _repeatable(outcomes, seats)
        fresh = [each for each in dicey if each.match not in kept.luck]
        again = [each for each in repeatable if each.match not in kept.lines]
        if len(dicey) + len(repeatable) > MOST_MATCHES:
            return [
                f"Luck and repeated games are looked for in up to {MOST_MATCHES:,} matches only."
            ]
        versions = _versions(seats)
        end = self._clock() + BUDGET
        for start in range(0, len(again), AT_ONCE):
            some = again[start : start + AT_ONCE]
            read = await self._store.read(
                competition_results.match_events, [each.match for each in some]
            )
            for each in some:
                kept.lines[each.match] = _played_line(each, versions[each.match], read[each.match])
        for start in range(0, len(fresh), AT_ONCE):
            if self._clock() >= end:
                break
            some = fresh[start : start + AT_ONCE]
            read = await self._store.read(
                competition_results.match_events, [each.match for each in some]
            )
            kept.luck |= await asyncio.to_thread(_luck, some, read, self._clock, end)
        return []


def _outcomes(
    entries: Iterable[CompetitionEntry], seats: Sequence[FinalSeat]
) -> list[MatchOutcome]:
    """Return the matches that count, in the order of their ends."""
    names = {each.bot_id: each.name for each in entries}
    made = [
        MatchOutcome(
            rows[0].match,
            rows[0].game,
            rows[0].pairing,
            tuple(names[each.bot_id] for each in rows),
            tuple(float(each.score or 0.0) for each in rows),
            tuple(float(each.returned or 0.0) for each in rows),
        )
        for rows in _by_match(seats)
        if all(
            each.score is not None and each.returned is not None and each.bot_id in names
            for each in rows
        )
    ]
    for game in {each.game for each in made}:
        _judge(game)  # A judge solves a small game completely, so create it here, in a thread.
    return made


def _by_match(seats: Sequence[FinalSeat]) -> Iterable[list[FinalSeat]]:
    matches: dict[str, list[FinalSeat]] = defaultdict(list)
    for each in seats:
        matches[each.match].append(each)
    return matches.values()


def _versions(seats: Sequence[FinalSeat]) -> dict[str, tuple[int, ...]]:
    return {rows[0].match: tuple(row.version_id for row in rows) for rows in _by_match(seats)}


@functools.lru_cache(maxsize=64)
def _judge(game: str) -> Judge | None:
    """Return the judge of luck in a game; None if this server has none."""
    try:
        return judge_of(get_game(game))
    except GameError:
        return None


def _repeatable(outcomes: Sequence[MatchOutcome], seats: Sequence[FinalSeat]) -> list[MatchOutcome]:
    """Return the matches from which repeats and variation can be seen.

    These are matches of versions that met twice in the same seats of a game without chance.  Only
    they can be repeats, and only the actions of these versions show whether the versions vary.
    """
    versions = _versions(seats)
    met = Counter((each.game, versions[each.match]) for each in outcomes)
    twice = {(game, version) for (game, who), count in met.items() if count > 1 for version in who}
    if not twice:
        return []
    still = {game for game, _ in twice if _without_chance(game)}
    return [
        each
        for each in outcomes
        if each.game in still
        and any((each.game, version) in twice for version in versions[each.match])
    ]


def _without_chance(game: str) -> bool:
    try:
        return get_game(game).chance_kind.value == "deterministic"
    except GameError:
        return False


def _played_line(
    outcome: MatchOutcome, versions: tuple[int, ...], events: Sequence[tuple[str, int, str]]
) -> PlayedLine:
    return PlayedLine(
        outcome.game,
        versions,
        tuple((seat, text) for kind, seat, text in events if kind == "action"),
        (outcome.returns,),
        any(kind == "chance" for kind, _, _ in events),
    )


def _luck(
    outcomes: Sequence[MatchOutcome],
    read: dict[str, list[tuple[str, int, str]]],
    clock: Callable[[], float],
    end: float,
) -> dict[str, tuple[float, ...] | None]:
    """Compute the luck of at least one match, and of more until ``end``.

    The luck is None where the events do not fit the game (any more).
    """
    found: dict[str, tuple[float, ...] | None] = {}
    for each in outcomes:
        if found and clock() >= end:
            break
        game = get_game(each.game)
        judge = _judge(each.game)
        try:
            found[each.match] = (
                None if judge is None else match_luck(game, read[each.match], judge, MOST_VALUES)
            )
        except (GameError, KeyError):
            found[each.match] = None
    return found


def _worked(
    row: CompetitionRow,
    file: CompetitionFile,
    entries: Sequence[CompetitionEntry],
    seats: Sequence[FinalSeat],
    outcomes: Sequence[MatchOutcome],
    kept: _Kept,
    state: State,
    extra: Sequence[str],
    rules: FinalRules,
) -> Results:
    """Compute all results of the matches; this can take long."""
    # This imports numpy, which only competitions need.
    from plyhouse.server.competition_rules.board_fits import compute_statistics

    outcomes = [each._replace(luck=kept.luck.get(each.match)) for each in outcomes]
    again = [each.match for each in outcomes if each.match in kept.lines]
    weights = repeat_weights([kept.lines[match] for match in again])
    repeats = {match for match, weight in zip(again, weights, strict=True) if weight == 0.0}
    results = tuple(
        SeatResult(
            each.match,
            each.game,
            each.bot_id,
            each.score,
            each.result,
            each.termination if each.culprit == each.seat and each.termination in FORFEITS else "",
            each.pairing,
        )
        for each in seats
        if each.score is not None and each.result is not None
    )
    entrants = entrants_of(entries, file)
    return Results(
        row,
        file,
        entrants,
        tuple(seats),
        tuple(outcomes),
        results,
        tuple(standings(entrants, results, by_opponent=rules.by_opponent)),
        compute_statistics(outcomes, repeats, extra, rules.scoring),
        crosstab(outcomes, any_time=file.until_certain),
        state,
        rules,
    )


def entrants_of(entries: Sequence[CompetitionEntry], file: CompetitionFile) -> tuple[Entrant, ...]:
    """Return the entries of a competition in the form that standings need."""
    names = {each.name.lower(): each.name for each in entries}
    twins = {twin: names.get(entry, "") for twin, entry in file.twins.items()}
    return tuple(
        Entrant(
            bot_id=each.bot_id,
            name=each.name,
            student=each.player,
            status=each.status,
            baseline=each.baseline,
            version=each.version,
            digest=each.digest,
            twin_of=twins.get(each.name.lower(), "") if each.baseline else "",
        )
        for each in entries
    )


def standings_for(found: Results, eyes: Visibility, finals: Sequence[GameFinal]) -> list[Standing]:
    """Return the standings by place, without baselines hidden from the viewer."""
    shown: Sequence[Standing] = found.standings
    if eyes.hidden:
        kept = [each.entrant for each in shown if each.entrant.bot_id not in eyes.hidden]
        shown = standings(kept, found.results, by_opponent=found.rules.by_opponent)
    return with_places(shown, [each.table for each in finals], found.file.format.name)


def _rules(finals: Sequence[GameFinal], *, secret: bool) -> list[str]:
    """Return the rule that decides the places, and the seed of the lot.

    ``secret`` leaves out the seed.  Anyone with the seed and the names of the class could repeat
    the lot, and the order of the seeds reveals who plays whom.
    """
    if not finals:
        return []
    [rule] = {each.decided_by for each in finals}
    if len(finals) == 1:
        told = [f"Places are decided by {rule}."]
    elif finals[0].format in BY_SCORE:
        told = ["Places are decided by the mean score over the games."]
    else:
        told = [f"Places are decided by the mean place over the games; in a game by {rule}."]
    told += [
        f"Entries without a rating in {each.game} were seeded by lot with the seed {each.lot}."
        for each in finals
        if each.lot and not secret
    ]
    return told


def _board(found: Results, viewer: Viewer, finals: Sequence[GameFinal]) -> Board:
    """Return the part of the results that one viewer sees."""
    eyes = eyes_of(found.file, viewer, found.entrants)
    shown = standings_for(found, eyes, finals)
    inside = set(eyes.lines([each.entrant.bot_id for each in shown]))
    seen = [
        line if eyes.named(line.standing.entrant.bot_id) else _masked(line)
        for line in lines(shown, found.statistics, any_time=found.file.until_certain)
        if line.standing.entrant.bot_id in inside
    ]
    names = {line.standing.entrant.name for line in seen}
    secret = {each.name for each in found.entrants} - names
    table = {key: each for key, each in found.crosstab.items() if names.issuperset(key)}
    pairs = tuple(twins([each.standing for each in seen], found.statistics))
    return Board(
        found.row,
        found.file,
        tuple(seen),
        (*found.statistics.told(secret), *map(told, pairs)),
        found.statistics,
        table,
        pairs,
        found.rules.scoring,
    )


def _masked(line: BoardLine) -> BoardLine:
    """Return a line without names, versions, forfeits, shares and returns."""
    nobody = Entrant(0, PRIVATE, PRIVATE, line.standing.entrant.status)
    masked = replace(line.standing, entrant=nobody, forfeits=0)
    estimate = line.estimate and line.estimate._replace(name=PRIVATE)
    return BoardLine(masked, estimate, line.ahead, None, {})
