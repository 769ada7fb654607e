"""Returns of matches that did not end by the rules of the game.

A seat that forfeits (`plyhouse.server.match.terminations`) or resigns gets the lowest return of the
game, and so do the seats of its team (`Game.team`).  The returns of the other seats depend on the
game's utility:

* zero sum: the loss of the guilty seat is shared equally, ``-min / (n - 1)`` each;
* constant sum: the constant is one best and ``n - 1`` worst returns (a winner takes all), and
  the others share equally what the guilty seat left of it;
* two teams: the seats of the other team get what the guilty team lost, ``-min``;
* general sum, and other numbers of teams: everyone else gets the most that the game can give,
  since nobody else did wrong and nobody's return depends on another's.

A flag fall against a seat that cannot win is a draw (`Game.can_win`).

All are within the bounds that the game has with its parameters.  An agreed draw gives everyone 0 in
a zero-sum game, an equal share of the constant in a constant-sum game, and the middle of the bounds
elsewhere.  A void match (`VOID`) has no result; its returns are written as zeros and count for
nothing.
"""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import Game, Utility
from plyhouse.protocol.messages import VOID

__all__ = ["VOID", "draw_returns", "flag_returns", "forfeit_returns", "void_returns"]


def _constant(game: Game) -> float:
    """Return the sum of returns of a constant-sum game: one best and all others worst."""
    least, most = game.return_bounds
    return most + (game.seats - 1) * least


def forfeit_returns(game: Game, guilty: int) -> tuple[float, ...]:
    """Return the returns of a match that seat ``guilty`` forfeited.

    See the module's rule.
    """
    least, most = game.return_bounds
    teams = [game.team(seat) for seat in range(game.seats)]
    others = game.seats - 1
    if game.info.utility is Utility.ZERO_SUM:
        share = -least / others if others else 0.0
    elif game.info.utility is Utility.TEAM and len(set(teams)) == 2:
        share = -least
    elif game.info.utility is Utility.CONSTANT_SUM:
        share = (_constant(game) - least) / others if others else 0.0
    else:
        share = most
    share = max(least, min(most, share))
    return tuple(least if team == teams[guilty] else share for team in teams)


def flag_returns(game: Game, state: Any, guilty: int) -> tuple[float, ...]:
    """Return the returns of a match in which the time of seat ``guilty`` ran out.

    It draws where the only opponent cannot win, and forfeits elsewhere.
    """
    if game.seats == 2 and not game.can_win(state, 1 - guilty):
        return draw_returns(game)
    return forfeit_returns(game, guilty)


def draw_returns(game: Game) -> tuple[float, ...]:
    """Return the returns of a match whose seats agreed on a draw."""
    if game.info.utility is Utility.ZERO_SUM:
        share = 0.0
    elif game.info.utility is Utility.CONSTANT_SUM:
        share = _constant(game) / game.seats
    else:
        share = sum(game.return_bounds) / 2
    return (share,) * game.seats


def void_returns(seats: int) -> tuple[float, ...]:
    """Return the zeros written for a match that counts for nothing."""
    return (0.0,) * seats
