"""Search a position in the open, and record every node that the search looks at.

`plyhouse.search.teaching.explain` names the searches and their sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.trees import TreeGame
from plyhouse.search.callback_types import Evaluation, Policy, evaluated
from plyhouse.search.game_requirements import Needs
from plyhouse.search.policies import distribution, uniform_policy
from plyhouse.search.teaching.drawable_tree import Kind, Node

__all__ = ["Full", "Recorder", "Style"]

INFINITY: Final = math.inf


@dataclass(frozen=True)
class Style:
    """Kind of tree that a search builds."""

    needs: Needs
    prunes: bool = False
    """True if it keeps a window of alpha and beta, which reaches through chance nodes."""
    teams: bool = False
    """True if the seats of a team want the same."""
    models: bool = False
    """True if the other seats are chance nodes."""
    every_seat: bool = False
    """True if each seat maximises its own return."""
    bounds: bool = False
    """True if a seat that has found the greatest return of the game looks no further."""
    orders: bool = False
    """True if it tries actions in the game's own order, best first."""


class Full(Exception):  # noqa: N818 - ends a recursion
    """More nodes than allowed."""


class Recorder:
    """One question: a position, a search and its options."""

    def __init__(
        self,
        game: Game,
        state: Any,
        style: Style,
        evaluate: Evaluation | None,
        opponents: Policy | None,
        seat: int,
        show_cut: bool,
        max_actions: int | None,
        max_nodes: int,
    ) -> None:
        self.game = game
        self.state = state
        self.style = style
        self.evaluate = evaluate
        self.opponents = uniform_policy if opponents is None else opponents
        self.max_actions = max_actions
        self.max_nodes = max_nodes
        self.show_cut = show_cut
        self.nodes = 0
        self.unseen = 0
        self.seat = seat
        self.ours = [
            other == seat or (self.style.teams and game.team(other) == game.team(seat))
            for other in range(game.seats)
        ]
        self.low, self.high = game.return_bounds
        # Early exits of the search, which textbooks and drawn trees omit.
        self.most = INFINITY
        if self.style.bounds and not isinstance(game, TreeGame):
            self.most = self.high

    def record(self, depth: int) -> Node | None:
        """Return the root of the tree; None when it has too many nodes."""
        self.nodes = self.unseen = 0
        try:
            if self.style.every_seat:
                return self.vector(self.state, depth, "", None)
            return self.scalar(self.state, depth, -INFINITY, INFINITY, "", None)
        except Full:
            return None

    def depth_that_fits(self, below: int) -> tuple[int, int] | None:
        """Return the greatest depth whose tree is small enough, and its nodes."""
        found = None
        for depth in range(1, below):
            if self.record(depth) is None:
                break
            found = (depth, self.nodes)
        return found

    def actions_that_fit(self, depth: int) -> tuple[int, int] | None:
        """Return the most actions per position whose tree is small enough, and its nodes."""
        found = None
        before = self.max_actions
        for number in range(1, before or self.max_nodes):
            self.max_actions = number
            if self.record(depth) is None:
                break
            found = (number, self.nodes)
        self.max_actions = before
        return found

    # Helpers of both kinds of trees

    def new(self, state: Any, depth: int, action: str, probability: float | None) -> Node:
        """Count a node and fill in what does not depend on its children."""
        self.nodes += 1
        if self.nodes + self.unseen > self.max_nodes:
            raise Full
        node = Node(
            kind=self.kind(state, depth),
            mover=state.to_move,
            position=self.game.describe(state),
            action=action,
            probability=probability,
        )
        if node.kind is Kind.TERMINAL:
            node.values = tuple([value + 0.0 for value in state.returns()])
        elif node.kind is Kind.ESTIMATE:
            node.values = self.estimate(state)
        return node

    def kind(self, state: Any, depth: int) -> Kind:
        """How the search sees the position."""
        mover = state.to_move
        if mover == TERMINAL:
            return Kind.TERMINAL
        if depth == 0:
            return Kind.ESTIMATE
        if mover == CHANCE:
            return Kind.CHANCE
        if self.style.every_seat:
            return Kind.SEAT
        if self.style.models and mover != self.seat:
            return Kind.MODEL
        return Kind.MAX if self.ours[mover] else Kind.MIN

    def estimate(self, state: Any) -> tuple[float, ...]:
        """Evaluation of a non-terminal position for each seat."""
        seats = range(self.game.seats)
        if self.evaluate is not None:
            values = tuple([evaluated(self.evaluate, state, seat) for seat in seats])
        elif hasattr(state, "heuristic"):
            values = tuple([float(value) for value in state.heuristic()])
        else:
            return (0.0,) * len(seats)
        for value in values:
            if not self.low <= value <= self.high:
                raise ValueError(
                    f"the evaluation gave {value}, outside of the game's returns "
                    f"{self.low} to {self.high}: scale it to lie between them"
                )
        return values

    def choices(self, state: Any, node: Node, depth: int, ply: int) -> list[Any]:
        """Return the actions to look at, in the order of the search."""
        actions = list(state.actions())
        # As the searches do it: at the root always, below it where more than leaves follow.
        if (ply == 0 or (self.style.orders and depth > 1)) and hasattr(state, "order"):
            actions = list(state.order(tuple(actions)))
        if self.max_actions is not None:
            node.left_out = len(actions[self.max_actions :])
            actions = actions[: self.max_actions]
        return actions

    def lottery(self, state: Any, node: Node) -> list[tuple[Any, str, float]]:
        """Outcomes of chance or of the modelled opponent, their names and probabilities."""
        if state.to_move == CHANCE:
            write = self.game.format_chance
            return [(o, write(state, o), float(p)) for o, p in state.chance_outcomes()]
        shares = [(action, p) for action, p in distribution(self.opponents, state) if p > 0]
        if self.max_actions is not None and len(shares) > self.max_actions:
            node.left_out = len(shares) - self.max_actions
            shares = shares[: self.max_actions]
            total = math.fsum(p for _, p in shares)
            shares = [(action, p / total) for action, p in shares]
        return [(action, self.game.format(state, action), p) for action, p in shares]

    # Trees with one value

    def scalar(
        self,
        state: Any,
        depth: int,
        alpha: float,
        beta: float,
        action: str,
        probability: float | None,
        ply: int = 0,
    ) -> Node:
        """Return the tree below a position, valued for the seat that searches."""
        node = self.new(state, depth, action, probability)
        if self.style.prunes:
            node.alpha, node.beta = alpha, beta
        if node.values:
            node.value = node.low = node.high = node.values[self.seat]
        elif node.kind in (Kind.CHANCE, Kind.MODEL):
            self.average(node, state, depth, alpha, beta, ply)
        else:
            self.choose(node, state, depth, alpha, beta, ply)
        return node

    def choose(
        self, node: Node, state: Any, depth: int, alpha: float, beta: float, ply: int
    ) -> None:
        """Value a decision: the greatest value at MAX, the least at MIN."""
        maximises = node.kind is Kind.MAX
        best = -INFINITY if maximises else INFINITY
        actions = self.choices(state, node, depth, ply)
        for index, action in enumerate(actions):
            text = self.game.format(state, action)
            child = self.scalar(state.after(action), depth - 1, alpha, beta, text, None, ply + 1)
            node.children.append(child)
            if child.value > best if maximises else child.value < best:
                best = child.value
                node.best = index
            if not self.style.prunes:
                continue
            won = (best if maximises else -best) >= self.most
            if won or (best >= beta if maximises else best <= alpha):
                rest = actions[index + 1 :]
                node.pruned = tuple([self.game.format(state, other) for other in rest])
                if self.show_cut:
                    for other, name in zip(rest, node.pruned, strict=True):
                        node.unseen.append(self.behind(state.after(other), depth - 1, name, None))
                break
            if maximises:
                alpha = max(alpha, best)
            else:
                beta = min(beta, best)
        node.value = best
        pick = max if maximises else min
        node.low = pick(child.low for child in node.children)
        node.high = pick(child.high for child in node.children)
        if node.pruned and maximises:
            node.high = self.most
        elif node.pruned:
            node.low = -self.most

    def average(
        self, node: Node, state: Any, depth: int, alpha: float, beta: float, ply: int
    ) -> None:
        """Value a chance node by the mean of its outcomes."""
        outcomes = self.lottery(state, node)
        total = low = high = 0.0
        rest = 1.0
        for index, (outcome, text, p) in enumerate(outcomes):
            rest = max(rest - p, 0.0) if index + 1 < len(outcomes) else 0.0
            least, most = -INFINITY, INFINITY
            if self.style.prunes:
                # Below `least` the mean cannot exceed alpha, however good the rest is;
                # above `most` it cannot stay below beta.
                least = (alpha - total - rest * self.high) / p
                most = (beta - total - rest * self.low) / p
                window = (max(least, self.low), min(most, self.high))
            else:
                window = (-INFINITY, INFINITY)
            child = self.scalar(state.after(outcome), depth - 1, *window, text, p, ply + 1)
            node.children.append(child)
            total += p * child.value
            low += p * max(child.low, self.low)
            high += p * min(child.high, self.high)
            if not self.style.prunes or least < child.value < most:
                continue
            fails_low = child.value <= least
            # The window may have ended at what no value can pass; then this is no cut.
            node.pruned = tuple([name for _, name, _ in outcomes[index + 1 :]])
            if self.show_cut:
                for other, name, share in outcomes[index + 1 :]:
                    node.unseen.append(self.behind(state.after(other), depth - 1, name, share))
            node.low, node.high = low + rest * self.low, high + rest * self.high
            node.value = min(node.high, alpha) if fails_low else max(node.low, beta)
            return
        node.value, node.low, node.high = total, low, high

    def behind(self, state: Any, depth: int, action: str, probability: float | None) -> Node:
        """Return the tree behind a cut: its shape, and the values of its leaves."""
        node = self.new(state, depth, action, probability)
        self.nodes -= 1
        self.unseen += 1
        if node.values:
            node.value = node.low = node.high = node.values[self.seat]
        elif node.kind is Kind.CHANCE:
            for outcome, text, p in self.lottery(state, node):
                node.children.append(self.behind(state.after(outcome), depth - 1, text, p))
        else:
            for choice in self.choices(state, node, depth, 1):
                text = self.game.format(state, choice)
                node.children.append(self.behind(state.after(choice), depth - 1, text, None))
        return node

    # Trees with a value for each seat

    def vector(self, state: Any, depth: int, action: str, probability: float | None) -> Node:
        """Max^n: every seat takes what is best for itself; the first among equals."""
        node = self.new(state, depth, action, probability)
        if node.values:
            return node
        if node.kind is Kind.CHANCE:
            total = [0.0] * self.game.seats
            for outcome, text, p in self.lottery(state, node):
                child = self.vector(state.after(outcome), depth - 1, text, p)
                node.children.append(child)
                total = [old + p * new for old, new in zip(total, child.values, strict=True)]
            node.values = tuple(total)
            return node
        mover = state.to_move
        for index, choice in enumerate(self.choices(state, node, depth, int(bool(action)))):
            text = self.game.format(state, choice)
            child = self.vector(state.after(choice), depth - 1, text, None)
            node.children.append(child)
            if node.best is None or child.values[mover] > node.values[mover]:
                node.best = index
                node.values = child.values
        return node
