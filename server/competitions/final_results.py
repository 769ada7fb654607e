"""The results of finals: outcomes, standings and statistics, computed from stored matches.

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

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.file_reader import stored_competition
from plyhouse.server.competition_rules.sides import sides_in
from plyhouse.server.grades.board_statistics import Crossing, MatchOutcome, Statistics, crosstab
from plyhouse.server.grades.final_rules import (
    FinalRules,
    scoring_of,
)
from plyhouse.server.grades.standings import Entrant, SeatResult, Standing, standings
from plyhouse.server.match.terminations import FORFEITS
from plyhouse.server.results.luck import Judge, judge_of, match_luck
from plyhouse.server.results.suspicion import PlayedLine, repeat_weights
from plyhouse.storage import (
    competition_reruns,
    competition_results,
    tournaments,
)
from plyhouse.storage.competition_results import FinalSeat, State
from plyhouse.storage.competition_rows import CompetitionEntry, CompetitionRow
from plyhouse.storage.errors import Unknown
from plyhouse.storage.store import Store
from plyhouse.storage.tournament_settings import GradingRules, settings

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
    left: Mapping[str, frozenset[int]]
    """The entries that left games, if that counts; see `missing_games`."""


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


class FinalResults:
    """The results of the finals of one server."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._kept: LRUCache[str, _Kept] = LRUCache(KEPT)

    def forget(self) -> None:
        """Clear the cache, because entries have other names."""
        self._kept.clear()

    async def of(self, row: CompetitionRow, *, complete: bool = False) -> Results:
        """Return the results of a final; ``complete`` also computes all luck."""
        kept = self._kept.setdefault(row.id, _Kept())
        async with kept.lock:
            found = await self._good(row, kept, complete=complete)
            while found is None or (complete and not kept.complete):
                found = await self._work(row, kept)
        return found

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
        file = stored_competition(row.file)
        entries = tuple(
            await self._store.read(competition_reruns.played_entries, row.id, replaced=True)
        )
        state = await self._store.read(competition_results.state, row.id)
        seats = await self._store.read(competition_results.played, row.id)
        sides = sides_in(file, entries)
        counted = sides.final_seats(seats)
        outcomes = await asyncio.to_thread(_outcomes, entries, counted)
        extra = await self._read_events(kept, outcomes, counted)
        rules = await final_rules(self._store, row, file)
        left = [
            each
            for each in outcomes
            if _judge(each.game) is not None and each.match not in kept.luck
        ]
        gone = await self._store.read(competition_results.withdrawn, row.id)
        left_games = _left(row, file, entries, counted, gone) if rules.missing_lowest else {}
        found = kept.results = await asyncio.to_thread(
            _worked,
            row, file, entries, seats, counted, outcomes, kept, state, extra, rules, left_games,
        )  # fmt: skip
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
    counted: Sequence[FinalSeat],
    outcomes: Sequence[MatchOutcome],
    kept: _Kept,
    state: State,
    extra: Sequence[str],
    rules: FinalRules,
    left: Mapping[str, frozenset[int]],
) -> Results:
    """Compute all results of the matches; this can take long."""
    # This imports numpy, which only competitions need.
    from plyhouse.server.grades.board_fits import compute_statistics

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
        for each in counted
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
        tuple(standings(entrants, results, by_opponent=rules.by_opponent, left=left)),
        compute_statistics(outcomes, repeats, extra, rules.scoring),
        crosstab(outcomes, any_time=file.until_certain),
        state,
        rules,
        left,
    )


def _left(
    row: CompetitionRow,
    file: CompetitionFile,
    entries: Sequence[CompetitionEntry],
    counted: Sequence[FinalSeat],
    withdrawn: Iterable[tuple[str, int]],
) -> dict[str, frozenset[int]]:
    """Return the entries that left each game, by captain.

    These are the withdrawn ones, and in a game that is over also those without a finished match.
    A void match is none of their doing, so that a game with nothing else is not left.  A
    disqualified entry left nothing: it was kept from playing, and has no rank and no grade to lose.
    """
    sides = sides_in(file, entries)
    inside = {each.bot_id for each in sides.captains(entries)}
    inside -= {sides.captain(each.bot_id) for each in entries if each.status == "disqualified"}
    out = {sides.captain(each.bot_id) for each in entries if each.status == "withdrawn"}
    gone: dict[str, set[int]] = {each.game: set(out) for each in row.games}
    for game, bot in withdrawn:
        gone[game].add(sides.captain(bot))
    for each in row.games:
        if each.status == "finished":
            seen = {seat.bot_id for seat in counted if seat.game == each.game}
            gone[each.game] |= inside - seen
    return {game: frozenset(bots & inside) for game, bots in gone.items()}


def entrants_of(entries: Sequence[CompetitionEntry], file: CompetitionFile) -> tuple[Entrant, ...]:
    """Return the entries of a competition in the form that standings need.

    With teams, an entry is a side, under the name of its captain.
    """
    sides = sides_in(file, entries)
    by_id = {each.bot_id: each for each in entries}
    names = {each.name.lower(): each.name for each in entries}
    twins = {twin: names.get(entry, "") for twin, entry in file.twins.items()}
    return tuple(
        Entrant(
            bot_id=each.bot_id,
            name=each.name,
            student=each.player,
            status=_status([by_id[bot].status for bot in sides.members(each.bot_id)]),
            baseline=each.baseline,
            version=each.version,
            digest=each.digest,
            twin_of=twins.get(each.name.lower(), "") if each.baseline else "",
            partners=tuple((bot, by_id[bot].name) for bot in sides.members(each.bot_id)[1:]),
        )
        for each in sides.captains(entries)
    )


def _status(members: Sequence[str]) -> str:
    """Return the status of a side: a bot that is out takes its partners with it."""
    return min(members, key=("disqualified", "withdrawn", "active").index)


async def final_rules(store: Store, row: CompetitionRow, file: CompetitionFile) -> FinalRules:
    """Return the rules of a final; before it begins, those of the file."""
    scoring = {}
    grading: list[GradingRules | None] = []
    for game in row.games:
        scoring[game.game] = file.scored_by(game.game)
        if game.tournament_id is not None:
            try:
                part = await store.read(tournaments.find_tournament, game.tournament_id)
            except Unknown:  # Only this game of the final was deleted.
                continue
            scoring[game.game] = scoring_of(part)
            grading.append(settings(part).grading)
    if None in grading:
        return FinalRules(scoring, every_lower=False, missing_lowest=False, by_opponent=False)
    kept = [each for each in grading if each]
    every_lower = all(each.every_lower for each in kept) if kept else file.every_lower
    missing_lowest = all(each.missing_lowest for each in kept)
    return FinalRules(scoring, every_lower, missing_lowest, file.until_certain)
