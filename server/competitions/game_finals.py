"""The games of a final: tables, rounds, and the certainty of grades.

They follow from stored rows; computing them reads every seat of every match.  A game is therefore
computed once for all viewers.  It is computed again when one of its matches has begun, ended or
become void, or when its entries have changed.  While a large game runs, the next computation waits
at least `PATIENCE` times as long as the last one took.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from cachetools import LRUCache

from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.formats import LineState, Round, RoundLine, TableLine
from plyhouse.server.competition_rules.gauntlet import Gauntlet
from plyhouse.server.competition_rules.ladder import Ladder
from plyhouse.server.competition_rules.progress import field_of, look
from plyhouse.server.competition_rules.tie_breaks import placed, places_without
from plyhouse.server.competitions.tournament_restore import (
    StoredRun,
    format_of,
    graded_of,
    progress_of,
    replaced_pairings,
    sides_of,
)
from plyhouse.server.competitions.tournament_state import PairingId
from plyhouse.server.grades.game_tables import GRADE, Certainty, GameFinal
from plyhouse.server.jobs.fair_queue import computed_for
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl
from plyhouse.storage import competition_results, tournaments
from plyhouse.storage.competition_results import Extent
from plyhouse.storage.competition_results import State as FinalState
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import EntryRow, PlayedSeat, TournamentRow
from plyhouse.storage.store import Store
from plyhouse.storage.tournament_settings import settings

KEPT: Final = 32
"""Number of games whose tables and rounds are kept in memory: the last ones viewed."""
PATIENCE: Final = 20.0
"""Time between computations of a running game, as a multiple of the last computation's time."""
FEW: Final = 2_000
"""Largest number of seats with which a game is computed at every change."""


@dataclass(slots=True)
class _Kept:
    """The cached computation of one game."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    key: tuple[TournamentRow, tuple[EntryRow, ...], Extent] | None = None
    """The rows from which it was computed."""
    final: GameFinal | None = None
    state: FinalState | None = None
    """The progress of the whole final at the last look, if the caller knew it."""
    until: float = 0.0
    """While the game runs, the cached result is valid until this time."""


class GameFinals:
    """The games of the finals of one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: LRUCache[str, _Kept] = LRUCache(KEPT)

    def forget(self) -> None:
        """Clear the cache."""
        self._kept.clear()

    async def of(
        self, row: CompetitionRow, *, fresh: bool = False, state: FinalState | None = None
    ) -> list[GameFinal]:
        """Return the games of a final that have begun; ``fresh``: no cached ones.

        ``state`` is the progress of the final, if you know it.  While it stays the same, no match
        has ended or become void, and the matches need not be counted.
        """
        found = []
        for game in row.games:
            if game.tournament_id is None:
                continue
            try:
                part = await self._store.read(tournaments.find_tournament, game.tournament_id)
            except Unknown:  # The game was deleted on its own.
                continue
            found.append(await self._game(part, fresh=fresh, state=state))
        return found

    async def _game(
        self, part: TournamentRow, *, fresh: bool, state: FinalState | None
    ) -> GameFinal:
        kept = self._kept.setdefault(part.id, _Kept())
        async with kept.lock:
            patient = part.status == "running" and not fresh
            if kept.final is not None and patient and time.monotonic() < kept.until:
                return kept.final
            entries = await self._store.read(tournaments.list_entries, part.id)
            known = None if kept.key is None or kept.state != state else kept.key[:2]
            if kept.final is not None and state is not None and known == (part, tuple(entries)):
                return kept.final
            key = part, tuple(entries), await self._store.read(competition_results.extent, part.id)
            if kept.final is None or kept.key != key:
                began = time.monotonic()
                seats = await self._store.read(tournaments.played_seats, part.id)
                final = await computed_for(part.id, partial(_worked_out, part, entries, seats))
                table = tuple(places_without(final.table, settings(part).twins))
                kept.final, kept.key = replace(final, table=table), key
                now = time.monotonic()
                kept.until = now + (PATIENCE * (now - began) if len(seats) > FEW else 0.0)
            kept.state = state
            return kept.final


