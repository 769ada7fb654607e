"""Pairs saved by stopping when it is clear, and how often that is wrong.

Pairs are simulated: two games of a player with known strength, of which a share is drawn.

* `Sprt` beside a fixed number of pairs with the same error rates (a test of the mean at both
  hypotheses), for several true strengths;
* `Grading` beside a fixed number of pairs that has the same error for a student whose mean score
  is 0.05 from a threshold.

    python benchmarks/sequential.py
    python benchmarks/sequential.py --runs 1000
"""

from __future__ import annotations

import argparse
import functools
import math
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from statistics import NormalDist

from plyhouse.clients.shared.output import plain_table
from plyhouse.server.results.sequential import Grading, GradingState
from plyhouse.server.results.sprt import Hypotheses, elo_score

DRAWS = 0.2
"""Share of drawn games; less for the strongest and weakest."""
ERROR = 0.05
Z = NormalDist().inv_cdf(1 - ERROR)
THRESHOLDS = (0.35, 0.5, 0.65)
NEAR = 0.05
"""How near to a threshold the fixed number is still to be right."""


def pairs(rng: random.Random, score: float) -> Iterator[float]:
    """Mean scores of pairs of independent games."""
    draws = min(DRAWS, score, 1 - score)
    wins = score - draws / 2
    while True:
        games = rng.choices((1.0, 0.5, 0.0), (wins, draws, 1 - wins - draws), k=2)
        yield sum(games) / 2


def variance(score: float) -> float:
    """Variance of the mean score of a pair."""
    draws = min(DRAWS, score, 1 - score)
    return (score - draws / 2 + draws / 4 - score**2) / 2


@functools.lru_cache(maxsize=1_000_000)
def llr(hypotheses: Hypotheses, counts: tuple[tuple[float, int], ...]) -> float:
    return hypotheses.llr(dict(counts))


def sprt_verdict(hypotheses: Hypotheses, values: Iterator[float]) -> tuple[bool, int]:
    """Return whether H1 was accepted, and after how many pairs."""
    lower, upper = hypotheses.bounds()
    counts: Counter[float] = Counter()
    for size, value in enumerate(values, 1):
        counts[value] += 1
        ratio = llr(hypotheses, tuple(sorted(counts.items())))
        if ratio >= upper or ratio <= lower:
            return ratio >= upper, size
    raise AssertionError("the pairs have no end")


def show_sprt(runs: int, rng: random.Random, elo1: float) -> None:
    hypotheses = Hypotheses(elo_score(0), elo_score(elo1), ERROR, ERROR)
    apart = hypotheses.mean1 - hypotheses.mean0
    fixed = math.ceil(
        (Z * (math.sqrt(variance(0.5)) + math.sqrt(variance(hypotheses.mean1))) / apart) ** 2
    )
    between = hypotheses.mean0 + apart / 2
    rows = []
    for share in (-1.0, 0.0, 0.5, 1.0, 2.0):
        score = elo_score(share * elo1)
        accepted, sizes, fixed_accepted = 0, [], 0
        for _ in range(runs):
            verdict, size = sprt_verdict(hypotheses, pairs(rng, score))
            accepted += verdict
            sizes.append(size)
            stream = pairs(rng, score)
            fixed_accepted += math.fsum(next(stream) for _ in range(fixed)) / fixed > between
        sizes.sort()
        rows.append(
            [
                f"{share * elo1:+.0f}",
                f"{100 * accepted / runs:.1f} %",
                f"{sum(sizes) / runs:.0f}",
                str(sizes[int(0.95 * runs)]),
                f"{100 * fixed_accepted / runs:.1f} %",
                str(fixed),
            ]
        )
    print(f"SPRT 0,{elo1:g} with errors of 5 %, {runs} runs each")
    columns = ["true Elo", "H1 accepted", "pairs", "95 % need", "fixed: H1", "fixed pairs"]
    print(plain_table(columns, rows, "rrrrrr"), "\n")


def show_grading(runs: int, rng: random.Random) -> None:
    fixed = math.ceil((Z / NEAR) ** 2 * variance(0.5))
    rows = []
    for score in (0.1, 0.25, 0.3, 0.42, 0.55, 0.6, 0.8, 0.95):
        right = bisect_right(THRESHOLDS, score)
        wrong, open_, total, fixed_wrong = 0, 0, 0, 0
        for _ in range(runs):
            grading = Grading(THRESHOLDS, maximum=1000, alpha=ERROR)
            stream = pairs(rng, score)
            while grading.decision.state is GradingState.OPEN:
                grading.add(next(stream))
            wrong += grading.decision.band not in (right, None)
            open_ += grading.decision.band is None
            total += grading.decision.pairs
            mean = math.fsum(next(stream) for _ in range(fixed)) / fixed
            fixed_wrong += bisect_right(THRESHOLDS, mean) != right
        rows.append(
            [
                f"{score:.2f}",
                f"{min(abs(score - threshold) for threshold in THRESHOLDS):.2f}",
                f"{total / runs:.0f}",
                f"{100 * wrong / runs:.1f} %",
                f"{100 * open_ / runs:.1f} %",
                str(fixed),
                f"{100 * fixed_wrong / runs:.1f} %",
            ]
        )
    limits = ", ".join(f"{threshold:g}" for threshold in THRESHOLDS)
    print(f"Grades at {limits}, until certain at 5 %, at most 1000 pairs, {runs} runs each")
    columns = ["mean score", "from threshold", "pairs", "wrong", "open", "fixed pairs", "wrong"]
    print(plain_table(columns, rows, "rrrrrrr"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400, help="simulated tests of each strength")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    for elo1 in (100.0, 50.0):
        show_sprt(arguments.runs, rng, elo1)
    show_grading(max(50, arguments.runs // 4), rng)


if __name__ == "__main__":
    main()
