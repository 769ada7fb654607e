"""Where the nodes of a drawn tree go.

The children of a node stand side by side, as close as they fit, the parent over their
middle: Reingold and Tilford, "Tidier drawings of trees", IEEE Transactions on Software
Engineering 7 (1981), for nodes of different widths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from plyhouse.search.teaching.tree_record import Node

__all__ = ["Box", "tidy"]


@dataclass(slots=True, eq=False)
class Box:
    """One thing to draw: a node, or a stub for what was not looked at."""

    node: Node | None
    """None for a stub."""
    text: str
    """Its text: the value, or the list of pruned actions."""
    label: str = ""
    """The action or outcome that leads to it."""
    window: str = ""
    """Alpha and beta."""
    tip: str = ""
    principal: bool = False
    cut: bool = False
    """True if the branch to it was cut."""
    unseen: bool = False
    """True if the search was never there: drawn pale."""
    children: list[Box] = field(default_factory=list)
    before: float = 0.0
    """Room that it needs on the side of its elder siblings, measured from its middle."""
    after: float = 0.0
    """Room on the other side."""
    level: int = 0
    across: float = 0.0
    """Its middle: x where the root is on top, y where the root is on the left."""

    def all(self) -> Iterator[Box]:
        """Return the box and all below it."""
        yield self
        for child in self.children:
            yield from child.all()


def tidy(root: Box, sibling_gap: float, cousin_gap: float) -> float:
    """Set ``across`` of all boxes, from 0 up; return the extent of the whole."""
    root.across = 0.0
    low, _ = place(root, sibling_gap, cousin_gap)
    settle(root, -min(low))
    return max(box.across + box.after for box in root.all())


def place(box: Box, sibling_gap: float, cousin_gap: float) -> tuple[list[float], list[float]]:
    """Place the subtree of a box around 0; return its outline: least and greatest per level.

    Until `settle`, ``across`` of a child is relative to its parent.
    """
    low: list[float] = []
    high: list[float] = []
    for child in box.children:
        child_low, child_high = place(child, sibling_gap, cousin_gap)
        shift = 0.0
        for depth, (mine, theirs) in enumerate(zip(high, child_low, strict=False)):
            gap = cousin_gap if depth else sibling_gap
            # The first pair decides alone, even where it could stand further left.
            needed = mine + gap - theirs
            shift = needed if depth == 0 else max(shift, needed)
        child.across = shift
        low.extend([edge + shift for edge in child_low[len(low) :]])
        high[: len(child_high)] = [edge + shift for edge in child_high]
    if box.children:
        middle = (box.children[0].across + box.children[-1].across) / 2
        for child in box.children:
            child.across -= middle
        low = [edge - middle for edge in low]
        high = [edge - middle for edge in high]
    return [-box.before, *low], [box.after, *high]


def settle(box: Box, shift: float, level: int = 0) -> None:
    """Turn relative places into absolute ones."""
    box.across += shift
    box.level = level
    for child in box.children:
        settle(child, box.across, level + 1)
