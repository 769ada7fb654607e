"""Options that the searches through chance nodes share, checked before a search begins.

>>> sampler_of(0, seed=1)
Traceback (most recent call last):
ValueError: chance_samples=0: expected at least 1, or None for all outcomes
"""

from __future__ import annotations

import math
from typing import Any, Final

from plyhouse.games.base import Game
from plyhouse.search.kernels.sampling import Sampler

__all__ = ["PRUNINGS", "checked_bounds", "sampler_of", "star_options"]

PRUNINGS: Final = ("none", "star1", "star2")
"""How expectiminimax may prune: not at all, by what is left of a chance node (Star1), or
after a look at one answer to each outcome (Star2)."""


def sampler_of(chance_samples: int | None, seed: int) -> Sampler | None:
    """The sampler of an option ``chance_samples``; None enumerates all outcomes."""
    if chance_samples is None:
        return None
    if isinstance(chance_samples, bool) or not isinstance(chance_samples, int):
        raise TypeError(f"chance_samples={chance_samples!r}: expected a whole number or None")
    if chance_samples < 1:
        raise ValueError(
            f"chance_samples={chance_samples}: expected at least 1, or None for all outcomes"
        )
    return Sampler(chance_samples, seed)


def checked_bounds(game: Game, bounds: tuple[float, float] | None) -> tuple[float, float]:
    """The bounds of all values: those given, or else those of the game's returns."""
    low, high = game.return_bounds if bounds is None else bounds
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"bounds={bounds!r}: expected two finite numbers, the least value first")
    return float(low), float(high)


def star_options(
    ours: list[bool], bounds: tuple[float, float], pruning: str, sampler: Sampler | None
) -> tuple[Any, ...]:
    """What the kernel of Star1 and Star2 takes besides; raises `ValueError` for others."""
    if pruning not in PRUNINGS[1:]:
        raise ValueError(f"pruning={pruning!r}: expected {' or '.join(map(repr, PRUNINGS[1:]))}")
    return ours, *bounds, pruning == "star2", sampler
