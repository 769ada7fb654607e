"""Matches that were played, as searches learn from them: actions as text, and what came out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.errors import GameError

__all__ = ["InvalidMatch", "PlayedMatch", "replay"]


class InvalidMatch(ValueError):  # noqa: N818 - a condition of the data
    """A match that cannot be replayed under the rules; ``str()`` says where and why."""


@dataclass(frozen=True)
class PlayedMatch:
    """One match: everything that seats and chance did, in order, and the returns.

    The returns may be those of a match that ended by a flag or a resignation.
    """

    actions: Sequence[str]
    returns: Sequence[float]
    name: str = ""
    """Where it is from, for messages."""


def replay(game: Game, match: PlayedMatch) -> Iterator[tuple[Any, Any]]:
    """Every state of the match with the action (or outcome of chance) that followed.

    Raises `InvalidMatch` for an action that the rules do not allow, or one after the end.
    """
    state: Any = game.initial_state()
    name = match.name or "a match"
    if len(match.returns) != game.seats:
        raise InvalidMatch(
            f"{name} has {len(match.returns)} returns, but {game.spec} has {game.seats} seats"
        )
    for ply, text in enumerate(match.actions):
        if state.to_move == TERMINAL:
            raise InvalidMatch(f"{name} goes on with {text!r} after its end, at action {ply}")
        try:
            if state.to_move == CHANCE:
                action = game.parse_chance(state, text)
            else:
                action = game.parse(state, text)
        except GameError as error:
            raise InvalidMatch(f"{name}, action {ply}: {error}") from None
        yield state, action
        state = state.after(action)
