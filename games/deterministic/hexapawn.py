"""Hexapawn: one rank of pawns each; reach the far rank or leave the other without a move.

A pawn moves one square straight forward onto an empty square, or captures diagonally forward.  A
seat wins by reaching the far rank, by capturing all pawns, or when the other seat has no legal
move.  There are no draws (M. Gardner, 1962; on 3 by 3 squares the second player wins).

White begins and moves up from rank 1.  Actions are written as the squares from
and to, ``a1a2``, captures as well.  The board is square, ``size`` by ``size``.
"""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import mypyc_attr

from plyhouse.games.base import ChanceKind, GameInfo, Information, Parameter, Utility
from plyhouse.games.deterministic.pawns import PawnGame

__all__ = ["Hexapawn"]


@mypyc_attr(allow_interpreted_subclasses=True)
class Hexapawn(PawnGame):
    """Hexapawn on a square board: 3 by 3 is won by the second player, 4 by 4 by the first.

    >>> game = Hexapawn()
    >>> state = game.initial_state()
    >>> game.legal_text(state, 0)
    ('a1a2', 'b1b2', 'c1c2')
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="hexapawn",
        title="Hexapawn",
        summary="One rank of pawns each; reach the far rank or leave no legal move.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        # Every ply takes one of 16 pawns a rank further, 7 ranks at most.
        max_plies=112,
        parameters=(Parameter("size", 3, "squares along each side", 3, 8),),
        seat_names=("White", "Black"),
    )
    action_notation: str = "the squares from and to, like a1a2"
    home: ClassVar[int] = 1
    slants: ClassVar[bool] = False
