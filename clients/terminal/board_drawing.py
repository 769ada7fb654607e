"""Boards in character cells, as large as the room allows, each by its look.

`draw_board` knows looks and no game.  Every spot is added to the canvas with its name and its box,
so that a mouse or a cursor can find it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.style import Style

from plyhouse.clients.terminal.action_choice import END, spot_name
from plyhouse.clients.terminal.canvas import Canvas, Spot, width_of
from plyhouse.clients.terminal.colours import NIGHT, TEXT
from plyhouse.clients.terminal.pieces import draw_figure, sign_of
from plyhouse.clients.terminal.view_options import ViewOptions, is_turned

Fields = Mapping[str, Any]
Size = tuple[int, int]

SIZES: Final[tuple[Size, ...]] = (
    *((2 * height + 1, height) for height in range(12, 2, -1)),
    (5, 2),
    (3, 1),
    (2, 1),
)
"""Width and height that a spot may have, the largest first."""
BY_LOOK: Final[dict[str, tuple[Size, ...]]] = {
    "lines": (*((2 * height, height) for height in range(7, 1, -1)), (3, 1), (2, 1)),
    "pits": ((9, 4), (7, 3), (5, 2), (3, 1), (2, 1)),
    "maze": ((8, 4), (6, 3), (4, 2), (2, 1), (1, 1)),
    "hex": (*((2 * height, height) for height in range(7, 1, -1)), (4, 1), (2, 1)),
    "circuit": ((14, 3), (12, 3), (7, 3), (7, 2), (6, 1), (3, 1), (2, 1)),
    "points": ((11, 18), (9, 15), (7, 12), (6, 10), (5, 7), (4, 6), (3, 6), (3, 5)),
}
LABEL: Final = Style(color="#9aa7b4")


def sizes_of(grid: Fields) -> Sequence[Size]:
    """The sizes that a spot of the board may have, the largest first; a table has only one."""
    look = grid.get("look", "")
    if look == "table":
        texts = [str(cell.get("text", "")) for row in grid.get("rows", ()) for cell in row]
        heads = map(str, grid.get("column_labels", ()))
        return ((max([3, *map(width_of, texts), *map(width_of, heads)]) + 4, 1),)
    return BY_LOOK.get(look, SIZES)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the parts of a board are."""

    grid: Fields
    index: int
    size: Size
    turned: bool

    @property
    def rows(self) -> Sequence[Sequence[Fields]]:
        rows: Sequence[Sequence[Fields]] = self.grid.get("rows", ())
        return rows

    @property
    def columns(self) -> int:
        return max(map(len, self.rows), default=0)

    @property
    def look(self) -> str:
        return str(self.grid.get("look", ""))

    @property
    def doubled(self) -> bool:
        """True if columns have one label above and one below."""
        return any("/" in str(label) for label in self.grid.get("column_labels", ()))

    @property
    def above(self) -> int:
        """Lines above the rows."""
        labelled = bool(self.grid.get("column_labels"))
        return (1 if self.grid.get("label") and self.titled else 0) + (
            1 if labelled and (self.doubled or self.look == "table") else 0
        )

    @property
    def titled(self) -> bool:
        """True if what the board is called says anything."""
        return str(self.grid.get("label", "")).lower() not in ("", "board")

    @property
    def below(self) -> int:
        return 1 if self.grid.get("column_labels") and self.look != "table" else 0

    @property
    def end(self) -> int:
        """Width of a store beside the board."""
        return max(6, self.size[0]) + 1 if len(self.grid.get("ends") or ()) == 2 else 0

    @property
    def margin(self) -> int:
        """Cells left of the rows: their labels and a store."""
        longest = max(map(width_of, map(str, self.grid.get("row_labels", ()))), default=0)
        return (longest + 1 if longest else 0) + self.end

    def box(self, y: int, x: int) -> tuple[int, int, int, int]:
        """Where a spot is drawn."""
        width, height = self.size
        if self.turned:
            y, x = len(self.rows) - 1 - y, self.columns - 1 - x
        left = self.margin + x * width
        top = self.above + y * height
        if self.look == "hex":
            left += y * (width // 2)
        if self.look == "points" and y > 0:
            top += 1
        return left, top, width, height

    def cells(self) -> Iterator[tuple[int, int, Fields]]:
        for y, row in enumerate(self.rows):
            for x, cell in enumerate(row):
                yield y, x, cell


def board_size(grid: Fields, size: Size) -> tuple[int, int]:
    """How many cells a board takes, wide and high, with spots of this size."""
    plan = _Plan(grid, 0, size, turned=False)
    width = plan.margin + plan.columns * size[0] + plan.end
    height = plan.above + len(plan.rows) * size[1] + plan.below
    if plan.look == "hex":
        width += (len(plan.rows) - 1) * (size[0] // 2)
    if plan.look == "points":
        height += 1
    title = width_of(str(grid.get("label", ""))) if plan.titled else 0
    return max(width, title), height


def draw_board(
    grid: Fields, index: int, size: Size, look: ViewOptions, viewer: int | None
) -> Canvas:
    """A board; ``index`` is its place in the scene, ``viewer`` the seat that sees it."""
    canvas = Canvas()
    plan = _Plan(grid, index, size, is_turned(grid, viewer, flipped=look.flipped))
    _draw_labels(canvas, plan, look)
    for y, x, cell in plan.cells():
        name = spot_name(cell, index, y, x)
        box = plan.box(y, x)
        _DRAWN.get(plan.look, _draw_spot)(canvas, plan, look, (y, x), cell, name, box)
        shown_y = len(plan.rows) - 1 - y if plan.turned else y
        shown_x = plan.columns - 1 - x if plan.turned else x
        label = look.words(str(cell.get("label") or cell.get("text") or "empty"))
        canvas.spots.append(Spot(name, *box, label, shown_y, shown_x, index))
    if plan.end:
        _draw_ends(canvas, plan, look)
    if plan.look == "circuit":
        _draw_legend(canvas, plan, look)
    return canvas


def _draw_labels(canvas: Canvas, plan: _Plan, look: ViewOptions) -> None:
    soft = LABEL if look.ink.colours else Style()
    if plan.titled:
        canvas.put(0, 0, look.words(str(plan.grid.get("label", ""))), soft)
    width, height = plan.size
    columns = [str(label) for label in plan.grid.get("column_labels", ())]
    for x, label in enumerate(columns):
        left, _, _, _ = plan.box(0, x)
        upper, _, lower = label.partition("/")
        if plan.turned:
            upper, lower = lower, upper
        lower = lower if plan.doubled and "/" in label else label
        upper = upper if "/" in label else label
        if plan.doubled or plan.look == "table":
            canvas.put(left, plan.above - 1, _centred(look.words(upper), width), soft)
        if plan.below:
            gap = 1 if plan.look == "points" else 0
            bottom = plan.above + len(plan.rows) * height + gap
            canvas.put(left, bottom, _centred(lower, width), soft)
    for y, label in enumerate(map(str, plan.grid.get("row_labels", ()))):
        _, top, _, _ = plan.box(y, 0)
        text = label.rjust(plan.margin - plan.end - 1)
        canvas.put(0, top + (height - 1) // 2, text, soft)


def _centred(text: str, width: int) -> str:
    """A label over the middle of a spot."""
    text = text[:width]
    left = max(0, (width - width_of(text)) // 2)
    return " " * left + text


Place = tuple[int, int]
Box = tuple[int, int, int, int]


def _draw_spot(
    canvas: Canvas, plan: _Plan, look: ViewOptions, at: Place, cell: Fields, name: str, box: Box
) -> None:
    """A spot of a plain or checkered board."""
    y, x = at
    state = look.state(name, cell)
    theme = str(plan.grid.get("theme", ""))
    ground = look.ground(state, theme, other=(x + y) % 2 > 0)
    canvas.fill(*box, ground)
    named = not plan.grid.get("row_labels") and not plan.grid.get("column_labels")
    if named and cell.get("name") and not str(cell.get("text") or "").strip():
        style = ground + look.ink.on(TEXT) + Style(dim=True)
        canvas.put(box[0], box[1], str(cell["name"])[: box[2]], style)
    if not look.ink.colours and not str(cell.get("text") or "").strip() and not named:
        left, top, width, height = box
        canvas.put(left + (width - 1) // 2, top + (height - 1) // 2, look.ink.sign("\u00b7", "."))
    draw_figure(canvas, box, cell, look.ink)
    _draw_marks(canvas, look, cell, name, state, box)


def _draw_marks(
    canvas: Canvas, look: ViewOptions, cell: Fields, name: str, state: str, box: Box
) -> None:
    """Brackets around what is marked, and a dot on what is empty and can be chosen."""
    left, top, width, height = box
    middle = top + (height - 1) // 2
    strong = look.ink.on("#ffffff") + Style(bold=True)
    if name in look.open and not str(cell.get("text") or "").strip():
        dot = look.ink.sign("\u2022", "+")
        canvas.put(left + (width - 1) // 2, middle, dot, strong if state == "target" else Style())
    brackets = look.brackets(name, state)
    if width >= 3 and brackets:
        canvas.put(left, middle, brackets[0], strong)
        canvas.put(left + width - 1, middle, brackets[1], strong)
    elif width == 2 and brackets:
        canvas.put(left + 1, middle, brackets[1], strong)
    if name == look.cursor and width < 3:
        canvas.fill(left, top, width, height, Style(reverse=True), "")


def _draw_crossing(
    canvas: Canvas, plan: _Plan, look: ViewOptions, at: Place, cell: Fields, name: str, box: Box
) -> None:
    """A point where lines cross, as for go."""
    left, top, width, height = box
    state = look.state(name, cell)
    ground = look.ground(state, str(plan.grid.get("theme", "")))
    canvas.fill(*box, ground)
    shown_y = (top - plan.above) // height
    shown_x = (left - plan.margin) // width
    last_y, last_x = len(plan.rows) - 1, plan.columns - 1
    lines = look.ink.on("#1d140a")
    text = str(cell.get("text") or "").strip()
    middle_x, middle_y = left + (width - 1) // 2, top + (height - 1) // 2
    if look.ink.unicode:
        row = 0 if shown_y == 0 else 2 if shown_y == last_y else 1
        column = 0 if shown_x == 0 else 2 if shown_x == last_x else 1
        crossing = ("\u250c\u252c\u2510", "\u251c\u253c\u2524", "\u2514\u2534\u2518")[row][column]
        dash, bar = "\u2500", "\u2502"
    else:
        crossing, dash, bar = "+", "-", "|"
    for x in range(left, left + width):
        if (x < middle_x and shown_x > 0) or (x > middle_x and shown_x < last_x):
            canvas.put(x, middle_y, dash, lines)
    for y in range(top, top + height):
        if (y < middle_y and shown_y > 0) or (y > middle_y and shown_y < last_y):
            canvas.put(middle_x, y, bar, lines)
    star = cell.get("shape") == "star" and not text
    canvas.put(middle_x, middle_y, look.ink.sign("\u2022", "*") if star else crossing, lines)
    if text:
        canvas.put(
            middle_x, middle_y, sign_of(cell, look.ink), ground + look.ink.figure(cell.get("owner"))
        )
        if look.ink.unicode and look.ink.colours and height >= 2:
            draw_figure(canvas, box, cell, look.ink)
    brackets = look.brackets(name, state)
    strong = look.ink.on("#ffffff") + Style(bold=True)
    if brackets and width >= 3:
        canvas.put(left, middle_y, brackets[0], strong)
        canvas.put(2 * middle_x - left, middle_y, brackets[1], strong)
    elif brackets:
        canvas.put(left + 1, middle_y, brackets[1], strong)
    if name == look.cursor and width < 3:
        canvas.fill(left, top, 1, height, Style(reverse=True), "")


def _draw_hole(
    canvas: Canvas, plan: _Plan, look: ViewOptions, at: Place, cell: Fields, name: str, box: Box
) -> None:
    """A hole of an upright panel."""
    state = look.state(name, cell)
    canvas.fill(*box, look.ground(state, str(plan.grid.get("theme", ""))))
    if not str(cell.get("text") or "").strip() or str(cell.get("text")) == "0":
        left, top, width, height = box
        empty = look.ink.on(NIGHT) + Style(bold=True)
        sign = look.ink.sign("\u25cf" if look.ink.colours else "\u25cb", ".")
        if look.ink.colours and look.ink.unicode and height > 1:
            hollow = {**cell, "shape": "disc", "text": " .", "face": "", "owner": None}
            draw_figure(canvas, box, hollow, look.ink)
            canvas.fill(left, top, width, height, empty, "")
        else:
            canvas.put(left + (width - 1) // 2, top + (height - 1) // 2, sign, empty)
    else:
        draw_figure(canvas, box, cell, look.ink)
    _draw_marks(canvas, look, {**cell, "text": "x"}, name, state, box)


def _draw_maze(
    canvas: Canvas, plan: _Plan, look: ViewOptions, at: Place, cell: Fields, name: str, box: Box
) -> None:
    """A way or a wall."""
    state = look.state(name, cell)
    ground = look.ground(state, "") if state else look.ink.ground(NIGHT)
    canvas.fill(*box, ground)
    if cell.get("shape") == "wall":
        if look.ink.colours:
            canvas.fill(*box, look.ink.ground("#3b4d8f"))
        else:
            canvas.fill(*box, Style(), look.ink.sign("\u2588", "#"))
        return
    if cell.get("shape") == "dot":
        left, top, width, height = box
        dot = look.ink.sign("\u00b7", ".")
        canvas.put(left + (width - 1) // 2, top + (height - 1) // 2, dot, look.ink.on("#ffd9a0"))
    else:
        draw_figure(canvas, box, cell, look.ink)
    _draw_marks(canvas, look, cell, name, state, box)


def _draw_point(
    canvas: Canvas, plan: _Plan, look: ViewOptions, at: Place, cell: Fields, name: str, box: Box
) -> None:
    """A long triangle with a stack of checkers, as for backgammon; or the bar, or a tray."""
    y, x = at
    left, top, width, height = box
    upper = (y == 0) != plan.turned
    theme = str(plan.grid.get("theme", ""))
    labels = plan.grid.get("column_labels", ())
    apart = x < len(labels) and not any(each.isdigit() for each in str(labels[x]))
    state = look.state(name, cell)
    ground = look.ground(state, theme, other=apart)
    canvas.fill(*box, ground)
    rows = range(top, top + height) if upper else range(top + height - 1, top - 1, -1)
    if not apart:
        shades = ("#d9c39a", "#173d27") if look.ink.colours else ("", "")
        sign = look.ink.sign("\u2595\u258f", "::")
        for line in list(rows)[: height - 1]:
            at_x = left + (width - 2) // 2
            canvas.put(at_x, line, sign, look.ink.on(shades[(x + y) % 2]))
    count = int(cell.get("count") or 0)
    tall = max(1, height // 6) if look.ink.colours and look.ink.unicode else 1
    shown = min(count, height // tall)
    style = look.ink.figure(cell.get("owner"))
    for place in range(shown):
        line = top + place * tall if upper else top + height - (place + 1) * tall
        text = sign_of({**cell, "face": ""}, look.ink) if look.ink.colours else ""
        text = text or str(cell.get("text") or "")[:1]
        if place == shown - 1 and count > shown:
            text = str(count)
        if look.ink.colours and look.ink.unicode and text == "\u25cf":
            if tall > 1:
                draw_figure(canvas, (left, line, width, tall), {**cell, "face": ""}, look.ink)
            else:  # of half a line, so that those of a stack stay apart
                canvas.put(left + (width - 3) // 2, line, "\u2597\u2584\u2596", style)
        else:
            at_y = line + (tall - 1) // 2
            canvas.put(left + (width - width_of(text)) // 2, at_y, text, style)
    brackets = look.brackets(name, state)
    if brackets:
        line = list(rows)[min(shown * tall, height - 1)]
        strong = look.ink.on("#ffffff") + Style(bold=True)
        canvas.put(left, line, brackets[0], strong)
        canvas.put(left + width - 1, line, brackets[1], strong)
    elif look.open.get(name):
        canvas.put(
            left + width // 2, list(rows)[-1], look.ink.sign("\u2022", "+"), Style(bold=True)
        )


def _draw_entry(
    canvas: Canvas, plan: _Plan, look: ViewOptions, at: Place, cell: Fields, name: str, box: Box
) -> None:
    """A cell of a table."""
    left, top, width, _ = box
    state = look.state(name, cell)
    canvas.fill(*box, look.ground(state, str(plan.grid.get("theme", "")), other=sum(at) % 2 > 0))
    text = str(cell.get("text", ""))
    canvas.put(
        left + (width - width_of(text)) // 2, top, text, look.ink.on("#ffffff") + Style(bold=True)
    )
    brackets = look.brackets(name, state) or ("[]" if name in look.open else "")
    if brackets:
        canvas.put(left, top, brackets[0], look.ink.on("#ffffff"))
        canvas.put(left + width - 1, top, brackets[1], look.ink.on("#ffffff"))


def _draw_ends(canvas: Canvas, plan: _Plan, look: ViewOptions) -> None:
    """The stores left and right of a board."""
    width, height = plan.end - 1, len(plan.rows) * plan.size[1]
    theme = str(plan.grid.get("theme", ""))
    for side, cell in enumerate(plan.grid["ends"]):
        name = spot_name(cell, plan.index, END, side)
        at = 1 - side if plan.turned else side
        right = plan.margin + plan.columns * plan.size[0] + 1
        left = right if at else plan.margin - plan.end
        box = (left, plan.above, width, height)
        state = look.state(name, cell)
        canvas.fill(*box, look.ground(state, theme, other=True))
        draw_figure(canvas, box, cell, look.ink)
        _draw_marks(canvas, look, {**cell, "text": "x"}, name, state, box)
        label = look.words(str(cell.get("label") or cell.get("text") or ""))
        column = plan.columns if at else -1
        canvas.spots.append(Spot(name, *box, label, 0, column, plan.index))


def _draw_deed(
    canvas: Canvas, plan: _Plan, look: ViewOptions, at: Place, cell: Fields, name: str, box: Box
) -> None:
    """A field of a ring: its name, in full where there is room, and what is on it."""
    left, top, width, height = box
    if cell.get("shape") != "deed" or width < 6:
        _draw_spot(canvas, plan, look, at, cell, name, box)
        return
    state = look.state(name, cell)
    ground = look.ground(state, str(plan.grid.get("theme", "")), other=sum(at) % 2 > 0)
    canvas.fill(*box, ground)
    lines = _full_name(cell, width, height) or [name]
    for line, text in enumerate(lines):
        canvas.put(left, top + line, text[: width - 1], ground + look.ink.on(TEXT))
    # The text of a free deed only repeats its name.
    if cell.get("owner") is not None or cell.get("tokens"):
        text = str(cell.get("text") or "")
        below = (left, top + height - 1) if height > 1 else (left + width - len(text) - 1, top)
        canvas.put(*below, text, ground + look.ink.figure(cell.get("owner")))
    _draw_marks(canvas, look, cell, name, state, box)


def _full_name(cell: Fields, width: int, height: int) -> list[str]:
    """The full name as lines that leave one for what is on the deed; empty without room."""
    words = list(cell.get("lines") or ())[:1]
    wrapped = textwrap.wrap(str(words[0]), width - 1, break_long_words=False) if words else []
    fits = len(wrapped) < height and all(width_of(each) < width for each in wrapped)
    return wrapped if fits else []


def _draw_legend(canvas: Canvas, plan: _Plan, look: ViewOptions) -> None:
    """The full names of the deeds that show short ones, in the middle of the ring."""
    width, height = plan.size
    entries = [
        f"{cell.get('name')!s:5}{cell['lines'][0]}"
        for _, _, cell in plan.cells()
        if cell.get("lines") and not _full_name(cell, width, height)
    ]
    wide = max(map(width_of, entries), default=0) + 2
    room, high = (plan.columns - 2) * width - 2, (len(plan.rows) - 2) * height
    if not entries or width < 6 or wide > room or len(entries) > (room // wide) * high:
        return
    deep = -(-len(entries) // (room // wide))
    soft = LABEL if look.ink.colours else Style()
    for number, text in enumerate(entries):
        across, down = divmod(number, deep)
        left = plan.margin + width + 2 + across * wide
        canvas.put(left, plan.above + height + down, look.words(text), soft)


_DRAWN: Final = {
    "circuit": _draw_deed,
    "lines": _draw_crossing,
    "wells": _draw_hole,
    "maze": _draw_maze,
    "points": _draw_point,
    "table": _draw_entry,
}
