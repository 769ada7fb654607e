"""Games in which both seats choose once, at the same time: a matrix of payoffs.

Zero-sum games are solved exactly by linear programming.  The row player picks probabilities that
make the worst column as good as possible; by duality the column player can hold them to just that.
Sources: J. von Neumann, "Zur Theorie der Gesellschaftsspiele", 1928; Russell and Norvig, AIMA, 4th
edition, section 18.2.  HiGHS solves the linear programs, through scipy.  This optional dependency
and numpy are imported on first use.

For general sums there are the equilibria in pure strategies and the elimination of dominated ones.

>>> from plyhouse.games import get_game
>>> dilemma = matrix_of(get_game("prisoners_dilemma"))
>>> undominated(dilemma)
(('deny',), ('deny',))

>>> solution = matrix_game([[2, -1], [-1, 1]])
>>> round(solution.value, 6), {name: round(share, 6) for name, share in solution.rows.items()}
(0.2, {'1': 0.4, '2': 0.6})
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from plyhouse.games.base import Game
from plyhouse.games.errors import GameMismatch
from plyhouse.search.equilibria.sequence_form import sequence_form
from plyhouse.search.game_requirements import alternatives, require_solvable
from plyhouse.search.kernels.sequences import SequenceForm, Slot

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "MatrixSolution",
    "NormalForm",
    "best_mixture",
    "dominated",
    "matrix_game",
    "matrix_of",
    "pure_equilibria",
    "scipy_optimize",
    "undominated",
]

TOLERANCE: Final = 1e-9
"""Part of the greatest cell by which a second linear program may miss the value."""


def scipy_optimize() -> ModuleType:
    """Import scipy.optimize; the `ImportError` names the extra that brings it."""
    try:
        import scipy.optimize
    except ImportError as error:
        raise ImportError(
            "linear programming needs the package scipy: pip install 'plyhouse[equilibria]'"
        ) from error
    return scipy.optimize


def best_mixture(payoffs: Sequence[Sequence[float]]) -> tuple[float, list[float]]:
    """Return the probabilities of the rows that make the worst column as good as possible, and how
    good that is.

    Among several such mixtures it is one that gains most if all columns are equally likely, as an
    opponent may err.
    """
    import numpy as np

    optimize = scipy_optimize()
    cells = np.array(payoffs, dtype=float)
    rows, columns = cells.shape
    # Unknown: the probabilities x and the value v.  Maximise v, where v <= x @ cells.
    done = optimize.linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.hstack([-cells.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0).reshape(1, -1),
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * rows + [(None, None)],
        method="highs",
    )
    if done.status != 0:
        raise ArithmeticError(f"the linear program was not solved: {done.message}")
    found = done.x[:rows]
    value = float((_shares(found) @ cells).min())
    slack = TOLERANCE * max(1.0, float(np.abs(cells).max()))
    better = optimize.linprog(
        -cells.mean(axis=1),
        A_ub=-cells.T,
        b_ub=np.full(columns, slack - value),
        A_eq=np.ones((1, rows)),
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * rows,
        method="highs",
    )
    if better.status == 0 and float((_shares(better.x) @ cells).mean()) > slack + float(
        (_shares(found) @ cells).mean()
    ):
        found = better.x
    return value + 0.0, [float(share) for share in _shares(found)]


def _shares(weights: Any) -> Any:
    """Return weights as probabilities, without what rounding left below 0."""
    shares = weights.clip(0.0, None)
    return shares / shares.sum()


"""Two payoffs count as equal within this share of the largest one."""

Cells = Sequence[Sequence[float]]


@dataclass(frozen=True)
class NormalForm:
    """A game in normal form: the payoffs of both seats, by row (seat 0) and column (seat 1)."""

    rows: tuple[str, ...]
    """Names of the choices of seat 0."""
    columns: tuple[str, ...]
    """Names of the choices of seat 1."""
    first: tuple[tuple[float, ...], ...]
    """Return of seat 0."""
    second: tuple[tuple[float, ...], ...]
    """Return of seat 1."""

    def __post_init__(self) -> None:
        for name, cells in (("first", self.first), ("second", self.second)):
            if len(cells) != len(self.rows) or not self.rows or not self.columns:
                raise ValueError(f"{name} has {len(cells)} rows, but {len(self.rows)} are named")
            for place, row in enumerate(cells, start=1):
                if len(row) != len(self.columns):
                    raise ValueError(
                        f"row {place} of {name} has {len(row)} cells, but "
                        f"{len(self.columns)} columns are named"
                    )
                for cell in row:
                    if not math.isfinite(cell):
                        raise ValueError(f"row {place} of {name} has {cell}, expected a number")

    @property
    def tolerance(self) -> float:
        """The difference up to which payoffs count as equal."""
        cells = [abs(cell) for table in (self.first, self.second) for row in table for cell in row]
        return TOLERANCE * max(1.0, *cells)

    @property
    def zero_sum(self) -> bool:
        """True if what one seat gets the other loses, in every cell."""
        return all(
            abs(one + two) <= self.tolerance
            for ones, twos in zip(self.first, self.second, strict=True)
            for one, two in zip(ones, twos, strict=True)
        )


@dataclass(frozen=True)
class MatrixSolution:
    """An equilibrium of a zero-sum matrix game: neither seat can do better than the value."""

    value: float
    """Expected return of seat 0, which seat 1 loses."""
    rows: dict[str, float]
    """Probability of each choice of seat 0."""
    columns: dict[str, float]
    """Probability of each choice of seat 1."""


def matrix_game(payoffs: Cells | NormalForm | Game) -> MatrixSolution:
    """Solve a zero-sum matrix game exactly by two linear programs, one for each seat.

    ``payoffs`` is what seat 0 gets, row by row (choices are then numbered from 1), or a
    `NormalForm`, or a game (see `matrix_of`).  Where there are several equilibria this is one of
    them.  Needs the package scipy: an `ImportError` says how to install it.

    Raises `GameMismatch` if a game is no matrix game or not zero-sum, and `ValueError` if a
    matrix is not.
    """
    if isinstance(payoffs, Game):
        matrix = matrix_of(payoffs)
        if not matrix.zero_sum:
            raise GameMismatch(
                "matrix_game",
                payoffs.spec,
                "its returns do not sum to zero",
                "it solves zero-sum games; see pure_equilibria and dominated for others",
            )
    elif isinstance(payoffs, NormalForm):
        matrix = payoffs
    else:
        first = tuple([tuple([float(cell) for cell in row]) for row in payoffs])
        names = [str(number) for number in range(1, 1 + max([len(first), *map(len, first)]))]
        matrix = NormalForm(
            tuple(names[: len(first)]),
            tuple(names[: len(first[0])] if first else []),
            first,
            tuple([tuple([-cell for cell in row]) for row in first]),
        )
    if not matrix.zero_sum:
        raise ValueError(
            "the returns do not sum to zero: matrix_game solves zero-sum games; see "
            "pure_equilibria and dominated for others"
        )
    value, rows = best_mixture(matrix.first)
    _, columns = best_mixture(transposed(matrix.second))
    return MatrixSolution(
        value,
        dict(zip(matrix.rows, rows, strict=True)),
        dict(zip(matrix.columns, columns, strict=True)),
    )


def matrix_of(game: Game) -> NormalForm:
    """Read the matrix off a game of two seats in which each chooses at most once, not knowing
    what the other does; chance is averaged out.

    A seat that never chooses has one row or column, named "-".  Raises `GameMismatch` if a
    seat has more than one information state.
    """
    require_solvable("matrix_of", game)
    if game.seats != 2:
        raise misfit(game, f"it has {game.seats} seats")
    form = sequence_form(game, algorithm="matrix_of", max_nodes=100_000)
    for seat, own in enumerate(form.sets):
        if len(own) > 1:
            raise misfit(game, f"seat {seat} chooses in {len(own)} information states")
    names, slots = zip(*[choices(game, form, seat) for seat in (0, 1)], strict=True)
    tables = []
    for seat in (0, 1):
        places = {slot.index: place for place, slot in enumerate(slots[1 - seat])}
        table = [[0.0] * len(places) for _ in slots[seat]]
        # A terminal state without a choice of the seat counts in each of its rows.
        for row, slot in zip(table, slots[seat], strict=True):
            for source in {slot.index: slot, form.starts[seat].index: form.starts[seat]}.values():
                for end in source.ends:
                    if end.other.index in places:
                        row[places[end.other.index]] += end.weight
                    else:
                        row[:] = [cell + end.weight for cell in row]
        tables.append(table)
    return NormalForm(
        names[0],
        names[1],
        tuple([tuple(row) for row in tables[0]]),
        transposed(tables[1]),
    )


def choices(game: Game, form: SequenceForm, seat: int) -> tuple[tuple[str, ...], list[Slot]]:
    """Names and slots of what a seat can choose."""
    if not form.sets[seat]:
        return ("-",), [form.starts[seat]]
    info = form.sets[seat][0]
    state: Any = info.state
    return tuple([game.format(state, action) for action in info.actions]), info.slots


def misfit(game: Game, reason: str) -> GameMismatch:
    """Build the refusal."""
    return GameMismatch(
        "matrix_of",
        game.spec,
        reason,
        f"it reads games of two seats that choose once each; {alternatives(game)}",
    )


def pure_equilibria(matrix: NormalForm) -> tuple[tuple[str, str], ...]:
    """Return the pairs of choices from which neither seat alone gains by changing to another."""
    slack = matrix.tolerance
    found = []
    for row, (ones, twos) in enumerate(zip(matrix.first, matrix.second, strict=True)):
        for column, (one, two) in enumerate(zip(ones, twos, strict=True)):
            best_one = max(line[column] for line in matrix.first)
            if one >= best_one - slack and two >= max(twos) - slack:
                found.append((matrix.rows[row], matrix.columns[column]))
    return tuple(found)


def dominated(matrix: NormalForm, seat: int, *, strictly: bool = False) -> dict[str, str]:
    """Name the choices of a seat that another of its choices dominates, with the first such.

    Weakly: never worse, and better at least once; ``strictly``: always better.  Only pure
    choices are looked at as dominating ones.
    """
    if seat not in (0, 1):
        raise ValueError(f"seat={seat!r}: a matrix game has the seats 0 and 1")
    names = matrix.rows if seat == 0 else matrix.columns
    table = matrix.first if seat == 0 else transposed(matrix.second)
    slack = matrix.tolerance
    found: dict[str, str] = {}
    for name, line in zip(names, table, strict=True):
        for other, better in zip(names, table, strict=True):
            gains = [more - less for more, less in zip(better, line, strict=True)]
            if strictly:
                dominates = min(gains) > slack
            else:
                dominates = min(gains) >= -slack and max(gains) > slack
            if dominates:
                found[name] = other
                break
    return found


def undominated(
    matrix: NormalForm, *, strictly: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Strike out dominated choices repeatedly, and return the choices of both seats that are left.
    Each round strikes out those of both seats at the same time.

    Striking out strictly dominated choices loses no equilibrium; weakly dominated ones may
    belong to some, as in the course's prisoners' dilemma.
    """
    while True:
        gone = [dominated(matrix, seat, strictly=strictly) for seat in (0, 1)]
        if not any(gone):
            return matrix.rows, matrix.columns
        rows = [place for place, name in enumerate(matrix.rows) if name not in gone[0]]
        columns = [place for place, name in enumerate(matrix.columns) if name not in gone[1]]
        matrix = NormalForm(
            tuple([matrix.rows[row] for row in rows]),
            tuple([matrix.columns[column] for column in columns]),
            tuple([tuple([matrix.first[row][column] for column in columns]) for row in rows]),
            tuple([tuple([matrix.second[row][column] for column in columns]) for row in rows]),
        )


def transposed(cells: Cells) -> tuple[tuple[float, ...], ...]:
    """Rows as columns."""
    return tuple([tuple(column) for column in zip(*cells, strict=True)])
