"""A recorded search tree that draws itself (made by `plyhouse.search.explain`)."""

from __future__ import annotations

from dataclasses import dataclass

from plyhouse.search.teaching.drawing.svg import tree_svg
from plyhouse.search.teaching.drawing.text import tree_text
from plyhouse.search.teaching.tree_record import Kind, Node, TreeRecord

__all__ = ["Explanation", "Kind", "Node"]


@dataclass(frozen=True, slots=True)
class Explanation(TreeRecord):
    """A recorded search tree; notebooks show it as a drawing."""

    def text(self) -> str:
        """Return the tree as indented text."""
        return tree_text(self)

    def svg(self, heading: str = "") -> str:
        """Return the tree as a drawing (an SVG document), under a heading of the caller's."""
        return tree_svg(self, heading)

    def _repr_svg_(self) -> str:
        return self.svg()
