"""Pairings to which neither bot comes, told from those that the server or somebody stopped."""

from __future__ import annotations

import pytest

from plyhouse.server.competitions.tournament_restore import StoredRun
from plyhouse.server.competitions.tournament_state import MAX_AGAIN, PairingId, PairingTally
from plyhouse.storage.rows import PlayedSeat, TournamentRow

ROW = TournamentRow("c", "Cup", "pig", "move:1", "swiss", 1, True, False, 0, "running")


def stored(missed: list[bool], counts: bool = False) -> StoredRun:
    """The rows of a pairing whose attempts, of two matches each, were all void."""
    seats = []
    for attempt, never in enumerate(missed):
        name = str(PairingId("c", "r1-01", 1, attempt))
        for match in (1, 2):
            good = counts and attempt == len(missed) - 1
            for bot in (7, 8) if match == 1 else (8, 7):
                score, result = (0.5, "D") if good else (None, None)
                identifier = f"m{attempt}{match}"
                seats.append(PlayedSeat(name, identifier, bot, 1, score, result, True, "", never))
    return StoredRun.read(ROW, seats, {7: 1, 8: 1})


@pytest.mark.parametrize(
    ("missed", "forfeited"),
    [
        ([True] * (MAX_AGAIN + 1), {7, 8}),
        ([False] * (MAX_AGAIN + 1), set()),
        ([True] * MAX_AGAIN + [False], set()),
    ],
)
def test_who_never_came_has_forfeited_what_is_void(missed: list[bool], forfeited: set[int]) -> None:
    outcome = stored(missed).finished["r1-01"]
    assert outcome.void
    assert outcome.forfeited == forfeited
    tally = PairingTally((7, 8))  # as it is counted while it is played
    for each in missed:
        tally.void(missed=each)
        tally.void(missed=each)
    assert tally.outcome("r1-01") == outcome


def test_who_came_late_has_forfeited_nothing() -> None:
    outcome = stored([True, True, False], counts=True).finished["r1-01"]
    assert not outcome.void
    assert outcome.forfeited == frozenset()
    assert outcome.matches == 2
