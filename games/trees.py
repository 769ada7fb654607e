"""Games that are nothing but a written tree: the examples of a lecture.

`tree_game` makes a game of a text (see `plyhouse.games.tree_notation`); every search that
fits plays it, and `plyhouse explain --tree` draws it.

>>> game = tree_game("((4 2 7) (3 1)) ((5 8) (2 9) (5 6)) ((1 2) (3 5))")
>>> game.seats, game.initial_state().actions()
(2, ('1', '2', '3'))
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Self

from plyhouse.games.base import (
    CHANCE,
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Scoring,
    Utility,
)
from plyhouse.games.scene import Button, Scene, Text
from plyhouse.games.tree_notation import Branches, Leaf, Node, parse_tree

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

__all__ = ["TreeGame", "TreeState", "tree_game"]


class TreeState:
    """A node of the tree, and the way to it; actions are the names of its branches."""

    __slots__ = ("node", "path", "to_move")

    def __init__(self, node: Node, path: tuple[str, ...] = ()) -> None:
        self.node = node
        self.path = path
        self.to_move = TERMINAL if isinstance(node, Leaf) else node.mover

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeState, (self.node, self.path)

    def actions(self) -> tuple[str, ...]:
        """Return the names of the branches, from the left."""
        node = self.node
        return node.names if isinstance(node, Branches) and node.mover != CHANCE else ()

    def after(self, action: str) -> TreeState:
        """Return the child at the end of the branch."""
        node = self.node
        assert isinstance(node, Branches)  # noqa: S101 - a leaf has no actions
        return TreeState(node.children[node.names.index(action)], (*self.path, action))

    def chance_outcomes(self) -> tuple[tuple[str, float], ...]:
        """Return the branches of a chance node with their probabilities."""
        node = self.node
        if isinstance(node, Leaf) or node.mover != CHANCE:
            return ()
        return tuple(zip(node.names, node.weights, strict=True))

    def returns(self) -> tuple[float, ...]:
        """Return the numbers written at the leaf."""
        assert isinstance(self.node, Leaf)  # noqa: S101 - asked for at the end only
        return self.node.returns

    def key(self) -> tuple[str, ...]:
        """Return the way to the node: no two are taken for the same."""
        return self.path


@dataclasses.dataclass(frozen=True)
class TreeObservation(Observation):
    """Everything: the way to the node, and what is there."""

    path: tuple[str, ...]
    """Actions that led to the node, in order."""
    text: str
    """The node in words: who moves there or what it is worth."""


class TreeGame(Game[TreeState, str, TreeObservation]):
    """A written tree as a game; made by `tree_game`."""

    info: ClassVar[GameInfo]
    observation_type: ClassVar[type[Observation]] = TreeObservation
    text: ClassVar[str]
    root: ClassVar[Node]
    action_notation = "the name of a branch"

    def __reduce__(self) -> tuple[Any, ...]:
        return tree_game, (self.text,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeGame) and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)

    def initial_state(self) -> TreeState:
        """Return the root."""
        return TreeState(self.root)

    def observe(self, state: Any, seat: int | None) -> TreeObservation:
        """Return the way to the node."""
        legal = self.legal_text(state, seat)
        return TreeObservation(seat, state.to_move, legal, state.path, self.describe(state))

    def sample_state(self, observation: Any, rng: random.Random) -> TreeState:
        """Return the node that was observed."""
        state = self.initial_state()
        for name in observation.path:
            state = state.after(name)
        return state

    def scene(self, observation: Any) -> Scene:
        """Return a button for each branch."""
        buttons = [Button(name, name) for name in observation.legal]
        mover = observation.to_move
        status = f"{self.seat_name(mover)} to move" if mover >= 0 else "over"
        return Scene((Text(observation.text), *buttons), status, mover if mover >= 0 else None)

    def describe(self, state: Any) -> str:
        """Return the way from the root, and what the node is."""
        way = " ".join(state.path) or "the root"
        if state.to_move == TERMINAL:
            return f"{way}: {' '.join([f'{value:g}' for value in state.returns()])}"
        who = "chance" if state.to_move == CHANCE else self.seat_name(state.to_move)
        return f"{way}: {who}"

    @classmethod
    def of(cls, text: str) -> Self:
        """Make the game of a text; raises `InvalidTree`."""
        root, seats = parse_tree(text)
        nodes = list(all_nodes(root))
        leaves = [node.returns for node in nodes if isinstance(node, Leaf)]
        chance = any(isinstance(node, Branches) and node.mover == CHANCE for node in nodes)
        zero_sum = seats > 1 and all(abs(sum(returns)) < 1e-9 for returns in leaves)
        info = GameInfo(
            name="tree",
            title="Written tree",
            summary="A game tree that somebody wrote down.",
            min_seats=seats,
            max_seats=seats,
            chance=ChanceKind.STOCHASTIC if chance else ChanceKind.DETERMINISTIC,
            information=Information.PERFECT,
            utility=Utility.ZERO_SUM if zero_sum else Utility.GENERAL_SUM,
            min_return=min(map(min, leaves)),
            max_return=max(map(max, leaves)),
            max_plies=height(root),
            scoring=Scoring.RETURNS,
            seat_names=("MAX", "MIN") if seats == 2 and zero_sum else (),
        )
        kind = type(cls.__name__, (cls,), {"info": info, "text": text, "root": root})
        made: Self = kind()
        return made


def tree_game(text: str) -> TreeGame:
    """Make a game of a written tree; raises `plyhouse.games.errors.InvalidTree`.

    >>> game = tree_game("(left:(4 2) right:3)")
    >>> state = game.initial_state().after("left")
    >>> state.actions(), state.after("1").returns()
    (('1', '2'), (4.0, -4.0))
    """
    return TreeGame.of(text)


def all_nodes(node: Node) -> Iterator[Node]:
    """Return the node and all below it."""
    yield node
    if isinstance(node, Branches):
        for child in node.children:
            yield from all_nodes(child)


def height(node: Node) -> int:
    """Plies of the longest line."""
    return 1 + max(map(height, node.children)) if isinstance(node, Branches) else 0
