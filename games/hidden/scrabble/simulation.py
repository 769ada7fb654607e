"""Values of actions of Scrabble by simulation: the action, and the best answers to it.

Sheppard, "World-championship-caliber Scrabble" (2002), describes such simulations.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.hidden.scrabble.action_lists import PASS
from plyhouse.games.hidden.scrabble.leaves import leave_value
from plyhouse.games.hidden.scrabble.state import ScrabbleState

__all__ = ["simulated"]


def simulated(
    state: ScrabbleState,
    action: str,
    rng: random.Random,
    stop: Callable[[], bool] | None = None,
) -> float:
    """Return by how many points the mover gains on the best other seat, and what it keeps.

    The other seats answer with the plays of most points.  With an empty bag they play to the end,
    and so does the mover.  Once ``stop`` is true, the result means nothing.
    """
    mover: int = state.turn
    seats: int = state.rules.seats
    before: int = _lead(state.scores, mover)
    moved = state.after(action)
    kept: float = 0.0
    if moved.laid:
        moved = moved.after(moved.answer())
    if moved.to_move == CHANCE:
        kept = leave_value(moved.racks[mover])
    final: bool = not any(state.bag)
    turns: int = 0
    while moved.to_move != TERMINAL and (final or turns < seats - 1):
        if stop is not None and stop():
            break
        if moved.to_move == CHANCE:
            moved = moved.after(moved.drawn(rng.random()))
            continue
        if moved.laid:
            moved = moved.after(moved.answer())
            continue
        texts: list[str] = moved.plays(True, stop).texts
        moved = moved.after(texts[len(texts) - 1] if texts else PASS)
        turns += 1
    if moved.to_move == TERMINAL:
        kept = 0.0
    return float(_lead(moved.scores, mover) - before) + kept


def _lead(scores: tuple[int, ...], seat: int) -> int:
    """Return the lead of a seat over the best of the others."""
    best: int = -1_000_000
    for other, score in enumerate(scores):
        if other != seat and score > best:
            best = score
    return scores[seat] - best
