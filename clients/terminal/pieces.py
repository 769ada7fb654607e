"""The piece on a spot, drawn in its box of character cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.style import Style

from plyhouse.clients.terminal.canvas import Canvas, width_of
from plyhouse.clients.terminal.colours import Ink

__all__ = ["draw_figure", "sign_of"]

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
}
"""One character for a shape, where colours tell whose it is."""

DISC: Final = {2: ("\u259f\u2588\u2599", "\u259c\u2588\u259b"), 3: (
    "\u259f\u2588\u2588\u2588\u2599", "\u2588\u2588\u2588\u2588\u2588",
    "\u259c\u2588\u2588\u2588\u259b",
)}  # fmt: skip
CROSS: Final = {2: ("\u2572 \u2571", "\u2571 \u2572"), 3: (
    "\u2572 \u2571", " \u2573 ", "\u2571 \u2572",
)}  # fmt: skip
RING: Final = {2: ("\u256d\u2500\u256e", "\u2570\u2500\u256f"), 3: (
    "\u256d\u2500\u256e", "\u2502 \u2502", "\u2570\u2500\u256f",
)}  # fmt: skip
LARGE: Final = {"disc": DISC, "crowned": DISC, "cross": CROSS, "ring": RING}


def sign_of(cell: Mapping[str, Any], ink: Ink) -> str:
    """Return a piece in a line of text: a character for its shape, or its text."""
    text, shape = str(cell.get("text") or "").strip(), str(cell.get("shape") or "")
    if not ink.colours or not ink.unicode:
        return text
    face = str(cell.get("face") or "")
    if shape in ("disc", "block", "seeds") and face:
        return face
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
    lines = LARGE.get(shape, {}).get(min(height, 3)) if ink.colours and ink.unicode else None
    if lines and width >= len(lines[0]):
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
