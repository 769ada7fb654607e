"""Schedules of competitions, as plain lists of pairings."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Pairing", "round_robin"]

EntryT = TypeVar("EntryT")


@dataclass(frozen=True, slots=True)
class Pairing(Generic[EntryT]):
    """Matches between the same entries."""

    round: int
    """Number from 0; no entry has two pairings in one round, so a round can run at once."""
    matches: tuple[tuple[EntryT, ...], ...]
    """The entries in seat order, once per match."""

    @property
    def entries(self) -> tuple[EntryT, ...]:
        """Who meets, in the seat order of the first match."""
        return self.matches[0]


def round_robin(
    entries: Sequence[EntryT], rounds: int = 1, *, seats: int = 2, mirrored: bool = True
) -> list[Pairing[EntryT]]:
    """Let every group of ``seats`` entries meet ``rounds`` times, in order of the rounds.

    ``mirrored``: a pairing has one match per rotation of the seats (for two seats: both ways
    round).  Otherwise it has one match, and who sits first is balanced over the schedule.  Two
    seats use the circle method; more seats take all combinations, each in the first round in
    which all of its entries are free.

    Raises ValueError for repeated entries, fewer entries than seats, or no rounds.
    """
    if len(set(entries)) != len(entries):
        raise ValueError("an entry is listed twice")
    if seats < 1 or len(entries) < seats:
        raise ValueError(f"{len(entries)} entries cannot fill {seats} seats")
    if rounds < 1:
        raise ValueError("there must be at least one round")
    cycle = _circle(len(entries)) if seats == 2 else _combinations(len(entries), seats)
    schedule: list[Pairing[EntryT]] = []
    for lap in range(rounds):
        for number, groups in enumerate(cycle):
            for group in groups:
                # With two seats a lap is balanced in itself; the next lap turns it round.
                order = tuple(entries[index] for index in _rotated(group, lap % seats))
                turns = range(seats) if mirrored else range(1)
                matches = tuple(_rotated(order, turn) for turn in turns)
                schedule.append(Pairing(lap * len(cycle) + number, matches))
    return schedule


def _rotated(group: tuple[EntryT, ...], shift: int) -> tuple[EntryT, ...]:
    return group[shift:] + group[:shift]


def _circle(count: int) -> list[list[tuple[int, ...]]]:
    """Everybody against everybody: one stands still, the others walk round the table.

    Returns the rounds as lists of pairs (first, second).  Everybody sits first in half of its
    pairings, give or take one.
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
            # The one that stands still alternates; the other tables alternate by their place.
            swap = number % 2 if place == 0 else place % 2
            pairs.append((other, one) if swap else (one, other))
        laps.append(pairs)
        table = [table[0], table[-1], *table[1:-1]]
    return laps


def _combinations(count: int, seats: int) -> list[list[tuple[int, ...]]]:
    """All groups of ``seats``, packed into rounds; groups are turned so that seats balance."""
    laps: list[list[tuple[int, ...]]] = []
    busy: list[set[int]] = []
    sat = [[0] * seats for _ in range(count)]
    for group in itertools.combinations(range(count), seats):
        turned = min(
            (_rotated(group, shift) for shift in range(seats)),
            key=lambda order: sum(sat[entry][seat] for seat, entry in enumerate(order)),
        )
        for seat, entry in enumerate(turned):
            sat[entry][seat] += 1
        for lap, taken in zip(laps, busy, strict=True):
            if taken.isdisjoint(group):
                lap.append(turned)
                taken.update(group)
                break
        else:
            laps.append([turned])
            busy.append(set(group))
    return laps
