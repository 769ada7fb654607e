"""Base of hexapawn and breakthrough: pawns on a square board, as sets of squares.

Square ``rank * size + file`` counts from a1.  Seat 0 (White) moves up the ranks, seat 1 (Black)
down.  A seat wins on the far rank, and when the other has no move left.  In breakthrough, a pawn
may also slant onto an empty square, so that any pawn left means a move.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import TERMINAL, Game, Observation
from plyhouse.games.bits import BIT, bit_number, count_bits, pick_bit, signed_set
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

    def __init__(self, size: int = 8, slants: bool = False) -> None:
        self.size: int = size
        self.slants: bool = slants
        """True if pawns may also move diagonally onto empty squares, not only to capture."""
        self.slant: i64 = -1 if slants else 0
        """All squares if `slants`, else none."""
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
        return pawn_board, (self.size, self.slants)

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
def pawn_board(size: int, slants: bool) -> PawnBoard:
    """Return the one `PawnBoard` of this size and rule."""
    return PawnBoard(size, slants)


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


@final
@mypyc_attr(free_list_len=1)
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
        return PawnState, (self.to_move, self.white, self.black, self.winner, self.board)

    def actions(self) -> tuple[Any, ...]:
        """Return all to the file before, then all straight, then all to the file after."""
        return self._actions_onto(-1)

    def _actions_onto(self, targets: i64) -> tuple[Any, ...]:
        """Return the actions that end on squares of this set, in the order of `actions`."""
        board = self.board
        size: i64 = board.size
        white: i64 = self.white
        black: i64 = self.black
        empty: i64 = ~(white | black)
        found: list[int] = []
        step: i64
        if self.to_move == 0:
            goals: i64 = black | (empty & board.slant)
            for step in range(3):
                # No pawn stands on the last rank, so bits that ">>" copies there do not matter.
                cells: i64 = _white_sources(board, white, empty, goals, step)
                cells = cells & (targets >> (size + step - 1))
                while cells != 0:
                    found.append(int(bit_number(cells & -cells) * 3 + step))
                    cells = cells & (cells - 1)
        elif self.to_move == 1:
            goals = white | (empty & board.slant)
            for step in range(3):
                back: i64 = size + 1 - step
                cells = _black_targets(board, black, empty, goals, step) & targets
                while cells != 0:
                    found.append(int((bit_number(cells & -cells) + back) * 3 + step))
                    cells = cells & (cells - 1)
        return tuple(found)

    def after(self, action: Any) -> PawnState:
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
            if target >= size * (size - 1) or not _can_move(board, white, black, 1):
                return PawnState(TERMINAL, white, black, 0, board)
            return PawnState(1, white, black, -1, board)
        target = source - size + aside
        goal = BIT[target]
        black = (black ^ start) | goal
        white = white & ~goal
        if target < size or not _can_move(board, white, black, 0):
            return PawnState(TERMINAL, white, black, 1, board)
        return PawnState(0, white, black, -1, board)

    def _takes(self, code: i64) -> bool:
        """Return whether an action of the mover takes a pawn."""
        size: i64 = self.board.size
        if self.to_move == 0:
            return self.black & BIT[code // 3 + size + code % 3 - 1] != 0
        return self.white & BIT[code // 3 - size + code % 3 - 1] != 0

    def noisy_actions(self) -> tuple[Any, ...]:
        """Captures and winning steps: they change the material, or everything, at once."""
        board = self.board
        if self.to_move == 0:
            return self._actions_onto(self.black | board.rank[board.size - 1])
        return self._actions_onto(self.white | board.rank[0])

    def order(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        """Captures first, then the others as they are.

        Where pawns slant: winning steps first, then captures, then the foremost pawns.
        """
        size: i64 = self.board.size
        first: list[Any] = []
        if not self.board.slants:
            straight: list[Any] = []
            for action in actions:
                code: i64 = action
                if code % 3 == 1:
                    straight.append(action)
                else:
                    first.append(action)
            return tuple(first + straight)
        ranks: list[list[Any]] = [[] for _ in range(self.board.size)]
        for action in actions:
            code = action
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
        slant: i64 = board.slant
        almost: i64 = board.below_last
        white: i64 = self.white
        black: i64 = self.black
        mover: int = self.to_move
        while True:
            empty: i64 = ~(white | black)
            if mover == 0:
                goals: i64 = black | (empty & slant)
                before: i64 = _white_sources(board, white, empty, goals, 0)
                ahead: i64 = _white_sources(board, white, empty, goals, 1)
                behind: i64 = _white_sources(board, white, empty, goals, 2)
            else:
                goals = white | (empty & slant)
                before = _black_targets(board, black, empty, goals, 0)
                ahead = _black_targets(board, black, empty, goals, 1)
                behind = _black_targets(board, black, empty, goals, 2)
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


def _white_sources(board: PawnBoard, white: i64, empty: i64, goals: i64, step: i64) -> i64:
    """White's pawns that can go in direction ``step``; those that slant go to ``goals``.

    White is never on the last rank while play goes on, so what the sign of a set drags in
    when it is shifted is masked away.
    """
    if step == 1:
        return white & (empty >> board.ahead)
    if step == 0:
        return white & board.not_first_file & (goals >> board.less)
    return white & board.not_last_file & (goals >> board.more)


def _black_targets(board: PawnBoard, black: i64, empty: i64, goals: i64, step: i64) -> i64:
    """Squares that black's pawns can reach in direction ``step``; never on the last rank."""
    if step == 1:
        return (black >> board.ahead) & empty & board.below_top
    if step == 0:
        return ((black & board.not_first_file) >> board.more) & goals & board.goal_before
    return ((black & board.not_last_file) >> board.less) & goals & board.below_top


