"""Scenes as SVG and rows as HTML: how states and tables look in a notebook.

A scene is what `plyhouse.games.scene.scene_fields` makes, and what replays of a server hold: a
dict with ``elements``, each tagged by ``kind``.  Elements of a kind that is not known here are left
out, so that newer servers can be looked at.  The drawings are plain SVG with their own background,
so that they are read on light and dark pages alike.

>>> scene = {"elements": [{"kind": "dice", "label": "roll", "values": [5]}], "status": "Your turn"}
>>> scene_svg(scene)[:4], "roll: 5" in scene_svg(scene)
('<svg', True)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from plyhouse.games.base import Game
from plyhouse.games.scene import scene_fields

__all__ = ["Picture", "picture", "scene_svg", "table_html"]

Fields = Mapping[str, Any]

CELL: Final = 40
"""Pixels of a spot of a board."""
LINE: Final = 22
"""Pixels of a line of text."""
PAD: Final = 8
FONT: Final = 'font-family="system-ui, sans-serif"'
COLOURS: Final = ("#b45309", "#0369a1", "#7e22ce", "#15803d", "#be123c", "#475569")
"""The colours of seats 0, 1, ..., as in the web client; repeated for more seats."""
NAMED: Final = {"white": "#fffdf7", "black": "#22282c"}
"""Seats that are called after a colour have it."""
INK: Final = "#1d2423"
MOST_ROWS: Final = 200
"""Rows of a table that are drawn; a notebook is no place for a million."""


@dataclasses.dataclass(frozen=True, slots=True)
class Picture:
    """A drawing that a notebook shows."""

    svg: str
    text: str = ""
    """The same in one line, for those who do not see it."""

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture {self.text}>"


def picture(game: Game, state: Any, seat: int | None = None) -> Picture:
    """Draw a state as a seat sees it, or as spectators do.

    >>> from plyhouse.games import get_game
    >>> game = get_game("tic_tac_toe")
    >>> picture(game, game.initial_state())
    <Picture tic_tac_toe: X to move>
    """
    scene = game.scene(game.observe(state, seat))
    names = tuple([game.seat_name(each) for each in range(game.seats)])
    drawn = dataclasses.replace(scene, seats=names)
    return Picture(scene_svg(scene_fields(drawn)), f"{game.spec}: {scene.status}")


def scene_svg(scene: Fields) -> str:
    """The scene as one SVG drawing, the status below."""
    names = scene.get("seats") or ()
    parts: list[str] = []
    width, height = 0.0, float(PAD)
    for element in scene.get("elements", ()):
        drawn = _element(element, names, height)
        if drawn is None:
            continue
        part, wide, high = drawn
        parts.append(part)
        width, height = max(width, wide), height + high
    status = str(scene.get("status", ""))
    if status:
        parts.append(_text(PAD, height + 15, status, bold=True))
        width, height = max(width, 8.5 * len(status)), height + LINE
    width, height = width + 2 * PAD, height + PAD
    title = f"<title>{escape(status)}</title>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}" {FONT}>{title}'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>'
    )


def _element(element: Fields, names: Sequence[str], top: float) -> tuple[str, float, float] | None:
    """An element's drawing, its width and its height; None for what is not drawn."""
    match element.get("kind"):
        case "grid":
            return _grid(element, names, top)
        case "hand":
            cards = " ".join("[?]" if c.get("text") is None else f"[{c['text']}]"
                             for c in element.get("cards", ()))  # fmt: skip
            return _line(f"{element.get('label', '')}: {cards or 'none'}", top)
        case "dice":
            values = " ".join(map(str, element.get("values", ()))) or "not rolled"
            return _line(f"{element.get('label', '')}: {values}", top)
        case "counter":
            target = element.get("target")
            goal = f" / {target:g}" if target else ""
            return _line(f"{element.get('label', '')}: {element.get('value', 0):g}{goal}", top)
        case "text":
            return _line(str(element.get("text", "")), top)
        case _:
            return None


def _line(text: str, top: float) -> tuple[str, float, float]:
    return _text(PAD, top + 15, text), 8.0 * len(text), LINE


