"""``linear``: alpha-beta with a weighted sum of features: ``linear(file="weights.toml")``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plyhouse.bots import SearchBot, Turn
from plyhouse.search.evaluation.features import FEATURES
from plyhouse.search.evaluation.linear_evaluation import LinearEvaluation
from plyhouse.search.trees.alpha_beta import alpha_beta

__all__ = ["LinearBot"]


class LinearBot(SearchBot):
    """Deepens an alpha-beta search whose evaluation is linear, with weights that can be tuned.

    ``file`` is what ``plyhouse tune`` has written; without it the features' own weights count.
    """

    name = "linear"
    reads = ("file",)

    def __init__(
        self,
        file: str = "",
        time: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
    ) -> None:
        super().__init__(time=time, depth=depth, nodes=nodes)
        self.file = file
        self.evaluation: LinearEvaluation | None = None

    @classmethod
    def claims(cls) -> Sequence[str]:
        """Return the games that have features."""
        return sorted(FEATURES)

    def choose(self, turn: Turn) -> Any:
        """Return the best action that the search found in time."""
        if self.evaluation is None:
            game = turn.game
            self.evaluation = (
                LinearEvaluation.load(self.file, game) if self.file else LinearEvaluation(game)
            )
        limit = self.limit(turn)
        return self.say(
            turn,
            alpha_beta(
                turn.game, turn.state, limit, evaluate=self.evaluation, seed=self.seed(turn)
            ),
        )
