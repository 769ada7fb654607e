"""Positions of backgammon by their texts."""

from __future__ import annotations

from typing import Any, Final

from plyhouse.games import get_game

__all__ = ["GAME", "at", "legal", "play"]

GAME: Final = get_game("backgammon")


def at(position: str) -> tuple[Any, Any]:
    game = type(GAME)(position=position)
    return game, game.initial_state()


def legal(position: str) -> set[str]:
    game, state = at(position)
    return {game.format(state, action) for action in state.actions()}


def play(position: str, turn: str) -> Any:
    game, state = at(position)
    return state.after(game.parse(state, turn))
