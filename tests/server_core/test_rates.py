"""Token buckets: so many at once, then so many per second, for each key apart."""

from __future__ import annotations

import pytest
from tests.harness.clocks import FakeClock

from plyhouse.server.wire.limits import Rate


def test_a_burst_then_a_rate() -> None:
    time = FakeClock()
    rate = Rate(3, 0.5, time)
    assert [rate.take("ada") for _ in range(4)] == [True, True, True, False]
    assert rate.take("bob"), "others have their own"
    assert rate.wait("ada") == pytest.approx(2.0)
    time.advance(1)
    assert rate.wait("ada") == pytest.approx(1.0)
    time.advance(1)
    assert rate.take("ada")
    assert not rate.take("ada")


def test_what_is_given_back_counts_again_and_never_more_than_the_burst() -> None:
    rate = Rate(2, 1.0, FakeClock())
    assert rate.take("ada")
    for _ in range(5):
        rate.give_back("ada")
    assert rate.left("ada") == 2.0
    assert len(rate) == 0, "who has its whole allowance is forgotten"


def test_many_keys_take_bounded_memory() -> None:
    rate = Rate(1, 0.001, FakeClock(), most=100)
    for number in range(1000):
        rate.take(number)
    assert len(rate) == 100
    assert not rate.take(999)
