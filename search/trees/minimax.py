"""Minimax, expectiminimax and expectimax."""

from __future__ import annotations

from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.kernels.expectiminimax import ExpectiminimaxKernel
from plyhouse.search.limit import UNLIMITED, Limit, SearchResult
from plyhouse.search.policies import Policy, distribution
from plyhouse.search.trees.chance_nodes import PRUNINGS, checked_bounds, sampler_of, star_search
from plyhouse.search.trees.iterative_deepening import tree_search

__all__ = ["expectimax", "expectiminimax", "minimax"]


def minimax(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    seed: int = 0,
) -> SearchResult:
    """Find the best action of a two-seat, zero-sum, deterministic game of perfect information.

    Visits every position up to ``limit.depth``.  Under a time or node limit it deepens iteratively,
    so that there is a result at any moment.  Otherwise it searches once, to the depth limit or to
    the end of the game.

    ``evaluate(state, seat)`` values positions at the depth limit, within the bounds of the
    game's returns; without it the state's ``heuristic()`` does, or else they count 0.
    A ``seed`` other than 0 chooses among equally good actions at random, always the same
    for the same seed; 0 takes the first in the game's order.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move or an estimate is out of bounds.

    von Neumann, "Zur Theorie der Gesellschaftsspiele", Mathematische Annalen 100 (1928).  Shannon,
    "Programming a computer for playing chess", Philosophical Magazine 41 (1950), for valuing the
    positions at the depth limit by an evaluation.

    >>> from plyhouse.games.trees import tree_game
    >>> game = tree_game("(3 12 8) (2 4 6) (14 5 2)")  # MAX moves, then MIN
    >>> result = minimax(game, game.initial_state())
    >>> result.action, result.value, result.nodes
    ('1', 3.0, 13)
    >>> result.values
    {'1': 3.0, '2': 2.0, '3': 2.0}
    """
    return tree_search(
        "minimax",
        ExpectiminimaxKernel,
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
    )


def expectiminimax(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    seed: int = 0,
    pruning: str = "none",
    bounds: tuple[float, float] | None = None,
    chance_samples: int | None = None,
) -> SearchResult:
    """Find the best action of a two-seat, zero-sum game of perfect information, with or
    without chance nodes.

    A chance node counts as one ply of the depth.  Under a time or node limit it deepens
    iteratively, so that there is a result at any moment.  Otherwise it searches once, to the depth
    limit or to the end of the game.  A game that chance can prolong for ever, like pig, needs a
    limit of some kind.

    ``pruning`` is ``"none"``, ``"star1"`` or ``"star2"``.  Both prunings find the same value with
    fewer nodes.  They use alpha-beta at the nodes of seats, and leave a chance node as soon as its
    remaining outcomes cannot matter.  Star2 first looks at one answer to each outcome.  ``values``
    then holds upper bounds for the actions that are not best.  They prune by the ``bounds`` of all
    values, (least, greatest): those of the game's returns, unless you know tighter ones for returns
    and evaluation alike.

    ``chance_samples=k`` draws k outcomes of chance nodes that have more, repeatably for the
    ``seed``, instead of looking at all.  The mean at each chance node is then unbiased, but the
    choice among such means is not: a seat takes the action whose sample was lucky.  So values are
    too good for the seats that choose, by more with smaller k and more actions.  ``exact`` is False
    where a sample had part in the value.

    ``evaluate(state, seat)`` values positions at the depth limit, within the bounds of the
    game's returns; without it the state's ``heuristic()`` does, or else they count 0.
    Chance nodes are valued too where the depth ends at one.  A ``seed`` other than 0
    chooses among equally good actions at random, always the same for the same seed; 0
    takes the first in the game's order.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move, an option makes no sense, or a value is out of bounds.

    A chance node is worth the mean of its outcomes: Michie, "Game-playing and game-learning
    automata", in: Advances in Programming and Non-numerical Computation (1966); Russell and Norvig,
    AIMA 4th ed., section 5.5.  Pruning: Ballard, "The *-minimax search procedure for trees
    containing chance nodes", Artificial Intelligence 21 (1983); Hauk, Buro and Schaeffer,
    "Rediscovering *-minimax search", in: Computers and Games (2004).

    >>> from plyhouse.games.trees import tree_game
    >>> game = tree_game("(?(1/2:8 1/2:-2) 5) (?(1/4:24 3/4:0) 4)")  # MAX, MIN, then a die
    >>> expectiminimax(game, game.initial_state()).values
    {'1': 3.0, '2': 4.0}

    Star1 leaves a chance node as soon as what is left of it cannot matter:

    >>> game = tree_game("1 ?(1/2:-9 1/2:8)")
    >>> expectiminimax(game, game.initial_state()).nodes
    5
    >>> expectiminimax(game, game.initial_state(), pruning="star1").nodes
    4
    """
    if pruning not in PRUNINGS:
        raise ValueError(f"pruning={pruning!r}: expected one of {', '.join(map(repr, PRUNINGS))}")
    if pruning != "none":
        return star_search(
            "expectiminimax",
            [seat == state.to_move for seat in range(game.seats)],
            game,
            state,
            limit,
            evaluate=evaluate,
            seed=seed,
            pruning=pruning,
            bounds=bounds,
            chance_samples=chance_samples,
        )
    sampler = sampler_of(chance_samples, seed)
    return tree_search(
        "expectiminimax",
        ExpectiminimaxKernel,
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
        extra=(sampler,),
        # Nothing depends on the bounds, so that those for all parameters do.
        bounds=None if bounds is None else checked_bounds(game, bounds),
        sampler=sampler,
    )


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
    deepening and ``seed`` see `plyhouse.search.trees.minimax.expectiminimax`.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move, an estimate is out of bounds, or ``opponents`` gives no distribution.

    Michie, "Game-playing and game-learning automata", in: Advances in Programming and Non-numerical
    Computation (1966).  The model of an opponent follows Iida, Uiterwijk, van den Herik and
    Herschberg, "Potential applications of opponent-model search", ICCA Journal 16 (1993).  It also
    follows Carmel and Markovitch, "Incorporating opponent models into adversary search", AAAI
    (1996).  Russell and Norvig, AIMA 4th ed., section 16.1 on maximum expected utility.

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
