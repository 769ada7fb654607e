"""The wire text of what a bot chose: one of the game's actions, what equals one, or its text.

>>> from plyhouse.games import get_game
>>> game = get_game("tic_tac_toe")
>>> state = game.initial_state()
>>> text_of(game, state, 4, state.actions), text_of(game, state, " B2 ", state.actions)
(('b2', ''), ('b2', ''))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from plyhouse.games.base import Game
from plyhouse.games.errors import IllegalAction

__all__ = ["NoAction", "text_of"]


class NoAction(Exception):  # noqa: N818 - it names the reason
    """There is no way to write the value down."""


def text_of(
    game: Game, state: Any, action: Any, legal: Callable[[], Sequence[Any]]
) -> tuple[str, str]:
    """Return the wire text of an action, and what is wrong with it ("" if nothing).

    Any value that equals one of the ``legal`` actions is an action: ``numpy.int64(3)`` is as good
    as ``3``.  Raises `NoAction` where there is no way to write it down.
    """
    because = ""
    if isinstance(action, str):
        # Without a list first: a position of Scrabble may have tens of thousands of actions.
        try:
            return game.format(state, game.parse(state, action)), ""
        except IllegalAction as error:
            because = f", because {error.rule}" if error.rule else ""
        except Exception:  # noqa: S110 - the referee decides what follows
            pass
    actions = legal()
    try:
        place = actions.index(action)
    except Exception:  # not there, or an __eq__ that does not like to be compared (arrays)
        expected = f"expected one of {_some([game.format(state, each) for each in actions])}"
    else:
        # The game's own value, not what equals it: compiled games take no numpy.int64 for int.
        return game.format(state, actions[place]), ""
    if isinstance(action, str):
        return action, f"{action!r} is not legal here{because}, {expected}"
    if action is not None:
        try:
            text = game.format(state, action)
        except Exception:
            text = ""
        if isinstance(text, str) and text:
            return text, f"{action!r} is not legal here, {expected}"
    raise NoAction(f"{action!r} is not an action of {game.info.name}, {expected}")


def _some(texts: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(texts[:most])
    return shown if len(texts) <= most else f"{shown}, ... ({len(texts)} in all)"
