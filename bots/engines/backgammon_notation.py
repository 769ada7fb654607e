"""Our backgammon positions and turns as GNU Backgammon writes them.

>>> from plyhouse.games import get_game
>>> game = get_game("backgammon")
>>> start = game.initial_state()
>>> position_id(start.two, start.one)
'4HPwATDgc/ABMA'
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Final

from plyhouse.bots.engines.variants import illegal
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError

__all__ = ["action_of", "position_id"]

BAR: Final = 25


def position_id(other: Sequence[int], own: Sequence[int]) -> str:
    """Return the position for the player on roll, whose counts are ``own``.

    Both have 26 counts in their own numbering: checkers borne off, points 1 to 24, the bar.  The
    format is in the manual of GNU Backgammon, "A technical description of the Position ID".
    """
    bits = []
    for side in (other, own):
        for count in side[1 : BAR + 1]:
            bits.extend([1] * count + [0])
    bits.extend([0] * (80 - len(bits)))
    value = sum([bit << place for place, bit in enumerate(bits)])
    return base64.b64encode(value.to_bytes(10, "little")).decode().rstrip("=")


def action_of(game: Game, state: Any, turn: str, engine: str) -> Any:
    """Return the action of a turn like ``bar/24*/18 13/7(2)``.

    Raises `EngineError` if it is not legal.
    """
    try:
        return game.parse(state, turn)
    except GameError:
        raise illegal(game, state, turn, engine) from None
