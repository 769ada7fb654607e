"""Self-play of backgammon by a small network, and what it may learn from it by TD(lambda).

The chances of every position should move towards those of the positions that followed (G. Tesauro,
"Temporal difference learning and TD-Gammon", Communications of the ACM 38, 1995).  The targets are
the lambda-returns of R. Sutton and A. Barto, "Reinforcement Learning" (2018), section 12.1.

A position is seen by the seat that rolls next: its checkers are the first side.  Moving a checker
subtracts one row of weights from the sums of the hidden units and adds another, so that the turns
of a roll cost a few rows each.  `plyhouse.games.stochastic.backgammon.estimate` defines the five
chances, and the game's own network for races, where matches of self-play end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from plyhouse.games.stochastic.backgammon.estimate import chances_of, is_race
from plyhouse.games.stochastic.backgammon.rules import START
from plyhouse.games.stochastic.backgammon.turns import apply_turn, turns_of

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["LONGEST", "BackgammonLearningKernel", "flipped", "row_scale"]

PLACES: Final = 26
ROWS: Final = 4
"""Rows of weights of a place: of its first, second and third checker, and of each further one."""
CHANCES: Final = 5
OFF: Final = 0
BAR: Final = 25
CHECKERS: Final = 15
LONGEST: Final = 2000
"""Plies after which a match is given up: the first networks may go round in circles."""


def row_scale(place: int, row: int) -> float:
    """Return the size of an input for one checker: a row is its weight times this.

    >>> row_scale(0, 0), row_scale(25, 0), row_scale(6, 1), row_scale(6, 3)
    (0.06666666666666667, 0.5, 1.0, 0.5)
    """
    if place == OFF:
        return 1.0 / CHECKERS
    if place == BAR or row == ROWS - 1:
        return 0.5
    return 1.0


def flipped(chances: list[float]) -> list[float]:
    """Return the five chances as the other seat sees them.

    >>> flipped([0.75, 0.25, 0.125, 0.0625, 0.0])
    [0.25, 0.0625, 0.0, 0.25, 0.125]
    """
    return [1.0 - chances[0], chances[3], chances[4], chances[1], chances[2]]


@final
class BackgammonLearningKernel:
    """A network that plays itself.

    ``rows`` has the weights of the hidden units at ``(PLACES * side + place) * ROWS + row``, times
    `row_scale`; side 0 rolls next.  ``out`` has five weights of each hidden unit.  ``trace`` is
    lambda.
    """

    def __init__(
        self,
        rows: list[list[float]],
        bias: list[float],
        out: list[float],
        out_bias: list[float],
        trace: float,
    ) -> None:
        self.rows: list[list[float]] = rows
        self.bias: list[float] = bias
        self.out: list[float] = out
        self.out_bias: list[float] = out_bias
        self.trace: float = trace
        self.hidden: i64 = len(bias)
        self.positions: list[bytes] = []
        """Positions of the matches played: the side that rolls next, then the other."""
        self.targets: list[list[float]] = []
        """The five chances that each of them should have."""
        self.ended: bool = False
        """Whether the turn chosen last led to the end or into a race."""
        self.best: list[float] = []
        """The chances after the turn chosen last, for the seat that rolls next."""
        self.zero: float = 0.0
        self.one: float = 0.0
        self.two: float = 0.0
        self.three: float = 0.0
        self.four: float = 0.0

    def sums(self, first: list[int], second: list[int]) -> list[float]:
        """Return the sums of the hidden units; ``first`` is the side that rolls next."""
        active: list[list[float]] = []
        at: i64 = 0
        count: i64 = 0
        place: i64 = 0
        while place < 2 * PLACES:
            count = first[place] if place < PLACES else second[place - PLACES]
            at = 0
            while at < count:
                active.append(self.rows[place * ROWS + row_of(place, at)])
                at += 1
            place += 1
        bias: list[float] = self.bias
        found: list[float] = []
        unit: i64 = 0
        while unit < self.hidden:
            total: float = bias[unit]
            for row in active:
                total += row[unit]
            found.append(total)
            unit += 1
        return found

    def evaluate(
        self, base: list[float], plus: list[list[float]], minus: list[list[float]]
    ) -> float:
        """Set the five chances of sums with some rows added and others taken away.

        Returns the points that the seat that rolls next may expect.
        """
        out: list[float] = self.out
        out_bias: list[float] = self.out_bias
        zero: float = out_bias[0]
        one: float = out_bias[1]
        two: float = out_bias[2]
        three: float = out_bias[3]
        four: float = out_bias[4]
        count: i64 = len(plus)
        unit: i64 = 0
        at: i64 = 0
        if count == 2:
            # Most turns move two checkers and hit nothing.
            plus_a: list[float] = plus[0]
            plus_b: list[float] = plus[1]
            minus_a: list[float] = minus[0]
            minus_b: list[float] = minus[1]
            while unit < self.hidden:
                sum2: float = base[unit] + (plus_a[unit] - minus_a[unit])
                sum2 += plus_b[unit] - minus_b[unit]
                given2: float = sum2 / (1.0 + abs(sum2))
                zero += given2 * out[at]
                one += given2 * out[at + 1]
                two += given2 * out[at + 2]
                three += given2 * out[at + 3]
                four += given2 * out[at + 4]
                at += CHANCES
                unit += 1
        else:
            while unit < self.hidden:
                total: float = base[unit]
                index: i64 = 0
                while index < count:
                    total += plus[index][unit] - minus[index][unit]
                    index += 1
                given: float = total / (1.0 + abs(total))
                zero += given * out[at]
                one += given * out[at + 1]
                two += given * out[at + 2]
                three += given * out[at + 3]
                four += given * out[at + 4]
                at += CHANCES
                unit += 1
        self.zero = 1.0 / (1.0 + math.exp(-zero))
        self.one = 1.0 / (1.0 + math.exp(-one))
        self.two = 1.0 / (1.0 + math.exp(-two))
        self.three = 1.0 / (1.0 + math.exp(-three))
        self.four = 1.0 / (1.0 + math.exp(-four))
        return 2.0 * self.zero - 1.0 + self.one + self.two - self.three - self.four

    def chances(self, first: list[int], second: list[int]) -> list[float]:
        """Return the network's five chances of the seat that rolls next, the first side."""
        self.evaluate(self.sums(first, second), [], [])
        return [self.zero, self.one, self.two, self.three, self.four]

    def choose(self, mine: list[int], theirs: list[int], dice: int) -> int:
        """Return the turn after which the other seat may expect the fewest points.

        Sets ``best`` and ``ended``; the sides stay as they are.
        """
        large: i64 = dice // 10
        small: i64 = dice % 10
        rows: list[list[float]] = self.rows
        turns: list[int] = turns_of(mine, theirs, dice)
        base: list[float] = self.sums(theirs, mine)
        near: bool = self.may_pass(mine, theirs, 4 if large == small else 2)
        plus: list[list[float]] = []
        minus: list[list[float]] = []
        least: float = 100.0
        chosen: int = turns[0]
        self.ended = False
        for turn in turns:
            if near:
                known: list[float] = self.known(mine, theirs, dice, turn)
                if known:
                    points: float = 2.0 * known[0] - 1.0 + known[1] + known[2]
                    points -= known[3] + known[4]
                    if points < least:
                        least = points
                        chosen = turn
                        self.best = known
                        self.ended = True
                    continue
            plus.clear()
            minus.clear()
            own: list[int] = mine[:]
            hit: i64 = 0
            rest: i64 = turn
            number: i64 = 0
            while rest != 0:
                point: i64 = rest & 31
                rest = rest >> 5
                if point != 0:
                    to: i64 = point - (small if number == 1 else large)
                    if to < 0:
                        to = 0
                    count: i64 = own[point] - 1
                    own[point] = count
                    minus.append(rows[(PLACES + point) * ROWS + row_of(point, count)])
                    count = own[to]
                    own[to] = count + 1
                    plus.append(rows[(PLACES + to) * ROWS + row_of(to, count)])
                    if to > 0 and theirs[25 - to] == 1 and hit & (1 << to) == 0:
                        hit = hit | (1 << to)
                        minus.append(rows[(25 - to) * ROWS])
                        plus.append(rows[BAR * ROWS])
                number += 1
            points = self.evaluate(base, plus, minus)
            if points < least:
                least = points
                chosen = turn
                self.best = [self.zero, self.one, self.two, self.three, self.four]
                self.ended = False
        return chosen

    def may_pass(self, mine: list[int], theirs: list[int], dice: i64) -> bool:
        """Return whether so many dice might end the contact; a cheap bound."""
        farthest: i64 = 25
        while farthest > 0 and theirs[farthest] == 0:
            farthest -= 1
        point: i64 = 25 - farthest
        behind: i64 = 0
        while point < PLACES:
            if point > 0:
                behind += mine[point]
            point += 1
        return behind <= dice

    def known(self, mine: list[int], theirs: list[int], dice: int, turn: int) -> list[float]:
        """Return the chances after a turn that ends the match or the contact; [] after others."""
        own: list[int] = mine[:]
        other: list[int] = theirs[:]
        apply_turn(own, other, dice, turn)
        if own[0] == CHECKERS:
            gammon: float = 1.0 if other[0] == 0 else 0.0
            point: i64 = 25
            while point > 18 and other[point] == 0:
                point -= 1
            return [0.0, 0.0, 0.0, gammon, gammon if point > 18 else 0.0]
        if is_race(tuple(other), tuple(own)):
            return chances_of(tuple(other), tuple(own))
        return []

    def play(self, draw: Callable[[], float]) -> bool:
        """Play a match against itself and add its positions and targets.

        ``draw`` gives random numbers from 0 to 1, without 1.  Returns False, and adds nothing, if
        the match was given up after `LONGEST` plies.
        """
        mine: list[int] = list(START)
        theirs: list[int] = list(START)
        positions: list[list[int]] = []
        values: list[list[float]] = []
        while True:
            one: int = int(draw() * 6.0) + 1
            two: int = int(draw() * 6.0) + 1
            while len(values) == 0 and one == two:
                one = int(draw() * 6.0) + 1
                two = int(draw() * 6.0) + 1
            dice: int = 10 * one + two if one > two else 10 * two + one
            turn: int = self.choose(mine, theirs, dice)
            if self.ended:
                break
            if len(values) == LONGEST:
                return False
            apply_turn(mine, theirs, dice, turn)
            swap: list[int] = mine
            mine = theirs
            theirs = swap
            positions.append(mine + theirs)
            values.append(self.best)
        after: list[float] = flipped(self.best)
        trace: float = self.trace
        ply: i64 = len(values) - 1
        while ply >= 0:
            self.positions.append(bytes(positions[ply]))
            self.targets.append(after)
            value: list[float] = values[ply]
            after = flipped(
                [
                    (1.0 - trace) * value[0] + trace * after[0],
                    (1.0 - trace) * value[1] + trace * after[1],
                    (1.0 - trace) * value[2] + trace * after[2],
                    (1.0 - trace) * value[3] + trace * after[3],
                    (1.0 - trace) * value[4] + trace * after[4],
                ]
            )
            ply -= 1
        return True


def row_of(place: i64, count: i64) -> i64:
    """Return the row that one more checker adds to a place of either side with ``count``."""
    if place % PLACES == OFF or place % PLACES == BAR:
        return 0
    return count if count < ROWS else ROWS - 1
