"""Expectimax: the best action of one seat when all others behave in a known way.

Michie, "Game-playing and game-learning automata", in: Advances in Programming and Non-numerical
Computation (1966).  The model of an opponent follows Iida, Uiterwijk, van den Herik and Herschberg,
"Potential applications of opponent-model search", ICCA Journal 16 (1993).  It also follows Carmel
and Markovitch, "Incorporating opponent models into adversary search", AAAI (1996).  Russell and
Norvig, AIMA 4th ed., section 16.1 on maximum expected utility.

>>> from plyhouse.games.trees import tree_game
>>> game = tree_game("?(1/2:8 1/2:2) ?(1/3:24 2/3:-9)")  # two lotteries
>>> expectimax(game, game.initial_state()).values
{'1': 5.0, '2': 2.0}

Against a model of the other seat it takes risks that minimax would not:

>>> game = tree_game("(9 1) (4 3)")
>>> expectimax(game, game.initial_state()).values
{'1': 5.0, '2': 3.5}
>>> def cautious(state):  # takes the last branch, always
...     return [(state.actions()[-1], 1.0)]
>>> expectimax(game, game.initial_state(), opponents=cautious).values
{'1': 1.0, '2': 3.0}
"""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.kernels.expectiminimax import ExpectiminimaxKernel
from plyhouse.search.limit import UNLIMITED, Limit, SearchResult
from plyhouse.search.policies import Policy, distribution
from plyhouse.search.trees.chance_nodes import sampler_of
from plyhouse.search.trees.iterative_deepening import tree_search

__all__ = ["expectimax"]


def expectimax(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    opponents: Policy | None = None,
    evaluate: Evaluation | None = None,
    seed: int = 0,
    chance_samples: int | None = None,
) -> SearchResult:
    """Find the action with the greatest expected return for the seat to move.

    One seat alone with chance is the simplest case.  Other seats are taken to play by
    ``opponents``, a policy of `plyhouse.search.policies` or any function from a state to
    (action, probability) pairs; without one they play all actions alike.  Their own returns
    do not matter, so that any game of perfect information fits, of any number of seats,
    zero-sum or not.  The choice is optimal if the model is right.  With a wrong model it can be
    arbitrarily bad, because the search relies on mistakes that the opponent does not make.

    A model that searches takes extra time, which ``nodes`` does not count, and between two
    positions the search cannot stop; `plyhouse.search.policies.remembered` helps.  Chance nodes and
    the plies of others count as plies of the depth.  ``evaluate`` or the state's ``heuristic()``
    value positions at the depth limit for the seat that searches.  For ``chance_samples``,
    deepening and ``seed`` see `plyhouse.search.trees.expectiminimax.expectiminimax`.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move, an estimate is out of bounds, or ``opponents`` gives no distribution.
    """
    sampler = sampler_of(chance_samples, seed)
    model = None
    if opponents is not None:
        policy = opponents

        def model(state: Any) -> tuple[tuple[Any, float], ...]:
            return distribution(policy, state)

    return tree_search(
        "expectimax",
        ExpectiminimaxKernel,
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
        extra=(sampler, False, model),
        sampler=sampler,
    )
