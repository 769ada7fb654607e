"""What a judge says of one ply, and which judge fits a game.

A judge is asked about a position in which a seat is to move, and about the action that was played
there.  It answers what that action is worth to the seat, what the best one is worth, and how
certain that is.  The choice follows `plyhouse.search.choice.recommended`, after what can be
solved outright.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

from plyhouse.games.base import Game

__all__ = ["Judge", "Judgement", "judge_for"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one ply was worth to the seat that played it, in the game's returns."""

    best_action: Any
    best: float
    played: float | None
    """None where nothing was played, or the judge never tried what was."""
    certainty: str
    """``exact``, ``depth 6``, ``sampled 4,000``: how it is known."""
    exact: bool
    """Whether both values are those of perfect play."""
    error: float = inf
    """How far the difference of the two may be off, where that can be said: 0 if it is exact, two
    standard errors at most where it is sampled, infinite for an estimate at a depth."""

    @property
    def drop(self) -> float:
        """What the choice cost: never negative."""
        return 0.0 if self.played is None else max(0.0, self.best - self.played)


class Judge(Protocol):
    """Values what was played."""

    method: str
    """How it does so, in words for people."""

    def judge(self, state: Any, action: Any | None, seconds: float) -> Judgement:
        """Judge ``action`` (None: only the position) in about so many seconds."""
        ...


def judge_for(game: Game, seconds: float) -> Judge:
    """The judge that knows most about a game; preparing it may take so many seconds."""
    from plyhouse.clients.review import estimates, exact
    from plyhouse.games.base import Information
    from plyhouse.search.choice import SOLVABLE, histories, recommended
    from plyhouse.search.fitness import fitting_algorithms

    if game.info.information is Information.IMPERFECT:
        if histories(game) <= SOLVABLE:
            return exact.EquilibriumJudge(game, seconds)
        return estimates.InformationSetJudge(game)
    solved = exact.solved(game, seconds)
    if solved is not None:
        return solved
    chosen = recommended(game).algorithm
    if chosen == "mcts":
        return estimates.SamplingJudge(game)
    if chosen == "alpha_beta" and chosen in fitting_algorithms(game):
        return exact.AlphaBetaJudge(game)
    return estimates.FullWidthJudge(game)
