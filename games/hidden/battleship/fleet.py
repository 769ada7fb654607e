"""Boards and fleets of battleship: where ships can lie, and fleets that fit what was seen."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    import random

__all__ = ["MAX_SHIPS", "MAX_SIZE", "TRIES", "Waters", "sample_fleet", "waters_of"]

MAX_SIZE: Final = 15
MAX_SHIPS: Final = 10

TRIES: Final = 5000
"""So many draws with an overlap, and a fleet is searched for instead."""


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
    """Return the one `Waters` of these measures."""
    return Waters(columns, rows, fleet)


@final
class Guesses:
    """The fleets that fit what was seen of one, ready to be drawn from; made by `guesses_of`.

    ``missing`` are the ships whose places are not known, ``closed`` is the mask of cells without
    any of them (misses and known ships) and ``hits`` that of hits on them.  A fleet fits if its
    missing ships cover all hits, cover nothing closed, do not overlap, and are not hit in all
    their cells.

    Each hit is covered by one ship.  So the ways in which ships share the hits can be counted,
    ship by ship, if ships may overlap on other cells (`ways`).  Drawing one of these ways evenly,
    and again until none overlap, gives all fleets the same chance.
    """

    def __init__(
        self, waters: Waters, missing: tuple[int, ...] = (), closed: int = 0, hits: int = 0
    ) -> None:
        self.waters: Waters = waters
        self.missing: tuple[int, ...] = missing
        self.hits: int = hits
        self.closed: int = closed
        self.all: int = (1 << len(missing)) - 1
        by_length: dict[int, dict[int, list[int]]] = {}
        for ship in missing:
            length = waters.fleet[ship]
            if length not in by_length:
                groups: dict[int, list[int]] = {}
                for place in waters.free_places(ship, closed):
                    mask = waters.masks[place]
                    if mask & ~hits != 0:
                        groups.setdefault(mask & hits, []).append(place)
                by_length[length] = groups
        self.groups: list[dict[int, list[int]]] = [by_length[waters.fleet[s]] for s in missing]
        """By missing ship the places where it can lie, by the hits that they cover."""
        self.counted: dict[tuple[int, int], int] = {}

    def ways(self, hits: int, ships: int) -> int:
        """In how many ways these ships (a set of bits) cover these hits, overlaps let pass."""
        known = self.counted.get((hits, ships))
        if known is not None:
            return known
        total: int = 0
        if hits == 0:
            total = 1
            for at in range(len(self.missing)):
                if ships >> at & 1:
                    total *= len(self.groups[at].get(0, ()))
        else:
            first = hits & -hits
            for at in range(len(self.missing)):
                if ships >> at & 1:
                    for covered, places in self.groups[at].items():
                        if covered & first and covered & ~hits == 0:
                            rest = self.ways(hits & ~covered, ships & ~(1 << at))
                            total += len(places) * rest
        self.counted[(hits, ships)] = total
        return total

    def draw(self, rng: random.Random) -> dict[int, int] | None:
        """Places of the missing ships, drawn evenly from `ways`; None if two overlap."""
        masks = self.waters.masks
        found: dict[int, int] = {}
        taken: int = 0
        hits: int = self.hits
        ships: int = self.all
        while hits:
            left: int = rng.randrange(self.ways(hits, ships))
            at, covered, place = self._share(hits, ships, left)
            if masks[place] & taken:
                return None
            taken |= masks[place]
            found[self.missing[at]] = place
            hits &= ~covered
            ships &= ~(1 << at)
        for at in range(len(self.missing)):
            if ships >> at & 1:
                places = self.groups[at][0]
                place = places[int(rng.random() * len(places))]
                if masks[place] & taken:
                    return None
                taken |= masks[place]
                found[self.missing[at]] = place
        return found

    def _share(self, hits: int, ships: int, left: int) -> tuple[int, int, int]:
        """Return which ship covers the first hit, with which hits, where: number ``left`` of the
        ways.
        """
        first = hits & -hits
        for at in range(len(self.missing)):
            if ships >> at & 1:
                for covered, places in self.groups[at].items():
                    if covered & first and covered & ~hits == 0:
                        rest = self.ways(hits & ~covered, ships & ~(1 << at))
                        if left < len(places) * rest:
                            return at, covered, places[left // rest]
                        left -= len(places) * rest
        raise AssertionError("there are fewer ways than were counted")

    def search(
        self, rng: random.Random, ships: int, taken: int, hits: int, found: dict[int, int]
    ) -> bool:
        """Add places of these ships that fit to ``found``, by trying them in random order."""
        if ships == 0:
            return hits == 0
        masks = self.waters.masks
        options: list[tuple[int, int, int]] = []
        for at in range(len(self.missing)):
            if ships >> at & 1:
                for covered, places in self.groups[at].items():
                    if covered & ~hits == 0 and (hits == 0 or covered & hits & -hits):
                        options += [
                            (at, covered, place) for place in places if masks[place] & taken == 0
                        ]
                if hits == 0:
                    break
        rng.shuffle(options)
        for at, covered, place in options:
            found[self.missing[at]] = place
            if self.search(rng, ships & ~(1 << at), taken | masks[place], hits & ~covered, found):
                return True
        return False


@functools.lru_cache(maxsize=16)
def guesses_of(waters: Waters, missing: tuple[int, ...], closed: int, hits: int) -> Guesses:
    """Return the one `Guesses` of what was seen: a search draws from it over and over."""
    return Guesses(waters, missing, closed, hits)


def sample_fleet(
    waters: Waters, missing: tuple[int, ...], closed: int, hits: int, rng: random.Random
) -> dict[int, int]:
    """Places for the missing ships that fit what was seen, each such fleet with equal chance.

    `Guesses` explains the arguments.  Raises `ValueError` if there is no such fleet.  Where ships
    have so little room that `TRIES` draws all overlap, one is searched for; only then are chances
    not equal.
    """
    guesses = guesses_of(waters, missing, closed, hits)
    if guesses.ways(hits, guesses.all):
        for _ in range(TRIES):
            fleet = guesses.draw(rng)
            if fleet is not None:
                return fleet
        found: dict[int, int] = {}
        if guesses.search(rng, guesses.all, 0, hits, found):
            return found
    raise ValueError("no fleet fits what was seen")
