"""Draw a scene as a picture (SVG) without a browser: for language models and notebooks.

The web client draws scenes itself, larger and with everything that can be chosen.  This module
draws what one sees: boards with their pieces, cards, dice, numbers and the status.  It omits
buttons and elements of an unknown kind.

>>> die = {"kind": "dice", "label": "last roll", "values": [5]}
>>> draw_svg({"elements": [die], "status": "It is your turn."}).startswith("<svg ")
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape

__all__ = ["draw_svg"]

Fields = Mapping[str, Any]

SPOT: Final = 44
"""Width and height of a spot, in pixels."""
LINE: Final = 24
"""Height of a line of text."""
MARGIN: Final = 28
CHARACTER: Final = 8.5
"""Width of a character of text, on average."""
LIGHT, DARK = "#f5f5f0", "#30302c"
SEATS: Final = (LIGHT, DARK, "#c0392b", "#2471a3", "#1e8449", "#7d3c98")
"""Fill of the pieces of seats 0, 1, ...; repeated when there are more seats."""
NAMED: Final = {"white": LIGHT, "black": DARK, "red": "#c0392b", "yellow": "#f1c40f"}
"""Fill of the pieces of seats that are named by their colour."""
FIGURES: Final = {
    "king": "\u265a", "queen": "\u265b", "rook": "\u265c", "bishop": "\u265d",
    "knight": "\u265e", "pawn": "\u265f\ufe0e", "cross": "\u00d7", "ring": "\u25cb",
    "hit": "\u2737", "sunk": "\u2737", "miss": "\u2022", "ghost": "\U0001f47b", "ship": "\u25ae",
}  # fmt: skip
"""Characters that stand for figures; others are drawn as their text."""
GROUNDS: Final = {
    "sky": "#a9cce3", "azure": "#5499c7", "rose": "#f5b7b1", "crimson": "#cd6155",
    "brown": "#a67b5b", "orange": "#f0b27a", "yellow": "#f7dc6f", "green": "#7dcea0",
    "plain": "#e5e7e9",
}  # fmt: skip


class _Sheet:
    """A picture that grows downwards."""

    def __init__(self, names: Sequence[str]) -> None:
        self.parts: list[str] = []
        self._names = [name.casefold() for name in names]
        self.width = 240.0
        self.y = 8.0

    def colour(self, seat: int) -> str:
        """Return the fill of a seat's pieces."""
        name = self._names[seat] if seat < len(self._names) else ""
        return NAMED.get(name, SEATS[seat % len(SEATS)])

    def line(self, text: str, *, bold: bool = False) -> None:
        """Write a line of text below what is there."""
        self.y += LINE
        self.text(8, self.y - 7, text, anchor="start", size=15, bold=bold)
        self.width = max(self.width, 16 + CHARACTER * len(text))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 18,
        ink: str = "#202020",
        anchor: str = "middle",
        bold: bool = False,
    ) -> None:
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{ink}" '
            f'text-anchor="{anchor}"{weight}>{escape(text)}</text>'
        )

    def box(self, x: float, y: float, side: float, high: float, fill: str, edge: str) -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{side:g}" height="{high:g}" fill="{fill}" '
            f'stroke="{edge}"/>'
        )

    def disc(self, x: float, y: float, radius: float, fill: str) -> None:
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="#404040"/>'
        )

    def done(self, title: str) -> str:
        high = self.y + 12
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{self.width:g}" '
            f'height="{high:g}" viewBox="0 0 {self.width:g} {high:g}" '
            'font-family="DejaVu Sans, sans-serif">'
            f"<title>{escape(title)}</title>"
            f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(self.parts)}</svg>'
        )


def draw_svg(scene: Fields) -> str:
    """Draw the dict of `plyhouse.games.scene.scene_fields` as an SVG document."""
    sheet = _Sheet(scene.get("seats") or ())
    for element in scene.get("elements", ()):
        match element.get("kind"):
            case "grid":
                _draw_grid(sheet, element)
            case "hand":
                _draw_hand(sheet, element)
            case "dice":
                _draw_cards(sheet, element["label"], [str(each) for each in element["values"]])
            case "counter":
                target = element.get("target")
                more = f" / {float(target):g}" if target else ""
                sheet.line(f"{element['label']}: {float(element['value']):g}{more}")
            case "tray" | "placing":
                pieces = [str(each.get("text") or "") for each in element.get("pieces", ())]
                if pieces:
                    _draw_cards(sheet, element["label"], pieces)
            case "text":
                sheet.line(str(element["text"]))
    status = str(scene.get("status") or "")
    if status:
        sheet.line(status, bold=True)
    return sheet.done(status)


