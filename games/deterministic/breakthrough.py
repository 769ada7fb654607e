"""Breakthrough: two ranks of pawns each; the first to reach the far rank wins.

A pawn moves one square straight or diagonally forward onto an empty square, and captures diagonally
only.  Capturing all pawns wins too.  A seat always has a move, because its foremost pawn can move
diagonally.  There are no draws.

White begins and moves up from ranks 1 and 2.  Actions are written as the squares
from and to, ``a2a3``, captures as well.  The board is square, ``size`` by ``size``.
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

__all__ = ["Breakthrough", "BreakthroughState"]


@final
@mypyc_attr(free_list_len=1)
class BreakthroughState(PawnState):
    """A position of breakthrough; what it is made of is in `PawnState`."""

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

    def after(self, action: Any) -> BreakthroughState:
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
            if black == 0 or target >= size * (size - 1):
                return BreakthroughState(TERMINAL, white, black, 0, board)
            return BreakthroughState(1, white, black, -1, board)
        target = source - size + aside
        goal = BIT[target]
        black = (black ^ start) | goal
        white = white & ~goal
        if white == 0 or target < size:
            return BreakthroughState(TERMINAL, white, black, 1, board)
        return BreakthroughState(0, white, black, -1, board)

    def _takes(self, code: i64) -> bool:
        """Return whether an action of the mover takes a pawn."""
        size: i64 = self.board.size
        if self.to_move == 0:
            return self.black & BIT[code // 3 + size + code % 3 - 1] != 0
        return self.white & BIT[code // 3 - size + code % 3 - 1] != 0

    def noisy_actions(self) -> tuple[Any, ...]:
        """Captures and winning steps: they change the material, or everything, at once."""
        board = self.board
        size: i64 = board.size
        white: i64 = self.white
        black: i64 = self.black
        found: list[int] = []
        if self.to_move == 0:
            loud: i64 = black | board.rank[board.size - 1]
            for step in range(3):
                ahead: i64 = size + step - 1
                # No pawn stands on the last rank, so bits that ">>" copies there do not matter.
                cells: i64 = _white_sources(board, white, black, step) & (loud >> ahead)
                while cells != 0:
                    found.append(int(bit_number(cells & -cells) * 3 + step))
                    cells = cells & (cells - 1)
        elif self.to_move == 1:
            loud = white | board.rank[0]
            for step in range(3):
                back: i64 = size + 1 - step
                cells = _black_targets(board, white, black, step) & loud
                while cells != 0:
                    found.append(int((bit_number(cells & -cells) + back) * 3 + step))
                    cells = cells & (cells - 1)
        return tuple(found)

    def order(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        """Winning steps first, then captures, then the foremost pawns."""
        size: i64 = self.board.size
        first: list[Any] = []
        ranks: list[list[Any]] = [[] for _ in range(self.board.size)]
        for action in actions:
            code: i64 = action
            rank: i64 = code // 3 // size
            if self.to_move == 1:
                rank = size - 1 - rank
            if rank == size - 2:
                first.insert(0, action)
            elif self._takes(code):
                first.append(action)
            else:
                ranks[rank].append(action)
        ranks.reverse()
        for row in ranks:
            first.extend(row)
        return tuple(first)

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
                if black == 0:
                    return WON
                mover = 1
            else:
                if bit & board.above_first == 0:
                    return LOST
                start: i64 = signed_set(bit << (size + 1 - step))
                black = (black ^ start) | bit
                white = white & ~bit
                if white == 0:
                    return LOST
                mover = 0


def _white_sources(board: PawnBoard, white: i64, black: i64, step: i64) -> i64:
    """White's pawns that can go in direction ``step``.

    White is never on the last rank while play goes on, so what the sign of a set drags in
    when it is shifted is masked away.
    """
    if step == 1:
        return white & (~(white | black) >> board.ahead)
    if step == 0:
        return white & board.not_first_file & (~white >> board.less)
    return white & board.not_last_file & (~white >> board.more)


def _black_targets(board: PawnBoard, white: i64, black: i64, step: i64) -> i64:
    """Squares that black's pawns can reach in direction ``step``; never on the last rank."""
    if step == 1:
        return (black >> board.ahead) & ~(white | black) & board.below_top
    if step == 0:
        return ((black & board.not_first_file) >> board.more) & ~black & board.goal_before
    return ((black & board.not_last_file) >> board.less) & ~black & board.below_top


@mypyc_attr(allow_interpreted_subclasses=True)
class Breakthrough(PawnGame[BreakthroughState]):
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

    def position(self, to_move: int, white: int, black: int, winner: int) -> BreakthroughState:
        """Return the state with these pawns on this game's board."""
        return BreakthroughState(to_move, white, black, winner, self.board)
