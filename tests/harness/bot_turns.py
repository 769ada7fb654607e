"""Turns for bots that play without a server."""

from __future__ import annotations

from typing import Any

from plyhouse.bots import Match, Turn
from plyhouse.games.base import Game, Information


def turn_at(
    game: Game, state: Any, *, seat: int | None = None, time_control: str = "move:1", **more: Any
) -> Turn:
    """Return the turn of a seat, by default the one to move, which sees what it may see.

    ``more`` are further arguments of `Turn`.  Without a deadline among them, any time is left.
    """
    seat = state.to_move if seat is None else seat
    perfect = game.info.information is Information.PERFECT
    match = Match("m1", game, seat, (), time_control, rated=False, illegal_rule="forfeit")
    seen = {"state": state if perfect else None, "observation": game.observe(state, seat)}
    return Turn(match, **{"ply": 0, **seen, **more})
