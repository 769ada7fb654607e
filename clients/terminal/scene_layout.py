"""Lay a scene out in character cells, for the screens of the terminal client.

Boards are as large as the terminal allows, and each cell knows its spot, for mouse and keys.
`plyhouse.games.scene_text` writes lines of text instead, where there is no screen.

>>> die = {"kind": "dice", "label": "last roll", "values": [5]}
>>> points = {"kind": "counter", "label": "you", "value": 35, "target": 100}
>>> options = ViewOptions(ink=Ink(colours=False, unicode=False))
>>> print(picture({"elements": [points, die]}, options).text())
you: 35 / 100 #######-------------
last roll: [5]
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rich.style import Style

from plyhouse.clients.terminal.action_choice import HELD, spot_name
from plyhouse.clients.terminal.board_drawing import board_size, draw_board, sizes_of
from plyhouse.clients.terminal.canvas import Canvas, Spot, width_of
from plyhouse.clients.terminal.colours import BLACK, SOFT, Ink, seat_colour
from plyhouse.clients.terminal.pieces import sign_of
from plyhouse.clients.terminal.view_options import ViewOptions

__all__ = ["Ink", "ViewOptions", "picture"]

Fields = Mapping[str, Any]

BAR: Final = 20
"""Cells of the bar of a counter with a target."""
GAP: Final = 3
"""Cells between boards."""
WIDE: Final = 7
TALL: Final = 3
"""Cells and lines of a large card or die."""
PIPS: Final = {
    "1": "/  \u25cf",
    "2": "\u25cf//    \u25cf",
    "3": "\u25cf/  \u25cf/    \u25cf",
    "4": "\u25cf   \u25cf//\u25cf   \u25cf",
    "5": "\u25cf   \u25cf/  \u25cf/\u25cf   \u25cf",
    "6": "\u25cf   \u25cf/\u25cf   \u25cf/\u25cf   \u25cf",
}
"""The lines of a large die."""
SUITS: Final = {"hearts": "\u2665", "diamonds": "\u2666", "clubs": "\u2663", "spades": "\u2660"}


def picture(scene: Fields, look: ViewOptions) -> Canvas:
    """The scene; its status is not in it.

    A counter or tray that follows one board of several is placed below that board.  Where not
    everything fits, trays are left out.
    """
    elements = list(scene.get("elements", ()))
    drawn = _picture(elements, scene.get("viewer"), look)
    if drawn.height > look.height and any(each.get("kind") == "tray" for each in elements):
        # Numbers of elements stay, because they say which spot was chosen.
        elements = [{"kind": "none"} if each.get("kind") == "tray" else each for each in elements]
        drawn = _picture(elements, scene.get("viewer"), look)
    if drawn.height > look.height and any(each.get("look") == "table" for each in elements):
        # People choose in the lists of an offer then, not on the ring of fields above them.
        kept = [{"kind": "none"} if each.get("look") == "circuit" else each for each in elements]
        drawn = _picture(kept, scene.get("viewer"), look)
    return drawn


def _picture(elements: list[Fields], viewer: Any, look: ViewOptions) -> Canvas:
    if look.ink.colours and look.ink.unicode:
        large = replace(look, large=True)
        if (
            all(each.get("kind") != "grid" for each in elements)
            and sum(_lines(each, large) for each in elements) <= look.height
            and all(_width(each, large) <= look.width for each in elements)
        ):
            look = large
    groups: list[list[tuple[int, Fields]]] = [[]]
    several = sum(each.get("kind") == "grid" for each in elements) > 1
    for index, element in enumerate(elements):
        if element.get("kind") == "grid":
            groups.append([(index, element)])
        elif (len(groups) > 1 and several and element.get("kind") in ("counter", "tray")) or len(
            groups
        ) == 1:
            groups[-1].append((index, element))
        else:
            groups.append([(index, element)])
    blocks: list[list[tuple[int, Fields]]] = [group for group in groups if group]
    sizes = _sizes(blocks, look)
    canvas = Canvas()
    x = y = below = 0
    for group in blocks:
        part = _block(group, look, viewer, sizes)
        beside = group[0][1].get("kind") == "grid" and x > 0
        if beside and x + part.width <= look.width:
            canvas.take(part, x, y)
        else:
            x, y = 0, canvas.height
            canvas.take(part, x, y)
        below = max(below, canvas.height)
        x = x + part.width + GAP if group[0][1].get("kind") == "grid" else 0
    return canvas


def _sizes(
    blocks: Sequence[Sequence[tuple[int, Fields]]], look: ViewOptions
) -> dict[int, tuple[int, int]]:
    """The size of the spots of each board: as large as fits, the same step for all."""
    boards = [(i, each) for group in blocks for i, each in group if each.get("kind") == "grid"]
    steps = max((len(sizes_of(grid)) for _, grid in boards), default=1)
    chosen: dict[int, tuple[int, int]] = {}
    for step in range(steps):
        chosen = {i: sizes_of(grid)[min(step, len(sizes_of(grid)) - 1)] for i, grid in boards}
        x = y = high = 0
        widest = 0
        for group in blocks:
            index, first = group[0]
            lines = sum(_lines(each, look) for _, each in group)
            if first.get("kind") != "grid":
                y, x, high = y + high + lines, 0, 0
                continue
            width, height = board_size(first, chosen[index])
            height += lines - 1
            if x and x + width > look.width:
                y, x, high = y + high, 0, 0
            x, high = x + width + GAP, max(high, height)
            widest = max(widest, x - GAP)
        if widest <= look.width and y + high <= look.height:
            break
    return chosen


def _lines(element: Fields, look: ViewOptions) -> int:
    """Lines that an element takes; a board counts as one."""
    if element.get("kind") == "text":
        return len(_wrapped(element, look))
    if element.get("kind") in ("tray", "placing"):
        return bool(element.get("pieces"))
    if element.get("kind") in ("hand", "dice") and look.large:
        return TALL
    if element.get("kind") == "hand":
        slot, across = _slots(element, look)
        return 1 if not slot else 1 + -(-len(element["cards"]) // across)
    return element.get("kind") in ("grid", "dice", "counter")


def _slots(hand: Fields, look: ViewOptions) -> tuple[int, int]:
    """Return cells for a card, and how many are side by side, of a hand that needs several lines.

    They are 0 if its label and its cards fit into one line.
    """
    cards = hand.get("cards", ())
    if look.large or hand.get("look") == "pile" or not cards:
        return 0, 0
    slot = max(width_of(_face(card, look)[0] or "?") for card in cards) + 5
    label = width_of(look.words(str(hand.get("label", ""))))
    if label + 4 + slot * len(cards) <= look.width:
        return 0, 0
    return slot, max(1, (look.width - 2) // slot)


def _width(element: Fields, look: ViewOptions) -> int:
    """Cells that large cards or dice take with their label; 0 for other elements."""
    tiles = len(element.get("cards") or element.get("values") or ())
    label = width_of(look.words(str(element.get("label", ""))))
    return label + 4 + tiles * (WIDE + 3) if tiles else 0


def _wrapped(element: Fields, look: ViewOptions) -> list[str]:
    """A text as lines that fit."""
    return textwrap.wrap(look.words(str(element.get("text", ""))), max(10, look.width))


def _block(
    group: Sequence[tuple[int, Fields]],
    look: ViewOptions,
    viewer: int | None,
    sizes: Mapping[int, tuple[int, int]],
) -> Canvas:
    """A board with what belongs to it, or a line."""
    canvas = Canvas()
    for index, element in group:
        if element.get("kind") == "grid":
            canvas.take(draw_board(element, index, sizes[index], look, viewer), 0, canvas.height)
        elif _lines(element, look):
            _draw_line(canvas, canvas.height, index, element, look)
    return canvas


def _draw_line(canvas: Canvas, y: int, index: int, element: Fields, look: ViewOptions) -> None:
    """The elements beside boards: one line each."""
    if element["kind"] == "text":
        for line, text in enumerate(_wrapped(element, look)):
            canvas.put(0, y + line, text)
        return
    tall = look.large and element["kind"] in ("hand", "dice")
    middle = y + TALL // 2 if tall else y
    x = _draw_swatch(canvas, middle, element.get("seat"), look)
    x += canvas.put(x, middle, f"{look.words(str(element.get('label', '')))}: ")
    match element["kind"]:
        case "hand":
            _draw_hand(canvas, x, middle, index, element, look)
        case "dice":
            for value in element.get("values", ()):
                x += _tile(canvas, x, middle, str(value), look, pips=True) + 1
            if not element.get("values"):
                canvas.put(x, middle, "-")
        case "counter":
            _draw_counter(canvas, x, y, element, look)
        case "tray" | "placing":
            named = any(" " in str(piece.get("text")) for piece in element.get("pieces", ()))
            for at, piece in enumerate(element.get("pieces", ())):
                if named and at:
                    canvas.put(x - 1, y, ",")
                    x += 1
                count = int(piece.get("count") or 0)
                times = f"{look.ink.sign(chr(0xD7), 'x')}{count}" if count > 1 else ""
                style = _readable(piece.get("owner"), look)
                x += canvas.put(x, y, f"{sign_of(piece, look.ink)}{times}", style) + 1


def _draw_swatch(canvas: Canvas, y: int, seat: int | None, look: ViewOptions) -> int:
    """The colour of the seat that something belongs to; returns its width."""
    if seat is None or not look.ink.colours:
        return 0
    colour = seat_colour(seat, look.ink.names)
    sign = ("\u25cb", "o") if colour == BLACK else ("\u25cf", "*")
    return canvas.put(0, y, f"{look.ink.sign(*sign)} ", _readable(seat, look))


def _readable(seat: int | None, look: ViewOptions) -> Style:
    """The colour of a seat on the dark sheet, where black cannot be read."""
    colour = seat_colour(seat, look.ink.names)
    return look.ink.on(SOFT if colour == BLACK else colour)


def _tile(
    canvas: Canvas,
    x: int,
    y: int,
    text: str,
    look: ViewOptions,
    colour: str = "#101010",
    *,
    pips: bool = False,
) -> int:
    """A card, a die, a coin around line ``y``; returns its width."""
    if not look.ink.colours:
        return canvas.put(x, y, f"[{text}]")
    style = Style(color=colour, bgcolor="#f2f2f2", bold=True)
    if not look.large:
        return canvas.put(x, y, f" {text} ", style)
    width = max(WIDE, width_of(text) + 2)
    canvas.fill(x, y - 1, width, TALL, style)
    if pips and text in PIPS:
        for line, row in enumerate(PIPS[text].split("/")):
            canvas.put(x + 1, y - 1 + line, row, style)
    else:
        canvas.put(x + (width - width_of(text)) // 2, y, text, style)
    return width


def _draw_hand(canvas: Canvas, x: int, y: int, index: int, hand: Fields, look: ViewOptions) -> None:
    cards = list(enumerate(hand.get("cards", ())))
    if not cards:
        canvas.put(x, y, "-")
    if hand.get("look") == "pile" and cards:
        x += canvas.put(x, y, f"({len(cards)}) ")
        cards = cards[-1:]
    slot, across = _slots(hand, look)
    first = y + 1
    for at, card in cards:
        if slot:
            x, y = 2 + at % across * slot, first + at // across
        text, colour = _face(card, look)
        name = spot_name(card, index, HELD, at)
        left = x
        brackets = look.brackets(name, look.state(name, card))
        can = name in look.open
        if brackets or can:
            x += canvas.put(x, y, brackets[0] if brackets else " ", Style(bold=True))
        if text is None and look.ink.colours:
            style = Style(color="#c9d8ff", bgcolor="#27407a")
            if look.large:
                canvas.fill(x, y - 1, WIDE, TALL, style, "\u2592")
                x += WIDE
            else:
                back = look.ink.sign("\u2592\u2592\u2592", " ? ")
                x += canvas.put(x, y, back, style)
        else:
            x += _tile(canvas, x, y, text or "?", look, colour)
        if brackets or can:
            x += canvas.put(x, y, brackets[1] if brackets else " ", Style(bold=True))
        label = look.words(str(card.get("label") or text or "face down"))
        high = TALL if look.large else 1
        canvas.spots.append(Spot(name, left, y - high // 2, x - left, high, label, 0, at, index))
        x += 1


def _face(card: Fields, look: ViewOptions) -> tuple[str | None, str]:
    """Return the text and colour of a card; None if it is face down."""
    if card.get("text") is None:
        return None, ""
    suit = SUITS.get(str(card.get("suit") or ""))
    red = card.get("suit") in ("hearts", "diamonds")
    text = str(card["text"])
    if suit and look.ink.unicode:
        text = f"{card.get('rank') or text}{suit}"
    return text, "#b00020" if red else "#101010"


def _draw_counter(canvas: Canvas, x: int, y: int, element: Fields, look: ViewOptions) -> None:
    value, target = float(element.get("value", 0)), element.get("target")
    seat = element.get("seat")
    text = f"{value:g}".replace("-", look.ink.sign("\N{MINUS SIGN}", "-"))
    if target:
        filled = max(0, min(BAR, round(BAR * value / float(target))))
        x += canvas.put(x, y, f"{text} / {float(target):g} ", Style(bold=look.ink.colours))
        bar = look.ink.sign("\u2588", "#") * filled
        rest = look.ink.sign("\u2591", "-") * (BAR - filled)
        x += canvas.put(x, y, bar, _readable(seat, look))
        canvas.put(x, y, rest, look.ink.on(SOFT))
        return
    x += canvas.put(x, y, text, Style(bold=look.ink.colours))
    if element.get("look") == "chips" and look.ink.unicode and look.ink.colours and value > 0:
        heap = "\u25cf" * max(0, min(10, round(value)))
        canvas.put(
            x + 1, y, heap, _readable(seat, look) if seat is not None else look.ink.on("#ffc53d")
        )
