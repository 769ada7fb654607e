"""A sheet of character cells to draw on, and what comes of it: lines of styled text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import get_character_cell_size
from rich.segment import Segment
from rich.style import Style

BLANK: Final = Style()


@dataclass(frozen=True, slots=True)
class Spot:
    """A place that can be chosen, and where it is drawn."""

    name: str
    x: int
    y: int
    width: int
    height: int
    label: str = ""
    """The contents in words."""
    row: int = 0
    """Row as it is shown, for walking over the board with arrow keys."""
    column: int = 0
    element: int = 0
    """Index of its element in the scene."""

    def holds(self, x: int, y: int) -> bool:
        """Return whether a cell of the sheet is part of it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle in the sheet; a row is about as high as two columns are wide."""
        return self.x + self.width / 2, 2 * (self.y + self.height / 2)


def width_of(text: str) -> int:
    """How many cells a text takes; variation selectors and other marks take none."""
    return sum(map(get_character_cell_size, text))


class Canvas:
    """Grows to the right and below as it is drawn on; coordinates from the upper left, from 0."""

    def __init__(self) -> None:
        self._rows: list[list[tuple[str, Style]]] = []
        self.spots: list[Spot] = []

    @property
    def height(self) -> int:
        """Number of lines drawn so far."""
        return len(self._rows)

    @property
    def width(self) -> int:
        """Cells of the longest line."""
        return max(map(len, self._rows), default=0)

    def put(self, x: int, y: int, text: str, style: Style = BLANK) -> int:
        """Write a text; what the style leaves open stays as it was.  Returns its width.

        Text left of the sheet is cut; wide characters take two cells.
        """
        at = x
        for character in text:
            size = get_character_cell_size(character)
            if size == 0:
                continue
            if at >= 0:
                row = self._row(y, at + size)
                row[at] = (character, row[at][1] + style)
                for more in range(1, size):
                    row[at + more] = ("", row[at + more][1] + style)
            at += size
        return at - x

    def fill(self, x: int, y: int, width: int, height: int, style: Style, text: str = " ") -> None:
        """Fill a box with a character, or with a style alone where ``text`` is empty."""
        for line in range(y, y + height):
            row = self._row(line, x + width)
            for at in range(x, x + width):
                row[at] = (text or row[at][0], row[at][1] + style)

    def take(self, other: Canvas, x: int, y: int) -> None:
        """Copy another sheet, with its spots, to this place."""
        for line, row in enumerate(other._rows):
            ours = self._row(y + line, x + len(row))
            ours[x : x + len(row)] = row
        for spot in other.spots:
            self.spots.append(
                Spot(
                    spot.name,
                    spot.x + x,
                    spot.y + y,
                    spot.width,
                    spot.height,
                    spot.label,
                    spot.row,
                    spot.column,
                    spot.element,
                )
            )

    def lines(self) -> list[list[Segment]]:
        """The lines, each as runs of one style."""
        return [_runs(row) for row in self._rows]

    def text(self) -> str:
        """The characters alone."""
        return "\n".join("".join(each for each, _ in row).rstrip() for row in self._rows)

    def _row(self, y: int, width: int) -> list[tuple[str, Style]]:
        while len(self._rows) <= y:
            self._rows.append([])
        row = self._rows[y]
        if len(row) < width:
            row.extend([(" ", BLANK)] * (width - len(row)))
        return row


def _runs(row: Sequence[tuple[str, Style]]) -> list[Segment]:
    found: list[Segment] = []
    text, style = "", BLANK
    for character, own in row:
        if own != style and text:
            found.append(Segment(text, style))
            text = ""
        text, style = text + character, own
    if text:
        found.append(Segment(text, style))
    return found
