"""Follows a match in the bot's process, by the events that its seat may see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plyhouse.games.base import CHANCE, Game, Information, Observation
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.protocol.messages import CHANCE_SEAT, Event

__all__ = ["OutOfStep", "Tracker"]


class OutOfStep(Exception):  # noqa: N818 - a state of affairs
    """The events do not follow the rules as this machine knows them."""


class Tracker:
    """The events of one match and, with perfect information, the position they lead to.

    With hidden information `state` is None: the events do not tell it.
    """

    def __init__(self, game: Game, events: Iterable[Event] = ()) -> None:
        self.game = game
        self.events: list[Event] = []
        """All so far; only ever grows."""
        perfect = game.info.information is Information.PERFECT
        self._position = Position(game) if perfect else None
        self.add(events)

    @property
    def state(self) -> Any | None:
        """The full state; None with hidden information."""
        return self._position.state if self._position is not None else None

    def add(self, events: Iterable[Event]) -> None:
        """Take more events; raises `OutOfStep` if they cannot have happened."""
        for event in events:
            if self._position is not None:
                self._apply(self._position, event)
            self.events.append(event)

    def observation(self, fields: Mapping[str, Any], seat: int) -> Observation:
        """Return the observation of these wire fields, or of the position if there are none."""
        if not fields and self.state is not None:
            return self.game.observe(self.state, seat)
        return self.game.decode_observation(fields)

    def _apply(self, position: Position, event: Event) -> None:
        if event.action is None:
            raise self._out_of_step(event, "hidden, in a game of perfect information")
        try:
            position.apply(CHANCE if event.seat == CHANCE_SEAT else event.seat, event.action)
        except GameError as error:
            raise self._out_of_step(event, str(error)) from error

    def _out_of_step(self, event: Event, why: str) -> OutOfStep:
        return OutOfStep(
            f"{self.game.spec}, event {len(self.events) + 1} ({event.action!r}): {why}"
        )
