"""Boards and fleets of battleship: where ships can lie, and fleets that fit what was seen."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    import random

__all__ = ["MAX_SHIPS", "MAX_SIZE", "Waters", "sample_fleet", "waters_of"]

MAX_SIZE: Final = 15
MAX_SHIPS: Final = 10


@final
class Waters:
    """A board, a fleet and all places of ships; made by `waters_of` only.

    A place is an index into ``cells``, ``masks`` and ``names``; cells are numbered along the
    rows from the upper left.
    """

    def __init__(self, columns: int = 10, rows: int = 10, fleet: tuple[int, ...] = (2,)) -> None:
        self.columns: int = columns
        self.rows: int = rows
        self.fleet: tuple[int, ...] = fleet
        self.afloat: int = sum(fleet)
        names = [
            "abcdefghijklmno"[column] + str(row + 1)
            for row in range(rows)
            for column in range(columns)
        ]
        self.names: tuple[str, ...] = tuple(names)
        self.all: tuple[int, ...] = tuple(range(columns * rows))
        self.bits: tuple[int, ...] = tuple([1 << cell for cell in range(columns * rows)])
        cells: list[tuple[int, ...]] = []
        by_length: dict[int, tuple[int, ...]] = {}
        for length in sorted(set(fleet)):
            start = len(cells)
            for row in range(rows):
                for column in range(columns):
                    first = row * columns + column
                    if column + length <= columns:
                        cells.append(tuple([first + step for step in range(length)]))
                    if row + length <= rows and length > 1:
                        cells.append(tuple([first + step * columns for step in range(length)]))
            by_length[length] = tuple(range(start, len(cells)))
        self.cells: tuple[tuple[int, ...], ...] = tuple(cells)
        self.places: tuple[tuple[int, ...], ...] = tuple([by_length[n] for n in fleet])
        """By ship of the fleet, where it can lie on an empty board."""
        self.masks: tuple[int, ...] = tuple(
            [sum([self.bits[cell] for cell in place]) for place in cells]
        )
        self.place_names: tuple[str, ...] = tuple(
            [
                names[place[0]] if len(place) == 1 else f"{names[place[0]]}-{names[place[-1]]}"
                for place in cells
            ]
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return waters_of, (self.columns, self.rows, self.fleet)

    def free_places(self, ship: int, taken: int) -> list[int]:
        """Places for a ship of the fleet that keep clear of the cells in a mask."""
        return [place for place in self.places[ship] if self.masks[place] & taken == 0]


@functools.cache
def waters_of(columns: int, rows: int, fleet: tuple[int, ...]) -> Waters:
    """The one `Waters` of these measures."""
    return Waters(columns, rows, fleet)


def _shuffled(places: list[int], rng: random.Random) -> list[int]:
    rng.shuffle(places)
    return places


def sample_fleet(
    waters: Waters,
    known: dict[int, int],
    missing: list[int],
    closed: int,
    hits: int,
    rng: random.Random,
) -> dict[int, int]:
    """Places for the ships in ``missing`` that fit what was seen, drawn at random.

    ``known`` has the places of the other ships, ``closed`` is the mask of cells without a
    missing ship (misses and known ships) and ``hits`` that of hits on missing ships.  All
    hits are covered and no missing ship is hit in all its cells.  Raises `ValueError` if
    there is no such fleet.
    """
    if not missing:
        if hits:
            raise ValueError("hits that no ship explains")
        return known
    options: list[tuple[int, int]] = []
    if hits:
        # Some ship covers the first hit: try all ships and places that do.
        first = hits & -hits
        tried: set[int] = set()
        for ship in missing:
            if waters.fleet[ship] not in tried:
                tried.add(waters.fleet[ship])
                options += [
                    (ship, place)
                    for place in waters.free_places(ship, closed)
                    if waters.masks[place] & first
                ]
        rng.shuffle(options)
    else:
        ship = missing[0]
        options = [(ship, place) for place in _shuffled(waters.free_places(ship, closed), rng)]
    for ship, place in options:
        mask = waters.masks[place]
        if mask & ~hits == 0:
            continue
        rest = [other for other in missing if other != ship]
        try:
            return sample_fleet(
                waters, {**known, ship: place}, rest, closed | mask, hits & ~mask, rng
            )
        except ValueError:
            continue
    raise ValueError("no fleet fits what was seen")
