"""Errors about games, actions and parameters.

::

    GameError
      InvalidAction       action/invalid      the text cannot be read as an action
      IllegalAction       action/illegal      it can be read, but the rules forbid it here
      AmbiguousAction     action/ambiguous    it could mean more than one legal action
      InvalidObservation  game/bad_observation
      InvalidPosition     position/invalid    a position that the rules do not allow
      InvalidParameter    game/bad_parameter  unknown name, wrong type or out of range
      InvalidSpec         game/bad_parameter  text like "pig(target=50)" is malformed
      UnknownGame         game/unknown
      DuplicateGame       game/duplicate      two games claim one name
      InvalidGameSource   game/bad_source     a file that does not load or has no Game
      InvalidTree         game/bad_tree       a written tree that cannot be read
      GameMismatch        game/unfit          an algorithm refuses a game that it cannot solve

Every message is one or two sentences: what was wrong, and what would be right.  The
stable ``code`` is for programs; the fields carry the parts of the message.

>>> error = UnknownGame("ches", ["chess"])
>>> str(error), error.code, error.near
("There is no game named 'ches'; did you mean chess?", 'game/unknown', ('chess',))
>>> raise IllegalAction("bet", "cards: K Q", ["fold", "call"])
Traceback (most recent call last):
plyhouse.games.errors.IllegalAction: 'bet' is not legal; legal here: fold, call.
"""

# ruff: noqa: N818 - an InvalidAction is a condition of the game, as in python-chess
from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

__all__ = [
    "AmbiguousAction",
    "DuplicateGame",
    "GameError",
    "GameMismatch",
    "IllegalAction",
    "InvalidAction",
    "InvalidGameSource",
    "InvalidObservation",
    "InvalidParameter",
    "InvalidPosition",
    "InvalidSpec",
    "InvalidTree",
    "UnknownGame",
]

SHOWN = 24
"""So many names are listed in a message before it says how many more there are."""


def listed(names: Sequence[str], most: int = SHOWN) -> str:
    """Join names for a sentence, cut short when there are more than ``most``.

    >>> listed([str(number) for number in range(30)])[-14:]
    ' 23 and 6 more'
    """
    text = ", ".join(names[:most])
    if len(names) > most:
        text += f" and {len(names) - most} more"
    return text


def shortened(text: str, limit: int = 60) -> str:
    """Quote text that came from outside, cut to a length fit for a message."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


class GameError(Exception):
    """Base class of every error about games; ``code`` is stable and machine-readable."""

    code: ClassVar[str] = "game/error"


class InvalidAction(GameError):
    """Text that cannot be read as an action of the game in any position."""

    code = "action/invalid"

    def __init__(self, text: str, reason: str, expected: str) -> None:
        self.text = text
        self.reason = reason
        self.expected = expected
        super().__init__(f"{shortened(text)} is not an action: {reason}; expected {expected}.")


class IllegalAction(GameError):
    """An action that can be read but that the rules forbid in this position.

    ``rule`` says which rule it breaks.  The seat that tried it reads that, also in games with
    hidden information, so it must tell nothing that the seat does not know.
    """

    code = "action/illegal"

    def __init__(self, text: str, position: str, legal: Sequence[str], rule: str = "") -> None:
        self.text = text
        self.position = position
        self.legal: tuple[str, ...] = tuple(legal)
        self.rule = rule
        here = f"legal here: {listed(self.legal)}" if self.legal else "no seat can act here"
        because = f", because {rule}" if rule else ""
        super().__init__(f"{shortened(text)} is not legal{because}; {here}.")


class AmbiguousAction(GameError):
    """Text that could mean more than one legal action."""

    code = "action/ambiguous"

    def __init__(self, text: str, position: str, candidates: Sequence[str]) -> None:
        self.text = text
        self.position = position
        self.candidates: tuple[str, ...] = tuple(candidates)
        super().__init__(
            f"{shortened(text)} is ambiguous; write one of: {listed(self.candidates)}."
        )


class InvalidObservation(GameError):
    """Fields that do not make up an observation of the game."""

    code = "game/bad_observation"

    def __init__(self, game: str, reason: str) -> None:
        self.game = game
        self.reason = reason
        super().__init__(f"These are not the fields of an observation of {game}: {reason}.")


class InvalidParameter(GameError):
    """A parameter the game does not have, or a value of the wrong type or out of range."""

    code = "game/bad_parameter"

    def __init__(self, game: str, name: str, value: object, expected: str) -> None:
        self.game = game
        self.name = name
        self.value = value
        self.expected = expected
        super().__init__(f"{game} cannot have {name}={shortened(str(value))}: {expected}.")


class InvalidPosition(GameError):
    """Text that does not describe a position, or one that cannot be."""

    code = "position/invalid"

    def __init__(self, game: str, text: str, reason: str) -> None:
        self.game = game
        self.text = text
        self.reason = reason
        super().__init__(f"{shortened(text, 100)} is not a position of {game}: {reason}.")


class InvalidSpec(GameError):
    """Text that does not name a game with parameters, like ``pig(target=50)``."""

    code = "game/bad_parameter"

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        self.reason = reason
        super().__init__(
            f"{shortened(text)} does not name a game: {reason}; "
            "write a name, or a name with parameters like pig(target=50)."
        )


class UnknownGame(GameError):
    """No game of this name; ``near`` holds the names it may have been meant to be."""

    code = "game/unknown"

    def __init__(self, name: str, near: Sequence[str], known: Sequence[str] = ()) -> None:
        self.name = name
        self.near: tuple[str, ...] = tuple(near)
        if self.near:
            hint = f"did you mean {' or '.join(self.near)}?"
        elif known:
            hint = f"known games: {listed(known, 3 * SHOWN)}."
        else:
            hint = "no games are known."
        super().__init__(f"There is no game named {shortened(name)}; {hint}")


class DuplicateGame(GameError):
    """Two sources claim the same name; ``first`` and ``second`` say where they are."""

    code = "game/duplicate"

    def __init__(self, name: str, first: str, second: str) -> None:
        self.name = name
        self.first = first
        self.second = second
        super().__init__(
            f"Two games are named {name!r}: {first} and {second}; rename or uninstall one."
        )


class InvalidGameSource(GameError):
    """A file, module or entry point from which no game could be loaded."""

    code = "game/bad_source"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"No game can be loaded from {path}: {reason}.")


class InvalidTree(GameError):
    """A written tree that cannot be read; ``line`` is None where there is but one."""

    code = "game/bad_tree"

    def __init__(self, line: int | None, column: int, reason: str) -> None:
        self.line = line
        self.column = column
        self.reason = reason
        where = f"column {column}" if line is None else f"line {line}, column {column}"
        super().__init__(f"The tree cannot be read at {where}: {reason}.")


class GameMismatch(GameError):
    """An algorithm refuses a game; ``fits`` says which games or algorithms would do."""

    code = "game/unfit"

    def __init__(self, algorithm: str, game: str, reason: str, fits: str) -> None:
        self.algorithm = algorithm
        self.game = game
        self.reason = reason
        self.fits = fits
        super().__init__(f"{algorithm} cannot play {game}: {reason}; {fits}.")