def _draw_hand(sheet: _Sheet, hand: Fields) -> None:
    texts = ["?" if each.get("text") is None else str(each["text"]) for each in hand["cards"]]
    _draw_cards(sheet, hand["label"], texts)


def _draw_cards(sheet: _Sheet, label: str, texts: Sequence[str]) -> None:
    """Draw cards, dice or pieces in a row below their label."""
    sheet.line(f"{label}:" if texts else f"{label}: -")
    x = 8.0
    for text in texts:
        wide = max(34.0, 14 + CHARACTER * len(text))
        sheet.box(x, sheet.y + 2, wide, 34, "#fdfefe", "#566573")
        red = any(suit in text for suit in "\u2665\u2666")
        sheet.text(x + wide / 2, sheet.y + 25, text, size=16, ink="#c0392b" if red else "#202020")
        x += wide + 6
        sheet.width = max(sheet.width, x + 8)
    if texts:
        sheet.y += 40


def _draw_grid(sheet: _Sheet, grid: Fields) -> None:
    """Draw a board with its labels; rows of hexagons are shifted by half a spot each."""
    rows, names = grid.get("rows", ()), grid.get("row_labels", ())
    columns = grid.get("column_labels", ())
    if grid.get("label"):
        sheet.line(str(grid["label"]))
    look = grid.get("look", "")
    texts = [str(cell.get("text") or "") for row in rows for cell in row]
    plain = look in ("table", "circuit")
    wide = max([SPOT, *(14 + CHARACTER * len(each) for each in texts)]) if plain else SPOT
    left = MARGIN + (MARGIN if any(len(each) > 2 for each in names) else 0)
    top = sheet.y + 6
    above = [label.partition("/")[0] for label in columns if "/" in label]
    if above:
        top += LINE
        for index, label in enumerate(above):
            sheet.text(left + (index + 0.5) * wide, top - 7, label, size=13)
    for index, row in enumerate(rows):
        shift = index * wide / 2 if look == "hex" else 0.0
        y = top + index * SPOT
        if index < len(names):
            sheet.text(left - 8, y + SPOT * 0.63, names[index], size=13, anchor="end")
        for place, cell in enumerate(row):
            _draw_cell(sheet, cell, left + shift + place * wide, y, wide, look, index + place)
        sheet.width = max(sheet.width, left + shift + len(row) * wide + MARGIN)
    sheet.y = top + len(rows) * SPOT
    if columns:
        for index, label in enumerate(columns):
            name = label.rpartition("/")[2]
            sheet.text(left + (index + 0.5) * wide, sheet.y + 17, name, size=13)
        sheet.y += LINE


def _draw_cell(
    sheet: _Sheet, cell: Fields, x: float, y: float, wide: float, look: str, parity: int
) -> None:
    shape, owner = cell.get("shape") or "", cell.get("owner")
    ground = GROUNDS.get(cell.get("ground") or "", "#f4ecd8")
    if look == "checkered" and parity % 2:
        ground = "#c8ad7f"
    if cell.get("highlight") or cell.get("won"):
        ground = "#f9e79f"
    if shape == "wall":
        ground = "#34495e"
    sheet.box(x, y, wide, SPOT, ground, "#b0a58c")
    text = str(cell.get("text") or "")
    middle, low = x + wide / 2, y + SPOT * 0.66
    fill = sheet.colour(owner or 0)
    ink = "#202020" if fill in (LIGHT, NAMED["yellow"]) else "#f5f5f5"
    if shape in ("disc", "dot", "crowned"):
        sheet.disc(middle, y + SPOT / 2, SPOT * (0.2 if shape == "dot" else 0.4), fill)
        face = str(cell.get("face") or ("\u265b" if shape == "crowned" else ""))
        if face:
            sheet.text(middle, low, face, ink=ink)
    elif shape == "block" and owner is not None:
        sheet.box(x + 6, y + 6, wide - 12, SPOT - 12, fill, "#404040")
    elif shape == "star" or cell.get("faint"):
        return
    elif shape in FIGURES and shape not in ("hit", "sunk", "miss"):
        # Draw an edge around light figures, so that both colours show on both grounds.
        sheet.text(middle, low, FIGURES[shape], size=30, ink="#404040" if fill == LIGHT else fill)
        if fill == LIGHT:
            sheet.text(middle, low, FIGURES[shape], size=26, ink=LIGHT)
    elif shape == "seeds":
        sheet.text(middle, low, str(cell.get("count", 0)))
    elif shape != "wall":
        shown = FIGURES.get(shape, text)
        sheet.text(middle, low, shown, size=18 if len(shown) < 4 else 12)
        for place, token in enumerate(cell.get("tokens") or ()):
            sheet.disc(x + 8 + 12 * place, y + SPOT - 8, 5, sheet.colour(token))
