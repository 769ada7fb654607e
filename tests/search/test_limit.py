from __future__ import annotations

import dataclasses
import math

import pytest

from plyhouse.search import Limit, SearchResult
from plyhouse.search.poll import LONGEST, Poll, SearchStopped


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"time": -0.1}, r"Limit\(time=-0.1\): expected seconds from 0 up"),
        ({"time": math.inf}, "expected seconds from 0 up"),
        ({"time": math.nan}, "expected seconds from 0 up"),
        ({"depth": 0}, r"Limit\(depth=0\): expected at least 1"),
        ({"nodes": -5}, r"Limit\(nodes=-5\): expected at least 1"),
        ({"simulations": 0}, r"Limit\(simulations=0\): expected at least 1"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(bounds: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Limit(**bounds)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"time": "1"}, "expected seconds as a number"),
        ({"time": True}, "expected seconds as a number"),
        ({"depth": 2.0}, r"Limit\(depth=2.0\): expected a whole number"),
        ({"nodes": True}, "expected a whole number"),
        ({"report": 3}, "expected a function"),
    ],
)
def test_a_limit_of_the_wrong_type_is_refused(bounds: dict[str, object], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Limit(**bounds)  # type: ignore[arg-type]


def test_limits_and_results_are_frozen() -> None:
    limit = Limit(depth=3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        limit.depth = 4  # type: ignore[misc]
    result = SearchResult(action=1, value=0.0, pv=(1,), depth=1, nodes=2, time=0.1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.value = 1.0  # type: ignore[misc]


def test_the_poll_stops_exactly_at_the_node_limit() -> None:
    poll = Poll(Limit(nodes=100, clock=lambda: 0))
    nodes = 1
    while nodes < 100:
        nodes = poll(nodes)
    assert nodes == 100
    with pytest.raises(SearchStopped):
        poll(nodes)


def test_the_poll_stops_at_the_deadline_not_before() -> None:
    now = [1000]
    poll = Poll(Limit(time=0.5, clock=lambda: now[0]))
    now[0] += 500_000_000 - 1
    poll(1)
    now[0] += 1
    with pytest.raises(SearchStopped):
        poll(2)


def test_polls_become_rare_when_nodes_are_fast_and_frequent_when_they_are_slow() -> None:
    now = [0]
    poll = Poll(Limit(clock=lambda: now[0]))
    nodes = 0
    for _ in range(20):
        now[0] += 1
        due = poll(nodes)
        step, nodes = due - nodes, due
    assert step == LONGEST
    for _ in range(20):
        now[0] += 10_000_000
        due = poll(nodes)
        step, nodes = due - nodes, due
    assert step == 1
