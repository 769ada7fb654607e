"""Draw a scene as lines of text: for pipes, logs, reports, documentation and screen readers.

The terminal client on a screen uses `plyhouse.clients.terminal.scene_layout` instead, which fits
boards to the size of the terminal and knows which cell shows which spot.

`draw_fields` takes the dict of `plyhouse.games.scene.scene_fields`, which protocol v1 carries in
the fields ``scene``: ``elements`` (each tagged by ``kind``), ``status`` and ``seat_to_move``.  It
omits elements of an unknown kind, so that newer servers can talk to this client.

>>> die = {"kind": "dice", "label": "last roll", "values": [5]}
>>> points = {"kind": "counter", "label": "you", "value": 35, "target": 100}
>>> print(draw_fields({"elements": [points, die], "status": "It is your turn."}))
you: 35 / 100 #######-------------
last roll: [5]
It is your turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from plyhouse.games.scene import Button, Placing, Scene, scene_fields, scene_spots

__all__ = ["draw_fields", "render_text"]

Fields = Mapping[str, Any]

SEAT_COLOURS: Final = ("\x1b[33m", "\x1b[36m", "\x1b[35m", "\x1b[32m", "\x1b[34m", "\x1b[31m")
"""ANSI colours of seats 0, 1, ...; repeated when there are more seats."""
DIM: Final = "\x1b[2m"
BOLD: Final = "\x1b[1m"
RESET: Final = "\x1b[0m"
BAR: Final = 20
"""Width in characters of the bar of a counter that has a target."""
_HYPHEN: Final = re.compile(r"(?<!\w)-(?=\d)")
MOST_LISTED: Final = 40
"""Actions of a `Placing` that `render_text` lists."""


def draw_fields(scene: Fields, colour: bool = False) -> str:
    """The scene as lines of text, the status last; ``colour`` adds ANSI colours."""
    lines: list[str] = []
    for element in scene.get("elements", ()):
        lines.extend(_draw_element(element, colour))
    status = str(scene.get("status", ""))
    if status:
        lines.append(f"{BOLD}{status}{RESET}" if colour else status)
    return "\n".join(lines)


def render_text(scene: Scene) -> str:
    """Draw a scene with plain characters; the last line lists the actions.

    >>> from plyhouse.games.scene import Cell, Grid
    >>> board = Grid(((Cell("x"), Cell("")), (Cell(""), Cell("o"))), ("2", "1"), ("a", "b"))
    >>> print(render_text(Scene((board, Button("Give up", "resign")), "x to move", 0)))
    2 x .
    1 . o
      a b
    x to move
    Actions: resign (Give up)
    """
    buttons = {each.action: each.label for each in scene.elements if isinstance(each, Button)}
    lines = [draw_fields(scene_fields(scene))]
    actions: list[str] = []
    for spot in scene_spots(scene):
        if spot.action is None:
            continue
        label = buttons.get(spot.action, "")
        text = spot.action if label.casefold() in ("", spot.action) else f"{spot.action} ({label})"
        if text not in actions:
            actions.append(text)
    for element in scene.elements:
        if isinstance(element, Placing):
            actions += element.actions[:MOST_LISTED]
            if len(element.actions) > MOST_LISTED:
                actions.append(f"and {len(element.actions) - MOST_LISTED} more")
    if actions:
        lines.append("Actions: " + ", ".join(actions))
    return "\n".join(lines)


def _draw_element(element: Fields, colour: bool) -> Sequence[str]:
    """One element as lines; buttons are listed with the actions, not drawn."""
    match element.get("kind"):
        case "grid":
            return _draw_grid(element, colour)
        case "hand":
            shown = ("[?]" if c.get("text") is None else f"[{c['text']}]" for c in element["cards"])
            return [f"{element['label']}: {' '.join(shown) or '-'}"]
        case "dice":
            shown = (f"[{value}]" for value in element["values"])
            return [f"{element['label']}: {' '.join(shown) or '-'}"]
        case "counter":
            return [_draw_counter(element, colour)]
        case "tray" | "placing":
            texts = list(map(_counted, element.get("pieces", ())))
            pieces = (", " if any(" " in text for text in texts) else " ").join(texts)
            return [f"{element['label']}: {pieces}"] if pieces else []
        case "text":
            return [_minus(str(element["text"]))]
        case _:
            return []


def _minus(text: str) -> str:
    """Return a text with a true minus before numbers; other hyphens stay.

    >>> _minus("won -3, A-1")
    'won −3, A-1'
    """
    return _HYPHEN.sub("\N{MINUS SIGN}", text)


def _counted(piece: Fields) -> str:
    """A piece beside the board; several that are alike are counted."""
    count = piece.get("count", 0)
    return f"{piece['text']}\u00d7{count}" if count > 1 else str(piece["text"])


def _draw_counter(element: Fields, colour: bool) -> str:
    """``you: 35 / 100 #######-------------``."""
    value, target = float(element["value"]), element.get("target")
    line = _minus(f"{element['label']}: {value:g}")
    if not target:
        return line
    filled = max(0, min(BAR, round(BAR * value / float(target))))
    bar = "#" * filled + "-" * (BAR - filled)
    return f"{line} / {float(target):g} {_paint(bar, element.get('seat'), colour)}"


