"""Rebuilds the position of a match from the events that a seat may see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plyhouse.bots.api import is_perfect
from plyhouse.games.base import CHANCE, Game, Observation
from plyhouse.games.errors import GameError
from plyhouse.protocol.messages import CHANCE_SEAT, Event

__all__ = ["OutOfStep", "Tracker"]


class OutOfStep(Exception):  # noqa: N818 - a state of affairs
    """The events do not follow the rules as this machine knows them."""


class Tracker:
    """The events of one match and, with perfect information, the position they lead to.

    With hidden information `state` is None: the events do not tell.
    """

    def __init__(self, game: Game, events: Iterable[Event] = ()) -> None:
        self.game = game
        self.events: list[Event] = []
        self.state: Any | None = game.initial_state() if is_perfect(game) else None
        self.add(events)

    @property
    def plies(self) -> int:
        """Actions of seats so far."""
        return sum(event.seat != CHANCE_SEAT for event in self.events)

    def add(self, events: Iterable[Event]) -> None:
        """Take more events; raises `OutOfStep` if they cannot have happened."""
        for event in events:
            if self.state is not None:
                self.state = self._after(self.state, event)
            self.events.append(event)

    def observation(self, fields: Mapping[str, Any], seat: int) -> Observation:
        """The observation of these wire fields, or that of the position if there are none."""
        if not fields and self.state is not None:
            return self.game.observe(self.state, seat)
        return self.game.decode_observation(fields)

    def _after(self, state: Any, event: Event) -> Any:
        mover = CHANCE if event.seat == CHANCE_SEAT else event.seat
        where = f"{self.game.spec}, event {len(self.events) + 1} ({event.action!r})"
        if state.to_move != mover:
            raise OutOfStep(f"{where}: it is not the turn of seat {event.seat} there")
        if event.action is None:
            raise OutOfStep(f"{where}: hidden, in a game of perfect information")
        try:
            if mover == CHANCE:
                return state.after(self.game.parse_chance(state, event.action))
            return state.after(self.game.parse(state, event.action))
        except GameError as error:
            raise OutOfStep(f"{where}: {error}") from error
