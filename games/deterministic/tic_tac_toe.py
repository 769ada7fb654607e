"""Tic-tac-toe: three by three, three in a row win, a full board is a draw.

Actions are written with column letter and row digit, ``a1`` at the lower left and ``c3``
at the upper right.  The first player plays X and begins.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import (
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Utility,
)
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Cell, Grid, Scene

if TYPE_CHECKING:
    import random

__all__ = ["TicTacToe", "TicTacToeObservation", "TicTacToeState"]

LINES: Final[tuple[int, ...]] = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
"""The eight winning lines as sets of cells: cell 3 * row + column is that bit."""

NAMES: Final[tuple[str, ...]] = ("a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3")

_BIT: Final[tuple[int, ...]] = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_FULL: Final = 0o777
_WINS: Final[tuple[bool, ...]] = tuple(
    [any(cells & line == line for line in LINES) for cells in range(512)]
)
_FREE: Final[tuple[tuple[int, ...], ...]] = tuple(
    [tuple([cell for cell in range(9) if not taken >> cell & 1]) for taken in range(512)]
)
_X_WINS: Final[tuple[float, ...]] = (1.0, -1.0)
_O_WINS: Final[tuple[float, ...]] = (-1.0, 1.0)
_DRAW: Final[tuple[float, ...]] = (0.0, 0.0)


@final
@mypyc_attr(free_list_len=1)
class TicTacToeState(BoardState):
    """Two sets of cells; actions are cell numbers 0 to 8."""

    __slots__ = ("crosses", "noughts")

    crosses: i64
    noughts: i64

    def __init__(self, to_move: int = 0, crosses: i64 = 0, noughts: i64 = 0) -> None:
        self.to_move = to_move
        self.crosses = crosses
        self.noughts = noughts

    def __reduce__(self) -> tuple[Any, ...]:
        return TicTacToeState, (self.to_move, self.crosses, self.noughts)

    def actions(self) -> tuple[Any, ...]:
        """Free cells in rising order."""
        if self.to_move < 0:
            return ()
        return _FREE[self.crosses | self.noughts]

    def after(self, action: Any) -> TicTacToeState:
        """Return the state with a mark of the mover in the cell."""
        cell: int = action
        bit: i64 = _BIT[cell]
        crosses: i64 = self.crosses
        noughts: i64 = self.noughts
        to_move: int
        won: bool
        if self.to_move == 0:
            crosses = crosses | bit
            won = _WINS[crosses]
            to_move = 1
        else:
            noughts = noughts | bit
            won = _WINS[noughts]
            to_move = 0
        if won or (crosses | noughts) == _FULL:
            to_move = TERMINAL
        return TicTacToeState(to_move, crosses, noughts)

    def returns(self) -> tuple[float, ...]:
        """+1 for the winner, -1 for the loser, 0 for a draw."""
        if _WINS[self.crosses]:
            return _X_WINS
        if _WINS[self.noughts]:
            return _O_WINS
        return _DRAW

    def key(self) -> int:
        """Return the position as one number; the mover follows from the number of marks."""
        return self.crosses * 512 + self.noughts

    def heuristic(self) -> tuple[float, ...]:
        """Lines still open for a seat minus those open for the other, scaled into -1..1."""
        if self.to_move == TERMINAL:
            return self.returns()
        balance: i64 = 0
        for line in LINES:
            if not line & self.noughts:
                balance += 1
            if not line & self.crosses:
                balance -= 1
        value: float = float(balance) / 10.0
        return (value, -value)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end.

        One random number serves all plies: what is left of it after a choice is as random
        as it was, and 9! games need 19 of its 53 bits.
        """
        crosses: i64 = self.crosses
        noughts: i64 = self.noughts
        if self.to_move == TERMINAL:
            return self.returns()
        first: bool = self.to_move == 0
        choice: float = rng.random()
        while True:
            free = _FREE[crosses | noughts]
            count: i64 = len(free)
            if count == 0:
                return _DRAW
            choice *= float(count)
            pick: i64 = int(choice)
            choice -= float(pick)
            bit: i64 = _BIT[free[pick]]
            if first:
                crosses = crosses | bit
                if _WINS[crosses]:
                    return _X_WINS
            else:
                noughts = noughts | bit
                if _WINS[noughts]:
                    return _O_WINS
            first = not first


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class TicTacToeObservation(Observation):
    """Everything: the game has perfect information."""

    board: tuple[str, ...]
    """Three rows from row 3 at the top to row 1, each from column a: "X" for seat 0, "O" for
    seat 1, "." empty."""
    winner: int | None
    """The seat that has three in a row; None while play goes on and after a draw."""


