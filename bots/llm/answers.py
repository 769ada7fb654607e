r"""Read the answer of a chat model: an action, or why it is none.

>>> structured('I take the centre.\n{"action": "b2"}')
'b2'
>>> structured("I take the centre: b2") is None
True
>>> prose("I take the centre.\nAction: **b2**")
'b2'
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

from plyhouse.bots.api import Turn
from plyhouse.games.base import Information
from plyhouse.games.errors import AmbiguousAction, GameError, IllegalAction
from plyhouse.games.scene import Button

__all__ = ["LONGEST", "Reading", "forms", "prose", "read", "structured"]

LONGEST: Final = 200_000
"""Characters of an answer that are read."""
AMBIGUOUS: Final = "It could mean more than one legal action."
"""Why such a text is none; naming them would help a model that has to find them itself."""
LONGEST_JSON: Final = 20_000
"""Characters at the end of an answer in which JSON is looked for."""
_SPOKEN: Final = re.compile(
    # No run of blanks may match in two ways: a long one would take minutes.
    r"^[ \t>*_#-]*(?:my |final |chosen )?(?:action|move|answer|play)\b"
    r"[ \t*_]{0,20}(?:is\b)?[ \t*_]{0,20}[:=]\s*(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTES: Final = " \t\r\n`*_\"'\u201c\u201d"


class Reading(NamedTuple):
    """Meaning of an answer."""

    action: str
    """The action as the game writes it; empty if there is none to play."""
    said: str
    """The text that was read as an action; empty if nothing was."""
    why: str
    """Why it cannot be played, as a sentence; empty if it can."""

    @property
    def illegal(self) -> bool:
        """True if the answer named an action that is not legal."""
        return bool(self.said) and not self.action


def read(turn: Turn, text: str) -> Reading:
    """Read an answer.

    A structured answer counts alone, even if it cannot be played.  Otherwise a line such as
    ``Action: b2`` counts, or a whole answer that is nothing but an action.
    """
    text = text[-LONGEST:]
    said = structured(text)
    if said is None:
        said = prose(text)
    if said is None:
        bare = text.strip(_QUOTES)
        if bare and "\n" not in bare and (action := _action(turn, bare)[0]):
            return Reading(action, bare, "")
        why = "It has neither JSON nor a line 'Action: ...'." if bare else "The answer is empty."
        return Reading("", "", why)
    if not said:
        return Reading("", "", "It names no action.")
    action, why = _action(turn, said)
    return Reading(action, said, why)


def structured(text: str) -> str | None:
    """Return the action of the last JSON object that has one; None if there is none.

    Objects within others do not count: they may be actions that the model weighed.  An action that
    is neither text nor a whole number is "".
    """
    decoder = json.JSONDecoder()
    text = text[-LONGEST_JSON:]
    said = None
    start = text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if "action" in found:
                action = found["action"]
                plain = isinstance(action, str | int) and not isinstance(action, bool)
                said = str(action) if plain else ""
        start = text.find("{", end)
    return said


def prose(text: str) -> str | None:
    """Return what the last line such as ``Action: b2`` names; None without such a line."""
    lines = _SPOKEN.findall(text)
    return lines[-1].strip(_QUOTES).rstrip(".").strip(_QUOTES) if lines else None


def _action(turn: Turn, said: str) -> tuple[str, str]:
    """Return the action that a text means, and why it is none.

    The reason lists no legal actions, which not every level of help shows.
    """
    game, state = turn.game, turn.sample()
    try:
        return game.format(state, game.parse(state, said)), ""
    except IllegalAction as error:
        problem = f"It breaks a rule: {error.rule}" if error.rule else "The rules forbid it here"
    except AmbiguousAction:
        problem = AMBIGUOUS
    except GameError as error:
        problem = str(error)
    printed, plain = forms(turn), _plain(said)
    meant = printed.get(said) or {
        action for form, actions in printed.items() if _plain(form) == plain for action in actions
    }
    if len(meant) == 1:
        return next(iter(meant)), ""
    if meant:
        return "", AMBIGUOUS
    return "", f"{problem[:600].rstrip('.')}."


def forms(turn: Turn) -> dict[str, set[str]]:
    """Return every printed form of the legal actions, with the actions that it stands for.

    The forms are those of notation, of people (``display``), and of the buttons of the scene.
    """
    game, state = turn.game, turn.sample()
    found: dict[str, set[str]] = {}

    def add(form: str, action: str) -> None:
        found.setdefault(form.strip(), set()).add(action)

    for action in game.listed_actions(state):
        text = game.format(state, action)
        add(text, text)
        if game.info.information is Information.PERFECT:
            add(game.display(state, action), text)
    for element in game.scene(turn.observation).elements:
        if isinstance(element, Button):
            add(element.label, element.action)
    return found


def _plain(text: Any) -> str:
    """Fold case and blanks, which people write as they like."""
    return re.sub(r"\s+", " ", str(text)).strip(_QUOTES).casefold()
