"""Breakthrough: two ranks of pawns each; the first to reach the far rank wins.

A pawn moves one square straight or diagonally forward onto an empty square, and captures diagonally
only.  Capturing all pawns wins too.  A seat always has a move, because its foremost pawn can move
diagonally.  There are no draws.

White begins and moves up from ranks 1 and 2.  Actions are written as the squares
from and to, ``a2a3``, captures as well.  The board is square, ``size`` by ``size``.
"""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import mypyc_attr

from plyhouse.games.base import ChanceKind, GameInfo, Information, Parameter, Utility
from plyhouse.games.deterministic.pawns import PawnGame

__all__ = ["Breakthrough"]


@mypyc_attr(allow_interpreted_subclasses=True)
class Breakthrough(PawnGame):
    """Breakthrough (Dan Troyka, 2000) on a square board.

    >>> game = Breakthrough(size=4)
    >>> state = game.initial_state()
    >>> print(game.describe(state.after(game.parse(state, "b2c3"))))
    bbbb
    bbwb
    w.ww
    wwww
    Black to move
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="breakthrough",
        title="Breakthrough",
        summary="Two ranks of pawns each; the first pawn on the far rank wins.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        # Every ply takes one of 32 pawns a rank further, 7 ranks at most.
        max_plies=208,
        parameters=(Parameter("size", 8, "squares along each side", 4, 8),),
        seat_names=("White", "Black"),
    )
    action_notation: str = "the squares from and to, like a2a3"
    home: ClassVar[int] = 2
    slants: ClassVar[bool] = True
