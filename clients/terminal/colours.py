"""Colours of boards and seats.

Boards have their own ground, so they look the same on dark and on light terminals.  Every figure
has a contrast of at least 3 to 1 with the ground below it; a test computes it.  Where colours are
not wanted there are none at all: then figures are the letters that the game writes, and marks are
brackets, bold, underlined and reversed text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.style import Style

PIECES: Final = ("#ffc53d", "#6ad8ff", "#ffb0e4", "#7ee787", "#cfc4ff", "#ffb899")
"""Figures of seats 0, 1 ..."""
WHITE: Final = "#ffffff"
BLACK: Final = "#000000"
SHEET: Final = "#161b22"
"""The backgrounds of boards and of everything beside them."""
TEXT: Final = "#e6edf3"
SOFT: Final = "#9aa7b4"

GROUNDS: Final[dict[str, tuple[str, str]]] = {
    "": ("#4e5d6e", "#57677a"),
    "slate": ("#4e5d6e", "#57677a"),
    "paper": ("#5b5b5b", "#646464"),
    "wood": ("#856840", "#6f5638"),
    "felt": ("#2b7549", "#26693f"),
    "sea": ("#1f5f93", "#256aa3"),
}
"""By theme: the ground, and that of every other spot.  A theme that is not known has the first."""
NIGHT: Final = "#0b1026"
"""The ground of mazes, on which nothing is black."""
MARKS: Final = {"wood": "#47702c"}
MARK: Final = "#66650f"
"""Ground of the last action, unless `MARKS` has another for the theme."""
WON: Final = "#1f7a33"
"""Ground of what decided the game."""
TARGET: Final = "#2466a8"
"""Ground of what can be chosen next."""
CHOSEN: Final = "#8a4bb0"
"""Ground of what was chosen."""


def seat_colour(seat: int | None, names: Sequence[str] = ()) -> str:
    """The colour of a seat's figures; seats called White and Black have these, None has none."""
    if seat is None:
        return ""
    name = names[seat].lower() if seat < len(names) else ""
    if name in ("white", "black"):
        return WHITE if name == "white" else BLACK
    return PIECES[seat % len(PIECES)]


@dataclass(frozen=True, slots=True)
class Ink:
    """The characters and colours available for drawing.

    colours: whether there are any.
    unicode: whether there are more characters than those of ASCII.
    names: what the seats are called, for the colours White and Black.
    """

    colours: bool = True
    unicode: bool = True
    names: tuple[str, ...] = ()

    def ground(self, colour: str) -> Style:
        """A ground in this colour."""
        return Style(bgcolor=colour) if self.colours and colour else Style()

    def figure(self, seat: int | None) -> Style:
        """A seat's colour on a board."""
        colour = seat_colour(seat, self.names)
        return Style(color=colour, bold=True) if self.colours and colour else Style(bold=True)

    def on(self, colour: str) -> Style:
        """Something written in this colour."""
        return Style(color=colour) if self.colours and colour else Style()

    def sign(self, fancy: str, plain: str) -> str:
        """The first, or where there is only ASCII the second."""
        return fancy if self.unicode else plain
