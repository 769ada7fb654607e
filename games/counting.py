"""Counts of sequences of actions, to prove rules against published numbers.

States are trusted duck types; chance outcomes count as branches like actions.

>>> from plyhouse.games import get_game
>>> start = get_game("connect_four").initial_state()
>>> [perft(start, depth) for depth in range(4)]
[1, 7, 49, 343]
"""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import CHANCE, TERMINAL, State

__all__ = ["branches", "perft"]


def branches(state: State) -> tuple[Any, ...]:
    """Return the mover's actions, or the outcomes of a chance node."""
    if state.to_move == CHANCE:
        return tuple([outcome for outcome, _ in state.chance_outcomes()])
    return state.actions()


def perft(state: State, depth: int, *, finished_as_leaf: bool = False) -> int:
    """Number of sequences of exactly ``depth`` actions from the state.

    A game that ends earlier counts nothing, or, with ``finished_as_leaf``, one at every
    greater depth.
    """
    if depth == 0:
        return 1
    if state.to_move == TERMINAL:
        return 1 if finished_as_leaf else 0
    options = branches(state)
    if depth == 1:
        return len(options)
    return sum(
        [perft(state.after(a), depth - 1, finished_as_leaf=finished_as_leaf) for a in options]
    )
