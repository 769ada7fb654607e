"""Second rounds of Leduc poker, many solved at once: what a value network learns from.

Each subgame is given by the chips that each seat has paid, and by the *ranges* of both seats: how
likely each hand is.  Only the order of hands counts, not the card on the table.  *Low* and *high*
are the two ranks that are not on the table, with two cards each.  *Pair* is the one card that is
left of the rank on the table.  Therefore the three ranks on the table give the same subgame.

Ranges add up to 1 and contain how many cards a hand has.  The *value* of a hand is the sum, over
the opponent's hands, of their probabilities times what the hand wins against them, times `FITS`.
So it is a counterfactual value, in chips.  At a hand of the first seat the game is worth the
product of range and values; the same at the second, with the sign turned.

The solver is predictive CFR+ with averages weighted by the square of the iteration (Farina, Kroer
and Sandholm, "Faster game solving via predictive Blackwell approachability", AAAI 2021).
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PAID: Final = (1, 3, 5)
"""Chips of each seat with which a second round may begin."""
HANDS: Final = ("low", "high", "pair")
CARDS: Final = np.array([2.0, 2.0, 1.0])
"""How many cards each hand has."""
FITS: Final = np.array([[0.5, 1.0, 1.0], [1.0, 0.5, 1.0], [1.0, 1.0, 0.0]])
"""How likely a hand is dealt to the opponent of a hand, relative to a hand that shares no card."""

_WINS: Final = np.array([[0.0, -1.0, -1.0], [1.0, 0.0, -1.0], [1.0, 1.0, 0.0]])
_STAKE: Final = 4.0
_CHOICES: Final = (2, 3, 2)
"""Actions of each seat in its three information states of a hand.

The first seat opens (check, raise), or has checked and is raised (fold, call, raise), or has
raised and is raised (fold, call).  The second seat is checked to (check, raise), raised (fold,
call, raise), or has raised after a check and is raised (fold, call).
"""
_LATER: Final = (((0, 1), (1, 2)), ((1, 2),))
"""By seat, actions in its first information state after which it may act again, and where."""
_STARTS: Final = ((0,), (0, 1))
"""By seat, its information states in which it acts first."""


class RoundPolicies:
    """Regrets and policies of both seats in a round of bets, matched as in CFR+.

    Each is a list by seat and information state, of arrays whose first axis are the actions.
    """

    predictive: ClassVar[bool] = False
    """True to expect the last gains once more."""

    def __init__(self, *shape: int) -> None:
        """Begin with equal probabilities; ``shape`` is that of the hands."""
        shapes = [(width, *shape) for width in _CHOICES]
        self.regrets = [[np.zeros(each) for each in shapes] for _ in range(2)]
        self.sums = [[np.zeros(each) for each in shapes] for _ in range(2)]
        self.chances = [[np.full(each, 1 / each[0]) for each in shapes] for _ in range(2)]
        self.iterations = 0

    def update(self, seat: int, gains: list[list[Floats]]) -> None:
        """Update regrets of a seat, and its policy of the next iteration.

        ``gains`` has what each action wins without what follows the seat's next action.
        """
        for action, later in _LATER[seat]:
            gains[0][action] = gains[0][action] + self._learn(seat, later, gains[later])
        for place in _STARTS[seat]:
            self._learn(seat, place, gains[place])

    def _learn(self, seat: int, place: int, gains: list[Floats]) -> Floats:
        """Match the regrets of one information state; return its value before."""
        gain = np.stack(gains)
        chances = self.chances[seat][place]
        value: Floats = (chances * gain).sum(axis=0)
        regrets = self.regrets[seat][place]
        regrets += gain - value
        np.maximum(regrets, 0.0, out=regrets)
        expected = np.maximum(regrets + (gain - value), 0.0) if self.predictive else regrets
        total = expected.sum(axis=0)
        none = total <= 0.0
        chances[:] = expected / np.where(none, 1.0, total)
        chances[:, none] = 1 / len(gains)
        return value

    def count(self, seat: int, weight: float) -> None:
        """Add the policy of a seat to its average, weighted by the seat's own reach."""
        first, second, third = self.chances[seat]
        sums = self.sums[seat]
        sums[0] += weight * first
        sums[1] += weight * (first[0] if seat == 0 else 1.0) * second
        sums[2] += weight * first[1] * third

    def averages(self) -> list[list[Floats]]:
        """Return the average policy: by seat and information state, actions and hands."""
        found = []
        for own in self.sums:
            totals = [each.sum(axis=0) for each in own]
            found.append(
                [
                    np.where(total > 0, each / np.where(total > 0, total, 1.0), 1 / len(each))
                    for each, total in zip(own, totals, strict=True)
                ]
            )
        return found


