"""The last plies of kalah from a table, for `plyhouse.games.endgames`.

With few seeds left in the houses, best play from there is worth a number of seeds, which does not
depend on the stores.  A table has that number for each placement, seen by the seat to move.  A
search fills the table where it looks, and all searches of a process share it.  The seeds in the
houses never come back to an earlier placement, so each needs only the placements that follow it.

Placements are numbered by the positions of the bars among seeds and bars ("stars and bars"), those
with fewer seeds first.
"""

from __future__ import annotations

import functools
from math import comb
from typing import TYPE_CHECKING, Any, Final, final

from plyhouse.games.endgames import Endings, Meter

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import i64

__all__ = ["KalahEndings"]

MOST_SEEDS: Final = 12
"""Seeds in the houses up to which positions are in a table."""
MOST_PLACEMENTS: Final = 3_000_000
"""Placements of a table at most: boards with more houses have tables of fewer seeds."""

CHEAP: Final = 6
"""Seeds up to which the table is filled at any depth; with one more for each ply of depth."""

EVEN: Final = 128
"""The entry of a placement without a lead; 0 marks one that nobody has asked about."""


class Placements:
    """The table of boards with so many houses."""

    def __init__(self, houses: int) -> None:
        pits: int = 2 * houses
        seeds: int = MOST_SEEDS
        while comb(seeds + pits, pits) > MOST_PLACEMENTS:
            seeds -= 1
        self.seeds: i64 = seeds
        self.leads: bytearray = bytearray(comb(seeds + pits, pits))
        # At bar * width + place: how many placements have this bar further left.
        self.width: i64 = seeds + pits
        self.before: tuple[int, ...] = tuple(
            [comb(place, bar + 1) for bar in range(pits) for place in range(seeds + pits)]
        )


@functools.cache
def placements_of(houses: int) -> Placements:
    """Return the one table for this number of houses."""
    return Placements(houses)


@final
class KalahEndings(Endings):
    """Looks up positions with few seeds in the houses, for one search."""

    def __init__(
        self, meter: Meter, houses: int, sow: Callable[[list[int], int, int], int]
    ) -> None:
        self.meter: Meter = meter
        self.houses: i64 = houses
        self.sow: Any = sow
        self.table: Placements = placements_of(houses)

    def value(self, state: Any, depth: int, alpha: float, beta: float) -> float | None:
        """Return the value for the mover, see `Endings.value`."""
        pits = self.seen_by_mover(state)
        if not self.reached(pits, depth):
            return None
        lead: i64 = self.lead(pits) + pits[self.houses] - pits[2 * self.houses + 1]
        return 1.0 if lead > 0 else -1.0 if lead < 0 else 0.0

    def best(self, state: Any) -> Any:
        """Return the house that leads to most seeds, if the table knows it."""
        pits = self.seen_by_mover(state)
        if not self.reached(pits, 0):
            return None
        chosen: i64 = -1
        most: i64 = -EVEN
        house: i64 = 0
        while house < self.houses:
            if pits[house] != 0:
                gained: i64 = self.after(pits, house)
                if gained > most:
                    most = gained
                    chosen = house
            house += 1
        return int(chosen + 1)

    def seen_by_mover(self, state: Any) -> list[int]:
        """Return the pits, those of the mover first."""
        pits: list[int] = list(state.pits)
        if state.to_move == 1:
            half: int = len(pits) // 2
            return pits[half:] + pits[:half]
        return pits

    def reached(self, pits: list[int], depth: i64) -> bool:
        """Return whether the table has this placement, or fills it with less work than searching so
        many plies ahead.
        """
        houses: i64 = self.houses
        loose: i64 = sum(pits) - pits[houses] - pits[2 * houses + 1]
        if loose > self.table.seeds:
            return False
        if loose <= CHEAP or loose <= CHEAP + depth:
            return True
        known: i64 = self.table.leads[self.number(pits)]
        return known != 0

    def number(self, pits: list[int]) -> i64:
        """Return the number of a placement: the sum over bars of `Placements.before`."""
        table = self.table
        before = table.before
        houses: i64 = self.houses
        found: i64 = 0
        row: i64 = 0
        place: i64 = -1
        for at, seeds in enumerate(pits):
            if at != houses and at != 2 * houses + 1:
                place += seeds + 1
                found += before[row + place]
                row += table.width
        return found

    def lead(self, pits: list[int]) -> i64:
        """Return how many seeds more than the other the mover gets from here."""
        number: i64 = self.number(pits)
        known: i64 = self.table.leads[number]
        if known != 0:
            return known - EVEN
        self.meter.visit()
        most: i64 = -EVEN
        house: i64 = 0
        while house < self.houses:
            if pits[house] != 0:
                gained: i64 = self.after(pits, house)
                if gained > most:
                    most = gained
            house += 1
        self.table.leads[number] = int(most + EVEN)
        return most

    def after(self, pits: list[int], house: i64) -> i64:
        """Return how many seeds more the mover gets from here by sowing a house."""
        houses: i64 = self.houses
        sown: list[int] = list(pits)
        following: int = self.sow(sown, 0, int(house))
        gained: i64 = sown[houses] - pits[houses]
        gained -= sown[2 * houses + 1] - pits[2 * houses + 1]
        if following < 0:
            return gained
        if following == 0:
            return gained + self.lead(sown)
        return gained - self.lead(sown[houses + 1 :] + sown[: houses + 1])
