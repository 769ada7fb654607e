"""PUCT in many positions at the same time, with one call of a network for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from plyhouse.learning.board_views import BoardView, Floats
from plyhouse.search.kernels.self_play import SelfPlayTree

EXPLORATION: Final = 1.25
"""Weight of the priors, as in `plyhouse.search.monte_carlo.puct.puct`."""

Apply = Callable[[Floats], tuple[Floats, Floats]]


def search_together(
    trees: Sequence[SelfPlayTree], simulations: int, view: BoardView, apply: Apply
) -> None:
    """Add simulations to trees; each call of the network serves one position of every tree."""
    for _ in range(simulations):
        reached = [(tree, state) for tree in trees if (state := tree.descend()) is not None]
        if reached:
            evaluate([tree for tree, _ in reached], [state for _, state in reached], view, apply)


def evaluate(
    trees: Sequence[SelfPlayTree], states: Sequence[Any], view: BoardView, apply: Apply
) -> None:
    """Complete the simulations that reached these states."""
    logits, values = apply(view.encode(view.words(states)))
    for tree, row, value in zip(trees, logits.tolist(), values.tolist(), strict=True):
        tree.receive(row, value)
