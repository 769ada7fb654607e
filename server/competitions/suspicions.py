"""The report on suspicious results and records of a competition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.reports import SameFiles, Suspicions, UnlikelyPair
from plyhouse.server.jobs.fair_queue import computed
from plyhouse.server.match.terminations import FORFEITS
from plyhouse.server.results.record import stored_record
from plyhouse.server.results.suspicion import (
    Choice,
    Match,
    alike,
    choices_of,
    unlikely_pairs,
)
from plyhouse.storage import competition_reruns, competition_results, competition_sql, match_reads
from plyhouse.storage.competition_results import FinalSeat
from plyhouse.storage.competition_rows import CompetitionEntry
from plyhouse.storage.rows import StoredMatch
from plyhouse.storage.store import Store

MOST_RECORDS: Final = 5_000
"""The largest number of records compared: the latest ones, as each must be replayed."""
AT_ONCE: Final = 100
"""The number of records read before they are replayed."""
SCORES: Final = {"W": 1.0, "D": 0.5, "L": 0.0}


async def suspicions(store: Store, reference: str, level: float) -> Suspicions:
    """Return the report on a competition; raises `Unknown`.

    This can take long; threads do the work, so the event loop stays free.
    """
    row = await store.read(competition_sql.find, reference)
    everybody = await store.read(competition_reruns.played_entries, row.id, replaced=True)
    entries = {each.bot_id: each for each in everybody}
    results = await store.read(competition_results.played, row.id)
    seats: dict[str, list[FinalSeat]] = {}
    for each in results:
        if each.bot_id in entries:
            seats.setdefault(each.match, []).append(each)
    staff = {each.player for each in entries.values() if each.baseline}
    pairs = await computed(_pairs, list(seats.values()), entries, staff)
    latest = sorted(seats, reverse=True)[:MOST_RECORDS]
    choices: list[Choice] = []
    records = 0
    for start in range(0, len(latest), AT_ONCE):
        stored = [
            await store.read(match_reads.stored_match, match)
            for match in latest[start : start + AT_ONCE]
        ]
        known, found = await computed(_choices, stored)
        records += known
        choices += found
    likenesses = await computed(alike, choices, staff=staff)
    return Suspicions(
        level,
        tuple([each for each in pairs if each.adjusted <= level]),
        len(pairs),
        tuple([each for each in likenesses if each.adjusted <= level]),
        records,
        len(seats) - records,
        same_files(everybody),
    )


def same_files(entries: Iterable[CompetitionEntry]) -> tuple[SameFiles, ...]:
    """Return entries of several owners whose versions have the same digest.

    At least one of the entries is a student's.
    """
    found: dict[str, dict[str, CompetitionEntry]] = {}
    for each in entries:
        if each.digest:
            found.setdefault(each.digest, {})[each.name] = each
    return tuple(
        SameFiles(digest, tuple(sorted(those)))
        for digest, those in sorted(found.items())
        if len({each.player_id for each in those.values()}) > 1
        and not all(each.baseline for each in those.values())
    )


def _pairs(
    matches: Sequence[Sequence[FinalSeat]], entries: dict[int, CompetitionEntry], staff: set[str]
) -> list[UnlikelyPair]:
    """Return the unlikely pairs among two-player matches that ended by play.

    Forfeits are left out: they show the quality of a program or a network.
    """
    rows = []
    for seats in matches:
        if len(seats) != 2 or seats[0].termination in FORFEITS:
            continue
        first, second = sorted(seats, key=lambda each: each.seat)
        if first.result in SCORES and second.result is not None:
            score = SCORES[first.result]
            rows.append(
                Match(entries[first.bot_id].name, entries[second.bot_id].name, score, first.game)
            )
    owners = {each.name: each.player for each in entries.values()}
    return unlikely_pairs(rows, owners, staff=staff)


def _choices(stored: Sequence[StoredMatch]) -> tuple[int, list[Choice]]:
    """Return the choices of bots in these matches, and how many were readable."""
    found: list[Choice] = []
    known = 0
    for each in stored:
        seats = [(f"{seat.player}/{seat.bot}", seat.player) for seat in each.header.seats]
        try:
            game = get_game(each.header.game)
            found += choices_of(stored_record(each, game), game, seats)
        except GameError:  # The game has changed, or it is no longer installed.
            continue
        known += 1
    return known, found
