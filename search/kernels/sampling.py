"""Monte Carlo evaluation of chance nodes: a sample of the outcomes instead of all."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["Sampler"]


@final
class Sampler:
    """Draws ``count`` outcomes of a chance node, or leaves a node with no more as it is.

    The sample is stratified: the probabilities are laid side by side on the unit interval, which is
    cut in ``count`` equal parts, and one point is drawn in each.  So every outcome is drawn in
    proportion to its probability.  The mean of the sample is an unbiased estimate of the node's
    mean, with less variance than that of independent draws.

    All chance nodes of the same ply use the same points (common random numbers).  So actions are
    compared on equal luck, and a search that prunes sees the same tree as one that does not.
    """

    def __init__(self, count: int, seed: int) -> None:
        self.count: i64 = count
        self.seed: int = seed
        self.used: bool = False
        """True if any node had more outcomes than were drawn."""
        # points[ply], drawn when a chance node is first met there.
        self.points: list[list[float]] = []

    def drawn(self, ply: i64) -> list[float]:
        """Return the points of a ply, in rising order."""
        while len(self.points) <= ply:
            rng: random.Random = random.Random(f"chance {self.seed} {len(self.points)}")
            points: list[float] = []
            part: i64 = 0
            while part < self.count:
                offset: float = rng.random()
                points.append((float(part) + offset) / float(self.count))
                part += 1
            self.points.append(points)
        return self.points[ply]

    def outcomes(self, outcomes: Any, ply: i64) -> tuple[Any, ...]:
        """Sample (outcome, probability) pairs, each weighted by how often it was drawn."""
        known: tuple[Any, ...] = tuple(outcomes)
        count: i64 = self.count
        if len(known) <= count:
            return known
        self.used = True
        points: list[float] = self.drawn(ply)
        sample: list[Any] = []
        reached: float = 0.0
        at: i64 = 0
        last: i64 = len(known) - 1
        for index, (outcome, probability) in enumerate(known):
            share: float = probability
            reached += share
            hits: i64 = 0
            # Rounding may leave the sum below 1: the last outcome takes what remains.
            while at < count and (points[at] < reached or index == last):
                hits += 1
                at += 1
            if hits > 0:
                sample.append((outcome, float(hits) / float(count)))
        return tuple(sample)
