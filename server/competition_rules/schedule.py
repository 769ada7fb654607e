"""Schedules of competitions: the opponents, rounds and seats of pairings.

A schedule holds one lap, in which every entry meets every other once.  It makes its pairings on
demand.  `count` returns the length of a schedule without making it, because groups of many seats
soon have more combinations than anybody could play.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import overload

from plyhouse.server.competition_rules.formats import EntryT, Pairing


class Schedule(Sequence[Pairing[EntryT]]):
    """The pairings of a round robin in order; made by `round_robin`.

    Their keys are their numbers.  No entry has two pairings in one round, so a round can run at
    once.

    Every lap has the same groups in the same order, so pairing ``number`` is of group
    ``number % len(groups)``.
    """

    def __init__(
        self,
        entries: Sequence[EntryT],
        rounds: int,
        laps: Sequence[Sequence[tuple[int, ...]]],
        *,
        mirrored: bool,
    ) -> None:
        self.groups = [tuple(entries[index] for index in group) for lap in laps for group in lap]
        """The opponents in a lap, in the seat order of the first lap."""
        self.rounds = rounds
        self.at_once = len(self.groups[0]) if mirrored else 1
        """The number of matches of a pairing."""
        self._round_of = [number for number, lap in enumerate(laps) for _ in lap]
        self._rounds_of_a_lap = len(laps)

    def __len__(self) -> int:
        return self.rounds * len(self.groups)

    @property
    def matches(self) -> int:
        """The number of matches of all pairings."""
        return len(self) * self.at_once

    @overload
    def __getitem__(self, number: int) -> Pairing[EntryT]: ...

    @overload
    def __getitem__(self, number: slice) -> list[Pairing[EntryT]]: ...

    def __getitem__(self, number: int | slice) -> Pairing[EntryT] | list[Pairing[EntryT]]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self)} pairings, and none of number {number}")
        lap, index = divmod(number, len(self.groups))
        group = self.groups[index]
        # With two seats each lap is balanced; the next lap reverses the seats.
        order = _rotated(group, lap % len(group))
        matches = tuple(_rotated(order, turn) for turn in range(self.at_once))
        number_of_round = lap * self._rounds_of_a_lap + self._round_of[index]
        return Pairing(str(number), number_of_round, matches)


def count(entries: int, rounds: int = 1, *, seats: int = 2, mirrored: bool = True) -> int:
    """Return how many matches `round_robin` would plan.

    Raises ValueError for fewer entries than seats, or no rounds.
    """
    if seats < 1 or entries < seats:
        raise ValueError(f"{entries} entries cannot fill {seats} seats")
    if rounds < 1:
        raise ValueError("there must be at least one round")
    return math.comb(entries, seats) * rounds * (seats if mirrored else 1)


def round_robin(
    entries: Sequence[EntryT], rounds: int = 1, *, seats: int = 2, mirrored: bool = True
) -> Schedule[EntryT]:
    """Let every group of ``seats`` entries meet ``rounds`` times.

    Pairings are in the order of the rounds.  If ``mirrored``, a pairing has one match per rotation
    of the seats (for two seats: both orders).  Otherwise it has one match, and the first seat is
    balanced over the schedule.  Two seats use the circle method.  More seats take all combinations,
    each in the first round in which all of its entries are free.  The running time grows with the
    groups of a lap.

    Raises ValueError for repeated entries, fewer entries than seats, or no rounds.
    """
    if len(set(entries)) != len(entries):
        raise ValueError("an entry is listed twice")
    count(len(entries), rounds, seats=seats, mirrored=mirrored)
    laps = _circle(len(entries)) if seats == 2 else _combinations(len(entries), seats)
    return Schedule(entries, rounds, laps, mirrored=mirrored)


def _rotated(group: tuple[EntryT, ...], shift: int) -> tuple[EntryT, ...]:
    return group[shift:] + group[:shift]


def _circle(count: int) -> list[list[tuple[int, ...]]]:
    """Pair everybody by the circle method: one is fixed, the others rotate.

    Returns the rounds as lists of pairs (first, second).  With an odd number of entries, every
    entry sits first exactly as often as second.  Entry ``i`` sits first against the next half of
    the circle, ``i + 1`` to ``i + (count - 1) / 2``.  With an even number the difference is one,
    the least possible, as every entry has an odd number of opponents.
    """
    table: list[int | None] = list(range(count))
    if count % 2:
        table.append(None)
    half = len(table) // 2
    laps: list[list[tuple[int, ...]]] = []
    for number in range(len(table) - 1):
        pairs: list[tuple[int, ...]] = []
        for place in range(half):
            one, other = table[place], table[-1 - place]
            if one is None or other is None:
                continue
            if count % 2:
                swap = (other - one) % count > count // 2
            else:
                # The fixed entry alternates by round; the other boards alternate by place.
                swap = bool(number % 2 if place == 0 else place % 2)
            pairs.append((other, one) if swap else (one, other))
        laps.append(pairs)
        table = [table[0], table[-1], *table[1:-1]]
    return laps


def _combinations(count: int, seats: int) -> list[list[tuple[int, ...]]]:
    """Return all groups of ``seats``, packed into rounds, with balanced seats."""
    laps: list[list[tuple[int, ...]]] = []
    busy = [0] * count
    """The rounds in which each entry plays, as bits."""
    sat = [[0] * seats for _ in range(count)]
    for group in itertools.combinations(range(count), seats):
        turned = min(
            (_rotated(group, shift) for shift in range(seats)),
            key=lambda order: sum([sat[entry][seat] for seat, entry in enumerate(order)]),
        )
        taken = 0
        for seat, entry in enumerate(turned):
            sat[entry][seat] += 1
            taken |= busy[entry]
        free = ~taken & (taken + 1)  # the lowest bit that is not set
        for entry in group:
            busy[entry] |= free
        lap = free.bit_length() - 1
        if lap == len(laps):
            laps.append([])
        laps[lap].append(turned)
    return laps
