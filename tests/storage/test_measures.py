"""The duration of a past final, without its pauses."""

from __future__ import annotations

from plyhouse.storage.measures import PAUSE_MS, elapsed_ms


def test_elapsed_counts_waits_between_matches_and_no_pauses() -> None:
    assert elapsed_ms([(0, 0), (300, 1300), (400, 900), (1500, 2500)]) == 2500
    night = 10 * PAUSE_MS
    assert elapsed_ms([(0, 1000), (night, night + 500)]) == 1500
    assert elapsed_ms([(night, night + 500), (0, 1000)]) == 1500
