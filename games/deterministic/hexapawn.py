"""Hexapawn: one rank of pawns each; reach the far rank or leave the other without a move.

A pawn moves one square straight forward onto an empty square, or captures diagonally forward.  A
seat wins by reaching the far rank, by capturing all pawns, or when the other seat has no legal
move.  There are no draws (M. Gardner, 1962; on 3 by 3 squares the second player wins).

White begins and moves up from rank 1.  Actions are written as the squares from
and to, ``a1a2``, captures as well.  The board is square, ``size`` by ``size``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import (
    TERMINAL,
    ChanceKind,
    GameInfo,
    Information,
    Parameter,
    Utility,
)
from plyhouse.games.bits import BIT, bit_number, count_bits, pick_bit, signed_set
from plyhouse.games.deterministic.pawns import LOST, WON, PawnBoard, PawnGame, PawnState

if TYPE_CHECKING:
    import random

__all__ = ["Hexapawn", "HexapawnState"]


@final
@mypyc_attr(free_list_len=1)
class HexapawnState(PawnState):
    """A position of hexapawn; what it is made of is in `PawnState`."""

    __slots__ = ()

    def actions(self) -> tuple[Any, ...]:
        """Return all to the file before, then all straight, then all to the file after."""
        board = self.board
        white: i64 = self.white
        black: i64 = self.black
        found: list[int] = []
        step: i64
        if self.to_move == 0:
            for step in range(3):
                cells: i64 = _white_sources(board, white, black, step)
                while cells != 0:
                    found.append(int(bit_number(cells & -cells) * 3 + step))
                    cells = cells & (cells - 1)
        elif self.to_move == 1:
            size: i64 = board.size
            for step in range(3):
                back: i64 = size + 1 - step
                cells = _black_targets(board, white, black, step)
                while cells != 0:
                    found.append(int((bit_number(cells & -cells) + back) * 3 + step))
                    cells = cells & (cells - 1)
        return tuple(found)

    def after(self, action: Any) -> HexapawnState:
        """Return the state after the pawn has moved, and taken what stood there."""
        code: i64 = action
        board = self.board
        size: i64 = board.size
        source: i64 = code // 3
        aside: i64 = code % 3 - 1
        start: i64 = BIT[source]
        white: i64 = self.white
        black: i64 = self.black
        if self.to_move == 0:
            target: i64 = source + size + aside
            goal: i64 = BIT[target]
            white = (white ^ start) | goal
            black = black & ~goal
            if target >= size * (size - 1) or not _black_can_move(board, white, black):
                return HexapawnState(TERMINAL, white, black, 0, board)
            return HexapawnState(1, white, black, -1, board)
        target = source - size + aside
        goal = BIT[target]
        black = (black ^ start) | goal
        white = white & ~goal
        if target < size or not _white_can_move(board, white, black):
            return HexapawnState(TERMINAL, white, black, 1, board)
        return HexapawnState(0, white, black, -1, board)

    def order(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        """Captures first, they slant; then the others as they are."""
        slanting: list[Any] = []
        straight: list[Any] = []
        for action in actions:
            code: i64 = action
            if code % 3 == 1:
                straight.append(action)
            else:
                slanting.append(action)
        return tuple(slanting + straight)

    def noisy_actions(self) -> tuple[Any, ...]:
        """Captures and winning steps: they change the material, or everything, at once."""
        size: i64 = self.board.size
        goal: i64 = size - 2 if self.to_move == 0 else 1
        noisy: list[Any] = []
        for action in self.actions():
            code: i64 = action
            if code % 3 != 1 or code // 3 // size == goal:
                noisy.append(action)
        return tuple(noisy)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        if self.winner >= 0:
            return self.returns()
        board = self.board
        size: i64 = board.size
        almost: i64 = board.below_last
        white: i64 = self.white
        black: i64 = self.black
        mover: int = self.to_move
        while True:
            if mover == 0:
                before: i64 = _white_sources(board, white, black, 0)
                ahead: i64 = _white_sources(board, white, black, 1)
                behind: i64 = _white_sources(board, white, black, 2)
            else:
                before = _black_targets(board, white, black, 0)
                ahead = _black_targets(board, white, black, 1)
                behind = _black_targets(board, white, black, 2)
            some: i64 = count_bits(before)
            more: i64 = some + count_bits(ahead)
            total: i64 = more + count_bits(behind)
            if total == 0:
                return LOST if mover == 0 else WON
            drawn: i64 = int(rng.random() * float(total))
            step: i64 = 0
            if drawn < some:
                bit: i64 = pick_bit(before, drawn)
            elif drawn < more:
                bit = pick_bit(ahead, drawn - some)
                step = 1
            else:
                bit = pick_bit(behind, drawn - more)
                step = 2
            if mover == 0:
                if bit & almost == 0:
                    return WON
                goal: i64 = bit << (size + step - 1)
                white = (white ^ bit) | goal
                black = black & ~goal
                mover = 1
            else:
                if bit & board.above_first == 0:
                    return LOST
                start: i64 = signed_set(bit << (size + 1 - step))
                black = (black ^ start) | bit
                white = white & ~bit
                mover = 0


def _white_sources(board: PawnBoard, white: i64, black: i64, step: i64) -> i64:
    """White's pawns that can go in direction ``step``.

    White is never on the last rank while play goes on, so what the sign of a set drags in
    when it is shifted is masked away.
    """
    if step == 1:
        return white & (~(white | black) >> board.ahead)
    if step == 0:
        return white & board.not_first_file & (black >> board.less)
    return white & board.not_last_file & (black >> board.more)


def _black_targets(board: PawnBoard, white: i64, black: i64, step: i64) -> i64:
    """Squares that black's pawns can reach in direction ``step``; never on the last rank."""
    if step == 1:
        return (black >> board.ahead) & ~(white | black) & board.below_top
    if step == 0:
        return ((black & board.not_first_file) >> board.more) & white & board.goal_before
    return ((black & board.not_last_file) >> board.less) & white & board.below_top


def _white_can_move(board: PawnBoard, white: i64, black: i64) -> bool:
    """Return whether White, not yet on the last rank, has a legal move."""
    every: i64 = _white_sources(board, white, black, 0) | _white_sources(board, white, black, 1)
    return every | _white_sources(board, white, black, 2) != 0


def _black_can_move(board: PawnBoard, white: i64, black: i64) -> bool:
    """Return whether Black, not yet on the first rank, has a legal move."""
    every: i64 = _black_targets(board, white, black, 0) | _black_targets(board, white, black, 1)
    return every | _black_targets(board, white, black, 2) != 0


@mypyc_attr(allow_interpreted_subclasses=True)
class Hexapawn(PawnGame[HexapawnState]):
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

    def position(self, to_move: int, white: int, black: int, winner: int) -> HexapawnState:
        """Return the state with these pawns on this game's board."""
        return HexapawnState(to_move, white, black, winner, self.board)
