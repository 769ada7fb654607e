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

import io
import itertools
import json
import random
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.hidden.texas_holdem.expected_strength import (
    PAIRS,
    pair_strengths,
    showdown_order,
)
from plyhouse.games.playing_cards import PACK
from plyhouse.learning.limit_holdem import (
    Buckets,
    LimitPolicy,
    betting_tree,
    decisions,
    preflop_class,
    stored_rows,
)
from plyhouse.search.files import InvalidFile, write_atomically
from plyhouse.search.kernels.betting_walks import BettingKernel, fade

VERSION: Final = "plyhouse-limit-holdem-training-1"
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


class LimitTraining:
    """A policy in training: ``run`` goes on, ``save`` and ``load`` keep it."""

    def __init__(self, settings: LimitSettings, buckets: Buckets | None = None) -> None:
        self.settings = settings
        self.table = FlopTable()
        self.buckets = buckets or self.bounds()
        self.root = betting_tree(self.buckets.counts())
        self.nodes = decisions(self.root)
        self.kernel = BettingKernel(self.root)
        self.preflop = [preflop_class(first, second) for first, second in PAIRS]
        self.steps = 0
        self.faded = 0
        self.curve: list[tuple[int, float, float]] = []
        """Nothing: `benchmarks/local_best_response.py` measures a policy."""

    @property
    def played(self) -> int:
        """Deals so far."""
        return self.steps * RIVERS * self.settings.deals

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

    def run(self, deals: int) -> None:
        """Go on until at least so many deals were walked through."""
        while self.played < deals:
            self.step()

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

    def save(self, path: str | Path) -> None:
        """Write a checkpoint.  Raises `OSError`."""
        head = {
            "format": VERSION,
            "settings": asdict(self.settings),
            "squares": self.buckets.squares,
            "means": self.buckets.means,
            "steps": self.steps,
            "faded": self.faded,
        }
        content = io.BytesIO()
        np.savez(
            content,
            head=np.array(json.dumps(head)),
            regrets=np.concatenate([node.regrets for node in self.nodes]),
            totals=np.concatenate([node.totals for node in self.nodes]),
        )
        write_atomically(path, content.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> LimitTraining:
        """Continue from a checkpoint.  Raises `InvalidFile` or `OSError`."""
        try:
            with np.load(io.BytesIO(Path(path).read_bytes())) as stored:
                head = json.loads(str(stored["head"]))
                regrets, totals = stored["regrets"], stored["totals"]
            if head["format"] != VERSION:
                raise InvalidFile(path, f"is of another version than {VERSION}")
            given = head["settings"]
            for name in ("parts", "finer"):
                given[name] = tuple(given[name])
            squares = tuple([tuple(bounds) for bounds in head["squares"]])
            means = tuple([tuple([tuple(part) for part in parts]) for parts in head["means"]])
            training = cls(LimitSettings(**given), Buckets(squares, means))
            training.steps, training.faded = head["steps"], head["faded"]
        except (ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            if isinstance(error, InvalidFile):
                raise
            raise InvalidFile(path, f"is no checkpoint of a training: {error}") from None
        at = 0
        for node in training.nodes:
            size = len(node.regrets)
            node.regrets = regrets[at : at + size].tolist()
            node.totals = totals[at : at + size].tolist()
            at += size
        if at != len(regrets) or at != len(totals):
            raise InvalidFile(path, f"is damaged: it has {len(regrets)} regrets instead of {at}")
        return training


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
