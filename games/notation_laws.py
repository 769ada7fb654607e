"""The laws of notation and of lists on one position, also one that random play seldom meets.

>>> from plyhouse.games import get_game
>>> game = get_game('checkers(position="W:WK15:B9,10,11,17,18")')
>>> check_notation(game, game.initial_state())
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from plyhouse.games.base import CHANCE, MOST_LISTED, Game, State
from plyhouse.games.counting import branches
from plyhouse.games.errors import GameError, IllegalAction, InvalidAction

__all__ = ["LawBroken", "check_list", "check_notation"]

_NONSENSE = "\u2047 no action at all"
_ODD: tuple[Callable[[str], str], ...] = (
    lambda text: re.sub("[0-9]+", "99", text),
    lambda text: re.sub("[0-9]+", "0", text),
    lambda text: text[:1] + "\u2028" + text[1:],
    lambda text: f"{text} {text}",
    lambda text: text[:-1],
    lambda text: text + text[-1] * 99,
)
"""Texts that are almost an action."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?")


class LawBroken(AssertionError):  # noqa: N818 - a verdict about a game, not a failure of ours
    """A game breaks a law: which one, in which position, and what differs."""

    def __init__(self, law: str, position: str, difference: str) -> None:
        self.law = law
        self.position = position
        self.difference = difference
        super().__init__(f"law of {law} broken: {difference}\nin the position\n{position}")


def check_list(game: Game, state: State) -> None:
    """Check that few actions are listed whole, and many only if the game says so.

    Raises `LawBroken` of the law of observation.
    """
    actions, most = state.actions(), game.info.most_actions
    listed = tuple(game.listed_actions(state))
    fault = ""
    if len(actions) > most:
        fault = f"there are {len(actions)} legal actions, and info.most_actions says {most} at most"
    elif most <= MOST_LISTED and listed != tuple(actions):
        fault = f"listed actions: {listed!r} is not {actions!r}"
    elif not 0 < len(listed) <= MOST_LISTED or len(set(listed)) < len(listed):
        fault = f"{len(listed)} listed actions, or some of them twice"
    elif not set(listed) <= set(actions):
        fault = "a listed action is not legal"
    if fault:
        raise LawBroken("observation", game.describe(state), fault)


def check_notation(game: Game, state: State) -> None:
    """Check that each action and chance outcome of a state is read as it was written, and that
    one which is a number is not written as another number.

    Raises `LawBroken` of the law of notation or of numbers.  `Game.parse` breaks that of notation
    if it accepts nonsense, or fails by another error than a `GameError`.
    """
    write: Callable[[State, Any], str] = game.format
    read: Callable[[State, str], Any] = game.parse
    if state.to_move == CHANCE:
        write, read = game.format_chance, game.parse_chance
    for action in branches(state):
        fault = _fault(state, action, write, read)
        if fault:
            raise LawBroken("notation", game.describe(state), fault)
        fault = _number_fault(action, write(state, action))
        if fault:
            raise LawBroken("numbers", game.describe(state), fault)
        shown = game.display(state, action)
        if not (isinstance(shown, str) and shown.split() and shown == " ".join(shown.split())):
            difference = f"{action!r} is displayed as {shown!r}, which is not one line of words"
            raise LawBroken("notation", game.describe(state), difference)
    if state.to_move >= 0:
        _check_refusals(game, state)


def _check_refusals(game: Game, state: State) -> None:
    """Check that nonsense, and one text that is almost an action, is refused by a `GameError`."""
    actions = game.listed_actions(state)
    odd = _ODD[len(actions) % len(_ODD)](game.format(state, actions[-1]))
    for text in (_NONSENSE, odd):
        try:
            meaning = game.parse(state, text)
        except (InvalidAction, IllegalAction):
            continue
        except GameError as error:
            fault = f"refused by {error!r}" if text is _NONSENSE else ""
        except Exception as error:
            fault = f"refused by {error!r}, which is no GameError"
        else:
            fault = f"read as {meaning!r}" if text is _NONSENSE else ""
        if fault:
            raise LawBroken("notation", game.describe(state), f"{text!r} is {fault}")


def _fault(
    state: State,
    action: Any,
    write: Callable[[State, Any], str],
    read: Callable[[State, str], Any],
) -> str:
    """Return the fault in an action's text; "" if there is none."""
    text = write(state, action)
    if not (isinstance(text, str) and text != "" and text == text.strip()):
        return f"{action!r} is written as {text!r}"
    try:
        meaning = read(state, text)
    except GameError as error:
        return f"{text!r}, which means {action!r}, is refused: {error}"
    if meaning != action:
        return f"meaning of {text!r}: {meaning!r} is not {action!r}"
    return ""


def _number_fault(action: Any, text: str) -> str:
    """How a number is written as another one; "" if it is not."""
    if not isinstance(action, int | float) or not _NUMBER.fullmatch(text):
        return ""
    number = float(text) if "." in text else int(text)
    if number == action:
        return ""
    return f"{action!r} is written as {text!r}: numbers that differ"
