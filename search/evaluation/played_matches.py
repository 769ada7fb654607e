"""Matches that were played, as searches learn from them: actions as text, and what came out.

>>> from plyhouse.games import get_game
>>> match = PlayedMatch(["roll", "4", "hold"], (1.0, -1.0), "the first match")
>>> [state.to_move for state, action in replay(get_game("pig"), match)]
[0, -1, 0]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position

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
    """Return every state of the match with the action (or outcome of chance) that followed.

    Raises `InvalidMatch` for an action that the rules do not allow, or one after the end.
    """
    name = match.name or "a match"
    if len(match.returns) != game.seats:
        raise InvalidMatch(
            f"{name} has {len(match.returns)} returns, but {game.spec} has {game.seats} seats"
        )
    position = Position(game)
    for number, text in enumerate(match.actions):
        state = position.state
        if position.mover == TERMINAL:
            raise InvalidMatch(f"{name} goes on with {text!r} after its end, at action {number}")
        try:
            action = position.apply(position.mover, text)
        except GameError as error:
            raise InvalidMatch(f"{name}, action {number}: {error}") from None
        yield state, action
