"""Describe the events of a match in words for the person who follows it.

Chess records ``g1f3`` and shows ``Nf3``; a person may type either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from plyhouse.bots.process.tracker import OutOfStep, Tracker
from plyhouse.games.base import Game
from plyhouse.games.errors import GameError
from plyhouse.games.scene import Button
from plyhouse.protocol.messages import Event

__all__ = ["MatchText"]


class MatchText:
    """Texts for the events of a match, from the view of one seat."""

    def __init__(self, game: Game, seat: int, events: Iterable[Event] = ()) -> None:
        self._game = game
        self._seat = seat
        self._tracker = Tracker(game, events)
        self._state: Any = None

    def add(self, event: Event) -> str:
        """Something has happened; returns what to call it."""
        action = event.action
        if action is None:
            name = "(hidden)"
        else:
            name = action
            state = self._tracker.state
            if state is not None and event.seat == state.to_move >= 0:
                spelt = self._spelt(self._game.observe(state, event.seat)).get(action)
                name = f"{spelt} ({action})" if spelt else action
        try:
            self._tracker.add([event])
        except OutOfStep:  # the server knows better; only names are made of this
            self._tracker = Tracker(self._game)
        return name

    def spelt(self, observation: Mapping[str, Any]) -> dict[str, str]:
        """It is the person's turn: how people write the legal actions, where it differs."""
        seen = self._game.decode_observation(observation)
        # Legal actions depend only on what the mover sees, so any consistent position will do.
        self._state = self._game.sample_state(seen, Random(0))
        return self._spelt(seen)

    def read(self, text: str) -> str | None:
        """The legal action that the game reads in ``text``, as the game writes it."""
        if self._state is None:
            return None
        try:
            return self._game.format(self._state, self._game.parse(self._state, text))
        except GameError:
            return None

    def _spelt(self, seen: Any) -> dict[str, str]:
        """The labels of actions from spot to spot, by action."""
        return {
            element.action: element.label
            for element in self._game.scene(seen).elements
            if isinstance(element, Button)
            and element.via
            and element.label.casefold() not in (element.action.casefold(), "")
        }
