"""Training of a policy for heads-up limit hold'em by external-sampling MCCFR.

A step draws a flop, a turn and some rivers, sorts all hands into buckets, and walks through random
deals (`plyhouse.search.kernels.betting_walks`; M. Lanctot and others, NIPS 2009).  Regrets and
averages of earlier deals fade as in linear CFR (N. Brown and T. Sandholm, "Solving
imperfect-information games via discounted regret minimization", AAAI 2019).

Flops that differ in suits only are one.  On a flop, E[HS] and E[HS^2] are means of `RUNOUTS` random
boards, as exact ones would take half of the time.  On the turn and the river they are exact.

Step n of a seed always has the same deals, so a training that continues from a checkpoint gives the
same policy as one that was never interrupted.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.hidden.texas_holdem.expected_strength import (
    PAIRS,
    pair_strengths,
    showdown_order,
)
from plyhouse.games.playing_cards import PACK
from plyhouse.learning.checkpoints import Training
from plyhouse.learning.limit_holdem import (
    Buckets,
    LimitPolicy,
    betting_tree,
    decisions,
    preflop_class,
    stored_rows,
)
from plyhouse.search.kernels.betting_walks import BettingKernel, fade

RUNOUTS: Final = 150
RIVERS: Final = 4
"""Rivers of each turn in a step."""
FADING: Final = 20_000
"""Deals between two times that regrets and averages fade."""
FIRST: Final = [first for first, _ in PAIRS]
SECOND: Final = [second for _, second in PAIRS]

Strengths = tuple[NDArray[np.float64], NDArray[np.float64]]
"""E[HS] and E[HS^2] of all pairs of cards; -1 where a card is on the board."""


@dataclass(frozen=True)
class LimitSettings:
    """Settings that, with the number of deals, determine the result of a training."""

    seed: int = 0
    parts: tuple[int, ...] = (40, 40, 50)
    """Parts by E[HS^2] on the flop, the turn and the river."""
    finer: tuple[int, ...] = (3, 3, 1)
    """Parts of each of them by E[HS]."""
    deals: int = 100
    """Deals of each river in a step."""
    boards: int = 150
    """Boards of each round that the bounds of the buckets come from."""


class FlopTable:
    """E[HS] and E[HS^2] on boards; those of flops are kept."""

    def __init__(self) -> None:
        self.flops: dict[tuple[int, ...], Strengths] = {}

    def strengths(self, board: tuple[int, ...]) -> Strengths:
        """Return E[HS] and E[HS^2] of all pairs on a board, which has one of the flops in use."""
        if len(board) > 3:
            means, squares = pair_strengths(board)
            return np.array(means), np.array(squares)
        if board not in self.flops:
            self.flops[board] = sampled_strengths(board, random.Random(f"{board}"))
        return self.flops[board]


class LimitTraining(Training):
    """A policy in training."""

    form = "plyhouse-limit-holdem-training-2"
    settings_type = LimitSettings
    counters = ("played", "steps", "faded")

    def __init__(self, settings: LimitSettings, buckets: Buckets | None = None) -> None:
        self.settings = settings
        self.table = FlopTable()
        self.buckets = buckets or self.bounds()
        self.root = betting_tree(self.buckets.counts())
        self.nodes = decisions(self.root)
        self.kernel = BettingKernel(self.root)
        self.preflop = [preflop_class(first, second) for first, second in PAIRS]
        self.played = 0
        """Deals so far."""
        self.steps = 0
        self.faded = 0
        self.curve: list[tuple[int, float, float]] = []
        """Nothing: `benchmarks/local_best_response.py` measures a policy."""

    def bounds(self) -> Buckets:
        """Return the bounds of the buckets, from random boards."""
        rng = random.Random(f"{self.settings.seed} bounds")
        samples: list[list[tuple[float, float]]] = [[], [], []]
        for _ in range(self.settings.boards):
            cards = rng.sample(range(PACK), 5)
            boards = (canonical(tuple(cards[:3])), tuple(cards[:4]), tuple(cards))
            for sample, board in zip(samples, boards, strict=True):
                means, squares = self.table.strengths(board)
                possible = np.flatnonzero(means >= 0.0).tolist()
                for pair in rng.sample(possible, 200):
                    sample.append((float(means[pair]), float(squares[pair])))
        return Buckets.of_samples(samples, self.settings.parts, self.settings.finer)

    def row(self, board: tuple[int, ...]) -> list[int]:
        """Return the bucket of each pair of cards on a board."""
        found: list[int] = self.buckets.of_all(
            len(board) - 2, *self.table.strengths(board)
        ).tolist()
        return found

    def step(self) -> None:
        """Walk through the deals of one turn."""
        rng = random.Random(f"{self.settings.seed} {self.steps}")
        flop = canonical(tuple(rng.sample(range(PACK), 3)))
        rest = rng.sample([card for card in range(PACK) if card not in flop], 1 + RIVERS)
        turn = (*flop, rest[0])
        rows = [self.preflop, self.row(flop), self.row(turn)]
        for card in rest[1:]:
            board = (*turn, card)
            self.kernel.run(
                FIRST,
                SECOND,
                showdown_order(board),
                [*rows, self.row(board)],
                self.settings.deals,
                rng.getrandbits(31),
            )
        self.steps += 1
        self.played += RIVERS * self.settings.deals
        while self.played >= (self.faded + 1) * FADING:
            self.faded += 1
            fade(self.root, self.faded / (self.faded + 1))

    @property
    def policy(self) -> LimitPolicy:
        """The average policy so far."""
        return LimitPolicy(self.buckets, stored_rows(self.root), self.played, self.settings.seed)

    def text(self) -> str:
        """Return the average policy as a file."""
        return self.policy.text()

    def head(self) -> dict[str, Any]:
        """Return the counters and the bounds of the buckets."""
        return super().head() | asdict(self.buckets)

    @classmethod
    def construct(cls, settings: LimitSettings, head: Mapping[str, Any]) -> Self:
        """Return a training with the buckets of a checkpoint."""
        return cls(settings, Buckets(head["squares"], head["means"]))

    def arrays(self) -> list[NDArray[Any]]:
        """Return the regrets and the totals of all decisions."""
        return [
            np.concatenate([node.regrets for node in self.nodes]),
            np.concatenate([node.totals for node in self.nodes]),
        ]

    def restore(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Continue with the regrets and totals of a checkpoint."""
        regrets, totals = arrays
        at = 0
        for node in self.nodes:
            size = len(node.regrets)
            node.regrets = regrets[at : at + size].tolist()
            node.totals = totals[at : at + size].tolist()
            at += size


