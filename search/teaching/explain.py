"""The tree that a search looks at, recorded node by node, to be drawn and talked about.

These are plain, slow, teaching implementations, written from the definitions and on
purpose independent of the compiled kernels, whose results the tests compare with theirs.

Minimax and its companions: Russell and Norvig, "Artificial Intelligence: A Modern
Approach", 4th ed., the chapter "Adversarial Search and Games".
Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975).
Star1: Ballard, "The *-minimax search procedure for trees containing chance nodes",
Artificial Intelligence 21 (1983).  Max^n: Luckhardt and Irani, "An algorithmic solution of
N-person games", AAAI (1986).  Paranoid: Sturtevant and Korf, "On pruning techniques for
multi-player games", AAAI (2000).

>>> from plyhouse.games.trees import tree_game
>>> game = tree_game("(3 12) (2 4)")
>>> print(explain(game, game.initial_state()).text(), end='')
alpha_beta to the end: value 3 for MAX, best 1, 6 nodes
MAX = 3  α −∞ β ∞
├─ 1  MIN = 3  α −∞ β ∞ *
│  ├─ 1  end = 3 *
│  └─ 2  end = 12
└─ 2  MIN ≤ 2  α 3 β ∞
   ├─ 1  end = 2
   └─ cut: 2  (the value is ≤ 2, α is 3)
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, replace
from typing import Any, Final

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.errors import GameMismatch
from plyhouse.games.trees import TreeGame
from plyhouse.search.callback_types import Evaluation, Policy
from plyhouse.search.game_requirements import ALGORITHMS, Needs, fitting_algorithms
from plyhouse.search.limit import Limit
from plyhouse.search.policies import distribution, uniform_policy
from plyhouse.search.teaching.drawable_tree import Explanation, Kind, Node

__all__ = ["SEARCHES", "TreeTooLarge", "UnknownSearch", "explain"]

INFINITY: Final = math.inf
WHOLE: Final = 200
"""Plies of a tree without a depth limit: more cannot be drawn, and Python's stack ends."""
MAX_NODES: Final = 500
"""Largest tree that fits on a page."""


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


SEARCHES: Final = {
    "minimax": Style(ALGORITHMS["minimax"]),
    "alpha_beta": Style(ALGORITHMS["alpha_beta"], prunes=True, bounds=True, orders=True),
    "expectiminimax": Style(ALGORITHMS["expectiminimax"]),
    "star1": Style(replace(ALGORITHMS["expectiminimax"], algorithm="star1"), prunes=True),
    "team_search": Style(ALGORITHMS["team_search"], prunes=True, teams=True),
    "maxn": Style(ALGORITHMS["maxn"], every_seat=True),
    "paranoid": Style(ALGORITHMS["paranoid"], prunes=True),
    "expectimax": Style(ALGORITHMS["expectimax"], models=True),
}
"""The searches that can be explained, by name."""


class UnknownSearch(ValueError):  # noqa: N818 - like UnknownGame
    """No search of this name; the message names the nearest."""

    def __init__(self, name: str) -> None:
        self.name = name
        near = difflib.get_close_matches(name.lower().replace("-", "_"), SEARCHES, n=2)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else f"it is one of {', '.join(SEARCHES)}."
        )
        super().__init__(f"There is no search {name!r} to explain; {hint}")


class TreeTooLarge(ValueError):  # noqa: N818 - a condition of the question, like GameMismatch
    """The tree has more nodes than may be drawn; the fields say what would fit."""

    def __init__(
        self,
        what: str,
        max_nodes: int,
        depth: tuple[int, int] | None,
        actions: tuple[int, int] | None,
        words: tuple[str, str, str] = ("depth={}", "max_actions={}", "max_nodes"),
    ) -> None:
        self.what = what
        self.max_nodes = max_nodes
        self.depth = depth
        """The greatest depth that fits, and the nodes of that tree."""
        self.actions = actions
        """At the depth asked for, the most actions a position that fit, and the nodes."""
        ways: list[str] = []
        if depth is not None:
            ways.append(f"{words[0].format(depth[0])} fits ({depth[1]} nodes)")
        if actions is not None:
            ways.append(
                f"{words[1].format(actions[0])}, the first actions of each position only, "
                f"fits ({actions[1]} nodes)"
            )
        ways.append(f"{words[2]} allows more")
        super().__init__(f"{what} has more than {max_nodes} nodes: {'; '.join(ways)}")


class Full(Exception):  # noqa: N818 - ends a recursion
    """More nodes than allowed."""