def _grid(grid: Fields, names: Sequence[str], top: float) -> tuple[str, float, float]:
    rows = grid.get("rows", ())
    labels, columns = grid.get("row_labels", ()), grid.get("column_labels", ())
    parts: list[str] = []
    begin = top
    if grid.get("label"):
        parts.append(_text(PAD, top + 15, str(grid["label"])))
        top += LINE
    left = PAD + (9.0 * max(map(len, labels)) + 6 if labels else 0)
    wide = max((len(row) for row in rows), default=0)
    for y, row in enumerate(rows):
        middle = top + (y + 0.5) * CELL
        if y < len(labels):
            parts.append(_text(PAD, middle + 5, labels[y]))
        for x, cell in enumerate(row):
            parts += _cell(grid, cell, names, left + x * CELL, top + y * CELL, x + y)
    high = len(rows) * CELL
    if columns:
        high += LINE
        for x, label in enumerate(columns):
            parts.append(
                _text(left + (x + 0.5) * CELL, top + high - 6, label, middle=True, size=12)
            )
    return "".join(parts), left + wide * CELL, top - begin + high + 4


def _cell(
    grid: Fields, cell: Fields, names: Sequence[str], x: float, y: float, parity: int
) -> Iterator[str]:
    """One spot: its ground, and what stands there."""
    look = grid.get("look", "")
    ground = "#d9c9a8" if look == "checkered" and parity % 2 else "#f3efe6"
    if cell.get("highlight"):
        ground = "#f5dc8a"
    yield (
        f'<rect x="{x:g}" y="{y:g}" width="{CELL}" height="{CELL}" fill="{ground}" '
        'stroke="#b9b2a3"/>'
    )
    text = str(cell.get("text") or "")
    if not text.strip():
        return
    middle_x, middle_y = x + CELL / 2, y + CELL / 2
    colour = _colour(cell.get("owner"), names)
    shown = str(cell.get("face") or "")
    match cell.get("shape"):
        case "disc" | "dot" as shape:
            radius = CELL * (0.38 if shape == "disc" else 0.12)
            yield (
                f'<circle cx="{middle_x:g}" cy="{middle_y:g}" r="{radius:g}" fill="{colour}" '
                'stroke="#77807e"/>'
            )
        case "block":
            yield (
                f'<rect x="{x + 2:g}" y="{y + 2:g}" width="{CELL - 4}" height="{CELL - 4}" rx="4" '
                f'fill="{colour}"/>'
            )
        case _:
            shown = shown or text
            size = 20 if len(shown) <= 2 else 12
            yield _text(middle_x, middle_y + size * 0.36, shown, middle=True, size=size,
                        colour=colour)  # fmt: skip
            return
    if shown:
        light = colour == NAMED["white"]
        yield _text(middle_x, middle_y + 5, shown, middle=True, size=14,
                    colour=INK if light else "#ffffff")  # fmt: skip


def _colour(seat: int | None, names: Sequence[str]) -> str:
    if seat is None:
        return INK
    name = names[seat].lower() if seat < len(names) else ""
    return NAMED.get(name) or COLOURS[seat % len(COLOURS)]


def _text(
    x: float,
    y: float,
    text: str,
    *,
    middle: bool = False,
    bold: bool = False,
    size: int = 14,
    colour: str = INK,
) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    weight = ' font-weight="bold"' if bold else ""
    # White pieces that are letters have a dark rim.
    rim = ' stroke="#22282c" stroke-width="0.8"' if colour == NAMED["white"] else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}"{anchor}{weight}{rim}>'
        f"{escape(text)}</text>"
    )


def table_html(rows: Sequence[Any]) -> str:
    """Draw rows of one kind as an HTML table; every value is escaped."""
    if not rows:
        return "<p>no rows</p>"
    names = [each.name for each in dataclasses.fields(rows[0])]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_shown(getattr(row, name))}</td>" for name in names) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<p>{len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple) and value and dataclasses.is_dataclass(value[0]):
        return ", ".join(escape(str(getattr(each, "name", each))) for each in value[:8])
    return escape(str(value))
