"""Example turns for the documentation of a game's observations.

>>> from plyhouse.games import get_game
>>> turn = example_turn(get_game("nim"))
>>> turn.ply, turn.observation["heaps"]
(6, (0, 1, 0))
"""

from __future__ import annotations

import random
from typing import Final

from plyhouse.games.base import Game
from plyhouse.protocol.messages import SeatInfo, Turn
from plyhouse.server.match.effects import Effects, Send
from plyhouse.server.match.engine import Match, MatchConfig
from plyhouse.server.match.time_control import MS, SECOND, TimeControl

EXAMPLE_PLY: Final = 12
"""The ply of the example in longer matches: by then a board has filled a little."""

THINKING: Final = 250 * MS
NAMES: Final = ("ada", "bob", "cleo", "dan", "eve", "fay")


def example_turn(game: Game) -> Turn | None:
    """Return the ``turn`` of ply `EXAMPLE_PLY` in a random match, or the last.

    It comes from the match engine itself and is the same every time.  None if no seat ever has a
    turn.  Errors of the game's rules pass through.
    """
    rng = random.Random(1)
    players = [SeatInfo(NAMES[seat % len(NAMES)], "bot") for seat in range(game.seats)]
    control = TimeControl("total", main_ns=60 * SECOND, increment_ns=SECOND // 2)
    config = MatchConfig("m1", "p1", game, control, tuple(players), bytes(32), SECOND, SECOND)
    match = Match(config, 0)
    now = 0
    found: Turn | None = None
    effects = Effects([], [])
    for seat in range(game.seats):
        effects = match.ready(seat, "", now)
    while turn := _turn(effects):
        found = turn
        if turn.ply == EXAMPLE_PLY:
            break
        mover = match.state.to_move
        match.turn_written(mover, turn.ply, now)
        now += THINKING
        text = game.format(match.state, rng.choice(match.state.actions()))
        effects = match.act(mover, turn.ply, text, now, re=1)
    return found


def _turn(effects: Effects) -> Turn | None:
    """Return the turn among the effects of an input."""
    for outgoing in effects.messages:
        if isinstance(outgoing, Send) and isinstance(outgoing.message, Turn):
            return outgoing.message
    return None
