"""Sizes of game trees: counted where they are small, guessed from random plays elsewhere.

>>> from plyhouse.games import get_game
>>> histories(get_game("kuhn_poker"))
58
>>> is_larger(probed_sizes(get_game("battleship")), 10**9), is_longer(get_game("hearts"))
(True, True)
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.search.limit import MAX_DEPTH

__all__ = [
    "HUGE",
    "MAX_NODES",
    "SOLVABLE",
    "histories",
    "is_larger",
    "is_longer",
    "positions",
    "probed_sizes",
]

SOLVABLE: Final = 20_000
"""Histories up to which an equilibrium is computed before play, about a second compiled, and
positions up to which a duel is searched to its end."""

MAX_NODES: Final = 2_000_000
"""Largest tree that solvers unfold unless the caller allows more.  A node takes about 150
bytes: liar's dice with one die each (294,883 nodes) fits easily, with two each it does not."""

HUGE: Final = 1e30
"""Trees larger than this are not told apart."""


def histories(game: Game, most: int = SOLVABLE) -> int:
    """Count the histories of the game, or give up with more than ``most``."""
    stack: list[Any] = [game.initial_state()]
    seen = 0
    while stack and seen <= most:
        seen += 1
        stack += children(stack.pop())
    return seen


def positions(game: Game, most: int = SOLVABLE) -> int:
    """Count the positions that can be reached, told apart by their keys, or give up as above.

    Without keys they are histories.
    """
    root: Any = game.initial_state()
    if not hasattr(root, "key"):
        return histories(game, most)
    stack = [root]
    seen = {root.key()}
    while stack and len(seen) <= most:
        for child in children(stack.pop()):
            key = child.key()
            if key not in seen:
                seen.add(key)
                stack.append(child)
    return len(seen)


def children(state: Any) -> list[Any]:
    """Return the states that may follow."""
    return [state.after(choice) for choice in _choices(state)]


def _choices(state: Any) -> list[Any]:
    """Return the outcomes of chance, or the actions of the seat to move."""
    if state.to_move == CHANCE:
        return [outcome for outcome, _ in state.chance_outcomes()]
    return list(state.actions())


def is_larger(sizes: Sequence[float], nodes: int) -> bool:
    """Return whether guesses of a tree's size say beyond doubt that it has more nodes.

    As they are right on average, at most every k-th exceeds k times the true number (Markov's
    inequality); these bounds are more than nine standard deviations beyond that.
    """
    return any(
        sum(size > factor * nodes for size in sizes) > share * len(sizes)
        for factor, share in ((10, 0.2), (100, 0.04), (1000, 0.015))
    )


def probed_sizes(game: Game, most: float = HUGE) -> list[float]:
    """Guess the number of nodes of a game's tree a thousand times, each time up to ``most``.

    It ends early when enough guesses are above that for `is_larger` to be sure.  Each guess is
    from one random play: the sum of the products of the numbers of choices down to each of its
    positions.  Their mean is right on average: Knuth, "Estimating the efficiency of backtrack
    programs", Mathematics of Computation 29 (1975).
    """
    rng = random.Random(0)
    sizes: list[float] = []
    while len(sizes) < 1000 and sum(size > most for size in sizes) <= 40:
        state: Any = game.initial_state()
        width = 1.0
        size = 1.0
        for _ in range(MAX_DEPTH):
            if state.to_move == TERMINAL or size > most:
                break
            choices = _choices(state)
            width *= len(choices)
            size += width
            state = state.after(rng.choice(choices))
        sizes.append(size)
    return sizes


def is_longer(game: Game, plies: int = MAX_DEPTH) -> bool:
    """Return whether a random play takes more than so many plies, chance included."""
    rng = random.Random(0)
    state: Any = game.initial_state()
    for _ in range(plies):
        if state.to_move == TERMINAL:
            return False
        if state.to_move == CHANCE:
            state = state.after(rng.choice(_choices(state)))
        else:
            state = state.after(game.random_action(state, rng, lambda: True))
    return bool(state.to_move != TERMINAL)