def _draw_grid(grid: Fields, colour: bool) -> list[str]:
    """A board with its labels, one line per row.

    A column's label ``13/12`` stands above its upper end as 13 and below it as 12.  Where neither
    rows nor columns have labels, the spots show their names.
    """
    rows, columns = grid.get("rows", ()), grid.get("column_labels", ())
    names = grid.get("row_labels", ())
    named = not names and not columns
    above, below = _column_labels(columns)
    texts = [_cell_text(cell, named) for row in rows for cell in row]
    width = max([1, *map(len, texts), *map(len, above), *map(len, below)])
    margin = max(map(len, names), default=0)

    def headed(labels: Sequence[str]) -> list[str]:
        centred = " ".join(label.center(width) for label in labels)
        return [f"{'':>{margin}} {centred}".rstrip()] if labels else []

    lines = [str(grid["label"])] if grid.get("label") else []
    lines += headed(above)
    for index, row in enumerate(rows):
        name = names[index] if index < len(names) else ""
        cells = (_draw_cell(cell, width, named, colour) for cell in row)
        lines.append(f"{name:>{margin}} {' '.join(cells)}".rstrip())
    return lines + headed(below)


def _column_labels(columns: Sequence[str]) -> tuple[list[str], list[str]]:
    """The labels above the columns, and those below."""
    if not any("/" in label for label in columns):
        return [], list(columns)
    return (
        [label.partition("/")[0] for label in columns],
        [label.rpartition("/")[2] for label in columns],
    )


def _cell_text(cell: Fields, named: bool) -> str:
    """Return the piece on a spot, with the spot's name if the board has no labels."""
    text = str(cell.get("text") or "")
    name = str(cell.get("name") or "") if named else ""
    if name and cell.get("shape") == "deed":
        # The text of a free deed only repeats its name; names have four characters at most.
        free = cell.get("owner") is None and not cell.get("tokens")
        return name if free else f"{name:4}{text}"
    return f"{text.replace('.', '')}{name}" if name else text or "."


def _draw_cell(cell: Fields, width: int, named: bool, colour: bool) -> str:
    text = _cell_text(cell, named).center(width)
    if colour and cell.get("highlight"):
        text = f"{BOLD}{text}"
    if colour and not cell.get("text"):
        return f"{DIM}{text}{RESET}"
    return _paint(text, cell.get("owner"), colour)


def _paint(text: str, seat: int | None, colour: bool) -> str:
    """The text in the colour of a seat."""
    if not colour or seat is None:
        return text
    return f"{SEAT_COLOURS[seat % len(SEAT_COLOURS)]}{text}{RESET}"
