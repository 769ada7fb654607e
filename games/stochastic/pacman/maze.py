"""Mazes of pacman: layouts as text, and tables shared by all positions in one.

A layout has rows of equal length, in a parameter apart by ``/``: ``%`` is wall, ``.`` a
dot, ``P`` Pacman, ``G`` a ghost, a blank an empty spot.
"""

from __future__ import annotations

import functools
from typing import Any, Final, final

from plyhouse.games.errors import InvalidPosition

__all__ = ["EAST", "LAYOUTS", "NAMES", "NORTH", "SOUTH", "STOP", "WEST", "Maze", "maze_of"]

NORTH: Final = 0
SOUTH: Final = 1
EAST: Final = 2
WEST: Final = 3
STOP: Final = 4

NAMES: Final[tuple[str, ...]] = ("north", "south", "east", "west", "stop")

_BACK: Final[tuple[int, ...]] = (SOUTH, NORTH, WEST, EAST, -1)

MAX_CELLS: Final = 800
MAX_GHOSTS: Final = 4

LAYOUTS: Final[dict[str, str]] = {
    "small": (
        "%%%%%%%%%%%%%%%%%%%%/"
        "%......%G  G%......%/"
        "%.%%.%.%%  %%.%.%%.%/"
        "%.%..%........%..%.%/"
        "%.%.%%.%%%%%%.%%.%.%/"
        "%........P.........%/"
        "%%%%%%%%%%%%%%%%%%%%"
    ),
    "trapped": ("%%%%%%%%/%   P G%/%G%%%% %/%....  %/%%%%%%%%"),
    "duel": ("%%%%%%%%%/%.  %  G%/% %   % %/% % % % %/%P  %  .%/%%%%%%%%%"),
    "gamble": "%%%%%%/%%  .%/%G . %/%   P%/%%%%%%",
}
"""Layouts by name: a small classic one, a trap with two ghosts, a duel with one, and a room.  In
the room a dot is worth a gamble only if the ghost does not look."""


@final
class Maze:
    """Walls, dots and starts; made by `maze_of` only.  Cells are numbered along the rows.

    ``step`` has, for direction d and a cell, at ``d * cells + cell`` the cell reached, -1
    for a wall.  ``ways`` are Pacman's actions in a cell; ``turns`` those of a ghost that
    came by direction d, at the same places.
    """

    def __init__(self, text: str = "%%%/%P%/%%%") -> None:
        rows = text.split("/")
        self.text: str = text
        self.columns: int = len(rows[0])
        self.rows: int = len(rows)
        self.cells: int = self.columns * self.rows
        marks = "".join(rows)
        self.marks: str = marks
        self.pacman: int = marks.index("P")
        self.ghosts: tuple[int, ...] = tuple(
            [cell for cell in range(self.cells) if marks[cell] == "G"]
        )
        self.dots: tuple[int, ...] = tuple(
            [cell for cell in range(self.cells) if marks[cell] == "."]
        )
        place = {cell: index for index, cell in enumerate(self.dots)}
        self.bits: tuple[int, ...] = tuple(
            [1 << place[cell] if cell in place else 0 for cell in range(self.cells)]
        )
        self.full: int = (1 << len(self.dots)) - 1
        self.step: tuple[int, ...] = tuple(
            [
                self._reached(cell, down, right)
                for down, right in ((-1, 0), (1, 0), (0, 1), (0, -1), (0, 0))
                for cell in range(self.cells)
            ]
        )
        open_ways = [
            [way for way in range(4) if self.step[way * self.cells + cell] >= 0]
            for cell in range(self.cells)
        ]
        self.ways: tuple[tuple[int, ...], ...] = tuple([(*ways, STOP) for ways in open_ways])
        self.turns: tuple[tuple[int, ...], ...] = tuple(
            [
                tuple([way for way in ways if way != _BACK[heading]] or ways)
                for heading in range(5)
                for ways in open_ways
            ]
        )
        self.chances: tuple[tuple[tuple[Any, float], ...], ...] = tuple(
            [tuple([(way, 1.0 / len(ways)) for way in ways]) for ways in self.turns]
        )
        self.far: list[tuple[int, ...]] = [() for _ in range(self.cells)]

    def __reduce__(self) -> tuple[Any, ...]:
        return maze_of, (self.text,)

    def _reached(self, cell: int, down: int, right: int) -> int:
        """Return the cell one step on, -1 if a wall or the edge is there."""
        row, column = cell // self.columns + down, cell % self.columns + right
        if self.marks[cell] == "%" or not (0 <= row < self.rows and 0 <= column < self.columns):
            return -1
        to = row * self.columns + column
        return -1 if self.marks[to] == "%" else to

    def distances(self, cell: int) -> tuple[int, ...]:
        """Steps from a cell to every other; ``cells`` where there is no way."""
        known = self.far[cell]
        if len(known) > 0:
            return known
        steps: list[int] = [self.cells] * self.cells
        steps[cell] = 0
        edge: list[int] = [cell]
        while len(edge) > 0:
            following: list[int] = []
            for here in edge:
                for way in range(4):
                    to: int = self.step[way * self.cells + here]
                    if to >= 0 and steps[to] == self.cells:
                        steps[to] = steps[here] + 1
                        following.append(to)
            edge = following
        found: tuple[int, ...] = tuple(steps)
        self.far[cell] = found
        return found


def _checked(text: str) -> None:
    """Raise `InvalidPosition` for a layout that cannot be played."""

    def bad(reason: str) -> InvalidPosition:
        return InvalidPosition("pacman", text, reason)

    rows = text.split("/")
    marks = "".join(rows)
    if len(marks) > MAX_CELLS:
        raise bad(f"it has {len(marks)} cells, more than {MAX_CELLS}")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise bad(f"row {number} has {len(row)} cells, but row 1 has {len(rows[0])}")
        for mark in row:
            if mark not in "%. PG":
                raise bad(f"{mark!r} in row {number} is not %, ., P, G or a blank")
    if marks.count("P") != 1:
        raise bad(f"it has {marks.count('P')} Pacmen, not one P")
    if marks.count("G") > MAX_GHOSTS:
        raise bad(f"it has {marks.count('G')} ghosts, more than {MAX_GHOSTS}")
    if "." not in marks:
        raise bad("it has no dot to eat")
    maze = Maze(text)
    reach = maze.distances(maze.pacman)
    for cell in maze.dots:
        if reach[cell] == maze.cells:
            where = f"row {cell // maze.columns + 1}, column {cell % maze.columns + 1}"
            raise bad(f"Pacman cannot get to the dot in {where}")
    for cell in maze.ghosts:
        if not maze.turns[cell]:
            where = f"row {cell // maze.columns + 1}, column {cell % maze.columns + 1}"
            raise bad(f"the ghost in {where} cannot move")


@functools.cache
def maze_of(text: str) -> Maze:
    """Return the one `Maze` of a layout; raises `InvalidPosition`."""
    _checked(text)
    return Maze(text)