class SecondRounds(RoundPolicies):
    """Subgames that are solved at the same time; ``values`` returns what was found.

    ``paid`` has the shape (n,), ``ranges`` (n, 2, 3): by seat and hand.

    >>> even = np.full((1, 2, 3), 1 / 3)
    >>> rounds = SecondRounds(np.array([1]), even)
    >>> rounds.run(500)
    >>> values, gap = rounds.values()
    >>> bool(gap.max() < 1e-3), values.shape
    (True, (1, 2, 3))
    """

    predictive = True

    def __init__(self, paid: NDArray[np.int64], ranges: Floats) -> None:
        self.paid = np.asarray(paid, float)
        self.ranges = np.ascontiguousarray(np.moveaxis(np.asarray(ranges, float), 0, -1))
        super().__init__(3, len(self.paid))

    def run(self, iterations: int) -> None:
        """Do so many more iterations for all subgames."""
        for _ in range(iterations):
            self.iterations += 1
            for seat in range(2):
                self.update(seat, self._ends(seat, self.chances[1 - seat]))
                self.count(seat, float(self.iterations) ** 2)

    def values(self) -> tuple[Floats, Floats]:
        """Return the values of all hands, shape (n, 2, 3), and how far they may be off, (n,).

        The values are those of best responses to the average policy.  If both policies were
        perfect, they would add up to 0 when weighted by the ranges; the rest is the gap.
        """
        chances = self.averages()
        found = np.stack([self._best(seat, chances[1 - seat]) for seat in range(2)])
        gap = (found * self.ranges).sum(axis=(0, 1))
        return np.moveaxis(found, -1, 0), gap

    def _ends(self, seat: int, other: list[Floats]) -> list[list[Floats]]:
        """Return what each action of a seat wins at the ends right after it, by hand.

        ``other`` is the policy of the opponent.
        """
        mine = self.ranges[1 - seat]
        raised, twice = self.paid + _STAKE, self.paid + 2 * _STAKE
        if seat == 0:
            checked, answer, last = other
            reaches = [
                mine * checked[0],
                mine * checked[1],
                mine * checked[1] * last[0],
                mine * checked[1] * last[1],
                mine * answer[0],
                mine * answer[1],
                mine * answer[2],
            ]
            stacked = np.stack(reaches)
            wins = _WINS @ stacked
            fits = FITS @ stacked
            return [
                [self.paid * wins[0], self.paid * fits[4] + raised * wins[5]],
                [-self.paid * fits[1], raised * wins[1], raised * fits[2] + twice * wins[3]],
                [-raised * fits[6], twice * wins[6]],
            ]
        opened, checked, raising = other
        reaches = [
            mine * opened[0],
            mine * opened[0] * checked[0],
            mine * opened[0] * checked[1],
            mine * opened[0] * checked[2],
            mine * opened[1],
            mine * opened[1] * raising[0],
            mine * opened[1] * raising[1],
        ]
        stacked = np.stack(reaches)
        wins = _WINS @ stacked
        fits = FITS @ stacked
        return [
            [self.paid * wins[0], self.paid * fits[1] + raised * wins[2]],
            [-self.paid * fits[4], raised * wins[4], raised * fits[5] + twice * wins[6]],
            [-raised * fits[3], twice * wins[3]],
        ]

    def _best(self, seat: int, other: list[Floats]) -> Floats:
        """Return the values of a best response of a seat, by hand."""
        gains = self._ends(seat, other)
        for action, later in _LATER[seat]:
            gains[0][action] = gains[0][action] + np.max(gains[later], axis=0)
        found: Floats = sum(np.max(gains[place], axis=0) for place in _STARTS[seat])
        return found


def deal_ranges(rng: np.random.Generator, count: int) -> Floats:
    """Return random ranges, shape (count, 2, 3).

    A hand's probability is proportional to its cards times a number between 0 and 1 to the power
    1/4, 1 or 3, the same for a whole range.  A tenth of the hands has the probability 0.
    """
    powers = rng.choice([0.25, 1.0, 3.0], (count, 2, 1))
    found: Floats = rng.random((count, 2, 3)) ** powers
    found *= rng.random((count, 2, 3)) >= 0.1
    found[found.sum(axis=2) == 0] = 1.0
    found *= CARDS
    found /= found.sum(axis=2, keepdims=True)
    return found
