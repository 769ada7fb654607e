"""How many leaves alpha-beta looks at, against theory, on uniform trees.

python examples/node_counts.py              prints the table
python examples/node_counts.py FILE.svg     draws it as well (docs/pictures/node-counts.svg)

A uniform tree has b branches everywhere and its leaves at depth m.  Minimax looks at all b^m
leaves.  Alpha-beta looks at

- b^ceil(m/2) + b^floor(m/2) - 1 of them when the best branch always comes first: D. Knuth and
  R. Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975), corollary 1;
- about r^m in random order, r = x / (1 - x) where x^b + x = 1: J. Pearl, "The solution for the
  branching factor of the alpha-beta pruning algorithm and its optimality", Communications of
  the ACM 25 (1982); b^(3m/4) is the rule of thumb for it;
- all b^m in the worst order.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from plyhouse.games import TERMINAL
from plyhouse.games.trees import tree_game
from plyhouse.search import alpha_beta

TREES: Final = ((3, 10), (8, 6))
"""Branches, and the greatest depth."""
SEEDS: Final = 20
GAME: Final = tree_game("(-1 1)")
"""Two seats, zero-sum, returns from -1 to 1: what a search has to know of these trees."""


class UniformState:
    """A node: its number among those of its level, and the levels below it."""

    __slots__ = ("branches", "index", "left", "seen", "to_move", "value")

    def __init__(
        self,
        branches: int,
        left: int,
        value: Callable[[int], float],
        seen: list[int],
        index: int = 0,
        mover: int = 0,
    ) -> None:
        self.branches = branches
        self.left = left
        self.value = value
        self.seen = seen
        self.index = index
        self.to_move = mover if left else TERMINAL

    def actions(self) -> range | tuple[()]:
        return range(self.branches) if self.left else ()

    def after(self, action: int) -> UniformState:
        index = self.index * self.branches + action
        mover = 1 - self.to_move
        return UniformState(self.branches, self.left - 1, self.value, self.seen, index, mover)

    def chance_outcomes(self) -> tuple[()]:
        return ()

    def returns(self) -> tuple[float, float]:
        self.seen.append(self.index)
        value = self.value(self.index)
        return (value, -value)


def leaves(branches: int, depth: int, value: Callable[[int], float]) -> int:
    """Return how many leaves alpha-beta looks at; ``value(index)`` is for seat 0, leaves from the
    left.
    """
    seen: list[int] = []
    state: Any = UniformState(branches, depth, value, seen)
    alpha_beta(GAME, state, deepen=False)
    return len(seen)


def ordered(branches: int, depth: int, *, best_first: bool) -> Callable[[int], float]:
    """Values for which all below a branch is better for the mover than all below the next.

    Or worse: then what a player is sure of so far never reaches what comes, and nothing is cut.
    """
    count = branches**depth

    def value(index: int) -> float:
        # The digits of the index are the branches taken, those of the root first; MAX wants
        # large digits of the value, MIN small ones.
        number = 0
        for level in range(depth):
            digit = index // branches ** (depth - 1 - level) % branches
            falling = (level % 2 == 0) is best_first
            number = number * branches + (branches - 1 - digit if falling else digit)
        return float((2 * number + 1) / count - 1)

    return value


def shuffled(branches: int, depth: int, seed: int) -> Callable[[int], float]:
    """Independent random values."""
    rng = random.Random(seed)
    values = [rng.uniform(-1, 1) for _ in range(branches**depth)]
    return values.__getitem__


def knuth_moore(branches: int, depth: int) -> int:
    """Leaves in the best order, exactly."""
    return int(branches ** math.ceil(depth / 2) + branches ** (depth // 2) - 1)


def pearl(branches: int) -> float:
    """Return the branching factor of alpha-beta in random order."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle**branches + middle < 1:
            low = middle
        else:
            high = middle
    return low / (1 - low)


@dataclass(frozen=True)
class Counts:
    """Measurements at one depth."""

    branches: int
    depth: int
    best: int
    random: tuple[int, ...]
    worst: int

    @property
    def mean(self) -> float:
        """The mean over the random trees."""
        return sum(self.random) / len(self.random)


def measure(branches: int, depth: int, seeds: int = SEEDS) -> Counts:
    """Search trees in the best order, in random ones, and in the worst."""
    best = leaves(branches, depth, ordered(branches, depth, best_first=True))
    worst = leaves(branches, depth, ordered(branches, depth, best_first=False))
    found = [leaves(branches, depth, shuffled(branches, depth, seed)) for seed in range(seeds)]
    return Counts(branches, depth, best, tuple(found), worst)


def table(counts: list[Counts]) -> str:
    """Return the measurements beside the theory."""
    lines = ["  b   m       best     theory       random   b^(3m/4)      r^m      worst       b^m"]
    for row in counts:
        b, m = row.branches, row.depth
        lines.append(
            f"{b:3} {m:3} {row.best:10} {knuth_moore(b, m):10} {row.mean:12.1f} "
            f"{b ** (0.75 * m):10.1f} {pearl(b) ** m:8.1f} {row.worst:10} {b**m:9}"
        )
    return "\n".join(lines)


# The drawing: one panel per number of branches, leaves on a logarithmic scale.

