"""Choose the judge that fits a game.

A judge gets a position in which a seat is to move, and the action that was played there.  It
answers what that action is worth to the seat, what the best action is worth, and how certain both
values are.  Games that can be solved get an exact judge; for the others the choice follows
`plyhouse.search.recommendation.recommended`.
"""

from __future__ import annotations

from plyhouse.clients.review import estimating_judges, exact_judges
from plyhouse.clients.review.judgement import Judge
from plyhouse.games.base import Game

__all__ = ["judge_for"]


def judge_for(game: Game, seconds: float) -> Judge:
    """The judge that knows most about a game; preparing it may take so many seconds."""
    from plyhouse.games.base import Information
    from plyhouse.search.game_requirements import fitting_algorithms
    from plyhouse.search.recommendation import SOLVABLE, histories, recommended

    if game.info.information is Information.IMPERFECT:
        if histories(game) <= SOLVABLE:
            return exact_judges.EquilibriumJudge(game, seconds)
        return estimating_judges.InformationSetJudge(game)
    solved = exact_judges.solved(game, seconds)
    if solved is not None:
        return solved
    chosen = recommended(game).algorithm
    if chosen == "mcts":
        return estimating_judges.SamplingJudge(game)
    if chosen == "alpha_beta" and chosen in fitting_algorithms(game):
        return exact_judges.AlphaBetaJudge(game)
    return estimating_judges.FullWidthJudge(game)