def explain(
    game: Game,
    state: Any,
    search: str = "alpha_beta",
    *,
    depth: int | None = None,
    evaluate: Evaluation | None = None,
    opponents: Policy | None = None,
    seat: int | None = None,
    show_cut: bool = False,
    max_actions: int | None = None,
    max_nodes: int = MAX_NODES,
) -> Explanation:
    """Record the tree of a search from a state in which a seat is to move, or chance.

    ``search`` is one of `SEARCHES`.  ``depth`` counts plies, chance included; without it
    the tree goes to the end of the game.  Positions at the depth limit are valued by
    ``evaluate(state, seat)``, else by the state's ``heuristic()``, else as 0.
    ``opponents`` models the other seats for "expectimax" (see `plyhouse.search.policies`); by
    default they choose uniformly.
    ``show_cut`` records what lies behind cuts as well, for drawings; it counts for
    ``max_nodes``, but not among the nodes that the search looked at.
    ``max_actions`` looks at the first actions of each position only, which makes large
    games drawable; chance keeps all its outcomes.

    Values are those of ``seat``, by default the seat to move (seat 0 at a chance node);
    with "maxn" every seat has its own.
    Raises `UnknownSearch`, `GameMismatch` for a game that does not fit, `TreeTooLarge`,
    `ValueError` for options out of range and when the game is over, and `TypeError` for others
    of the wrong type, as for a `Limit`: a tree is bounded by its depth and nodes alone.
    """
    given: Any = search
    if not isinstance(given, str):
        raise TypeError(
            f"explain(game, state, {given!r}): the third argument is the name of a search"
            + (f"; write {_as_depth(given)}" if isinstance(given, Limit) else "")
        )
    if search not in SEARCHES:
        raise UnknownSearch(search)
    numbers: dict[str, Any] = {"depth": depth, "max_actions": max_actions, "max_nodes": max_nodes}
    for name, number in numbers.items():
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise TypeError(
                f"{name}={number!r}: expected a whole number"
                + (f"; write {_as_depth(number)}" if isinstance(number, Limit) else "")
            )
        if number is not None and number < 1:
            raise ValueError(f"{name}={number}: expected at least 1")
    if opponents is not None and not SEARCHES[search].models:
        raise ValueError(f"{search} has no model of an opponent; expectimax does")
    require_fit(search, game)
    if seat is not None and not 0 <= seat < game.seats:
        raise ValueError(f"seat={seat}: expected a seat from 0 to {game.seats - 1}")
    if state.to_move == TERMINAL:
        raise ValueError("the game is over here: there is no tree to search")
    if seat is None:
        seat = max(state.to_move, 0)
    asked = Recorder(
        game, state, search, evaluate, opponents, seat, show_cut, max_actions, max_nodes
    )
    plies = WHOLE if depth is None else min(depth, WHOLE)
    root = asked.record(plies)
    if root is None:
        limit = "" if depth is None else f" to depth {depth}"
        what = f"The {search} tree of {game.spec}{limit}"
        raise TreeTooLarge(
            what, max_nodes, asked.depth_that_fits(plies), asked.actions_that_fit(plies)
        )
    return Explanation(
        game=game,
        search=search,
        depth=depth,
        seat=seat,
        max_actions=max_actions,
        root=root,
        nodes=asked.nodes,
    )


def _as_depth(limit: Limit) -> str:
    """How to ask for what a limit says: a tree has depth and nodes, and takes no time."""
    depth = 3 if limit.depth is None else limit.depth
    nodes = "" if limit.nodes is None else f", max_nodes={limit.nodes}"
    return f'explain(game, state, "alpha_beta", depth={depth}{nodes})'


def require_fit(search: str, game: Game) -> None:
    """Raise `GameMismatch` unless the search can play the game."""
    reasons = tuple(SEARCHES[search].needs.misfits(game))
    if reasons:
        fitting = [name for name, style in SEARCHES.items() if not any(style.needs.misfits(game))]
        others = f"what fits {game.spec}: {', '.join(fitting)}"
        if not fitting:
            playing = ", ".join(fitting_algorithms(game))
            others = f"no search that explain draws fits {game.spec}; what can play it: {playing}"
        wanted = SEARCHES[search].needs.wanted()
        raise GameMismatch(search, game.spec, " and ".join(reasons), f"it plays {wanted}; {others}")


class Recorder:
    """One question: a position, a search and its options."""

    def __init__(
        self,
        game: Game,
        state: Any,
        search: str,
        evaluate: Evaluation | None,
        opponents: Policy | None,
        seat: int,
        show_cut: bool,
        max_actions: int | None,
        max_nodes: int,
    ) -> None:
        self.game = game
        self.state = state
        self.style = SEARCHES[search]
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
            values = tuple([float(self.evaluate(state, seat)) for seat in seats])
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
