"""Round robins: everybody meets everybody, nobody twice in a round, seats in balance."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.server.competition_rules.schedule import count, round_robin


def test_a_small_schedule_as_people_write_it() -> None:
    schedule = round_robin(["a", "b", "c", "d"])
    assert [(each.round, "".join(each.entries)) for each in schedule] == SMALL
    assert all(each.matches == (each.entries, each.entries[::-1]) for each in schedule)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 14), st.integers(1, 3), st.booleans())
def test_everybody_meets_everybody(entries: int, rounds: int, mirrored: bool) -> None:
    schedule = round_robin(range(entries), rounds, mirrored=mirrored)
    met = Counter(frozenset(each.entries) for each in schedule)
    assert set(met.values()) == {rounds}
    assert len(met) == math.comb(entries, 2)
    assert [each.round for each in schedule] == sorted(each.round for each in schedule)
    for number in {each.round for each in schedule}:
        busy = [entry for each in schedule if each.round == number for entry in each.entries]
        assert len(busy) == len(set(busy))
    cycle = entries - 1 if entries % 2 == 0 else entries
    assert len({each.round for each in schedule}) == rounds * cycle
    first = Counter(match[0] for each in schedule for match in each.matches)
    most = max(first[entry] for entry in range(entries))
    assert most - min(first[entry] for entry in range(entries)) <= 2


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 8), st.integers(3, 5), st.booleans())
def test_larger_groups_meet_in_all_combinations(entries: int, seats: int, mirrored: bool) -> None:
    if entries < seats:
        return
    schedule = round_robin(range(entries), seats=seats, mirrored=mirrored)
    assert len(schedule) == math.comb(entries, seats)
    assert len({frozenset(each.entries) for each in schedule}) == len(schedule)
    for number in {each.round for each in schedule}:
        busy = [entry for each in schedule if each.round == number for entry in each.entries]
        assert len(busy) == len(set(busy))
    sat = Counter((e, s) for each in schedule for m in each.matches for s, e in enumerate(m))
    if mirrored:
        assert len(set(sat.values())) == 1, "every seat equally often"
    else:
        counts = [sat[entry, seat] for entry in range(entries) for seat in range(seats)]
        assert max(counts) - min(counts) <= seats


def test_one_seat_is_a_schedule_too() -> None:
    assert [each.entries for each in round_robin("ab", seats=1)] == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("entries", "rounds", "seats", "problem"),
    [("aba", 1, 2, "twice"), ("a", 1, 2, "cannot fill"), ("ab", 0, 2, "round")],
)
def test_impossible_schedules_are_refused(
    entries: str, rounds: int, seats: int, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        round_robin(entries, rounds, seats=seats)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 3), st.integers(1, 4), st.booleans())
def test_a_schedule_is_as_long_as_was_counted(
    entries: int, rounds: int, seats: int, mirrored: bool
) -> None:
    if entries < seats:
        return
    schedule = round_robin(range(entries), rounds, seats=seats, mirrored=mirrored)
    assert schedule.matches == count(entries, rounds, seats=seats, mirrored=mirrored)
    assert schedule.matches == sum(len(each.matches) for each in schedule)
    assert len(schedule) == len(list(schedule))
    assert schedule[1:3] == list(schedule)[1:3]
    with pytest.raises(IndexError):
        schedule[len(schedule)]


def test_counting_makes_nothing() -> None:
    assert count(300, 1000) == 300 * 299 * 1000
    assert count(60, seats=10, mirrored=False) == math.comb(60, 10)
    with pytest.raises(ValueError, match="cannot fill 3 seats"):
        count(2, seats=3)


SMALL = [(0, "ad"), (0, "cb"), (1, "ca"), (1, "bd"), (2, "ab"), (2, "dc")]
