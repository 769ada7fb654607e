"""External-sampling MCCFR for two seats whose betting does not depend on their cards.

The deal comes first: each seat has one number, its *bucket*, in each round, and a result of the
showdown.  So the tree is that of the betting alone, and a node of it has a table with a row for
each bucket.  `plyhouse.search.kernels.mccfr` walks through states instead, which suits games that
are small enough to enumerate their deals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["FOLDED", "SHOWN", "BettingKernel", "BettingNode", "fade"]

FOLDED: Final = -2
"""``mover`` of a node at which a seat has folded."""
SHOWN: Final = -3
"""``mover`` of a node with a showdown."""
ROUNDS: Final = 4


@final
class BettingNode:
    """A decision, or an end of the betting.

    ``stake`` are the chips that seat 0 wins after a fold; in a showdown, those that are won from
    the other seat.
    """

    def __init__(self, mover: int, street: int, stake: float) -> None:
        self.mover: i64 = mover
        self.street: i64 = street
        self.stake: float = stake
        self.kids: list[BettingNode] = []
        self.arms: i64 = 0
        self.regrets: list[float] = []
        self.totals: list[float] = []

    def spread(self, kids: list[BettingNode], buckets: int) -> None:
        """Set the nodes after each action, and begin tables for so many buckets."""
        self.kids = kids
        self.arms = len(kids)
        self.regrets = [0.0] * (len(kids) * buckets)
        self.totals = [0.0] * (len(kids) * buckets)


@final
class BettingKernel:
    """Walks through a tree of betting, one for each seat and deal."""

    def __init__(self, root: BettingNode) -> None:
        self.root = root
        self.random: i64 = 1
        self.nodes: i64 = 0
        self.result: float = 0.0
        """1 if seat 0 wins the showdown, 0 for a tie, -1 if it loses."""
        self.buckets: list[int] = [0] * (2 * ROUNDS)
        """Buckets of seat 0 by round, then those of seat 1."""

    def run(
        self,
        first: list[int],
        second: list[int],
        order: list[int],
        rows: list[list[int]],
        deals: int,
        seed: int,
    ) -> None:
        """Walk through ``deals`` random deals on one board.

        ``first`` and ``second`` are the cards of each pair, ``order`` its strength in a showdown or
        -1 if it is impossible, and ``rows`` its buckets by round.
        """
        self.random = (seed & 0x7FFF_FFFF) | 1
        pairs: i64 = len(order)
        left: i64 = deals
        while left > 0:
            one: i64 = self.drawn(pairs)
            two: i64 = self.drawn(pairs)
            if order[one] < 0 or order[two] < 0:
                continue
            a: i64 = first[one]
            b: i64 = second[one]
            c: i64 = first[two]
            d: i64 = second[two]
            if a == c or a == d or b == c or b == d:  # noqa: SIM109 - a tuple would box
                continue
            left -= 1
            street: i64 = 0
            while street < ROUNDS:
                row: list[int] = rows[street]
                self.buckets[street] = row[one]
                self.buckets[street + ROUNDS] = row[two]
                street += 1
            self.result = 0.0
            if order[one] > order[two]:
                self.result = 1.0
            elif order[one] < order[two]:
                self.result = -1.0
            self.walk(self.root, 0)
            self.walk(self.root, 1)

    def drawn(self, below: i64) -> i64:
        """Return a random number from 0 to ``below - 1``."""
        return (self.advanced() >> 8) % below

    def advanced(self) -> i64:
        """Return the next 32 bits of the xorshift of G. Marsaglia (2003)."""
        x: i64 = self.random
        x ^= (x << 13) & 0xFFFF_FFFF
        x ^= x >> 17
        x ^= (x << 5) & 0xFFFF_FFFF
        self.random = x
        return x

    def walk(self, node: BettingNode, seat: i64) -> float:
        """Return the sampled chips of ``seat``, trying all of its actions; update its regrets."""
        self.nodes += 1
        mover: i64 = node.mover
        if mover < 0:
            won: float = node.stake if mover == FOLDED else node.stake * self.result
            return won if seat == 0 else -won
        bucket: i64 = self.buckets[mover * ROUNDS + node.street]
        arms: i64 = node.arms
        base: i64 = bucket * arms
        regrets: list[float] = node.regrets
        # A seat has two actions or three; without a third one, its share is 0.
        zero: float = regrets[base]
        one: float = regrets[base + 1]
        two: float = regrets[base + 2] if arms > 2 else 0.0
        if zero < 0.0:
            zero = 0.0
        if one < 0.0:
            one = 0.0
        if two < 0.0:
            two = 0.0
        total: float = zero + one + two
        if total > 0.0:
            zero = zero / total
            one = one / total
            two = two / total
        else:
            zero = 1.0 / float(arms)
            one = zero
            two = zero if arms > 2 else 0.0
        kids: list[BettingNode] = node.kids
        if mover == seat:
            first: float = self.walk(kids[0], seat)
            second: float = self.walk(kids[1], seat)
            third: float = self.walk(kids[2], seat) if arms > 2 else 0.0
            mean: float = zero * first + one * second + two * third
            regrets[base] += first - mean
            regrets[base + 1] += second - mean
            if arms > 2:
                regrets[base + 2] += third - mean
            return mean
        totals: list[float] = node.totals
        totals[base] += zero
        totals[base + 1] += one
        if arms > 2:
            totals[base + 2] += two
        drawn: float = float(self.advanced()) / 4294967296.0
        if drawn < zero:
            return self.walk(kids[0], seat)
        if drawn < zero + one or arms == 2:
            return self.walk(kids[1], seat)
        return self.walk(kids[2], seat)


def fade(node: BettingNode, factor: float) -> None:
    """Multiply all regrets and totals from a node on by a factor."""
    if node.mover < 0:
        return
    regrets: list[float] = node.regrets
    totals: list[float] = node.totals
    place: i64 = 0
    count: i64 = len(regrets)
    while place < count:
        regrets[place] = regrets[place] * factor
        totals[place] = totals[place] * factor
        place += 1
    for kid in node.kids:
        fade(kid, factor)
