"""Pairings begin in the order of the schedule, as soon as their entries have room."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.server.competition_rules import pairing_queue as module
from plyhouse.server.competition_rules.pairing_queue import RoundRobinQueue
from plyhouse.server.competition_rules.schedule import Schedule, round_robin


def in_order(schedule: Schedule[Any], waiting: list[int], free: dict[Any, int]) -> list[int]:
    """Return the pairings that can begin, found by trying every waiting one."""
    free = dict(free)
    found = []
    for number in waiting:
        pairing = schedule[number]
        if all(free[entry] >= len(pairing.matches) for entry in pairing.entries):
            found.append(number)
            for entry in pairing.entries:
                free[entry] -= len(pairing.matches)
    return found


@settings(max_examples=100, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.integers(2, 6),
    st.integers(1, 3),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([0, 9, 999]),
)
def test_what_begins_is_what_a_look_at_every_pairing_finds(
    random: Random, entries: int, rounds: int, seats: int, mirrored: bool, many: int
) -> None:
    if entries < seats:
        return
    schedule = round_robin(range(entries), rounds, seats=seats, mirrored=mirrored)
    begun = {number for number in range(len(schedule)) if random.random() < 0.3}
    waiting = [number for number in range(len(schedule)) if number not in begun]
    queue = RoundRobinQueue(schedule, begun)
    free = dict.fromkeys(range(entries), 0)
    first = True
    while waiting:
        freed = [random.randrange(entries) for _ in range(random.randint(1, 3))]
        for entry in freed:
            free[entry] += random.randint(0, 2)
        expected = in_order(schedule, waiting, free)
        told = None if first else freed
        first = False
        with mock.patch.object(module, "MANY", many):
            taken = queue.take(free.__getitem__, told, limit=1000)
        assert [int(pairing.key) for pairing in taken] == expected
        for pairing in taken:
            number = int(pairing.key)
            assert pairing == schedule[number]
            waiting.remove(number)
            for entry in pairing.entries:
                free[entry] -= len(pairing.matches)
        assert len(queue) == len(waiting)
        left = {entry for number in waiting for entry in schedule[number].entries}
        assert set(queue.entries()) == left
    assert queue.take(lambda entry: 99, limit=1) == []


def test_no_more_are_taken_than_asked_for_and_the_rest_comes_next() -> None:
    queue = RoundRobinQueue(round_robin("abcd", 3))
    free = dict.fromkeys("abcd", 6)
    numbers = []
    while taken := queue.take(free.__getitem__, limit=2):
        assert len(taken) <= 2
        for pairing in taken:
            numbers.append(int(pairing.key))
            for entry in pairing.entries:
                free[entry] -= 2
    assert numbers == list(range(6))
    assert len(queue) == 12


def test_only_those_are_asked_for_their_room_who_could_play() -> None:
    queue = RoundRobinQueue(round_robin(range(50), 20, mirrored=False))
    asked: Counter[int] = Counter()

    def room(entry: int) -> int:
        asked[entry] += 1
        return int(entry in (7, 8))

    [pairing] = queue.take(room, [7, 8, 51], limit=100)
    assert set(pairing.entries) == {7, 8}
    assert max(asked.values()) == 1


def test_who_is_dropped_plays_no_more_and_the_others_play_on() -> None:
    schedule = round_robin(["ada", "bob", "cy"], 2, seats=2, mirrored=True)
    queue = RoundRobinQueue(schedule)
    first = queue.take(lambda _: 2, limit=1)
    assert len(first) == 1
    queue.withdraw("ada")
    dropped = schedule.matches - queue.planned
    assert dropped // queue.at_once + len(queue) == 5
    assert set(queue.entries()) == {"bob", "cy"}
    queue.withdraw("ada")
    assert schedule.matches - queue.planned == dropped
    rest = queue.take(lambda _: 100, limit=100)
    assert all(set(pairing.entries) == {"bob", "cy"} for pairing in rest)
    assert len(queue) == 0
    assert queue.entries() == []
