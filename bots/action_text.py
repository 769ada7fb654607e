"""The parts of a ply that a bot sends: the text of its action, and its thoughts.

The text is one of the game's actions, what equals one, or the bot's own text.

>>> from plyhouse.games import get_game
>>> game = get_game("tic_tac_toe")
>>> state = game.initial_state()
>>> text_of(game, state, 4, state.actions), text_of(game, state, " B2 ", state.actions)
(('b2', ''), ('b2', ''))
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from plyhouse.games.base import Game
from plyhouse.games.errors import IllegalAction
from plyhouse.protocol.parts import LONGEST_REMARK

__all__ = ["MAX_LINE", "NoAction", "said_of", "text_of"]

MAX_LINE: Final = 16
"""Actions of an expected play that are sent."""


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


def said_of(
    value: float | None,
    depth: int | None,
    nodes: int | None,
    pv: Sequence[str],
    text: str,
    live: bool = False,
) -> dict[str, Any]:
    """Return the fields of an `Info`; raises `ValueError` for wrong ones.  Long text is cut."""
    said: dict[str, Any] = {}
    if value is not None:
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"value {value!r} is not a number") from error
        if math.isfinite(number):  # a proven win of some searches is an infinite one
            said["value"] = number
    for name, count in (("depth", depth), ("nodes", nodes)):
        if count is not None:
            try:
                said[name] = operator.index(count)
            except TypeError as error:
                raise ValueError(f"{name} {count!r} is not a whole number") from error
            if said[name] < 0:
                raise ValueError(f"{name} is {count}, which is less than none")
    if pv:
        said["pv"] = list(pv)
    if not isinstance(text, str):
        raise ValueError(f"text has to be a str, not {type(text).__name__}")
    if text:
        long = len(text) > LONGEST_REMARK
        said["text"] = text[: LONGEST_REMARK - 1] + "\u2026" if long else text
    if live:
        said["live"] = True
    return said