def _worked_out(
    row: TournamentRow, entries: Sequence[EntryRow], seats: Sequence[PlayedSeat]
) -> GameFinal:
    """Compute a format's view of stored rows; this can take long."""
    game = get_game(row.game)
    terms = Terms(game, TimeControl.parse(row.time_control), row.rated, row.mirrored)
    names = {each.bot_id: f"{each.player}/{each.bot}" for each in entries}
    way = format_of(row, terms)
    versions = {each.bot_id: each.version_id for each in entries}
    sides = sides_of(row)
    entries, seats = sides.entries(entries), sides.seats(seats, versions)
    stored = StoredRun.read(row, seats, versions)
    if isinstance(way, Ladder):
        return _ladder(row, entries, stored, names, replaced_pairings(row, seats, versions))
    if isinstance(way, Gauntlet) and way.until_certain:
        return _graded(row, way, entries, stored, names)
    facts = progress_of(row, way, entries, stored)
    if way.adaptive or facts.pool or facts.facts().leaving:
        facts.accept(look(way, facts.facts(), facts.pool))
    known = facts.facts()
    run = settings(row).run
    pairings = {key: str(PairingId(row.id, key, run)) for key in facts.begun}
    return GameFinal(
        game=row.game,
        tournament_id=row.id,
        format=way.name,
        tie_breaks=way.tie_breaks,
        table=tuple(way.table(known)),
        rounds=tuple(way.plan(known).rounds),
        names=names,
        pairings={**pairings, **facts.reused},
        decided_by=way.rule_of_places,
        column=way.column,
        lot=settings(row).lot,
        seeds=facts.field.ranked if way.adaptive else (),
    )


def _graded(
    row: TournamentRow,
    way: Gauntlet,
    entries: Sequence[EntryRow],
    stored: StoredRun,
    names: dict[int, str],
) -> GameFinal:
    """Return a gauntlet until grades are certain; its rounds are those begun."""
    work = graded_of(row, way, entries, stored)
    known = work.facts()
    pairings = {key: str(PairingId(row.id, key, settings(row).run)) for key in stored.begun}
    rules = settings(row).grading
    if rules is None:
        table, decided_by, column = way.table(known), way.rule_of_places, way.column
    else:
        table = work.table(rules.order, every_lower=rules.every_lower)
        decided_by = "the grade, then the mean score with all baselines weighted equally"
        column = GRADE
    return GameFinal(
        game=row.game,
        tournament_id=row.id,
        format=way.name,
        tie_breaks=way.tie_breaks,
        table=tuple(table),
        rounds=tuple(way.plan(known).rounds),
        names=names,
        pairings={**pairings, **work.reused},
        certainty=tuple(Certainty(*pair, decision) for pair, decision in work.decisions().items()),
        decided_by=decided_by,
        column=column,
    )


def _ladder(
    row: TournamentRow,
    entries: Sequence[EntryRow],
    stored: StoredRun,
    names: dict[int, str],
    replaced: Collection[str],
) -> GameFinal:
    """Return a ladder; its points are ratings in Elo, fitted to its pairings.

    Pairings of ``replaced`` versions are left out.
    """
    # This imports numpy, which only fits need.
    from plyhouse.server.results.ratings import PairScore, fit

    results = [
        each for each in stored.finished.values() if not each.void and each.key not in replaced
    ]
    rated = fit(
        PairScore(
            a=each.entries[0],
            b=each.entries[1],
            games=each.matches,
            score=each.scores[0],
            squares=each.scores[0] ** 2 / each.matches,
        )
        for each in results
    )
    played = Counter(bot for each in results for bot in each.entries)
    lines = []
    for key in sorted(stored.begun.keys() - set(replaced), key=lambda key: int(key[1:])):
        outcome, pair = stored.finished.get(key), stored.begun[key]
        state = LineState.PLAYING if outcome is None else LineState.FINISHED
        state = LineState.VOID if outcome is not None and outcome.void else state
        lines.append(RoundLine(key, 0, pair, state, outcome))
    rows = [
        TableLine(
            each.bot_id,
            None,
            rated[each.bot_id].elo if each.bot_id in rated else 0.0,
            played[each.bot_id],
            (),
            each.status == "withdrawn",
        )
        for each in entries
    ]
    field = field_of([each.bot_id for each in entries])
    table = placed(rows, field, lambda line: (float(line.played > 0), line.points))
    return GameFinal(
        game=row.game,
        tournament_id=row.id,
        format="ladder",
        tie_breaks=(),
        table=tuple(table),
        rounds=(Round(0, "Ladder", tuple(lines)),) if lines else (),
        names=names,
        pairings=stored.ids,
        decided_by=Ladder.rule_of_places,
        column=Ladder.column,
    )
