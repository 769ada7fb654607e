"""Positions of games by what was played."""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import CHANCE, Game, State
from plyhouse.games.position import Position


def position_after(game: Game, text: str) -> State:
    """Return the state after actions and outcomes of chance: ``roll 4 hold roll 1`` in pig."""
    position = Position(game)
    for word in text.split():
        position.apply(position.mover, word)
    state: State = position.state
    return state


def reachable(start: Any) -> dict[Any, Any]:
    """Return all positions that can follow, with this one, by key."""
    known = {start.key(): start}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for move in (
            [outcome for outcome, _ in here.chance_outcomes()]
            if here.to_move == CHANCE
            else here.actions()
        ):
            child = here.after(move)
            if child.key() not in known:
                known[child.key()] = child
                waiting.append(child)
    return known
