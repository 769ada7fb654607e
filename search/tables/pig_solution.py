"""The optimal way to play pig, for two seats and any target and die.

Neller and Presser, "Optimal play of the dice game Pig", The UMAP Journal 25 (2004): the first
player wins with probability 0.5306.

Scores only grow, so the scores (i, j) and (j, i) depend on each other and on greater sums only:
they are solved from the end down.  All values of a pair follow from the two at the beginning of a
turn, and depend on them linearly as long as the policy stays the same.  So policy iteration
(Howard, "Dynamic Programming and Markov Processes", 1960) finds them exactly in a few steps; value
iteration would take hundreds.  All pairs of one sum are solved side by side.

>>> from plyhouse.games import get_game
>>> solution = solve_pig(get_game("pig"))
>>> round(solution.win_probability(0, 0), 4)  # T. Neller and C. Presser found it in 2004
0.5306
>>> solution.hold_at(0, 0), solution.hold_at(0, 80)
(21, 49)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.errors import GameMismatch
from plyhouse.games.stochastic.pig import HOLD, ROLL, Pig
from plyhouse.search.game_requirements import alternatives
from plyhouse.search.tables.table_file import InvalidTable, TableFile, read_table
from plyhouse.search.tables.value_iteration import ValueTable

__all__ = ["PigSolution", "solve_pig"]

KIND: Final = "pig"
MOST_POLICIES: Final = 100
"""A few suffice; it only guards against going round among policies of equal worth."""
Floats = NDArray[np.float64]


class PigSolution(ValueTable):
    """Optimal play of pig, from the probability to win at the beginning of every turn."""

    def __init__(self, game: Game, starts: Floats) -> None:
        super().__init__(game)
        self.starts = starts
        """``starts[i, j]``: who begins a turn with i points against j wins so often."""
        self.target = game.int_parameter("target")
        self.sides = game.int_parameter("sides")
        self.lines: dict[tuple[int, int], Floats] = {}

    def line(self, own: int, other: int) -> Floats:
        """Return the probability to win for every number of points at risk, before the choice."""
        found = self.lines.get((own, other))
        if found is None:
            after = 1.0 - self.starts[other, own : self.target]
            bust = np.array([1.0 - self.starts[other, own]])
            found, _ = _turn(after[None, :], bust, self.sides)
            found = self.lines[own, other] = found[0]
        return found

    def win_probability(self, own: int, other: int, at_risk: int = 0) -> float:
        """Return how often the seat on turn wins, before it chooses; both play optimally."""
        if own + at_risk >= self.target:
            return 1.0
        return float(self.line(own, other)[at_risk])

    def hold_at(self, own: int, other: int) -> int:
        """Return the least number of points at risk with which it is better to hold."""
        line = self.line(own, other)
        for at_risk in range(1, self.target - own):
            if line[at_risk] <= 1.0 - self.starts[other, own + at_risk]:
                return at_risk
        return self.target - own

    def get(self, state: Any) -> float | None:
        """Expected return of seat 0; None if the state is of pig with other rules."""
        if state.to_move == TERMINAL:
            return float(state.returns()[0])
        rules = state.rules
        if (rules.seats, rules.target, rules.sides) != (2, self.target, self.sides):
            return None
        own, other = state.scores[state.turn], state.scores[1 - state.turn]
        if state.to_move == CHANCE:
            chance = self.rolling(own, other, state.total)
        else:
            chance = self.win_probability(own, other, state.total)
        value = 2.0 * chance - 1.0
        return value if state.turn == 0 else -value

    def rolling(self, own: int, other: int, at_risk: int) -> float:
        """Return how often the seat wins that is just rolling the die."""
        total = 1.0 - float(self.starts[other, own])
        for face in range(2, self.sides + 1):
            total += self.win_probability(own, other, at_risk + face)
        return total / self.sides

    def best_action(self, state: Any) -> Any:
        """Roll or hold; to hold where both are worth the same."""
        values = self.values(state)
        if len(values) == 1:
            return next(iter(values))
        return HOLD if values[HOLD] >= values[ROLL] else ROLL

    def save(self, path: str | Path) -> None:
        """Write the solution into a file."""
        TableFile(KIND, self.game.spec, {}, {"starts": self.starts.ravel()}).save(path)

    @classmethod
    def load(cls, path: str | Path, game: Game) -> PigSolution:
        """Read a solution; raises `InvalidTable`, `GameMismatch` and `OSError`."""
        _check(game)
        starts = read_table(path, KIND, game).arrays["starts"]
        target = game.int_parameter("target")
        if len(starts) != target * target:
            raise InvalidTable(path, f"it has {len(starts)} values, not {target * target}")
        return cls(game, starts.reshape(target, target))


def solve_pig(game: Game | None = None) -> PigSolution:
    """Solve pig with two seats; the default is the standard game.

    Raises `GameMismatch` for another game or number of seats.
    """
    chosen = Pig() if game is None else game
    _check(chosen)
    target, sides = chosen.int_parameter("target"), chosen.int_parameter("sides")
    starts = np.zeros((target, target))
    for total in range(2 * target - 2, -1, -1):
        first = np.arange(max(0, total - target + 1), total // 2 + 1)
        second = total - first
        _solve_pairs(starts, first, second, target, sides)
    return PigSolution(chosen, starts)


def _solve_pairs(
    starts: Floats, first: NDArray[np.int64], second: NDArray[np.int64], target: int, sides: int
) -> None:
    """Solve the scores (first, second) and (second, first), of one sum, all at once."""
    pairs = len(first)
    own = np.concatenate((first, second))
    other = np.concatenate((second, first))
    # Value of holding with k points at risk; extra columns are unused.
    length = int(target - own.min())
    after = np.ones((2 * pairs, length))
    for row in range(2 * pairs):
        have = target - own[row]
        after[row, :have] = 1.0 - starts[other[row], own[row] : target]
    here = np.full(2 * pairs, 0.5)
    for _ in range(MOST_POLICIES):
        # The other seat's value at (j, i) is what a lost turn or nothing gained leads to.
        across = np.concatenate((here[pairs:], here[:pairs]))
        values, slopes = _turn(after, 1.0 - across, sides)
        # value = base - slope * across, for as long as the policy stays the same.
        base = values[:, 0] + slopes[:, 0] * across
        slope = slopes[:, 0]
        slope_across = np.concatenate((slope[pairs:], slope[:pairs]))
        base_across = np.concatenate((base[pairs:], base[:pairs]))
        new = (base - slope * base_across) / (1.0 - slope * slope_across)
        change = float(np.abs(new - here).max())
        here = new
        if change < 1e-14:
            break
    starts[own, other] = here


def _turn(after: Floats, bust: Floats, sides: int) -> tuple[Floats, Floats]:
    """Values of a turn for all numbers of points at risk, one row per pair of scores.

    ``after`` has what holding comes to, 1 where it wins; ``bust`` what a 1 leads to, and so
    does holding nothing.  Also the slopes of the values in ``bust``: how likely the turn ends
    with a 1 under the better choices.
    """
    rows, length = after.shape
    values = np.ones((rows, length + sides))
    slopes = np.zeros((rows, length + sides))
    for at_risk in range(length - 1, -1, -1):
        ahead = slice(at_risk + 2, at_risk + sides + 1)
        rolled = (bust + values[:, ahead].sum(axis=1)) / sides
        slope = (1.0 + slopes[:, ahead].sum(axis=1)) / sides
        if at_risk == 0:  # one must roll
            values[:, 0], slopes[:, 0] = rolled, slope
            break
        hold = after[:, at_risk]
        better = rolled > hold
        values[:, at_risk] = np.where(better, rolled, hold)
        slopes[:, at_risk] = np.where(better, slope, 0.0)
    return values[:, :length], slopes[:, :length]


def _check(game: Game) -> None:
    # Not isinstance: the abstract base is compiled, and takes each of its subclasses for all.
    if Pig not in type(game).__mro__:
        reason = "it is not pig"
    elif game.seats != 2:
        reason = f"it has {game.seats} seats"
    else:
        return
    raise GameMismatch(
        "the solution of pig",
        game.spec,
        reason,
        f"it is for two seats; {alternatives(game)}",
    )
