"""Describe the events of a match in words for the person who follows it.

Chess records ``g1f3`` and shows ``Nf3``; a person may type either.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from plyhouse.clients.terminal.sentences import action_text
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError, IllegalAction
from plyhouse.games.info import Information
from plyhouse.protocol.messages import Event


def event_text(event: Event) -> str:
    """Return what happened as people write it, and as programs do where a seat's text differs.

    >>> event_text(Event(0, 0, "g1f3", display="Nf3"))
    'Nf3 (g1f3)'
    """
    text = action_text(event)
    return f"{text} ({event.action})" if event.display and event.seat >= 0 else text


class MatchText:
    """Texts for the legal actions of a person's turns."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._state: Any = None

    def spelt(self, observation: Mapping[str, Any]) -> dict[str, str]:
        """It is the person's turn: how people write the legal actions, where that differs
        and may be typed.
        """
        seen = self._game.decode_observation(observation)
        # Legal actions depend only on what the mover sees, so any consistent position will do.
        self._state = self._game.sample_state(seen, Random(0))
        if self._game.info.information is not Information.PERFECT:
            return {}
        pairs = [
            (self._game.format(self._state, action), self._game.display(self._state, action))
            for action in self._state.actions()
        ]
        return {text: shown for text, shown in pairs if shown != text == self.read(shown)}

    def read(self, text: str) -> str | None:
        """The legal action that the game reads in ``text``, as the game writes it."""
        if self._state is None:
            return None
        try:
            return self._game.format(self._state, self._game.parse(self._state, text))
        except GameError:
            return None

    def broken_rule(self, text: str) -> str:
        """Return the rule that an illegal action breaks, or "" if the game names none."""
        if self._state is None:
            return ""
        try:
            self._game.parse(self._state, text)
        except IllegalAction as error:
            return error.rule
        except GameError:
            pass
        return ""
