"""Options for drawing a scene: size, orientation, names and the choice being made."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.style import Style

from plyhouse.clients.terminal.action_choice import Role, spot_name
from plyhouse.clients.terminal.colours import CHOSEN, GROUNDS, MARK, MARKS, TARGET, WON, Ink
from plyhouse.clients.terminal.sentences import with_holders
from plyhouse.protocol.text import minus


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """How to draw a scene.

    width, height: the space available, in character cells; a larger drawing exceeds it.
    flipped: whether the viewer's side of a board is at the top instead of the bottom.
    holders: names of the players, by seat.
    open: spots that can be chosen next, with their roles.
    path: spots chosen so far.
    cursor: the spot under the cursor.
    """

    width: int = 80
    height: int = 24
    ink: Ink = field(default_factory=Ink)
    flipped: bool = False
    holders: tuple[str, ...] = ()
    open: Mapping[str, Role] = field(default_factory=dict)
    path: Sequence[str] = ()
    cursor: str = ""
    changed: Container[str] = ()
    """Names of the spots whose content differs from the previous position."""
    large: bool = False
    """Draw cards and dice three lines high."""

    def words(self, text: str) -> str:
        """Return a scene's text with the players' names in place of their seats."""
        shown = with_holders(text, self.holders, self.ink.names)
        return minus(shown) if self.ink.unicode else shown

    def state(self, name: str, cell: Mapping[str, Any]) -> str:
        """Return the mark of a spot: chosen, target, won, mark, or nothing."""
        if name in self.path:
            return "chosen"
        if self.open.get(name) in ("next", "end"):
            return "target"
        if cell.get("won"):
            return "won"
        return "mark" if cell.get("highlight") or name in self.changed else ""

    def ground(self, state: str, theme: str, *, other: bool = False) -> Style:
        """Return the background of a spot; ``other`` gives a board its second colour."""
        colours = GROUNDS.get(theme, GROUNDS[""])
        marked = {
            "chosen": CHOSEN,
            "target": TARGET,
            "won": WON,
            "mark": MARKS.get(theme, MARK),
        }
        return self.ink.ground(marked.get(state, colours[1 if other else 0]))

    def brackets(self, name: str, state: str) -> str:
        """Return the text left and right of a spot, so that no mark depends on colour alone."""
        if name == self.cursor:
            return "[]"
        if state == "target":
            return self.ink.sign("\u2039\u203a", "<>")
        return {"chosen": "{}", "won": "**", "mark": "()"}.get(state, "")


def changed_spots(scene: Mapping[str, Any], before: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the spots whose content differs from the scene ``before``."""
    earlier = before.get("elements", ())
    found: set[str] = set()
    for index, element in enumerate(scene.get("elements", ())):
        if element.get("kind") != "grid" or index >= len(earlier):
            continue
        rows = earlier[index].get("rows", ())
        for y, row in enumerate(element.get("rows", ())):
            for x, cell in enumerate(row):
                if y < len(rows) and x < len(rows[y]) and _differs(cell, rows[y][x]):
                    found.add(spot_name(cell, index, y, x))
    return frozenset(found)


def _differs(cell: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    keys = ("text", "owner", "shape") if cell.get("text") else ("text", "owner")
    return any(cell.get(key) != before.get(key) for key in keys)


def is_sided(grid: Mapping[str, Any]) -> bool:
    """Return whether a board has sides, and so can be turned."""
    return grid.get("bottom") is not None


def is_turned(grid: Mapping[str, Any], viewer: int | None, *, flipped: bool) -> bool:
    """Return whether to rotate a board, so that the viewer's side is at the bottom."""
    if not is_sided(grid):
        return False
    return (viewer is not None and viewer != grid["bottom"]) != flipped
