"""What is shown of a scene and how: the viewer's wishes, and what is chosen at the moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.style import Style

from plyhouse.clients.terminal.choice import Role
from plyhouse.clients.terminal.colours import CHOSEN, GROUNDS, MARK, MARKS, TARGET, WON, Ink
from plyhouse.clients.terminal.words import with_holders

__all__ = ["Look", "is_sided", "is_turned"]


@dataclass(frozen=True, slots=True)
class Look:
    """How to draw a scene.

    width, height: the room that there is, in character cells; what does not fit is larger.
    flipped: whether boards with sides are turned against what suits the viewer.
    holders: names of who plays, by seat.
    open, path, cursor: what can be chosen, what was, and where the cursor is, by names of spots.
    """

    width: int = 80
    height: int = 24
    ink: Ink = field(default_factory=Ink)
    flipped: bool = False
    holders: tuple[str, ...] = ()
    open: Mapping[str, Role] = field(default_factory=dict)
    path: Sequence[str] = ()
    cursor: str = ""

    def words(self, text: str) -> str:
        """Words of a scene, with the names of those who play."""
        return with_holders(text, self.holders, self.ink.names)

    def state(self, name: str, cell: Mapping[str, Any]) -> str:
        """What is to be told of a spot: chosen, target, won, mark, or nothing."""
        if name in self.path:
            return "chosen"
        if self.open.get(name) in ("next", "end"):
            return "target"
        if cell.get("won"):
            return "won"
        return "mark" if cell.get("highlight") else ""

    def ground(self, state: str, theme: str, *, other: bool = False) -> Style:
        """What lies under a spot; ``other`` for every other one."""
        colours = GROUNDS.get(theme, GROUNDS[""])
        marked = {
            "chosen": CHOSEN,
            "target": TARGET,
            "won": WON,
            "mark": MARKS.get(theme, MARK),
        }
        return self.ink.ground(marked.get(state, colours[1 if other else 0]))

    def brackets(self, name: str, state: str) -> str:
        """What stands left and right of a spot, so that no mark is told by colour alone."""
        if name == self.cursor:
            return "[]"
        if state == "target":
            return self.ink.sign("\u2039\u203a", "<>")
        return {"chosen": "{}", "won": "**", "mark": "()"}.get(state, "")


def is_sided(grid: Mapping[str, Any]) -> bool:
    """Whether a board has sides, and so can be turned."""
    return grid.get("bottom") is not None


def is_turned(grid: Mapping[str, Any], viewer: int | None, *, flipped: bool) -> bool:
    """Whether a board is shown by half a turn: the viewer's side is below, unless flipped."""
    if not is_sided(grid):
        return False
    return (viewer is not None and viewer != grid["bottom"]) != flipped
