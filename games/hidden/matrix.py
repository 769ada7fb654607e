"""Matrix games: both seats choose at the same time, and a table gives each one's return.

``payoffs`` is the table as text.  Separate rows (choices of the first player) by ``;``, cells
(choices of the second) by blanks, and the returns in a cell by ``,``.  The second player pays the
first where a cell is a single number: ``"0 -1 1; 1 0 -1; -1 1 0"`` is rock, paper, scissors.
``rows`` and ``columns`` name the choices, separated by ``,``; without names they are numbered
from 1.  An action is the choice's name if that is a number.  Other choices get numbers from 0 in
the order of the names.  With ``rounds`` above 1 the same game is repeated, the seats see every
round when it is over, and returns are sums.

The first player commits in secret, then the second does.  Only the owner sees a choice before
both are made.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from mypy_extensions import mypyc_attr

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
from plyhouse.games.errors import InvalidParameter
from plyhouse.games.native import NativeState
from plyhouse.games.scene import (
    FIGURES,
    Button,
    Card,
    Cell,
    Counter,
    Element,
    Grid,
    Hand,
    Scene,
    Text,
)

if TYPE_CHECKING:
    import random

__all__ = ["MAX_CHOICES", "MAX_ROUNDS", "Matrix", "MatrixObservation", "MatrixState", "Table"]

MAX_CHOICES: Final = 20
"""Most rows and most columns of a table."""

MAX_ROUNDS: Final = 200

LATEST_ROUNDS: Final = 5
"""Rounds that a scene shows, so that the table fits on a phone."""

MAX_PAYOFF: Final = 1000.0
"""Greatest size of one number of a table."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")

Payoffs = tuple[tuple[tuple[float, float], ...], ...]