def _can_move(board: PawnBoard, white: i64, black: i64, seat: int) -> bool:
    """Return whether a seat, not yet on its far rank, has a legal move."""
    if board.slants:
        return white != 0 if seat == 0 else black != 0
    empty: i64 = ~(white | black)
    if seat == 0:
        every: i64 = _white_sources(board, white, empty, black, 0)
        every = every | _white_sources(board, white, empty, black, 1)
        return every | _white_sources(board, white, empty, black, 2) != 0
    every = _black_targets(board, black, empty, white, 0)
    every = every | _black_targets(board, black, empty, white, 1)
    return every | _black_targets(board, black, empty, white, 2) != 0


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class PawnObservation(Observation):
    """Everything: the game has perfect information."""

    board: tuple[str, ...]
    """Ranks from the top, rank ``size`` first and rank 1 last, each from file a: "w" for pawns of
    seat 0, who moves up, "b" of seat 1, "." empty."""
    winner: int | None
    """The seat that has won; None while play goes on."""


@mypyc_attr(allow_interpreted_subclasses=True)
class PawnGame(Game[PawnState, int, PawnObservation]):
    """A game of pawns on a square board of ``size`` by ``size``."""

    observation_type: ClassVar[type[Observation]] = PawnObservation
    action_pattern: ClassVar[str] = "([a-z][0-9]+){2}"
    home: ClassVar[int]
    """How many ranks of pawns each seat begins with."""
    slants: ClassVar[bool]
    """Whether pawns may slant onto empty squares."""

    def check_parameters(self) -> None:
        """Every size is playable; keep the tables."""
        self.board = pawn_board(self.int_parameter("size"), self.slants)

    def initial_state(self) -> PawnState:
        """Full ranks of pawns, White to move."""
        board = self.board
        return PawnState(0, board.lowest(self.home), board.highest(self.home), -1, board)

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

    def sample_state(self, observation: PawnObservation, rng: random.Random) -> PawnState:
        """Return the position that was observed."""
        white, black = read_pawns(observation.board)
        winner = -1 if observation.winner is None else observation.winner
        return PawnState(observation.to_move, white, black, winner, self.board)

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
