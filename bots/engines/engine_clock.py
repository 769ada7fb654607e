"""Our clocks as engines know them: whole milliseconds, after the safety margin of the turn."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from plyhouse.bots.api import Turn

__all__ = ["EngineClock", "engine_clock"]

WITHOUT_CLOCK: Final = 1000
"""Milliseconds for a turn that has no clock, as in a program of the author."""

_TOTAL: Final = re.compile(r"total:(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")


@dataclass(frozen=True, slots=True)
class EngineClock:
    """The time for one turn, in milliseconds."""

    use: int
    """The time to spend now, at least 1."""
    own: int
    """Until our action has to be on its way, at least 1."""
    other: int
    """On the clock of the other seat, at least 1."""
    increment: int
    """Added after each action."""
    total: int | None
    """Time on the clock at the start, if the match has total time and increments.  None in other
    time controls: then an engine gets the time to spend."""


def engine_clock(turn: Turn) -> EngineClock:
    """Return the clocks of ``turn`` for an engine of a game for two.

    >>> from plyhouse.bots.api import Match, TurnClock
    >>> from plyhouse.games import get_game
    >>> game = get_game("tic_tac_toe")
    >>> state = game.initial_state()
    >>> match = Match("m1", game, 0, (), "total:60+0.5", rated=False, illegal_rule="forfeit")
    >>> turn = Turn(match, ply=0, state=state, observation=game.observe(state, 0),
    ...             clock=TurnClock(59.5, (59.5, 58.0), None, "total:60+0.5"),
    ...             soft=2_000_000_000, hard=59_000_000_000, clock_ns=lambda: 0)
    >>> engine_clock(turn)
    EngineClock(use=2000, own=59000, other=58000, increment=500, total=60000)
    """
    given = turn.limit.time
    if given is None:
        return EngineClock(WITHOUT_CLOCK, WITHOUT_CLOCK, WITHOUT_CLOCK, 0, None)
    seats = turn.clock.seats
    other = seats[1 - turn.seat] if len(seats) == 2 else turn.clock.left
    found = _TOTAL.fullmatch(turn.match.time_control.replace(" ", ""))
    return EngineClock(
        use=_ms(given),
        own=_ms(turn.time_left),
        other=_ms(other),
        increment=round(float(found[2] or 0) * 1000) if found else 0,
        total=_ms(float(found[1])) if found else None,
    )


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))