def canonical_suits(flop: tuple[int, ...]) -> tuple[int, ...]:
    """Return for each suit the one that replaces it, so that equal flops become the same."""
    return min(itertools.permutations(range(4)), key=lambda suits: renamed(flop, suits))


def canonical(flop: tuple[int, ...]) -> tuple[int, ...]:
    """Return one flop for all that differ in suits and order only.

    >>> canonical((50, 1, 6)) == canonical((49, 2, 5))
    True
    """
    return renamed(flop, canonical_suits(flop))


def renamed(cards: tuple[int, ...], suits: tuple[int, ...]) -> tuple[int, ...]:
    """Return cards in their order with other suits."""
    return tuple(sorted([4 * (card // 4) + suits[card % 4] for card in cards]))


def sampled_strengths(board: tuple[int, ...], rng: random.Random) -> Strengths:
    """Return means over some random full boards, the same for all pairs of cards."""
    left = [card for card in range(PACK) if card not in board]
    sums, squares, counts = np.zeros((3, len(PAIRS)))
    for _ in range(RUNOUTS):
        shares = np.array(pair_strengths((*board, *rng.sample(left, 5 - len(board))))[0])
        possible = shares >= 0.0
        sums[possible] += shares[possible]
        squares[possible] += shares[possible] ** 2
        counts += possible
    shown = np.isin(FIRST, board) | np.isin(SECOND, board)
    counts = np.maximum(counts, 1)
    return np.where(shown, -1.0, sums / counts), np.where(shown, -1.0, squares / counts)
