"""Connect four: drop discs into columns; four in a line win.

The first player begins.  In turn, each seat drops one disc into a column that is not full, and
the disc falls to the lowest empty cell.  The first seat with four discs in a line, across,
upright or diagonal, wins.  A full board without such a line is a draw, and players may agree on a
draw.  An action is the number of a column, with ``1`` at the left.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import i64, mypyc_attr

from plyhouse.games.base import (
    TERMINAL,
    ChanceKind,
    Game,
    GameInfo,
    Information,
    Observation,
    Parameter,
    Utility,
)
from plyhouse.games.deterministic.connect_four.endgames import ConnectFourEndings
from plyhouse.games.deterministic.connect_four.lines import has_run, lead_in_fours, winning_cells
from plyhouse.games.endgames import Endings, Meter
from plyhouse.games.errors import InvalidParameter
from plyhouse.games.native import BoardState
from plyhouse.games.scene import Cell, Grid, Scene

if TYPE_CHECKING:
    import random

__all__ = ["ConnectFour", "ConnectFourObservation", "ConnectFourState"]

MAX_BITS: Final = 62
"""Cells and their guard bits must stay below the sign bit of a 64-bit word."""

_WON: Final[tuple[float, ...]] = (1.0, -1.0)
_LOST: Final[tuple[float, ...]] = (-1.0, 1.0)
_DRAW: Final[tuple[float, ...]] = (0.0, 0.0)


@final
class Shape:
    """Tables shared by all positions of one board size; made by `shape_of` only."""

    def __init__(self, columns: int = 7, rows: int = 6, connect: int = 4) -> None:
        self.columns: int = columns
        self.rows: int = rows
        self.connect: int = connect
        height = rows + 1
        bits = [[1 << (column * height + row) for row in range(rows)] for column in range(columns)]
        self.height: i64 = height
        # mypyc makes "1 << n" a shift of 32 bits; of an attribute it knows the width.
        self.one: i64 = 1
        self.cells: i64 = sum(bits[0])
        self.tops: i64 = sum([column[-1] for column in bits])
        self.bottoms: i64 = sum([column[0] for column in bits])
        flags = [1 << column for column in range(columns)]
        self.flag: tuple[int, ...] = tuple(flags)
        self.all_open: i64 = sum(flags)
        centre = sorted(range(columns), key=lambda column: (abs(2 * column - columns + 1), column))
        self.open: tuple[tuple[int, ...], ...] = tuple(
            [
                tuple([c + 1 for c in range(columns) if some & flags[c]])
                for some in range(1 << columns)
            ]
        )
        self.open_text = tuple([tuple([str(action) for action in each]) for each in self.open])
        """The same as texts, for observations."""
        self.from_centre: tuple[tuple[int, ...], ...] = tuple(
            [tuple([c + 1 for c in centre if some & flags[c]]) for some in range(1 << columns)]
        )
        lines: list[int] = []
        starts = [0, 0, 0, 0]
        for column in range(columns):
            for row in range(rows):
                for way, (right, up) in enumerate(((0, 1), (1, -1), (1, 0), (1, 1))):
                    last_column = column + right * (connect - 1)
                    last_row = row + up * (connect - 1)
                    if last_column < columns and 0 <= last_row < rows:
                        lines.append(
                            sum([bits[column + right * i][row + up * i] for i in range(connect)])
                        )
                        starts[way] += bits[column][row]
        self.lines: tuple[int, ...] = tuple(lines)
        # The cells at which lines begin: those going up, falling, level and rising.
        self.upright: i64 = starts[0]
        self.falling: i64 = starts[1]
        self.level: i64 = starts[2]
        self.rising: i64 = starts[3]
        # A line with k discs is worth k * k; all of them together stay below a win.
        most = max(1, len(lines)) * connect * connect
        self.scale: float = 0.999 / float(most)

    def __reduce__(self) -> tuple[Any, ...]:
        return shape_of, (self.columns, self.rows, self.connect)


@functools.cache
def shape_of(columns: int, rows: int, connect: int) -> Shape:
    """Return the one `Shape` of these measures."""
    return Shape(columns, rows, connect)


_STANDARD: Final = shape_of(7, 6, 4)


@final
@mypyc_attr(free_list_len=1)
class ConnectFourState(BoardState):
    """The discs of the seat that moves (or would move), all discs, and flags of the columns
    that are not full.

    Actions are column numbers from 1, as they are written.
    """

    # The board is two sets of cells in machine words: column c, row r (from the bottom) is bit
    # c * (rows + 1) + r.  The bit above each column stays empty, so that a shift cannot carry a
    # line from the top of one column into the next (J. Tromp's representation).

    __slots__ = ("mine", "open", "shape", "taken", "winner")

    mine: i64
    taken: i64
    open: i64
    winner: i64
    shape: Shape

    def __init__(
        self,
        to_move: int = 0,
        mine: i64 = 0,
        taken: i64 = 0,
        open: i64 = 0b1111111,  # noqa: A002 - the word of the game
        winner: i64 = -1,
        shape: Shape = _STANDARD,
    ) -> None:
        self.to_move = to_move
        self.mine = mine
        self.taken = taken
        self.open = open
        self.winner = winner
        self.shape = shape

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.to_move, self.mine, self.taken, self.open, self.winner, self.shape)
        return ConnectFourState, fields

    def actions(self) -> tuple[Any, ...]:
        """Columns that are not full, from the left."""
        if self.to_move < 0:
            return ()
        return self.shape.open[self.open]

    def order(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the same actions, those near the centre first: they are part of more lines."""
        shape = self.shape
        if actions is shape.open[self.open]:
            return shape.from_centre[self.open]
        some: int = 0
        for action in actions:
            column: int = action
            some |= shape.flag[column - 1]
        return shape.from_centre[some]

    def after(self, action: Any) -> ConnectFourState:
        """Return the state with a disc of the mover dropped into the column."""
        column: i64 = action
        column -= 1
        shape = self.shape
        taken: i64 = self.taken
        shift: i64 = column * shape.height
        # Adding at the bottom carries up to the first empty cell.
        disc: i64 = (taken + (shape.one << shift)) & (shape.cells << shift)
        placed: i64 = self.mine | disc
        filled: i64 = taken | disc
        left: i64 = self.open
        if disc & shape.tops != 0:
            left = left ^ (shape.one << column)
        if has_line(shape, placed):
            winner: i64 = self.to_move
            return ConnectFourState(TERMINAL, filled ^ placed, filled, left, winner, shape)
        to_move: int = TERMINAL if left == 0 else 1 - self.to_move
        return ConnectFourState(to_move, filled ^ placed, filled, left, -1, shape)

    def returns(self) -> tuple[float, ...]:
        """+1 for the winner, -1 for the loser, 0 for a draw."""
        if self.winner == 0:
            return _WON
        if self.winner == 1:
            return _LOST
        return _DRAW

    def key(self) -> int:
        """Return the position as one number, unique for the board size (J. Tromp).

        In each column, "taken + bottom" marks the first empty cell; adding the mover's
        discs below it cannot carry past it.
        """
        return int(self.mine + self.taken + self.shape.bottoms)

    def heuristic(self) -> tuple[float, ...]:
        """Lines that only one seat can still complete, by the square of its discs in them."""
        if self.to_move == TERMINAL:
            return self.returns()
        balance: i64 = lead_in_lines(self.shape, self.mine, self.taken ^ self.mine)
        value: float = float(balance) * self.shape.scale
        if self.to_move == 0:
            return (value, -value)
        return (-value, value)

    def endings(self, meter: Meter) -> Endings | None:
        """Return the exact solver of the last plies for one search; None unless lines of four
        win.
        """
        shape = self.shape
        if shape.connect != 4:
            return None
        return ConnectFourEndings(meter, shape.columns, shape.rows)

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end.

        One random number serves eight plies: what is left of it after a choice is as random
        as it was.
        """
        if self.to_move < 0:
            return self.returns()
        draw: Any = rng.random
        shape = self.shape
        mine: i64 = self.mine
        taken: i64 = self.taken
        left: i64 = self.open
        first: bool = self.to_move == 0
        columns = shape.open[left]
        choice: float = 0.0
        plies: i64 = 0
        while left != 0:
            if plies & 7 == 0:
                choice = draw()
            plies += 1
            choice *= float(len(columns))
            pick: i64 = int(choice)
            choice -= float(pick)
            column: i64 = columns[pick]
            column -= 1
            shift: i64 = column * shape.height
            disc: i64 = (taken + (shape.one << shift)) & (shape.cells << shift)
            if disc & shape.tops != 0:
                left = left ^ (shape.one << column)
                columns = shape.open[left]
            placed: i64 = mine | disc
            if has_line(shape, placed):
                return _WON if first else _LOST
            mine = taken ^ mine
            taken = taken | disc
            first = not first
        return _DRAW


def has_line(shape: Shape, discs: i64) -> bool:
    """Return whether these discs complete a line."""
    height: i64 = shape.height
    if shape.connect == 4:
        pairs: i64 = discs & (discs >> 1)
        found: i64 = pairs & (pairs >> 2)
        pairs = discs & (discs >> height)
        found |= pairs & (pairs >> (height + height))
        height -= 1
        pairs = discs & (discs >> height)
        found |= pairs & (pairs >> (height + height))
        height += 2
        pairs = discs & (discs >> height)
        found |= pairs & (pairs >> (height + height))
        return found != 0
    return (
        has_run(discs, 1, shape.connect)
        or has_run(discs, height - 1, shape.connect)
        or has_run(discs, height, shape.connect)
        or has_run(discs, height + 1, shape.connect)
    )


def lead_in_lines(shape: Shape, mine: i64, theirs: i64) -> i64:
    """Squares of the numbers of discs in lines that are only mine, less those only theirs."""
    balance: i64 = 0
    if shape.connect == 4:
        height: i64 = shape.height
        balance = lead_in_fours(mine, theirs, shape.upright, 1)
        balance += lead_in_fours(mine, theirs, shape.falling, height - 1)
        balance += lead_in_fours(mine, theirs, shape.level, height)
        balance += lead_in_fours(mine, theirs, shape.rising, height + 1)
        balance += 0x1000_1000_1000_1000  # no part is negative from here on
        balance = (balance & 0x0000_FFFF_0000_FFFF) + ((balance >> 16) & 0x0000_FFFF_0000_FFFF)
        return (balance & 0xFFFF_FFFF) + (balance >> 32) - 0x4000
    for line in shape.lines:
        cells: i64 = line
        own: i64 = cells & mine
        other: i64 = cells & theirs
        count: i64 = 0
        if other == 0:
            while own != 0:
                own = own & (own - 1)
                count += 1
            balance += count * count
        elif own == 0:
            while other != 0:
                other = other & (other - 1)
                count += 1
            balance -= count * count
    return balance


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class ConnectFourObservation(Observation):
    """Everything: the game has perfect information."""

    board: tuple[str, ...]
    """Rows from the top to the bottom, each from column 1 at the left: "x" for discs of seat 0,
    "o" of seat 1, "." empty."""
    winner: int | None
    """The seat that has completed a line; None while play goes on and after a draw."""
    connect: int
    """Length of a line that wins."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ConnectFour(Game[ConnectFourState, int, ConnectFourObservation]):
    """Connect four on a board of any small size; 7 by 6 is won by the first player.

    >>> game = ConnectFour(columns=5, rows=4)
    >>> state = game.initial_state()
    >>> for column in "3323":
    ...     state = state.after(game.parse(state, column))
    >>> game.observe(state, None).board
    ('.....', '..o..', '..o..', '.xx..')
    >>> game.legal_text(state, 0)
    ('1', '2', '3', '4', '5')
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="connect_four",
        title="Connect four",
        summary="Drop discs into columns; four in a line win.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.ZERO_SUM,
        min_return=-1.0,
        max_return=1.0,
        max_plies=54,
        parameters=(
            Parameter("columns", 7, "width of the board", 2, 10),
            Parameter("rows", 6, "height of the board", 2, 10),
            Parameter("connect", 4, "discs in a line that win", 2, 10),
        ),
        seat_names=("first", "second"),
        draw_offers=True,
    )
    observation_type: ClassVar[type[Observation]] = ConnectFourObservation
    action_pattern: ClassVar[str] = "[0-9]{1,2}"

    def check_parameters(self) -> None:
        """The board must fit into a machine word, and a line onto the board."""
        columns, rows = self.int_parameter("columns"), self.int_parameter("rows")
        connect = self.int_parameter("connect")
        if columns * (rows + 1) > MAX_BITS:
            most = MAX_BITS // columns - 1
            raise InvalidParameter(
                self.info.name, "rows", rows, f"with {columns} columns at most {most} rows fit"
            )
        if connect > max(columns, rows):
            raise InvalidParameter(
                self.info.name,
                "connect",
                connect,
                f"on a board of {columns} by {rows} it must be a whole number "
                f"from 2 to {max(columns, rows)}",
            )
        self.shape = shape_of(columns, rows, connect)
        self.action_notation = f"a column number from 1 to {columns}, like {(columns + 1) // 2}"

    def initial_state(self) -> ConnectFourState:
        """Return the empty board, seat 0 to move."""
        return ConnectFourState(0, 0, 0, self.shape.all_open, -1, self.shape)

    def format(self, state: ConnectFourState, action: int) -> str:
        """Return the column number from 1."""
        return str(action)

    def legal_text(self, state: ConnectFourState, seat: int | None) -> tuple[str, ...]:
        """Legal actions as text when it is ``seat``'s turn; else empty."""
        if seat is None or state.to_move != seat:
            return ()
        return state.shape.open_text[state.open]

    def observe(self, state: ConnectFourState, seat: int | None) -> ConnectFourObservation:
        """Return the board and the winner."""
        return ConnectFourObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            board=_rows(state),
            winner=None if state.winner < 0 else state.winner,
            connect=state.shape.connect,
        )

    def sample_state(
        self, observation: ConnectFourObservation, rng: random.Random
    ) -> ConnectFourState:
        """Return the position that was observed."""
        height = self.shape.rows + 1
        sets = [0, 0]
        for row, text in enumerate(reversed(observation.board)):
            for column, mark in enumerate(text):
                if mark != ".":
                    sets["xo".index(mark)] |= 1 << (column * height + row)
        taken = sets[0] | sets[1]
        mover = taken.bit_count() % 2  # also after the end: seats alternate
        winner = -1 if observation.winner is None else observation.winner
        free = sum(1 << column for column, mark in enumerate(observation.board[0]) if mark == ".")
        return ConnectFourState(observation.to_move, sets[mover], taken, free, winner, self.shape)

    def scene(self, observation: ConnectFourObservation) -> Scene:
        """Return the board; choosing any cell of a column, or a free one, drops a disc there."""
        rows: list[tuple[Cell, ...]] = []
        count = len(observation.board)
        line = winning_cells(observation.board, observation.winner, self.shape.connect)
        for index, row in enumerate(observation.board):
            cells: list[Cell] = []
            for column, mark in enumerate(row):
                name = str(column + 1)
                owner = {"x": 0, "o": 1}.get(mark)
                content = "empty" if owner is None else f"disc of {self.seat_name(owner)}"
                cells.append(
                    Cell(
                        text="" if owner is None else mark,
                        owner=owner,
                        shape="" if owner is None else "disc",
                        action=name if name in observation.legal else None,
                        label=f"column {name}, row {count - index}, {content}",
                        won=(index, column) in line,
                    )
                )
            rows.append(tuple(cells))
        columns = tuple(str(column + 1) for column in range(len(observation.board[0])))
        grid = Grid(tuple(rows), (), columns, "Board", "wells", "slate")
        if observation.winner is not None:
            status = f"{self.seat_name(observation.winner)} wins"
        elif observation.to_move == TERMINAL:
            status = "Draw"
        else:
            status = f"{self.seat_name(observation.to_move)} to move"
        return Scene((grid,), status, observation.seat_to_move)

    def describe(self, state: ConnectFourState) -> str:
        """Return the board from the top, one line per row."""
        return "\n".join(_rows(state))


def _rows(position: ConnectFourState) -> tuple[str, ...]:
    """Return the board as texts from the top, "x" for seat 0 and "o" for seat 1."""
    shape = position.shape
    taken: int = position.taken
    mine: int = position.mine
    # Seats alternate, so the number of discs tells whose "mine" are, also after the end.
    first = mine if taken.bit_count() % 2 == 0 else taken ^ mine
    height = shape.rows + 1
    rows: list[str] = []
    for row in range(shape.rows - 1, -1, -1):
        text = ""
        for column in range(shape.columns):
            bit = 1 << (column * height + row)
            text += "." if not taken & bit else "x" if first & bit else "o"
        rows.append(text)
    return tuple(rows)
