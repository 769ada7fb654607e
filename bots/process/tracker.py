"""Follows a match in the bot's process, by the events that its seat may see."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from plyhouse.bots.api import Match, Turn
from plyhouse.bots.process.messages import Begin
from plyhouse.games.base import CHANCE, Game, Information, Observation
from plyhouse.games.errors import GameError
from plyhouse.games.position import Position
from plyhouse.games.registry import add_game_file, game_names, get_game
from plyhouse.protocol.messages import CHANCE_SEAT, Event

__all__ = ["OutOfStep", "Tracker", "get_ready", "match_of", "position_of", "position_text"]


CHANGED: Final = (
    "has changed turn.state: use state.after(action), which returns a new state, or change a "
    "copy.deepcopy(turn.state)"
)


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

    def changed(self, seen: Observation, seat: int) -> bool:
        """Return whether the bot has changed `state`, which showed ``seen`` at its turn."""
        if self.state is None:
            return False
        with contextlib.suppress(Exception):  # a changed state may be one that cannot be shown
            now = self.game.observe(self.state, seat)
            # What came over the wire may differ in type, such as a tuple from a list.
            return now != seen and now != self.game.observe(self._replayed().state, seat)
        return True

    def _apply(self, position: Position, event: Event) -> None:
        if event.action is None:
            raise self._out_of_step(event, "hidden, in a game of perfect information")
        try:
            _play(position, event)
        except GameError as error:
            advice = f" The bot {CHANGED}." if self._follows(event) else ""
            raise self._out_of_step(event, f"{error}{advice}") from error

    def _follows(self, event: Event) -> bool:
        """Replay the match from its start, and return whether this event is legal after it."""
        try:
            _play(self._replayed(), event)
        except GameError:
            return False
        return True

    def _replayed(self) -> Position:
        replayed = Position(self.game)
        for event in self.events:
            _play(replayed, event)
        return replayed

    def _out_of_step(self, event: Event, why: str) -> OutOfStep:
        return OutOfStep(
            f"{self.game.spec}, event {len(self.events) + 1} ({event.action!r}): {why}"
        )


def _play(position: Position, event: Event) -> None:
    position.apply(CHANCE if event.seat == CHANCE_SEAT else event.seat, event.action or "")


def get_ready(games: Iterable[str]) -> None:
    """Load these games for `match_of` before the bot's clock runs.

    The lookup of installed games takes longest (0.1 s), so it happens for every bot.  Unknown games
    cause an error only in a match that uses them.
    """
    with contextlib.suppress(GameError):
        game_names()
    for game in games:
        with contextlib.suppress(GameError):
            get_game(game).initial_state()


def match_of(begin: Begin) -> Match:
    """Return the metadata of a beginning match; raise `GameError` for an unknown game."""
    snapshot = begin.snapshot
    if begin.file:
        add_game_file(begin.file)
    return Match(
        id=snapshot.match,
        game=get_game(snapshot.game, files=begin.files),
        seat=snapshot.seat or 0,
        players=tuple(snapshot.players),
        time_control=snapshot.time_control,
        rated=snapshot.rated,
        illegal_rule=snapshot.illegal_rule,
    )


def position_text(turn: Turn) -> str:
    """Return the bot's view at this turn as text, with seat and ply from 0 as its code has them.

    The position comes from the history, because the bot may have changed `Turn.state`.
    """
    state = Tracker(turn.game, turn.history).state
    seen = turn.describe() if state is None else turn.game.describe(state)
    played = " ".join(str(event.action) for event in turn.history) or "none"
    return (
        f"{turn.game.spec}, turn.seat {turn.seat}, turn.ply {turn.ply}\n"
        f"{seen}\nactions so far: {played}"
    )


def position_of(begin: Begin, ply: int, observation: dict[str, Any]) -> str:
    """Return the same without the bot's process, from all that is known of the match."""
    match = match_of(begin)
    tracker = Tracker(match.game, begin.snapshot.events)
    seen = tracker.observation(observation, match.seat)
    return position_text(
        Turn(match, ply=ply, state=tracker.state, observation=seen, history=tracker.events)
    )
