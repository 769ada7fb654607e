"""Chance sampling and random playouts, shared by the Monte Carlo kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from plyhouse.search.kernels.node_state import NodeState

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["noted_playout", "sample_outcome", "uniform_playout"]

CHANCE: Final = -1
TERMINAL: Final = -2


def sample_outcome(outcomes: tuple[Any, ...], draw: Callable[[], float]) -> i64:
    """Index of a chance outcome, drawn by the probabilities."""
    left: float = draw()
    last: i64 = len(outcomes) - 1
    place: i64 = 0
    while place < last:
        probability: float = outcomes[place][1]
        left -= probability
        if left < 0.0:
            return place
        place += 1
    return last


def uniform_playout(
    start: Any, draw: Callable[[], float], max_plies: i64, seats: i64
) -> tuple[float, ...]:
    """Returns after uniformly random play; 0 for all if it has not ended after ``max_plies``."""
    state: NodeState = start
    plies: i64 = 0
    mover: i64 = state.to_move
    while mover != TERMINAL:
        if plies >= max_plies:
            return tuple([0.0] * seats)
        plies += 1
        if mover == CHANCE:
            outcomes: tuple[Any, ...] = tuple(state.chance_outcomes())
            state = state.after(outcomes[sample_outcome(outcomes, draw)][0])
        else:
            actions: tuple[Any, ...] = tuple(state.actions())
            state = state.after(actions[int(draw() * float(len(actions)))])
        mover = state.to_move
    result: tuple[float, ...] = state.returns()
    return result


def noted_playout(
    start: Any, played: list[set[Any]], draw: Callable[[], float], max_plies: i64
) -> tuple[float, ...]:
    """Return a uniform playout that notes the actions; 0 for all if it does not end in time."""
    state: NodeState = start
    plies: i64 = 0
    while state.to_move != TERMINAL:
        if plies >= max_plies:
            return tuple([0.0] * len(played))
        plies += 1
        mover: i64 = state.to_move
        if mover == CHANCE:
            outcomes: tuple[Any, ...] = tuple(state.chance_outcomes())
            state = state.after(outcomes[sample_outcome(outcomes, draw)][0])
        else:
            actions: tuple[Any, ...] = tuple(state.actions())
            action: Any = actions[int(draw() * float(len(actions)))]
            played[mover].add(action)
            state = state.after(action)
    result: tuple[float, ...] = state.returns()
    return result
