"""The only place that turns a state into data for seats and spectators.

Every event, observation, legal list, scene and refusal that leaves the match engine is made here.
Nothing passes unless the game allows it.  Observations are the game's allow-list types, and actions
are what ``Game.visible`` shows to the viewer.  In games with hidden information, error texts are
written here, because an exception's text may quote the position.

Thinking times are public in every game, even those of hidden actions (``Event.ms``): the clocks
show them, and anyone who waits for a message can measure them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from plyhouse.games.base import CHANCE, TERMINAL, Game, Information
from plyhouse.games.errors import AmbiguousAction, GameError, IllegalAction, InvalidAction
from plyhouse.games.scene import scene_fields
from plyhouse.protocol.messages import CHANCE_SEAT, ClockState, Event, LedgerEntry
from plyhouse.server.match.clock import Clock
from plyhouse.server.match.time_control import MS, Ledger

MAX_LEGAL = 256
"""Most legal actions that a refusal lists."""


class Views:
    """The histories of one match, as each seat and the spectators may see them."""

    __slots__ = ("_drawn", "_logs", "_names", "_observed", "_perfect", "game", "length")

    def __init__(self, game: Game, seats: int) -> None:
        self.game = game
        self.length = 0
        """Number of events, the same for every viewer."""
        self._perfect = game.info.information is Information.PERFECT
        self._names = tuple([game.seat_name(seat) for seat in range(seats)])
        shared: list[Event] = []
        # Index `seats` (and so -1) is the spectators' log.
        self._logs = [shared] * (seats + 1) if self._perfect else [[] for _ in range(seats + 1)]
        # The last answer for each viewer, with its state: a seat may ask again and again.
        self._observed: dict[int | None, tuple[Any, dict[str, Any]]] = {}
        self._drawn: dict[int | None, tuple[Any, dict[str, Any], dict[str, Any]]] = {}

    def record(
        self, state: Any, action: Any, text: str, seat: int, ply: int, charged_ns: int | None
    ) -> None:
        """Add an action of ``seat`` in ``state`` to every history.

        `CHANCE_SEAT` stands for chance.
        """
        ms = None if charged_ns is None else charged_ns // MS
        self.length += 1
        if self._perfect:
            shown = self.game.display(state, action)
            self._logs[0].append(Event(ply, seat, text, ms, "" if shown == text else shown))
            return
        visible = self.game.visible
        shown = self.game.display(state, action) if self.game.display_is_public else text
        last = len(self._logs) - 1
        for viewer, log in enumerate(self._logs):
            seen = visible(state, action, None if viewer == last else viewer)
            # Words for those who know the whole action, and for what the others know of it.
            words = (shown if seen == text else self.game.display_part(seen)) if seen else ""
            log.append(Event(ply, seat, seen, ms, "" if words == seen else words))

    def rollback(self, length: int) -> None:
        """Forget the events after the first ``length``.

        This undoes an action that could not be finished.
        """
        self.length = length
        for log in self._logs:
            del log[length:]

    def events(self, viewer: int | None, since: int = 0) -> list[Event]:
        """Return the events from number ``since`` on, as a viewer may see them."""
        return self._logs[-1 if viewer is None else viewer][since:]

    def observation(self, state: Any, viewer: int | None) -> dict[str, Any]:
        """Return the observation of a state for a viewer, as plain fields, not to be changed."""
        kept = self._observed.get(viewer)
        if kept is not None and kept[0] is state:
            return kept[1]
        fields = self.game.observe(state, viewer).fields()
        self._observed[viewer] = (state, fields)
        return fields

    def drawn(self, state: Any, viewer: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the observation of a viewer, and the scene drawn from it alone."""
        kept = self._drawn.get(viewer)
        if kept is not None and kept[0] is state:
            return kept[1], kept[2]
        observation = self.game.observe(state, viewer)
        scene = dataclasses.replace(self.game.scene(observation), seats=self._names, viewer=viewer)
        fields, elements = observation.fields(), scene_fields(scene)
        self._drawn[viewer] = (state, fields, elements)
        return fields, elements

    def forget(self) -> None:
        """Free the observations that are kept, because the match is over."""
        self._observed.clear()
        self._drawn.clear()

    def stopped(self, state: Any, viewer: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return observation and scene of a match that did not end by the rules."""
        observation = dataclasses.replace(self.game.observe(state, viewer), legal=())
        # Games draw a seat to move or an end by the rules, and this is neither.
        scene = dataclasses.replace(
            self.game.scene(observation),
            seats=self._names,
            viewer=viewer,
            seat_to_move=None,
            status="The match is over",
        )
        return {**observation.fields(), "to_move": TERMINAL}, scene_fields(scene)

    def legal(self, state: Any) -> list[str]:
        """Return at most `MAX_LEGAL` legal actions as text.

        Only the seat to move gets them.
        """
        if state.to_move < 0:
            return []
        form = self.game.format
        return [form(state, action) for action in self.game.listed_actions(state)[:MAX_LEGAL]]

    def refusal(self, error: GameError, text: str) -> str:
        """Return one sentence on why an action was refused, for the seat that played it."""
        if self._perfect:
            return str(error)
        shown = text if len(text) <= 40 else text[:40] + "..."
        if isinstance(error, InvalidAction):
            return f"{shown!r} cannot be read as an action of {self.game.info.name}."
        if isinstance(error, AmbiguousAction):
            return f"{shown!r} could mean several actions: write it in full."
        if isinstance(error, IllegalAction) and error.rule:
            return f"{shown!r} is not legal here, because {error.rule}."
        return f"{shown!r} is not legal here."

    def chance_text(self, state: Any, outcome: Any) -> str:
        """Return the text of a chance outcome, for the record."""
        if state.to_move != CHANCE:
            raise ValueError("not a chance node")
        return self.game.format_chance(state, outcome)


def clock_states(clock: Clock, now: int, mover: int | None) -> list[ClockState]:
    """Return the readings of all clocks; clocks are public in every game.

    The clock of ``mover``, the seat to move, counts as running from the moment at which frames say
    so.  It starts when the turn is written, but no frame could report that in time.
    """
    if clock.paused:
        mover = None
    if clock.plain and clock.running is None:  # as right after a ply
        return [
            ClockState(seat, left // MS, seat == mover)
            for seat, left in enumerate(clock.available_to_all)
        ]
    states = []
    for seat in range(clock.seats):
        running = seat == mover
        left, periods, bank = clock.reading(seat, now)
        states.append(
            ClockState(seat, left // MS, running, periods, None if bank is None else bank // MS)
        )
    return states


def ledger_entry(ply: int, seat: int, ledger: Ledger) -> LedgerEntry:
    """Return a ledger in milliseconds that adds up.

    The parts are rounded down, and the thinking time is their sum.  So it may miss the exact time
    by 2.
    """
    lag = ledger.lag_ns // MS
    stall = ledger.stall_ns // MS
    charged = ledger.charged_ns // MS
    return LedgerEntry(
        ply, seat, lag + stall + charged, lag, stall, charged, ledger.remaining_ns // MS
    )


assert CHANCE_SEAT == CHANCE, "events name chance as states do"  # noqa: S101 (a fact of the code)
