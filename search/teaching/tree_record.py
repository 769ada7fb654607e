"""A search tree as it was recorded, without its drawings."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from plyhouse.games.base import Game
from plyhouse.games.values import counts_wins, number, value_text

__all__ = ["Kind", "Node", "TreeRecord"]


class Kind(enum.StrEnum):
    """Kind of a node for the search."""

    MAX = "max"
    """The seat that searches, or its team, takes the greatest value."""
    MIN = "min"
    """An opponent takes the least."""
    SEAT = "seat"
    """In max^n: the mover takes what is best for itself."""
    CHANCE = "chance"
    """Dice or cards: the mean."""
    MODEL = "model"
    """An opponent whose choice is taken for chance: the mean."""
    TERMINAL = "terminal"
    """The game is over."""
    ESTIMATE = "estimate"
    """The depth limit: valued by the evaluation."""


@dataclass(slots=True)
class Node:
    """One position that the search looked at."""

    kind: Kind
    mover: int
    position: str
    """The position in the game's own words."""
    action: str = ""
    """The action or outcome that leads here, in the game's notation; "" at the root."""
    probability: float | None = None
    """How likely that was, below a chance node or a modelled opponent."""
    value: float = 0.0
    """For the seat that searches; see `bound`.  Not used by max^n."""
    values: tuple[float, ...] = ()
    """Per seat: at leaves, and everywhere in max^n."""
    alpha: float | None = None
    """Alpha: the value that MAX has already secured; None without pruning."""
    beta: float | None = None
    """Beta: the value that MIN has already secured."""
    low: float = 0.0
    high: float = 0.0
    """The true value (at this depth) lies between these, as far as the search knows."""
    best: int | None = None
    """Index of the child that the mover chooses."""
    children: list[Node] = field(default_factory=list)
    pruned: tuple[str, ...] = ()
    """Actions or outcomes that the search did not look at, as they cannot matter."""
    unseen: list[Node] = field(default_factory=list)
    """The subtrees behind `pruned`, if you asked for them; only their leaves have values."""
    left_out: int = 0
    """Actions that were not looked at because only the first ones were asked for."""

    @property
    def bound(self) -> str:
        """``""`` for an exact value, ``"≤"`` or ``"≥"`` where cuts left only a bound."""
        if self.low == self.high or math.isclose(self.low, self.high, abs_tol=1e-9):
            return ""
        return "≤" if abs(self.value - self.high) < abs(self.value - self.low) else "≥"

    def all(self) -> Iterator[Node]:
        """Return the node and all below it, each before its children."""
        yield self
        for child in self.children:
            yield from child.all()


@dataclass(frozen=True, slots=True)
class TreeRecord:
    """The nodes of a search tree, and the search that visited them."""

    game: Game
    search: str
    depth: int | None
    seat: int
    """The seat that searches: values are its own."""
    max_actions: int | None
    root: Node
    nodes: int
    """Positions looked at, the root included."""

    @property
    def best(self) -> str | None:
        """The action to play, as text; None at a chance node."""
        root = self.root
        return None if root.best is None else root.children[root.best].action

    def line(self) -> list[Node]:
        """Return the nodes of the principal variation, the root first; it ends at chance."""
        found = [self.root]
        while found[-1].best is not None:
            found.append(found[-1].children[found[-1].best])
        return found

    def title(self) -> str:
        """Return one line about the tree: ``alpha_beta to depth 3: value 60 % for X, best 4, 57
        nodes``.
        """
        depth = "to the end" if self.depth is None else f"to depth {self.depth}"
        text = f"{self.search} {depth}: value {self.value_text(self.root)}"
        if not self.every_seat:
            text += f" for {self.game.seat_name(self.seat)}"
        if self.best is not None:
            text += f", best {self.best}"
        text += f", {self.nodes} nodes"
        if self.max_actions is not None:
            text += f"; only the first {self.max_actions} actions of each position"
        return text

    @property
    def every_seat(self) -> bool:
        """True if the nodes have a value for each seat, as in max^n."""
        return self.search == "maxn"

    def value_text(self, node: Node) -> str:
        """Return the value of a node as people write it: ``6``, ``≤ 60 %``, ``(1, 2, 6)``."""
        if self.every_seat:
            return f"({', '.join([self.shown(value) for value in node.values])})"
        text = self.shown(node.value)
        return f"{node.bound} {text}" if node.bound else text

    def shown(self, value: float) -> str:
        """Return a value as a chance of winning where it is one, and as a number elsewhere."""
        chance = counts_wins(self.game) and math.isfinite(value)
        return value_text(value, "%") if chance else number(value)

    def json(self) -> str:
        """Return the tree for programs; infinite bounds are null."""
        fields = {
            "game": self.game.spec,
            "search": self.search,
            "depth": self.depth,
            "seat": self.seat,
            "nodes": self.nodes,
            "best": self.best,
            "max_actions": self.max_actions,
            "root": self.fields(self.root),
        }
        return json.dumps(fields, ensure_ascii=False, indent=1)

    def fields(self, node: Node) -> dict[str, Any]:
        """Return a node as plain data."""
        found: dict[str, Any] = {"kind": node.kind.value, "mover": node.mover}
        if node.action:
            found["action"] = node.action
        if node.probability is not None:
            found["probability"] = node.probability
        if self.every_seat:
            found["values"] = list(node.values)
        else:
            found |= {"value": node.value, "bound": node.bound}
        if node.alpha is not None and node.beta is not None:
            found["alpha"] = node.alpha if math.isfinite(node.alpha) else None
            found["beta"] = node.beta if math.isfinite(node.beta) else None
        found["position"] = node.position
        if node.best is not None:
            found["best"] = node.best
        if node.pruned:
            found["pruned"] = list(node.pruned)
        if node.left_out:
            found["left_out"] = node.left_out
        if node.children:
            found["children"] = [self.fields(child) for child in node.children]
        return found