@mypyc_attr(allow_interpreted_subclasses=True)
class TicTacToe(Game[TicTacToeState, int, TicTacToeObservation]):
    """Tic-tac-toe; the value under best play is a draw.

    >>> game = TicTacToe()
    >>> state = game.initial_state()
    >>> for text in ("b2", "a1", "c3"):
    ...     state = state.after(game.parse(state, text))
    >>> print(game.describe(state))
    ..X
    .X.
    O..
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="tic_tac_toe",
        title="Tic-tac-toe",
        summary="Three in a row on a board of three by three.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        max_plies=9,
        seat_names=("X", "O"),
    )
    observation_type: ClassVar[type[Observation]] = TicTacToeObservation
    action_pattern: ClassVar[str] = "[a-z][0-9]+"
    action_notation: str = "a column letter a to c and a row digit 1 to 3, like b2"

    def initial_state(self) -> TicTacToeState:
        """Return the empty board, X to move."""
        return TicTacToeState()

    def format(self, state: TicTacToeState, action: int) -> str:
        """Return the cell, like ``b2``."""
        return NAMES[action]

    def observe(self, state: TicTacToeState, seat: int | None) -> TicTacToeObservation:
        """Return the board and the winner."""
        winner = 0 if _WINS[state.crosses] else 1 if _WINS[state.noughts] else None
        return TicTacToeObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            board=_rows(state),
            winner=winner,
        )

    def sample_state(self, observation: TicTacToeObservation, rng: random.Random) -> TicTacToeState:
        """Return the position that was observed."""
        marks = "".join(reversed(observation.board))
        crosses = sum([_BIT[cell] for cell in range(9) if marks[cell] == "X"])
        noughts = sum([_BIT[cell] for cell in range(9) if marks[cell] == "O"])
        return TicTacToeState(observation.to_move, crosses, noughts)

    def scene(self, observation: TicTacToeObservation) -> Scene:
        """Return the board; each free cell is its action."""
        line = _line(observation)
        rows: list[tuple[Cell, ...]] = []
        for index, row in enumerate(observation.board):
            cells: list[Cell] = []
            for column, mark in enumerate(row):
                name = NAMES[3 * (2 - index) + column]
                owner = {"X": 0, "O": 1}.get(mark)
                cells.append(
                    Cell(
                        text="" if owner is None else mark,
                        owner=owner,
                        shape={"X": "cross", "O": "ring"}.get(mark, ""),
                        action=name if name in observation.legal else None,
                        label=f"{name}, {'empty' if owner is None else mark}",
                        won=name in line,
                    )
                )
            rows.append(tuple(cells))
        grid = Grid(tuple(rows), ("3", "2", "1"), ("a", "b", "c"), "Board", theme="paper")
        if observation.winner is not None:
            status = f"{self.seat_name(observation.winner)} wins"
        elif observation.to_move == TERMINAL:
            status = "Draw"
        else:
            status = f"{self.seat_name(observation.to_move)} to move"
        return Scene((grid,), status, observation.seat_to_move)

    def describe(self, state: TicTacToeState) -> str:
        """Return the board from the top, one line per row."""
        return "\n".join(_rows(state))


def _rows(position: TicTacToeState) -> tuple[str, ...]:
    """Return the board as three texts from the top."""
    rows: list[str] = []
    for row in (2, 1, 0):
        text = ""
        for cell in range(3 * row, 3 * row + 3):
            bit = _BIT[cell]
            text += "X" if position.crosses & bit else "O" if position.noughts & bit else "."
        rows.append(text)
    return tuple(rows)


def _line(seen: TicTacToeObservation) -> list[str]:
    """Return the cells of the lines that have won."""
    found: list[str] = []
    if seen.winner is None:
        return found
    marks = "".join(reversed(seen.board))
    for line in LINES:
        cells = [cell for cell in range(9) if line >> cell & 1]
        if {marks[cell] for cell in cells} == {"XO"[seen.winner]}:
            found += [NAMES[cell] for cell in cells]
    return found
