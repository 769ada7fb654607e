"""Searches for more than two seats: max^n, paranoid and team search."""

from __future__ import annotations

import math
from typing import Any

from plyhouse.games.base import Game, Utility
from plyhouse.search.callback_types import Evaluation
from plyhouse.search.kernels.maxn import MaxnKernel
from plyhouse.search.limit import UNLIMITED, Limit, SearchResult
from plyhouse.search.trees.chance_nodes import checked_bounds, sampler_of, star_search
from plyhouse.search.trees.iterative_deepening import tree_search

__all__ = ["maxn", "paranoid", "team_search"]


def maxn(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    seed: int = 0,
    pruning: str = "none",
    sum_bound: float | None = None,
    bounds: tuple[float, float] | None = None,
    chance_samples: int | None = None,
) -> SearchResult:
    """Find an action that is best if every seat maximises its own return and knows that all do.

    A position's value is a tuple with one entry per seat, found from the leaves up.  The seat to
    move takes the tuple in which its entry is greatest, the first in the game's order among equals.
    A chance node's value is the mean.  ``result.vector`` is the tuple of the root.  Values are
    those of one equilibrium: where a seat has equally good actions, what the others get depends on
    which it takes, so that other values may be as right.  With two seats and a zero sum it is
    minimax.

    ``pruning="shallow"`` finds the same tuple at fewer nodes.  It is right only if the values of
    every position, leaves and estimates included, lie within ``bounds`` and sum to no more than
    ``sum_bound``.  The default of ``bounds`` are the bounds of the game's returns.  The default of
    ``sum_bound`` is 0 if the game is zero-sum; other games must state it.  Raises `ValueError` if a
    position breaks this.  Deep pruning, which would make it alpha-beta, is wrong for more than two
    seats (Korf).

    For deepening, ``evaluate``, ``seed`` and ``chance_samples`` see
    `plyhouse.search.trees.minimax.expectiminimax`; ``evaluate`` is asked for every seat.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move, an option makes no sense, or values are out of bounds.

    Luckhardt and Irani, "An algorithmic solution of N-person games", AAAI (1986); shallow pruning:
    Korf, "Multi-player alpha-beta pruning", Artificial Intelligence 48 (1991); Russell and Norvig,
    AIMA 4th ed., section 5.2.2.

    >>> from plyhouse.games.trees import tree_game
    >>> game = tree_game("([1 2 6] [4 3 2]) ([6 1 2] [7 4 1])")  # what each of three seats gets
    >>> result = maxn(game, game.initial_state())
    >>> result.action, result.vector
    ('2', (7.0, 4.0, 1.0))
    """
    if pruning not in ("none", "shallow"):
        raise ValueError(f"pruning={pruning!r}: expected 'none' or 'shallow'")
    prune = pruning == "shallow"
    if sum_bound is None:
        if prune and game.info.utility is not Utility.ZERO_SUM:
            raise ValueError(
                "pruning='shallow' needs sum_bound, the most that the values of all seats can "
                f"sum to: {game.spec} is not zero-sum, so that it is not known"
            )
        sum_bound = 0.0
    if not math.isfinite(sum_bound):
        raise ValueError(f"sum_bound={sum_bound!r}: expected a finite number")
    sampler = sampler_of(chance_samples, seed)
    limits = checked_bounds(game, bounds) if prune or bounds is not None else None
    low, high = limits or (0.0, 0.0)
    return tree_search(
        "maxn",
        MaxnKernel,
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
        extra=(game.seats, prune, low, high, float(sum_bound), sampler),
        bounds=limits,
        sampler=sampler,
        # A won position may be lost again when others see further and choose differently.
        forced=False,
    )


def paranoid(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    seed: int = 0,
    pruning: str = "star2",
    bounds: tuple[float, float] | None = None,
    chance_samples: int | None = None,
) -> SearchResult:
    """Find the action that is best if all other seats do nothing but harm the seat to move.

    The others are assumed to minimise the return of this seat at any cost to themselves.  So the
    value is the return that the seat is certain of, in a game of any number of seats, zero-sum or
    not.  As there are two sides it prunes as alpha-beta does, and so looks deeper than
    `plyhouse.search.trees.many_seats.maxn`, whose view of the others is often truer.

    ``pruning`` ("star1" or "star2"), ``bounds`` and ``chance_samples`` concern chance nodes;
    for them and for deepening, ``evaluate`` and ``seed`` see
    `plyhouse.search.trees.minimax.expectiminimax`.  ``values`` holds upper bounds for the
    actions that are not best.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move, an option makes no sense, or values are out of bounds.

    Sturtevant and Korf, "On pruning techniques for multi-player games", AAAI (2000).

    >>> from plyhouse.games.trees import tree_game
    >>> game = tree_game("([3 9 0] [1 2 6]) ([2 1 5] [2 4 4])")
    >>> paranoid(game, game.initial_state()).values  # as if seat 1 cared for nothing but our loss
    {'1': 1.0, '2': 2.0}
    """
    return star_search(
        "paranoid",
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


def team_search(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluate: Evaluation | None = None,
    seed: int = 0,
    pruning: str = "star2",
    bounds: tuple[float, float] | None = None,
    chance_samples: int | None = None,
) -> SearchResult:
    """Find the best action for the team of the seat to move, against the other team.

    The seats of a team (`plyhouse.games.base.Game.team`) share their returns and are taken
    to know each other's plans: like Pacman's ghosts, which are as good as one player with
    several bodies.  Two seats that are opponents are two teams of one.

    ``evaluate(state, seat)`` is asked for the seat that searches, whose estimate stands for
    its team.  ``pruning`` ("star1" or "star2"), ``bounds`` and ``chance_samples`` concern
    chance nodes; for them and for deepening and ``seed`` see
    `plyhouse.search.trees.minimax.expectiminimax`.  ``values`` holds upper bounds for the
    actions that are not best.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` when no seat is to
    move, an option makes no sense, or values are out of bounds.

    With two teams whose returns are opposite, minimax over teams is minimax: Knuth and Moore, "An
    analysis of alpha-beta pruning", Artificial Intelligence 6 (1975); chance nodes after Ballard,
    "The *-minimax search procedure for trees containing chance nodes", Artificial Intelligence 21
    (1983).

    >>> from plyhouse.games import get_game
    >>> game = get_game("pacman(layout=duel)")
    >>> game.seats, [game.team(seat) for seat in range(game.seats)]
    (2, [0, 1])
    >>> team_search(game, game.initial_state(), Limit(depth=4)).value
    -9.0
    """
    own = game.team(state.to_move) if state.to_move >= 0 else None
    return star_search(
        "team_search",
        [game.team(seat) == own for seat in range(game.seats)],
        game,
        state,
        limit,
        evaluate=evaluate,
        seed=seed,
        pruning=pruning,
        bounds=bounds,
        chance_samples=chance_samples,
    )
