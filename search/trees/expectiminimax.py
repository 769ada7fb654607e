"""Expectiminimax: minimax whose chance nodes are worth the mean of their outcomes.

Michie, "Game-playing and game-learning automata", in: Advances in Programming and
Non-numerical Computation (1966); Russell and Norvig, AIMA 4th ed., section 5.5.  Pruning:
Ballard, "The *-minimax search procedure for trees containing chance nodes", Artificial
Intelligence 21 (1983); Hauk, Buro and Schaeffer, "Rediscovering *-minimax search", in:
Computers and Games (2004).

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

from __future__ import annotations

from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.kernels.expectiminimax import ExpectiminimaxKernel
from plyhouse.search.limit import UNLIMITED, Limit, SearchResult
from plyhouse.search.trees.chance_nodes import PRUNINGS, checked_bounds, sampler_of, star_search
from plyhouse.search.trees.iterative_deepening import tree_search

__all__ = ["expectiminimax"]


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
