"""Counts of games, nodes and positions, to prove rules against published numbers.

States are trusted duck types; chance outcomes count as branches like actions.

>>> from plyhouse.games import get_game
>>> start = get_game("connect_four").initial_state()
>>> [perft(start, depth) for depth in range(4)]
[1, 7, 49, 343]
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from plyhouse.games.base import CHANCE, TERMINAL, State

__all__ = [
    "branches",
    "count_complete_games",
    "count_nodes",
    "count_positions",
    "divide",
    "perft",
    "positions_by_ply",
]


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


def divide(state: State, depth: int) -> dict[Any, int]:
    """`perft` for each first action: shows where a wrong count comes from.

    >>> from plyhouse.games import get_game
    >>> divide(get_game("hexapawn").initial_state(), 2)
    {1: 3, 4: 4, 7: 3}
    """
    return {action: perft(state.after(action), depth - 1) for action in branches(state)}


def count_complete_games(state: State) -> int:
    """Return the number of action sequences that end the game; visits the whole tree.

    >>> from plyhouse.games import get_game
    >>> count_complete_games(get_game("coins(coins=6)").initial_state())
    13
    """
    if state.to_move == TERMINAL:
        return 1
    return sum([count_complete_games(state.after(action)) for action in branches(state)])


def count_nodes(state: State) -> int:
    """Number of nodes of the whole game tree, this state included."""
    if state.to_move == TERMINAL:
        return 1
    return 1 + sum([count_nodes(state.after(action)) for action in branches(state)])


def _identity(state: State) -> Hashable:
    """Return the state's ``key``, which identifies the position; the game must define it."""
    key: Hashable = state.key()  # type: ignore[attr-defined]  # an optional hook of states
    return key


def positions_by_ply(state: State, plies: int) -> list[int]:
    """Numbers of different positions after 0, 1, ... ``plies`` actions; needs ``key``.

    >>> from plyhouse.games import get_game
    >>> positions_by_ply(get_game("tic_tac_toe").initial_state(), 3)
    [1, 9, 72, 252]
    """
    level: dict[Hashable, State] = {_identity(state): state}
    counts = [1]
    for _ in range(plies):
        following: dict[Hashable, State] = {}
        for position in level.values():
            for action in branches(position):
                reached = position.after(action)
                following[_identity(reached)] = reached
        level = following
        counts.append(len(level))
    return counts


def count_positions(state: State) -> int:
    """Number of different positions that can be reached, this one included; needs ``key``."""
    seen: set[Hashable] = {_identity(state)}
    waiting: list[State] = [state]
    while waiting:
        position = waiting.pop()
        for action in branches(position):
            reached = position.after(action)
            identity = _identity(reached)
            if identity not in seen:
                seen.add(identity)
                waiting.append(reached)
    return len(seen)
