"""Counts of games, nodes and positions beside `plyhouse.games.counting.perft`."""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import TERMINAL, State
from plyhouse.games.counting import branches, perft


def divide(state: State, depth: int) -> dict[Any, int]:
    """`perft` for each first action: shows where a wrong count comes from."""
    return {action: perft(state.after(action), depth - 1) for action in branches(state)}


def count_complete_games(state: State) -> int:
    """Return the number of action sequences that end the game; visits the whole tree."""
    if state.to_move == TERMINAL:
        return 1
    return sum([count_complete_games(state.after(action)) for action in branches(state)])


def count_nodes(state: State) -> int:
    """Number of nodes of the whole game tree, this state included."""
    if state.to_move == TERMINAL:
        return 1
    return 1 + sum([count_nodes(state.after(action)) for action in branches(state)])


def positions_by_ply(state: Any, plies: int) -> list[int]:
    """Numbers of different positions after 0, 1, ... ``plies`` actions; needs ``key``."""
    level = {state.key(): state}
    counts = [1]
    for _ in range(plies):
        reached = [each.after(action) for each in level.values() for action in branches(each)]
        level = {each.key(): each for each in reached}
        counts.append(len(level))
    return counts


def count_positions(state: Any) -> int:
    """Number of different positions that can be reached, this one included; needs ``key``."""
    seen = {state.key()}
    waiting = [state]
    while waiting:
        position = waiting.pop()
        for action in branches(position):
            reached = position.after(action)
            if reached.key() not in seen:
                seen.add(reached.key())
                waiting.append(reached)
    return len(seen)
