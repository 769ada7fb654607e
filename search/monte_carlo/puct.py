"""PUCT: Monte Carlo tree search with a learned (or any other) evaluator instead of playouts.

Rosin, "Multi-armed bandits with episode context", Annals of Mathematics and Artificial Intelligence
61 (2011).  Silver et al., "A general reinforcement learning algorithm that masters chess, shogi,
and Go through self-play", Science 362 (2018) (AlphaZero).

>>> from plyhouse.games import get_game
>>> game = get_game("tic_tac_toe")
>>> def model(state):  # likes the first action, and has no idea who wins
...     actions = state.actions()
...     return [4.0 if action == actions[0] else 1.0 for action in actions], (0.0, 0.0)
>>> result = puct(game, game.initial_state(), Limit(simulations=100), evaluator=model)
>>> result.action == game.initial_state().actions()[0]
True
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from plyhouse.games.base import CHANCE, Game, Utility
from plyhouse.search.game_requirements import require_fit
from plyhouse.search.garbage_collection import no_full_collections
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.prior_node import FEW, useless
from plyhouse.search.kernels.puct import PuctKernel
from plyhouse.search.limit import MAX_DEPTH, Limit, SearchResult
from plyhouse.search.monte_carlo.simulating import (
    SimulationPoll,
    checked_number,
    checked_whole,
    most_simulations,
    rounds,
)
from plyhouse.search.poll import Poll, SearchStopped

__all__ = ["Evaluator", "puct", "uniform_evaluator"]

UNLIMITED: Final = Limit()
EXPLORATION: Final = 1.25
MAX_NODES: Final = 500_000

Evaluator = Callable[[Any], tuple[Sequence[float], Sequence[float]]]
"""``evaluator(state)``: a prior per action, in the order of ``state.actions()`` (not negative;
scaled to sum 1 by the search), and an estimate of the return of every seat.  At chance nodes,
which have no actions, only the second counts."""


def puct(
    game: Game,
    state: Any,
    limit: Limit = UNLIMITED,
    *,
    evaluator: Evaluator | None = None,
    seed: int = 0,
    exploration: float = EXPLORATION,
    max_nodes: int = MAX_NODES,
) -> SearchResult:
    """Find a good action by a search that a prior leads and an estimate replaces playouts in.

    Plays games of perfect information with any number of seats, with or without chance nodes.  A
    simulation descends by ``mean + exploration * prior * sqrt(1 + visits of the node) / (1 + visits
    of the action)``.  Then it asks ``evaluator`` about one new position, and credits its estimate
    to all seats on the way up.  The action simulated most often is chosen.

    In two-seat zero-sum games, ends of matches below a node bound its exact value.  An action that
    cannot be better than another gets no more simulations, and the search ends when it knows the
    root's value.  With an ``evaluator``, it also sees replies that win, in positions with at most
    nine actions.  If they leave one action, it follows this one without asking the evaluator.

    Without an ``evaluator`` priors are equal and estimates are the state's ``heuristic()``
    (`uniform_evaluator`); see `Evaluator` for how to plug in a model.  ``exploration`` is relative
    to half the range of the returns, as in AlphaZero's -1 to 1.  Once the tree has ``max_nodes``
    nodes (about 200 bytes each) it grows no further.  ``seed`` only matters at chance nodes.
    ``limit``: as in `plyhouse.search.monte_carlo.mcts.mcts`.

    Raises `GameMismatch` for a game that does not fit, and `ValueError` or `TypeError` for
    options or estimates out of range, or when no seat is to move.
    """
    poll = SimulationPoll(limit)
    require_fit("puct", game, state)
    low, high = game.return_bounds
    opposite = game.seats == 2 and game.info.utility is Utility.ZERO_SUM
    kernel = kernel_for(PuctKernel, state)(
        poll,
        random.Random(seed),
        evaluator or uniform_evaluator(game, state),
        _Check(game),
        checked_number("puct", "exploration", exploration) * (high - low) / 2,
        checked_whole("puct", "max_nodes", max_nodes, 1),
        MAX_DEPTH if limit.depth is None else min(limit.depth, MAX_DEPTH),
        limit.nodes or 0,
        low if opposite and low == -high else 0.0,
        0 if evaluator is None else FEW,
    )
    most = most_simulations(limit)
    more = True
    try:
        with no_full_collections():
            kernel.plant(state)
            while more and (most is None or kernel.simulations < most):
                more = kernel.run(rounds(kernel.simulations, most))
                if limit.report is not None and more and kernel.simulations != most:
                    limit.report(_result(kernel, poll))
    except SearchStopped:
        pass
    result = _result(kernel, poll)
    if limit.report is not None:
        limit.report(result)
    return result


def uniform_evaluator(game: Game, state: Any) -> Evaluator:
    """Equal priors, and the ``heuristic()`` of the game's states as estimates.

    Raises `ValueError` if they have none.
    """
    if not hasattr(state, "heuristic"):
        raise ValueError(
            f"puct: the states of {game.spec} have no heuristic(); give an evaluator(state) that "
            "returns a prior per action and a value per seat"
        )

    def evaluator(position: Any) -> tuple[Sequence[float], Sequence[float]]:
        count = len(position.actions()) if position.to_move != CHANCE else 0
        return [1.0] * count, position.heuristic()

    return evaluator


class _Check:
    """Refuses what an evaluator must not return; makes floats and scales the priors."""

    def __init__(self, game: Game) -> None:
        self.seats = game.seats
        self.low, self.high = game.return_bounds

    def __call__(
        self, state: Any, options: tuple[Any, ...], found: tuple[Sequence[float], Sequence[float]]
    ) -> tuple[list[float], tuple[float, ...]]:
        priors, estimates = found
        values = tuple([float(value) for value in estimates])
        if len(values) != self.seats:
            raise ValueError(f"the evaluator gave {len(values)} values for {self.seats} seats")
        for value in values:
            if not self.low <= value <= self.high:
                raise ValueError(
                    f"the evaluator gave {value}, outside of the game's returns "
                    f"{self.low} to {self.high}: scale it to lie between them"
                )
        count = len(options)
        if state.to_move == CHANCE:
            return [0.0] * count, values
        if len(priors) != count:
            raise ValueError(f"the evaluator gave {len(priors)} priors for {count} actions")
        weights = [float(prior) for prior in priors]
        total = math.fsum(weights)
        if not all(weight >= 0 for weight in weights) or not 0 <= total < math.inf:
            raise ValueError(f"the evaluator gave priors below 0 or not finite: {weights}")
        if total == 0:
            return [1.0 / count] * count, values
        return [weight / total for weight in weights], values


def _result(kernel: Any, poll: Poll) -> SearchResult:
    """Put together what is known now."""
    line: list[Any] = []
    node = kernel.root
    tried = [place for place, child in enumerate(node.children) if child.visits > 0]
    values = {}
    for place, child in enumerate(node.children):
        if child.lower == child.upper:
            values[node.options[place]] = child.result[node.mover] + 0.0
        elif child.visits > 0:
            values[node.options[place]] = child.total / child.visits + 0.0
    visits = {node.options[place]: int(node.children[place].visits) for place in tried}
    while (
        node.mover >= 0
        and node.children
        and (any(child.visits for child in node.children) or node.lower == node.upper)
    ):
        places = range(len(node.children))
        best = max(
            places,
            key=lambda place, at=node: (  # type: ignore[misc]
                not useless(at, at.children[place], kernel.least),
                at.children[place].visits,
                at.children[place].total,
                at.children[place].prior,
            ),
        )
        line.append(node.options[best])
        node = node.children[best]
    if not line:
        priors = [child.prior for child in kernel.root.children]
        actions = kernel.root.state.actions()
        line = [actions[priors.index(max(priors))] if priors else actions[0]]
    return SearchResult(
        action=line[0],
        value=values.get(line[0], 0.0),
        pv=tuple(line),
        depth=int(kernel.depth),
        nodes=int(kernel.nodes),
        time=poll.seconds(),
        values=values,
        visits=visits,
        simulations=int(kernel.simulations),
    )
