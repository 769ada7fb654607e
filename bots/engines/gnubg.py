"""The text interface of GNU Backgammon without I/O: commands, and the hints it prints.

>>> client = GnubgClient()
>>> hint = client.receive("    1. Cubeful 2-ply    8/5 6/5                      Eq.: +0.103")
>>> hint
Hint(turn='8/5 6/5', equity=0.103)

Our backgammon positions and turns as GNU Backgammon writes them.

>>> from plyhouse.games import get_game
>>> game = get_game("backgammon")
>>> start = game.initial_state()
>>> position_id(start.two, start.one)
'4HPwATDgc/ABMA'
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from plyhouse.bots.engines.errors import EngineError, nearest
from plyhouse.bots.engines.variants import illegal
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError

__all__ = ["GnubgClient", "Hint", "Version", "action_of", "position_id"]

QUIET: Final = (
    "set automatic game off",
    "set automatic roll off",
    "set automatic move off",
    "set automatic bearoff off",
    "set player 0 human",
    "set player 1 human",
    "set confirm new off",
    "set confirm save off",
    "set display off",
    "set cube use off",
    "set output winpc off",
)
"""Commands after which it does only what it is told."""

OPTIONS: Final = {
    "plies": ("evaluation chequerplay evaluation plies", re.compile(r"[0-3]"), "0 to 3"),
    "noise": (
        "evaluation chequerplay evaluation noise",
        re.compile(r"0(\.\d{1,4})?|1"),
        "0 to 1, as in 0.05",
    ),
    "threads": ("threads", re.compile(r"[1-9]\d?"), "1 to 99"),
}
"""Options of ours: the setting, the values it takes, and these in words."""

_HINT: Final = re.compile(r"\s*1\.\s+\S+ \S+\s+(\S.*?)\s+(?:Eq\.|MWC):\s*([-+]?\d+(?:\.\d+)?)\b.*")
_VERSION: Final = re.compile(r"GNU Backgammon (\d\S*).*")
_OPTION_ERROR: Final = "GNU Backgammon takes {} as {}, not {!r}."


@dataclass(frozen=True, slots=True)
class Hint:
    """The best turn, as GNU Backgammon writes it, and its equity for the player on roll."""

    turn: str
    equity: float


@dataclass(frozen=True, slots=True)
class Version:
    """The engine has said which version it is: it is up."""

    number: str


class GnubgClient:
    """Commands for GNU Backgammon."""

    name = "GNU Backgammon"

    def receive(self, line: str) -> Hint | Version | None:
        """Return what a line says; None for lines that are of no use."""
        found = _HINT.fullmatch(line)
        if found is not None:
            return Hint(found[1], float(found[2]))
        found = _VERSION.fullmatch(line.strip())
        return Version(found[1]) if found is not None else None

    def set_option(self, name: str, value: str) -> str:
        """Return the command that sets an option; raise `EngineError` for one that it does not
        have.

        >>> GnubgClient().set_option("plies", "0")
        'set evaluation chequerplay evaluation plies 0'
        """
        if name not in OPTIONS:
            raise EngineError(f"{self.name} has no option {name!r}: {nearest(name, OPTIONS)}")
        setting, form, takes = OPTIONS[name]
        if not form.fullmatch(value):
            raise EngineError(_OPTION_ERROR.format(takes, name, value))
        return f"set {setting} {value}"

    @staticmethod
    def start(*, points: bool) -> list[str]:
        """Return the commands that begin a match, for points or only to win."""
        return [*QUIET, "new session" if points else "new match 1"]

    @staticmethod
    def ask(position_id: str, dice: tuple[int, int]) -> list[str]:
        """Return the commands that ask for the best turn of the second player.

        >>> GnubgClient.ask("4HPwATDgc/ABMA", (3, 1))
        ['set turn 1', 'set board 4HPwATDgc/ABMA', 'set dice 3 1', 'hint 1']
        """
        return [
            "set turn 1",
            f"set board {position_id}",
            f"set dice {dice[0]} {dice[1]}",
            "hint 1",
        ]


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
