"""The widget that draws a scene, and lets people choose actions with mouse and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from plyhouse.clients.terminal.action_choice import Choice, Move, moves_of, plain_buttons
from plyhouse.clients.terminal.canvas import Canvas, Spot
from plyhouse.clients.terminal.colours import SHEET, TEXT, Ink
from plyhouse.clients.terminal.scene_layout import picture
from plyhouse.clients.terminal.view_options import ViewOptions, changed_spots

KEYS: Final = {
    "ArrowUp": "up",
    "ArrowDown": "down",
    "ArrowLeft": "left",
    "ArrowRight": "right",
    " ": "space",
    "Enter": "enter",
}
"""Keys as scenes call them, and as Textual does; others are the same."""


class BoardView(ScrollView, can_focus=True):
    """A scene: boards as large as there is room, everything else in lines."""

    DEFAULT_CSS = """
    BoardView { width: 1fr; height: 1fr; scrollbar-size: 1 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(0, -1)", "Up", show=False),
        Binding("down", "step(0, 1)", "Down", show=False),
        Binding("left", "step(-1, 0)", "Left", show=False),
        Binding("right", "step(1, 0)", "Right", show=False),
        Binding("enter,space", "pick", "Choose", show=False),
        Binding("home", "screen.go(-100000)", show=False),  # before they scroll
        Binding("end", "screen.go(100000)", show=False),
    ]

    class Chosen(Message):
        """An action was chosen."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    class Changed(Message):
        """Another spot has the cursor, or something else is chosen so far."""

    def __init__(self, ink: Ink, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.ink = ink
        self.flipped = False
        self.cursor = ""
        self.scene: Mapping[str, Any] = {}
        self.choice: Choice | None = None
        self.drawn = Canvas()
        self._lines: list[list[Segment]] = []
        self._holders: tuple[str, ...] = ()
        self.shift = (0, 0)
        """Where the picture begins in the widget, which may have more room than it needs."""
        self._changed: frozenset[str] = frozenset()
        self._held: Spot | None = None

    # ------------------------------------------------------------------- what is shown

    def show(
        self,
        scene: Mapping[str, Any],
        holders: Sequence[str],
        *,
        choosing: bool,
        before: Mapping[str, Any] | None = None,
    ) -> None:
        """Draw a scene; with ``choosing``, actions can be chosen in it.

        Differences from the scene ``before`` are marked.
        """
        self._changed = changed_spots(scene, before) if before else frozenset()
        same = scene is self.scene and choosing == (self.choice is not None)
        self._holders = tuple(holders)
        if not same:
            self.scene = scene
            self.choice = Choice(moves_of(scene)) if choosing else None
            if self.choice is not None and self.cursor not in self.choice.open():
                self.cursor = ""  # on something that can be chosen, then
        self.redraw()

    def redraw(self) -> None:
        """Draw the board again for the current space."""
        self._draw()
        if self.has_focus and self.spot(self.cursor) is None and self.drawn.spots:
            self._find_cursor()
            self._draw()
        self.refresh()

    def _draw(self) -> None:
        room = self.size
        look = ViewOptions(
            width=max(1, room.width),
            height=max(1, room.height),
            ink=Ink(self.ink.colours, self.ink.unicode, tuple(self.scene.get("seats") or ())),
            flipped=self.flipped,
            holders=self._holders,
            open=self.choice.open() if self.choice is not None else {},
            path=self.choice.path if self.choice is not None else (),
            changed=self._changed,
            cursor=self.cursor if self.has_focus and self.choice and self.choice.moves else "",
        )
        self.drawn = picture(self.scene, look)
        self._lines = self.drawn.lines()
        width, height = self.drawn.width, self.drawn.height
        self.shift = (max(0, (room.width - width) // 2), max(0, (room.height - height) // 3))
        self.virtual_size = Size(width, height)

    @property
    def sided(self) -> bool:
        """True if there is a board that can be flipped."""
        return any(each.get("bottom") is not None for each in self.scene.get("elements", ()))

    @property
    def choosable(self) -> bool:
        """True if something can be chosen here, by a spot or by a key of the game's own."""
        if self.choice is None:
            return False
        keys = any(button.get("key") for button in plain_buttons(self.scene))
        return keys or bool(self.choice.moves)

    @property
    def asked(self) -> list[Move]:
        """The moves between which only words can decide."""
        return self.choice.asked if self.choice is not None else []

    def spot(self, name: str) -> Spot | None:
        """Where a spot is drawn."""
        return next((each for each in self.drawn.spots if each.name == name), None)

    def hint(self) -> str:
        """Return the spot under the cursor, and the possible next spots."""
        if self.choice is None:
            return ""
        path = [name if not name.startswith("\x00") else "..." for name in self.choice.path]
        if path and self.choice.asked and not self.choice.open():
            return f"{' '.join(path)}: which one? Esc gives it up"
        if path:
            ways = [name for name in self.choice.open() if not name.startswith("\x00")]
            return f"{' '.join(path)}: to {', '.join(ways)}; Esc gives it up"
        under = self.spot(self.cursor) if self.has_focus else None
        return under.label if under is not None else ""

    def render_line(self, y: int) -> Strip:
        """One line of the picture, as far as it is in sight."""
        base = Style(color=TEXT, bgcolor=SHEET) if self.ink.colours else Style()
        left, top = self.shift
        scroll = self.scroll_offset
        line = y + scroll.y - top
        segments = self._lines[line] if 0 <= line < len(self._lines) else []
        strip = Strip([Segment(" " * left), *segments]) if left else Strip(segments)
        width = self.size.width
        cropped = strip.crop(scroll.x, scroll.x + width).extend_cell_length(width)
        return cropped.apply_style(base)

    def on_resize(self) -> None:
        """Use the room that there is."""
        self.redraw()

    def on_focus(self) -> None:
        """Show the cursor."""
        self.redraw()
        self.post_message(self.Changed())

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.redraw()
        self.post_message(self.Changed())

    # ------------------------------------------------------------------------ choosing

    def flip(self) -> None:
        """Turn the boards by half, and back."""
        self.flipped = not self.flipped
        self.redraw()

    def pick(self, name: str) -> None:
        """Choose a spot, with mouse or keys."""
        if self.choice is None:
            return
        self.cursor = name
        action = self.choice.pick(name)
        if action is not None:
            self.choice.clear()
            self.post_message(self.Chosen(action))
        self.redraw()
        self.post_message(self.Changed())

    def give_up(self) -> bool:
        """Forget what was chosen so far; whether there was anything."""
        if self.choice is None or not self.choice.path:
            return False
        self.cursor = self.choice.path[0]
        self.choice.clear()
        self.redraw()
        self.post_message(self.Changed())
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Arrow keys and Enter are for choosing; else they mean what they mean elsewhere."""
        return self.choice is not None if action in ("step", "pick") else True

    def action_pick(self) -> None:
        """Choose what is under the cursor."""
        if self.cursor:
            self.pick(self.cursor)

    def action_step(self, x: int, y: int) -> None:
        """Move the cursor to the next spot in a direction."""
        here = self.spot(self.cursor)
        if here is None:
            self._find_cursor()
        elif (there := _towards(here, self.drawn.spots, x, y)) is not None:
            self.cursor = there.name
        self._keep_in_sight()
        self.redraw()
        self.post_message(self.Changed())

    def key_of(self, key: str, character: str | None) -> str | None:
        """The action that a key of the game's own means now."""
        if self.choice is None:
            return None
        for button in plain_buttons(self.scene):
            wanted = str(button.get("key") or "")
            if wanted and (KEYS.get(wanted, wanted) == key or wanted == character):
                return str(button["action"])
        return None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take something up."""
        self._held = self._under(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Put it down: where it was is a click, elsewhere is a move."""
        held, self._held = self._held, None
        there = self._under(event)
        if held is None or there is None:
            return
        if held.name != there.name and self.choice is not None:
            if self.choice.path[-1:] != [held.name]:
                self.pick(held.name)
            if self.choice is None or not self.choice.path:
                return
        self.pick(there.name)

    def _under(self, event: events.MouseEvent) -> Spot | None:
        left, top = self.shift
        at = event.get_content_offset(self)
        if at is None:
            return None
        x, y = at.x + self.scroll_offset.x - left, at.y + self.scroll_offset.y - top
        return next((spot for spot in self.drawn.spots if spot.holds(x, y)), None)

    def _find_cursor(self) -> None:
        """Put the cursor on something that can be chosen, if it is nowhere."""
        if self.spot(self.cursor) is not None or not self.drawn.spots:
            return
        can = self.choice.open() if self.choice is not None else {}
        names = [spot.name for spot in self.drawn.spots]
        self.cursor = next((name for name in names if name in can), names[0])

    def _keep_in_sight(self) -> None:
        spot = self.spot(self.cursor)
        if spot is not None:
            box = Region(spot.x, spot.y, spot.width, spot.height)
            self.scroll_to_region(box, animate=False, force=True)


def _towards(here: Spot, spots: Sequence[Spot], x: int, y: int) -> Spot | None:
    """The nearest spot in a direction; what lies aside counts as far."""
    at_x, at_y = here.middle

    def cost(spot: Spot) -> float:
        to_x, to_y = spot.middle
        along = (to_x - at_x) * x + (to_y - at_y) * y
        aside = abs((to_x - at_x) * y) + abs((to_y - at_y) * x)
        return along + 3 * aside if along > 0.5 else float("inf")

    best = min(spots, key=cost, default=None)
    return best if best is not None and cost(best) < float("inf") else None