def _values(names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the actions with these names: names that are numbers mean themselves, the others get
    the least numbers from 0 that are left.

    So ``int(text)`` is never another action than the one that ``text`` names.
    """
    taken = {int(name) for name in names if name.isdecimal()}
    free = iter([number for number in range(2 * len(names)) if number not in taken])
    return tuple([int(name) if name.isdecimal() else next(free) for name in names])


@final
class Table:
    """Payoffs shared by all positions of one match; made by `table_of` only."""

    def __init__(
        self,
        rows: tuple[str, ...] = ("1",),
        columns: tuple[str, ...] = ("1",),
        payoffs: Payoffs = (((0.0, 0.0),),),
        rounds: int = 1,
    ) -> None:
        self.rows: tuple[str, ...] = rows
        self.columns: tuple[str, ...] = columns
        self.payoffs: Payoffs = payoffs
        self.rounds: int = rounds
        self.first: tuple[int, ...] = _values(rows)
        self.second: tuple[int, ...] = _values(columns)
        # Skip the lookup of choices where they are numbered from 0.
        self.plain_first: bool = self.first == tuple(range(len(rows)))
        self.plain_second: bool = self.second == tuple(range(len(columns)))
        self.one: tuple[tuple[float, ...], ...] = tuple(
            [tuple([cell[0] for cell in row]) for row in payoffs]
        )
        self.two: tuple[tuple[float, ...], ...] = tuple(
            [tuple([cell[1] for cell in row]) for row in payoffs]
        )

    def index(self, seat: int, action: int) -> int:
        """Return the row (of seat 0) or column that an action chooses."""
        if seat == 0:
            return action if self.plain_first else self.first.index(action)
        return action if self.plain_second else self.second.index(action)

    def __reduce__(self) -> tuple[Any, ...]:
        return table_of, (self.rows, self.columns, self.payoffs, self.rounds)


@functools.cache
def table_of(
    rows: tuple[str, ...], columns: tuple[str, ...], payoffs: Payoffs, rounds: int
) -> Table:
    """Return the one `Table` of these facts."""
    return Table(rows, columns, payoffs, rounds)


_NOTHING: Final = table_of(("1",), ("1",), (((0.0, 0.0),),), 1)


@final
@mypyc_attr(free_list_len=1)
class MatrixState(NativeState):
    """All choices so far, those of the two seats in turn; the last may be seat 0's secret.

    They are kept as indices of rows and columns.
    """

    __slots__ = ("choices", "table")

    choices: tuple[int, ...]
    table: Table

    def __init__(
        self, to_move: int = 0, choices: tuple[int, ...] = (), table: Table = _NOTHING
    ) -> None:
        self.to_move = to_move
        self.choices = choices
        self.table = table

    def __reduce__(self) -> tuple[Any, ...]:
        return MatrixState, (self.to_move, self.choices, self.table)

    def actions(self) -> tuple[Any, ...]:
        """Return all choices of the seat."""
        if self.to_move == 0:
            return self.table.first
        if self.to_move == 1:
            return self.table.second
        return ()

    def after(self, action: Any) -> MatrixState:
        """Return the state after a choice."""
        choice: int = self.table.index(self.to_move, action)
        choices: tuple[int, ...] = (*self.choices, choice)
        following: int = 1 - self.to_move
        if len(choices) == 2 * self.table.rounds:
            following = TERMINAL
        return MatrixState(following, choices, self.table)

    def totals(self) -> tuple[float, ...]:
        """Return each seat's sum over the finished rounds."""
        table = self.table
        choices = self.choices
        one: float = 0.0
        two: float = 0.0
        for place in range(1, len(choices), 2):
            row: int = choices[place - 1]
            column: int = choices[place]
            one += table.one[row][column]
            two += table.two[row][column]
        return (one, two)

    def returns(self) -> tuple[float, ...]:
        """Sums over all rounds."""
        return self.totals()

    def playout(self, rng: random.Random) -> tuple[float, ...]:
        """Returns after uniformly random play to the end."""
        table = self.table
        totals = self.totals()
        one: float = totals[0]
        two: float = totals[1]
        done: int = len(self.choices)
        row: int = self.choices[done - 1] if done % 2 == 1 else -1
        for _ in range(table.rounds - done // 2):
            if row < 0:
                row = int(rng.random() * len(table.first))
            column: int = int(rng.random() * len(table.second))
            one += table.one[row][column]
            two += table.two[row][column]
            row = -1
        return (one, two)


@mypyc_attr(native_class=False)
@dataclasses.dataclass(frozen=True)
class MatrixObservation(Observation):
    """The rounds that are over, and what the observer has committed in the running one."""

    rounds: tuple[tuple[str, str], ...]
    """For every round that is over, in order, the choices of seat 0 and of seat 1."""
    own: str | None
    """The observer's own hidden choice in the running round; None before it, and for spectators."""
    committed: bool
    """True if seat 0 has made its choice in the running round."""
    totals: tuple[float, float]
    """By seat what it got so far."""
    of: int
    """How many rounds there are in all."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Matrix(Game[MatrixState, int, MatrixObservation]):
    """A game given by its table of payoffs.

    >>> game = Matrix(payoffs="2,1 0,0; 0,0 1,2", rows="opera,match", columns="opera,match")
    >>> state = game.initial_state()
    >>> for choice in ("opera", "opera"):
    ...     state = state.after(game.parse(state, choice))
    >>> state.returns()
    (2.0, 1.0)
    """

    info: ClassVar[GameInfo] = GameInfo(
        name="matrix",
        title="Matrix game",
        summary="Both choose at the same time, and a table of your own says what each one gets.",
        min_seats=2,
        max_seats=2,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.IMPERFECT,
        utility=Utility.GENERAL_SUM,
        min_return=-MAX_PAYOFF * MAX_ROUNDS,
        max_return=MAX_PAYOFF * MAX_ROUNDS,
        max_plies=2 * MAX_ROUNDS,
        parameters=(
            Parameter("payoffs", "1 -1; -1 1", "rows by ;, cells by blanks, seats by ,"),
            Parameter("rows", "", "names of the choices of seat 0, by ,"),
            Parameter("columns", "", "names of the choices of seat 1, by ,"),
            Parameter("rounds", 1, "how often it is played", 1, MAX_ROUNDS),
        ),
        seat_names=("row", "column"),
        simultaneous=True,
    )
    observation_type: ClassVar[type[Observation]] = MatrixObservation

    def check_parameters(self) -> None:
        """Read the table and the names."""
        payoffs = self._payoffs(self.text_parameter("payoffs"))
        rows = self._names("rows", len(payoffs))
        columns = self._names("columns", len(payoffs[0]))
        self.keep(table_of(rows, columns, payoffs, self.int_parameter("rounds")))

    def keep(self, table: Table) -> None:
        """Play by this table."""
        self.table = table
        names = list(dict.fromkeys([*table.rows, *table.columns]))
        self.action_notation = f"one of {', '.join(names)}"
        self.names = tuple(names)

    def _bad(self, name: str, reason: str) -> InvalidParameter:
        return InvalidParameter(self.info.name, name, self.parameters[name], reason)

    def _payoffs(self, text: str) -> Payoffs:
        """Return the table in ``payoffs``."""
        rows: list[tuple[tuple[float, float], ...]] = []
        for place, line in enumerate(text.split(";"), start=1):
            cells: list[tuple[float, float]] = []
            for cell in line.split():
                numbers: list[float] = []
                for part in cell.split(","):
                    try:
                        numbers.append(float(part))
                    except ValueError:
                        raise self._bad(
                            "payoffs", f"in row {place}, {part!r} of {cell!r} is not a number"
                        ) from None
                if len(numbers) > 2:
                    raise self._bad(
                        "payoffs", f"in row {place}, {cell!r} has more than two numbers"
                    )
                if not all(math.isfinite(n) and abs(n) <= MAX_PAYOFF for n in numbers):
                    raise self._bad(
                        "payoffs",
                        f"in row {place}, {cell!r} is not within -{MAX_PAYOFF:g} to {MAX_PAYOFF:g}",
                    )
                first = numbers[0]
                cells.append((first, numbers[1] if len(numbers) == 2 else 0.0 - first))
            if not cells:
                raise self._bad("payoffs", f"row {place} is empty")
            if rows and len(cells) != len(rows[0]):
                raise self._bad(
                    "payoffs",
                    f"row {place} has {len(cells)} cells, but row 1 has {len(rows[0])}",
                )
            rows.append(tuple(cells))
        if len(rows) > MAX_CHOICES or len(rows[0]) > MAX_CHOICES:
            raise self._bad("payoffs", f"at most {MAX_CHOICES} rows and columns fit")
        return tuple(rows)

    def _names(self, parameter: str, count: int) -> tuple[str, ...]:
        """Return the names of choices in a parameter, or numbers from 1."""
        text = self.text_parameter(parameter)
        if not text.strip():
            return tuple([str(number) for number in range(1, count + 1)])
        names = [name.strip() for name in text.split(",")]
        if len(names) != count:
            raise self._bad(
                parameter, f"the table has {count} {parameter}, but {len(names)} are named"
            )
        for name in names:
            if not _NAME.fullmatch(name):
                raise self._bad(parameter, f"{name!r} is not small letters and digits, at most 40")
            if names.count(name) > 1:
                raise self._bad(parameter, f"{name!r} is named twice")
            if name.isdecimal() and name != str(int(name)):
                raise self._bad(parameter, f"write the number {name!r} as {int(name)}")
        return tuple(names)

    def initial_state(self) -> MatrixState:
        """No choices made."""
        return MatrixState(0, (), self.table)

    def format(self, state: MatrixState, action: int) -> str:
        """Return the name of the choice."""
        place = self.table.index(state.to_move, action)
        return (self.table.rows if state.to_move == 0 else self.table.columns)[place]

    def observe(self, state: MatrixState, seat: int | None) -> MatrixObservation:
        """Return the rounds that are over, and the seat's own commit."""
        choices = state.choices
        rows, columns = self.table.rows, self.table.columns
        pending = len(choices) % 2 == 1
        totals = state.totals()
        return MatrixObservation(
            seat=seat,
            to_move=state.to_move,
            legal=self.legal_text(state, seat),
            rounds=tuple(
                [
                    (rows[choices[place - 1]], columns[choices[place]])
                    for place in range(1, len(choices), 2)
                ]
            ),
            own=rows[choices[-1]] if pending and seat == 0 else None,
            committed=pending,
            totals=(totals[0], totals[1]),
            of=self.table.rounds,
        )

    def information_state(self, state: MatrixState, seat: int) -> Hashable:
        """Return the finished rounds, whether seat 0 has committed, and seat 0's own commit."""
        choices = state.choices
        if len(choices) % 2 == 1 and seat != 0:
            return (seat, choices[:-1], True)
        return (seat, choices, len(choices) % 2 == 1)

    def visible(self, state: MatrixState, action: Any, viewer: int | None) -> str | None:
        """Show seat 0's commit to seat 0 only, and seat 1's to all, as it ends the round."""
        if state.to_move == 0 and viewer != 0:
            return None
        return self.format(state, action)

    def sample_state(self, observation: MatrixObservation, rng: random.Random) -> MatrixState:
        """Sample a state in which a hidden commit is any choice with equal chance."""
        rows, columns = self.table.rows, self.table.columns
        choices: list[int] = []
        for row, column in observation.rounds:
            choices += [rows.index(row), columns.index(column)]
        if observation.own is not None:
            choices.append(rows.index(observation.own))
        elif observation.committed:
            choices.append(int(rng.random() * len(rows)))
        return MatrixState(observation.to_move, tuple(choices), self.table)

    def scene(self, observation: MatrixObservation) -> Scene:
        """Return the table, the hidden choice, the last round, the sums and a button per choice."""
        table = self.table
        last = ("", "")
        if observation.rounds and not observation.committed:
            last = observation.rounds[-1]
        grid = Grid(
            tuple(
                tuple(
                    Cell(
                        text=f"{cell[0]:g},{cell[1]:g}",
                        label=f"{row} and {column}: {cell[0]:g} and {cell[1]:g}",
                        highlight=last == (row, column) or observation.own == row,
                    )
                    for column, cell in zip(table.columns, line, strict=True)
                )
                for row, line in zip(table.rows, table.payoffs, strict=True)
            ),
            table.rows,
            table.columns,
            f"What {self.seat_name(0)} and {self.seat_name(1)} get",
            "table",
        )
        elements: list[Element] = [grid]
        hidden = Card(observation.own, None, observation.own or "a hidden choice")
        if observation.own is not None:
            hidden = _choice(observation.own)
        for seat in range(2):
            cards: tuple[Card, ...] = ()
            if observation.committed:
                cards = (hidden,) if seat == 0 else ()
            elif observation.rounds:  # both choices of a round are shown until the next one
                cards = (_choice(last[seat]),)
            name = self.seat_name(seat)
            elements.append(Hand(f"Choice of {name}", cards, seat))
            elements.append(Counter(f"Sum of {name}", observation.totals[seat], None, seat))
        if observation.of > 1 and observation.rounds:
            elements.append(self._latest(observation.rounds))
        elif observation.rounds:
            elements.append(
                Text(
                    f"Round {len(observation.rounds)}: {self.seat_name(0)} chose {last[0]}, "
                    f"{self.seat_name(1)} chose {last[1]}."
                )
            )
        elements += [
            Button(name.capitalize(), name, shape=_shape(name)) for name in observation.legal
        ]
        if observation.to_move == TERMINAL:
            status = f"{self.seat_name(0)} gets {observation.totals[0]:g}, "
            status += f"{self.seat_name(1)} gets {observation.totals[1]:g}"
        else:
            status = f"Round {len(observation.rounds) + 1} of {observation.of}: "
            status += f"{self.seat_name(observation.to_move)} chooses"
        return Scene(tuple(elements), status, observation.seat_to_move)

    def _latest(self, rounds: tuple[tuple[str, str], ...]) -> Grid:
        """Return a table of the latest rounds, with a row for each seat."""
        numbers = range(max(0, len(rounds) - LATEST_ROUNDS), len(rounds))
        return Grid(
            tuple(
                tuple(
                    Cell(
                        text=rounds[number][seat],
                        owner=seat,
                        label=f"round {number + 1}, {self.seat_name(seat)}: {rounds[number][seat]}",
                    )
                    for number in numbers
                )
                for seat in range(2)
            ),
            (self.seat_name(0), self.seat_name(1)),
            tuple([str(number + 1) for number in numbers]),
            "Rounds",
            "table",
        )

    def describe(self, state: MatrixState) -> str:
        """Return one line with all choices, also a hidden one."""
        rows, columns = self.table.rows, self.table.columns
        names = [
            (rows if place % 2 == 0 else columns)[choice]
            for place, choice in enumerate(state.choices)
        ]
        rounds = [" ".join(names[place : place + 2]) for place in range(0, len(names), 2)]
        return f"choices of {self.table.rounds} rounds: {', '.join(rounds) or 'none'}"


def _shape(name: str) -> str:
    """Return the figure with the name of a choice, "" if there is none."""
    return name if name in FIGURES else ""


def _choice(name: str) -> Card:
    """Return a choice that is open."""
    return Card(name, None, name, shape=_shape(name))
