"""Chance nodes: checked options, and pruning by Star1 and Star2.

>>> sampler_of(0, seed=1)
Traceback (most recent call last):
ValueError: chance_samples=0: expected at least 1, or None for all outcomes
"""

from __future__ import annotations

import math
from typing import Any, Final

from plyhouse.games.base import Game
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.kernels.sampling import Sampler
from plyhouse.search.kernels.star import StarKernel
from plyhouse.search.limit import Limit, SearchResult
from plyhouse.search.trees.iterative_deepening import tree_search

__all__ = ["PRUNINGS", "checked_bounds", "sampler_of", "star_search"]

PRUNINGS: Final = ("none", "star1", "star2")
"""How expectiminimax may prune: not at all, by what is left of a chance node (Star1), or
after a look at one answer to each outcome (Star2)."""


def sampler_of(chance_samples: int | None, seed: int) -> Sampler | None:
    """Return the sampler of an option ``chance_samples``; None enumerates all outcomes."""
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
    """Return the bounds of all values: those given, or else those of the game's returns."""
    low, high = game.return_bounds if bounds is None else bounds
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"bounds={bounds!r}: expected two finite numbers, the least value first")
    return float(low), float(high)


def star_search(
    algorithm: str,
    ours: list[bool],
    game: Game,
    state: Any,
    limit: Limit,
    *,
    evaluate: Evaluation | None,
    seed: int,
    pruning: str,
    bounds: tuple[float, float] | None,
    chance_samples: int | None,
) -> SearchResult:
    """Search by Star1 or Star2 pruning, where ``ours[seat]`` says which seats maximise.

    Raises `ValueError` for another ``pruning``, and what `tree_search` raises.
    """
    if pruning not in PRUNINGS[1:]:
        raise ValueError(f"pruning={pruning!r}: expected {' or '.join(map(repr, PRUNINGS[1:]))}")
    sampler = sampler_of(chance_samples, seed)
    limits = checked_bounds(game, bounds)
    return tree_search(
        algorithm,
        StarKernel,
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
        extra=(ours, *limits, pruning == "star2", sampler),
        bounds=limits,
        sampler=sampler,
    )
