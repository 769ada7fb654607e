"""Scenes of games, as a server sends them."""

from __future__ import annotations

import random
from typing import Any

from plyhouse.games.base import CHANCE, Game
from plyhouse.games.registry import get_game
from plyhouse.games.scene import scene_fields

__all__ = ["scene_after", "scene_of"]


def scene_of(game: Game, state: Any, viewer: int | None) -> dict[str, Any]:
    """The viewer's sight of a position, with the server's additions."""
    scene = scene_fields(game.scene(game.observe(state, viewer)))
    scene["seats"] = [game.seat_name(seat) for seat in range(game.seats)]
    if viewer is not None:
        scene["viewer"] = viewer
    return scene


def scene_after(name: str, plies: int, seed: int = 1) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the view of the seat to move after random plies, or at the last one before the end.

    Also returns what is legal there.
    """
    game, rng = get_game(name), random.Random(seed)
    state = shown = game.initial_state()
    for ply in range(plies + 1):
        while state.to_move == CHANCE:
            outcomes = state.chance_outcomes()
            state = state.after(rng.choice(outcomes)[0])
        if state.to_move < 0:
            break
        shown = state
        if ply < plies:
            state = state.after(rng.choice(state.actions()))
    legal = tuple(game.format(shown, action) for action in shown.actions())
    return scene_of(game, shown, shown.to_move), legal
