"""Choose the judge that fits a game.

A judge gets a position in which a seat is to move, and the action that was played there.  It
answers what that action is worth to the seat, what the best action is worth, and how certain both
values are.  Games that can be solved get an exact judge; for the others the choice follows
`plyhouse.search.choice.recommended`.
"""

from __future__ import annotations

from plyhouse.clients.review import estimates, exact
from plyhouse.clients.review.judgement import Judge
from plyhouse.games.base import Game

__all__ = ["judge_for"]


def judge_for(game: Game, seconds: float) -> Judge:
    """The judge that knows most about a game; preparing it may take so many seconds."""
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
