"""The results of finals, read from the database and kept in memory.

A thread computes the results of a final (`plyhouse.server.grades.final_results`).  They are kept
until the number of finished or void matches changes.  While a final runs, the next computation
waits at least `PATIENCE` times as long as the last one took, so that viewers cannot take the
machine from the matches.  Events of matches, which show luck and repeated games, are read once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from cachetools import LRUCache

from plyhouse.server.competition_rules.file import CompetitionFile, file_of
from plyhouse.server.competition_rules.sides import sides_in
from plyhouse.server.grades.board_statistics import MatchOutcome
from plyhouse.server.grades.final_results import (
    Results,
    compute_results,
    counted_outcomes,
    entries_that_left,
    judge_in,
    luck_in,
    played_line,
    repeatable_matches,
    versions_of,
)
from plyhouse.server.grades.final_rules import (
    FinalRules,
    scoring_of,
)
from plyhouse.server.jobs.fair_queue import computed_for
from plyhouse.server.results.suspicion import PlayedLine
from plyhouse.storage import (
    competition_reruns,
    competition_results,
    tournaments,
)
from plyhouse.storage.competition_results import FinalSeat
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
BUDGET: Final = 2.0
"""Seconds spent on luck in one computation; the next ones continue with the rest."""


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


class ResultsCache:
    """The results of the finals of one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
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
        if row.status == "running" and same and not complete and time.monotonic() < kept.until:
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
        return found if kept.complete or time.monotonic() < kept.until else None

    async def _work(self, row: CompetitionRow, kept: _Kept) -> Results:
        begun = time.monotonic()
        file = file_of(row)
        entries = tuple(
            await self._store.read(competition_reruns.played_entries, row.id, replaced=True)
        )
        state = await self._store.read(competition_results.state, row.id)
        seats = await self._store.read(competition_results.played, row.id)
        sides = sides_in(file, entries)
        counted = sides.final_seats(seats)
        outcomes = await computed_for(row.id, partial(counted_outcomes, entries, counted))
        extra = await self._read_events(row.id, kept, outcomes, counted)
        rules = await read_final_rules(self._store, row, file)
        left = [
            each
            for each in outcomes
            if judge_in(each.game) is not None and each.match not in kept.luck
        ]
        withdrawn = await self._store.read(competition_results.withdrawn, row.id)
        gone = entries_that_left(row, file, entries, counted, withdrawn)
        gone = gone if rules.missing_lowest else {}
        found = kept.results = await computed_for(
            row.id,
            partial(
                compute_results,
                row, file, entries, seats, counted, outcomes, kept.luck, kept.lines,
                state, extra, rules, gone,
            ),
        )  # fmt: skip
        kept.entries = entries
        kept.complete = not left or bool(extra)
        kept.until = time.monotonic() + PATIENCE * (time.monotonic() - begun)
        return found

    async def _read_events(
        self,
        competition: str,
        kept: _Kept,
        outcomes: Sequence[MatchOutcome],
        seats: Sequence[FinalSeat],
    ) -> list[str]:
        """Read the events of matches; return a note if there are too many."""
        dicey = [each for each in outcomes if judge_in(each.game) is not None]
        repeatable = repeatable_matches(outcomes, seats)
        fresh = [each for each in dicey if each.match not in kept.luck]
        again = [each for each in repeatable if each.match not in kept.lines]
        if len(dicey) + len(repeatable) > MOST_MATCHES:
            return [
                f"Luck and repeated games are looked for in up to {MOST_MATCHES:,} matches only."
            ]
        versions = versions_of(seats)
        end = time.monotonic() + BUDGET
        for start in range(0, len(again), AT_ONCE):
            some = again[start : start + AT_ONCE]
            read = await self._store.read(
                competition_results.match_events, [each.match for each in some]
            )
            for each in some:
                kept.lines[each.match] = played_line(each, versions[each.match], read[each.match])
        for start in range(0, len(fresh), AT_ONCE):
            if time.monotonic() >= end:
                break
            some = fresh[start : start + AT_ONCE]
            read = await self._store.read(
                competition_results.match_events, [each.match for each in some]
            )
            work = partial(luck_in, some, read, time.monotonic, end)
            kept.luck |= await computed_for(competition, work)
        return []


async def read_final_rules(store: Store, row: CompetitionRow, file: CompetitionFile) -> FinalRules:
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
