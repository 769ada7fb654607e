"""Flat Monte Carlo: every action is worth the mean of random playouts after it.

Abramson, "Expected-outcome: a general model of static evaluation", IEEE PAMI 12 (1990);
UCB1: Auer, Cesa-Bianchi and Fischer, Machine Learning 47 (2002).  Russell and Norvig, AIMA
4th ed., section 6.4 ("pure Monte Carlo search").

>>> from plyhouse.games.trees import tree_game
>>> game = tree_game("?(1/2:8 1/2:2) ?(1/3:24 2/3:-9)")
>>> result = flat_monte_carlo(game, game.initial_state(), Limit(simulations=200))
>>> result.action, result.simulations
('1', 200)
"""

from __future__ import annotations

import random
from typing import Any, Final, Literal

from plyhouse.games.base import Game
from plyhouse.search.game_requirements import require_fit
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.flat_monte_carlo import FlatMonteCarloKernel
from plyhouse.search.limit import Limit, SearchResult
from plyhouse.search.monte_carlo.simulating import (
    DEFAULT_SIMULATIONS,
    SimulationPoll,
    checked_number,
    checked_word,
    rounds,
)
from plyhouse.search.poll import Poll, SearchStopped

__all__ = ["flat_monte_carlo"]

UNLIMITED: Final = Limit()
UCB1: Final = 2**0.5


def flat_monte_carlo(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    seed: int = 0,
    allocation: Literal["uniform", "ucb1"] = "ucb1",
    exploration: float = UCB1,
) -> SearchResult:
    """Choose the action with the best mean return over random playouts.

    Plays games of perfect information with any number of seats, with or without chance nodes.
    However many playouts there are, it takes it that everybody plays at random after this
    action: it does not see an answer that refutes it, as `plyhouse.search.monte_carlo.mcts.mcts`
    does.

    ``allocation``: "uniform" gives all actions equally many playouts, "ucb1" more to those that
    seem good, with the weight ``exploration`` for those tried little, relative to the range of
    the returns.  ``limit`` bounds time, ``simulations`` or ``nodes`` (here a simulation is a
    node); without any there are 1000 simulations.  The same ``seed`` gives the same result.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` or `TypeError` for
    options out of range, or when no seat is to move.
    """
    name = "flat_monte_carlo"
    poll = SimulationPoll(limit)
    require_fit(name, game, state)
    checked_word(name, "allocation", allocation, ("uniform", "ucb1"))
    low, high = game.return_bounds
    rng = random.Random(seed)
    actions = list(state.actions())
    if seed:
        rng.shuffle(actions)  # which of equally good actions is found first
    kernel = kernel_for(FlatMonteCarloKernel, state)(
        poll,
        rng,
        state,
        actions,
        game.seats,
        hasattr(state, "playout"),
        allocation == "ucb1",
        checked_number(name, "exploration", exploration) * (high - low),
        game.info.max_plies,
    )
    most = limit.simulations
    if limit.nodes is not None:
        within = max(1, limit.nodes - 1)
        most = within if most is None else min(within, most)
    if most is None and limit.time is None:
        most = DEFAULT_SIMULATIONS
    try:
        while most is None or kernel.simulations < most:
            kernel.run(rounds(kernel.simulations, most))
            if limit.report is not None and kernel.simulations != most:
                limit.report(_result(kernel, state, actions, poll))
    except SearchStopped:
        pass
    result = _result(kernel, state, actions, poll)
    if limit.report is not None:
        limit.report(result)
    return result


def _result(kernel: Any, state: Any, actions: list[Any], poll: Poll) -> SearchResult:
    """Put together what is known now, in the game's order of actions."""
    known = {
        action: (total / visits + 0.0, visits)
        for action, total, visits in zip(actions, kernel.totals, kernel.visits, strict=True)
        if visits
    }
    best = max(known, key=lambda action: known[action][0], default=actions[0])
    order = [action for action in state.actions() if action in known]
    return SearchResult(
        action=best,
        value=known[best][0] if known else 0.0,
        pv=(best,),
        depth=1 if known else 0,
        nodes=1 + int(kernel.simulations),
        time=poll.seconds(),
        values={action: known[action][0] for action in order},
        visits={action: known[action][1] for action in order},
        simulations=int(kernel.simulations),
    )
