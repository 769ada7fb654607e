"""Base of hexapawn and breakthrough: pawns on a square board, as sets of squares.

Square ``rank * size + file`` counts from a1.  Seat 0 (White) moves up the ranks, seat 1 (Black)
down.  The games differ in how pawns step and in what wins; the rest of a state and of a game is
here.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import Game, Observation
from plyhouse.games.bits import BIT, count_bits
from plyhouse.games.boards import board_grid, board_scene, result_status, square_names, two_squares
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Scene

if TYPE_CHECKING:
    import random

__all__ = [
    "LOST",
    "WON",
    "PawnBoard",
    "PawnGame",
    "PawnObservation",
    "PawnState",
    "pawn_board",
    "read_pawns",
    "write_pawn_action",
    "write_pawns",
]

WON: Final[tuple[float, ...]] = (1.0, -1.0)
"""Returns where White has won."""
LOST: Final[tuple[float, ...]] = (-1.0, 1.0)
"""Returns where Black has won."""


@final
class PawnBoard:
    """Masks of one board size; made by `pawn_board` only."""

    def __init__(self, size: int = 8) -> None:
        self.size: int = size
        # Distances to the square ahead and those slanting ahead, towards later files.
        self.less: i64 = size - 1
        self.ahead: i64 = size
        self.more: i64 = size + 1
        self.not_first_file: i64 = set_of([s for s in range(size * size) if s % size != 0])
        self.not_last_file: i64 = set_of([s for s in range(size * size) if s % size != size - 1])
        self.below_top: i64 = set_of(list(range(size * (size - 1))))
        self.goal_before: i64 = set_of(
            [s for s in range(size * (size - 1)) if s % size != size - 1]
        )
        self.below_last: i64 = set_of(list(range(size * (size - 2))))
        """All but the ranks from which seat 0 reaches the far rank, or is there."""
        self.above_first: i64 = set_of(list(range(size, size * size)))
        """All but the far rank of seat 1."""
        self.rank: tuple[int, ...] = tuple(
            [set_of(list(range(rank * size, (rank + 1) * size))) for rank in range(size)]
        )
        # Value of a pawn by its rank, for the heuristic.
        self.worth: tuple[int, ...] = tuple([2 * size + rank * rank for rank in range(size)])
        # Even a full board of pawns about to win stays below a win.
        most = size * (2 * size + size * size) * 2
        self.scale: float = 0.999 / float(most)
        self.names: tuple[str, ...] = square_names(size, size)

    def __reduce__(self) -> tuple[Any, ...]:
        return pawn_board, (self.size,)

    def lowest(self, ranks: int) -> int:
        """Return all squares of the first ranks."""
        return set_of(list(range(self.size * ranks)))

    def highest(self, ranks: int) -> int:
        """Return all squares of the last ranks."""
        cells = self.size * self.size
        return set_of(list(range(cells - self.size * ranks, cells)))


def set_of(squares: Sequence[int]) -> int:
    """Return the set of some squares, each named once."""
    return sum([BIT[square] for square in squares])


@functools.cache
def pawn_board(size: int) -> PawnBoard:
    """Return the one `PawnBoard` of this size."""
    return PawnBoard(size)


def write_pawn_action(board: PawnBoard, mover: int, action: int) -> str:
    """Return the squares from and to of ``from * 3 + direction``."""
    source = action // 3
    ahead = board.size if mover == 0 else -board.size
    return board.names[source] + board.names[source + ahead + action % 3 - 1]


def write_pawns(board: PawnBoard, white: int, black: int) -> tuple[str, ...]:
    """Ranks from the top, of "w", "b" and "."."""
    rows: list[str] = []
    for rank in range(board.size - 1, -1, -1):
        text = ""
        for square in range(rank * board.size, (rank + 1) * board.size):
            bit = BIT[square]
            text += "w" if white & bit else "b" if black & bit else "."
        rows.append(text)
    return tuple(rows)


def read_pawns(rows: Sequence[str]) -> tuple[int, int]:
    """Return the sets of white and black pawns that `write_pawns` wrote."""
    text = "".join(reversed(rows))
    white = set_of([square for square, mark in enumerate(text) if mark == "w"])
    black = set_of([square for square, mark in enumerate(text) if mark == "b"])
    return white, black


class PawnState(BoardState):
    """The pawns of both seats as sets of squares.

    An action is ``from * 3 + d``: d 0 slants to the file before, 1 goes straight, 2 slants
    to the file after.
    """

    __slots__ = ("black", "board", "white", "winner")

    white: i64
    black: i64
    winner: int
    board: PawnBoard

    def __init__(self, to_move: int, white: i64, black: i64, winner: int, board: PawnBoard) -> None:
        self.to_move = to_move
        self.white = white
        self.black = black
        self.winner = winner
        """The seat that has won; -1 while play goes on."""
        self.board = board

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.to_move, self.white, self.black, self.winner, self.board)

    @abstractmethod
    def after(self, action: Any) -> PawnState:
        """Return the state after the pawn has moved, and taken what stood there."""

    def returns(self) -> tuple[float, ...]:
        """+1 for the winner, -1 for the loser."""
        return WON if self.winner == 0 else LOST

    def key(self) -> tuple[int, int, int]:
        """Return the pawns and whose turn it is."""
        return (self.to_move, self.white, self.black)

    def heuristic(self) -> tuple[float, ...]:
        """Pawns, each worth more the further it is: the square of its rank counts."""
        if self.winner >= 0:
            return self.returns()
        board = self.board
        balance: i64 = 0
        for rank in range(board.size):
            cells: i64 = board.rank[rank]
            own: i64 = count_bits(self.white & cells)
            other: i64 = count_bits(self.black & cells)
            balance += own * board.worth[rank] - other * board.worth[board.size - 1 - rank]
        value: float = float(balance) * board.scale
        return (value, -value)


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class PawnObservation(Observation):
    """Everything: the game has perfect information."""

    board: tuple[str, ...]
    """Ranks from the top, rank ``size`` first and rank 1 last, each from file a: "w" for pawns of
    seat 0, who moves up, "b" of seat 1, "." empty."""
    winner: int | None
    """The seat that has won; None while play goes on."""


StateT = TypeVar("StateT", bound=PawnState)


@mypyc_attr(allow_interpreted_subclasses=True)
class PawnGame(Game[StateT, int, PawnObservation]):
    """A game of pawns on a square board of ``size`` by ``size``."""

    observation_type: ClassVar[type[Observation]] = PawnObservation
    action_pattern: ClassVar[str] = "([a-z][0-9]+){2}"
    home: ClassVar[int]
    """How many ranks of pawns each seat begins with."""

    def check_parameters(self) -> None:
        """Every size is playable; keep the tables."""
        self.board = pawn_board(self.int_parameter("size"))

    @abstractmethod
    def position(self, to_move: int, white: int, black: int, winner: int) -> StateT:
        """Return the state with these pawns on this game's board."""

    def initial_state(self) -> StateT:
        """Full ranks of pawns, White to move."""
        return self.position(0, self.board.lowest(self.home), self.board.highest(self.home), -1)

    def format(self, state: Any, action: int) -> str:
        """From and to, like ``a2a3``."""
        return write_pawn_action(self.board, state.to_move, action)

    def display(self, state: Any, action: int) -> str:
        """From and to with a sign between them, like ``a2-a3`` and ``a2xb3``."""
        names = self.board.names
        text = write_pawn_action(self.board, state.to_move, action)
        start = names[action // 3]
        end = text[len(start) :]
        others = state.black if state.to_move == 0 else state.white
        taken = others & BIT[names.index(end)]
        return f"{start}{'x' if taken else '-'}{end}"

    def observe(self, state: Any, seat: int | None) -> PawnObservation:
        """Return the board and the winner."""
        return PawnObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            board=write_pawns(self.board, state.white, state.black),
            winner=None if state.winner < 0 else state.winner,
        )

    def sample_state(self, observation: PawnObservation, rng: random.Random) -> StateT:
        """Return the position that was observed."""
        white, black = read_pawns(observation.board)
        winner = -1 if observation.winner is None else observation.winner
        return self.position(observation.to_move, white, black, winner)

    def scene(self, observation: PawnObservation) -> Scene:
        """Return the board, and each move from square to square."""
        words = {"w": "white pawn", "b": "black pawn"}
        grid = board_grid(
            observation.board,
            {"w": 0, "b": 1},
            words,
            look="checkered",
            theme="wood",
            shapes={"w": "pawn", "b": "pawn"},
            bottom=0,
        )
        status = result_status(self, observation.winner, observation.to_move)
        return board_scene([grid], observation.legal, status, observation.to_move, two_squares)

    def describe(self, state: Any) -> str:
        """Return the board from the top, one line per rank, and whose turn it is."""
        winner = None if state.winner < 0 else state.winner
        rows = write_pawns(self.board, state.white, state.black)
        return "\n".join([*rows, result_status(self, winner, state.to_move)])