WIDTH, HEIGHT, LEFT, TOP = 360, 300, 72, 56
STYLE: Final = """\
.paper{fill:#fff}text{font:12px system-ui,"DejaVu Sans",sans-serif;fill:#1b1f24}
.h{font-size:15px;font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}
.grid{stroke:#e3e7eb;fill:none}.axis{stroke:#59636e;fill:none}
.t{fill:none;stroke-width:1.5}.rule{stroke-dasharray:2 3}.pearl{stroke-dasharray:6 3}
.best{stroke:#4d7a21}.random,.rule,.pearl{stroke:#1f5fa8}.worst{stroke:#a8481f}
circle.best{fill:#4d7a21}circle.random{fill:#1f5fa8}circle.worst{fill:#a8481f}
@media(prefers-color-scheme:dark){.paper{fill:#15191e}text{fill:#e8ecf0}
.grid{stroke:#2b323a}.axis{stroke:#a3adb8}
.best{stroke:#a8d672}.random,.rule,.pearl{stroke:#7ab8ff}.worst{stroke:#ffab80}
circle.best{fill:#a8d672}circle.random{fill:#7ab8ff}circle.worst{fill:#ffab80}}"""
KEY: Final = (
    ("worst", "worst order: all b^m"),
    ("rule", "rule of thumb: b^(3m/4)"),
    ("pearl", "random order, Pearl: r^m"),
    ("random", f"random order, mean and range of {SEEDS} trees"),
    ("best", "best order, Knuth and Moore"),
)


def drawing(counts: list[Counts]) -> str:
    """Return the whole plot."""
    panels = sorted({row.branches for row in counts})
    wide = len(panels) * (WIDTH + LEFT) + 24
    high = TOP + HEIGHT + 60 + 20 * len(KEY)
    title = "Leaves that alpha-beta looks at in uniform trees"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" '
        f'width="{wide}" height="{high}"><title>{title}</title>',
        f"<style>\n{STYLE}\n</style>",
        f'<rect class="paper" width="{wide}" height="{high}"/>',
        f'<text class="h" x="16" y="28">{title}</text>',
    ]
    for number, branches in enumerate(panels):
        rows = [row for row in counts if row.branches == branches]
        parts.extend(panel(rows, LEFT + number * (WIDTH + LEFT)))
    for number, (css, words) in enumerate(KEY):
        y = TOP + HEIGHT + 60 + 20 * number
        parts.append(f'<path class="t {css}" d="M{LEFT} {y - 4}h32"/>')
        if css in ("best", "random", "worst"):
            parts.append(f'<circle class="{css}" cx="{LEFT + 16}" cy="{y - 4}" r="3"/>')
        parts.append(f'<text x="{LEFT + 42}" y="{y}">{words}</text>')
    return "\n".join([*parts, "</svg>\n"])


def panel(rows: list[Counts], left: int) -> Iterator[str]:
    """One number of branches."""
    branches, deepest = rows[0].branches, rows[-1].depth
    top = math.ceil(deepest * math.log10(branches))

    def x(depth: float) -> float:
        return left + depth / deepest * (WIDTH - 24)

    def y(count: float) -> float:
        return TOP + HEIGHT - math.log10(count) / top * HEIGHT

    def curve(css: str, count: Callable[[int], float]) -> str:
        points = " ".join(f"{x(m):.1f} {y(count(m)):.1f}" for m in range(deepest + 1))
        return f'<path class="t {css}" d="M{points}"/>'

    for power in range(top + 1):
        at = y(10**power)
        yield f'<path class="grid" d="M{left} {at:.1f}H{x(deepest):.1f}"/>'
        words = f"{10**power:,}"
        yield f'<text class="e" x="{left - 6}" y="{at + 4:.1f}">{words}</text>'
    yield f'<path class="axis" d="M{left} {TOP}V{TOP + HEIGHT}H{x(deepest):.1f}"/>'
    for depth in range(deepest + 1):
        yield f'<text class="m" x="{x(depth):.1f}" y="{TOP + HEIGHT + 16}">{depth}</text>'
    middle = x(deepest / 2)
    yield f'<text class="m" x="{middle:.1f}" y="{TOP + HEIGHT + 34}">depth m</text>'
    yield f'<text x="{left + 8}" y="{TOP + 8}">{branches} branches</text>'
    yield curve("worst", lambda m: branches**m)
    yield curve("rule", lambda m: branches ** (0.75 * m))
    yield curve("pearl", lambda m: pearl(branches) ** m)
    yield curve("best", lambda m: knuth_moore(branches, m))
    for row in rows:
        at = x(row.depth)
        low, high = y(min(row.random)), y(max(row.random))
        yield f'<path class="t random" d="M{at:.1f} {low:.1f}V{high:.1f}"/>'
        for css, count in (("worst", row.worst), ("random", row.mean), ("best", row.best)):
            yield f'<circle class="{css}" cx="{at:.1f}" cy="{y(count):.1f}" r="3"/>'


def measurements() -> list[Counts]:
    """Return all that is drawn."""
    return [measure(b, m) for b, deepest in TREES for m in range(1, deepest + 1)]


def main() -> int:
    """Measure, print, and draw."""
    counts = measurements()
    sys.stdout.write(table(counts) + "\n")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(drawing(counts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
