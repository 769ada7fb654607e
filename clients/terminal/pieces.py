"""The piece on a spot, drawn in its box of character cells."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from rich.style import Style

from plyhouse.clients.terminal.canvas import Canvas, width_of
from plyhouse.clients.terminal.colours import Ink

SIGNS: Final = {
    "king": "\u265a",
    "queen": "\u265b",
    "rook": "\u265c",
    "bishop": "\u265d",
    "knight": "\u265e",
    "pawn": "\u265f",
    "disc": "\u25cf",
    "crowned": "\u25c9",
    "dot": "\u00b7",
    "block": "\u2588",
    "wall": "\u2588",
    "star": "\u2022",
    "ship": "\u25a0",
    "hit": "\u2716",
    "miss": "\u00b7",
    "cross": "\u2573",
    "ring": "\u25ef",
    "match": "\u2503",
}
"""One character for a shape, where colours tell whose it is."""

QUADRANTS: Final = (
    " \u2598\u259d\u2580\u2596\u258c\u259e\u259b\u2597\u259a\u2590\u259c\u2584\u2599\u259f\u2588"
)
"""Characters by filled quarters: 1 upper left, 2 upper right, 4 lower left, 8 lower right."""

LARGE: Final[dict[str, Callable[[float, float], bool]]] = {
    "disc": lambda x, y: x * x + y * y <= 1,
    "crowned": lambda x, y: x * x + y * y <= 1,
    "ring": lambda x, y: 0.4 <= x * x + y * y <= 1,
    "cross": lambda x, y: abs(abs(x) - abs(y)) <= 0.36,
    "match": lambda x, y: abs(x) <= 0.3,
}
"""A test of points in the square from -1 to 1: true for points of the figure."""

BITMAPS: Final = {
    "pawn": "........ ........ ...##... ..####.. ...##... ..####.. .######.",
    "knight": "...##... ..#####. .##.###. .#.####. ...####. ..#####. .######.",
    "bishop": "...##... ..##.#.. ..#.##.. ..####.. ...##... ..####.. .######.",
    "rook": "........ .#.##.#. .######. ..####.. ..####.. ..####.. .######.",
    "queen": "#..##..# #..##..# ##.##.## .######. ..####.. ..####.. .######.",
    "king": "...##... ..####.. .#.##.#. ######## .######. ..####.. .######.",
}
"""Figures of eight by seven square points, of which two are in one cell."""


@functools.cache
def _shape(shape: str, size: int) -> tuple[str, ...]:
    """A round or crossed figure of `size` cells across; half a line below it stays empty."""
    inside = LARGE[shape]
    full = 2 * size

    def quarter(column: int, row: int) -> bool:
        x, y = (2 * column + 1) / full - 1, (2 * row + 1) / size - 1
        return row < size and inside(x, y)

    lines = []
    for row in range(0, size, 2):
        bits = (
            sum(
                bit
                for bit, right, down in ((1, 0, 0), (2, 1, 0), (4, 0, 1), (8, 1, 1))
                if quarter(column + right, row + down)
            )
            for column in range(0, full, 2)
        )
        lines.append("".join(QUADRANTS[each] for each in bits))
    return tuple(lines)


@functools.cache
def _bitmap(shape: str, scale: int) -> tuple[str, ...]:
    """A figure of points, each `scale` cells wide."""
    rows = ["".join(point * scale for point in row) for row in BITMAPS[shape].split()]
    tall = [row for row in rows for _ in range(scale)]
    tall += ["." * len(tall[0])] * (len(tall) % 2)
    halves = {"..": " ", "#.": QUADRANTS[3], ".#": QUADRANTS[12], "##": QUADRANTS[15]}
    return tuple(
        "".join(halves[upper + lower] for upper, lower in zip(tall[at], tall[at + 1], strict=True))
        for at in range(0, len(tall), 2)
    )


def _lines_of(shape: str, width: int, height: int) -> tuple[str, ...]:
    """The largest drawing of a shape that fits into a box; empty if there is none."""
    if shape in BITMAPS:
        scale = min(width // 8, height // 4)
        return _bitmap(shape, scale) if scale else ()
    if shape not in LARGE or height < 2:
        return ()
    size = min(2 * height - 1, width - 1)
    size -= 1 - size % 2
    return _shape(shape, size) if size >= 3 else ()


def sign_of(cell: Mapping[str, Any], ink: Ink) -> str:
    """Return a piece in a line of text: a character for its shape, or its text."""
    text, shape = str(cell.get("text") or "").strip(), str(cell.get("shape") or "")
    if not ink.colours or not ink.unicode:
        return text
    face = str(cell.get("face") or "")
    if shape in ("disc", "block", "seeds") and face:
        return face
    if shape == "tile":  # a small letter is a blank
        return text
    return SIGNS.get(shape, face or text) if text or shape == "star" else ""


def draw_figure(
    canvas: Canvas, box: tuple[int, int, int, int], cell: Mapping[str, Any], ink: Ink
) -> None:
    """Draw what stands on a spot into its box (x, y, width, height)."""
    x, y, width, height = box
    style = ink.figure(cell.get("owner"))
    shape, face = str(cell.get("shape") or ""), str(cell.get("face") or "")
    text = str(cell.get("text") or "").strip()
    if not text and shape != "star":
        return
    if shape == "seeds":
        _centred(canvas, box, text or str(cell.get("count") or ""), style)
        return
    lines = _lines_of(shape, width, height) if ink.colours and ink.unicode else ()
    if lines:
        left, top = x + (width - len(lines[0])) // 2, y + (height - len(lines)) // 2
        for index, line in enumerate(lines):
            for at, character in enumerate(line):
                if character != " ":
                    canvas.put(left + at, top + index, character, style)
        written = "K" if shape == "crowned" else face
        if written:
            at = left + (len(lines[0]) - width_of(written)) // 2
            canvas.put(at, top + (len(lines) - 1) // 2, written, _inside(style))
        return
    if shape == "disc" and face and ink.colours:
        _centred(canvas, box, f" {face} " if width >= 3 else face, _inside(style))
        return
    _centred(canvas, box, sign_of(cell, ink), style)


def _inside(style: Style) -> Style:
    """Return the text on a figure of this style."""
    if style.color is None:
        return style
    dark = style.color.triplet is not None and sum(style.color.triplet) < 200
    return Style(color="#ffffff" if dark else "#000000", bgcolor=style.color.name, bold=True)


def _centred(canvas: Canvas, box: tuple[int, int, int, int], text: str, style: Style) -> None:
    x, y, width, height = box
    canvas.put(x + max(0, (width - width_of(text)) // 2), y + (height - 1) // 2, text, style)
