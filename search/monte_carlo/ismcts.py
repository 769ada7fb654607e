"""Information-set Monte Carlo tree search, for games of hidden information.

Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search", IEEE TCIAIG 4
(2012): SO-ISMCTS (one observer) and MO-ISMCTS (every seat by what it sees itself).

>>> from plyhouse.games import get_game
>>> game = get_game("kuhn_poker")
>>> state = game.initial_state()
>>> for card in ("K", "J"):
...     state = state.after(game.parse_chance(state, card))
>>> seen = game.observe(state, 0)
>>> result = ismcts(game, seen, Limit(simulations=200))
>>> sorted(result.values)
[0, 1]
"""

from __future__ import annotations

import random
from typing import Any, Final, Literal

from plyhouse.games.base import Game, Observation
from plyhouse.search.game_requirements import require_turn
from plyhouse.search.garbage_collection import no_full_collections
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.ismcts import IsmctsKernel
from plyhouse.search.limit import MAX_DEPTH, Limit, SearchResult
from plyhouse.search.monte_carlo.simulating import (
    SimulationPoll,
    checked_number,
    checked_whole,
    checked_word,
    most_simulations,
    rounds,
)
from plyhouse.search.poll import Poll, SearchStopped

__all__ = ["ismcts"]

UNLIMITED: Final = Limit()
EXPLORATION: Final = 0.7
"""The paper's choice, for returns scaled to 0..1."""
MAX_NODES: Final = 500_000


def ismcts(
    game: Game,
    observation: Observation,
    limit: Limit = UNLIMITED,
    *,
    seed: int = 0,
    exploration: float = EXPLORATION,
    observers: Literal["multiple", "single"] = "multiple",
    choose: Literal["visits", "sample"] = "visits",
    max_nodes: int = MAX_NODES,
) -> SearchResult:
    """Find a good action from what one seat sees, in games of any kind.

    Every simulation draws a full state that fits the observation (``game.sample_state``) and
    descends one tree shared by all of them.  Its nodes are information sets: a seat cannot act
    differently on what it does not know, so there is no strategy fusion as in
    `plyhouse.search.monte_carlo.pimc.pimc`.

    * ``observers``: "multiple" (MO-ISMCTS) lets every seat choose by its own information state.
      "single" (SO-ISMCTS) groups the others' choices by the searching seat's information, too.
      That is coarser and learns faster, but makes the others as blind as that seat.
    * ``choose``: "visits" takes the action simulated most often, the same one in the same place;
      "sample" draws an action with a probability proportional to its simulations.  Where the
      right play is a mixture (poker, rock-paper-scissors) a fixed choice can be exploited.  Visit
      shares are no equilibrium either: for one, use CFR.
    * ``exploration``, ``max_nodes`` (about 400 bytes each), ``seed``: as in
      `plyhouse.search.monte_carlo.mcts.mcts`.

    ``game.sample_state`` draws the hidden states, with probabilities that ignore what the others'
    actions reveal.  ``limit`` bounds time, ``simulations`` or ``nodes`` (steps within the tree);
    without any there are 1000 simulations; ``limit.depth`` bounds the tree.

    Raises `ValueError` when it is not the observer's turn, or, like `TypeError`, for options out
    of range.
    """
    poll = SimulationPoll(limit)
    require_turn("ismcts", game, observation)
    checked_word("ismcts", "observers", observers, ("multiple", "single"))
    checked_word("ismcts", "choose", choose, ("visits", "sample"))
    seat = observation.to_move
    rng = random.Random(seed)
    # Legal actions depend on what the mover knows only, so any fitting state has them.
    some = game.sample_state(observation, random.Random(seed))
    low, high = game.return_bounds
    kernel = kernel_for(IsmctsKernel, some)(
        poll,
        rng,
        lambda: game.sample_state(observation, rng),
        game.information_state,
        seat if observers == "single" else -1,
        game.seats,
        hasattr(some, "playout"),
        checked_number("ismcts", "exploration", exploration)
        * game.exploration_scale
        * (high - low),
        checked_whole("ismcts", "max_nodes", max_nodes, 1),
        MAX_DEPTH if limit.depth is None else min(limit.depth, MAX_DEPTH),
        game.info.max_plies,
    )
    kernel.node_limit = limit.nodes or 0
    actions = tuple(some.actions())
    most = most_simulations(limit)
    more = True
    try:
        with no_full_collections():
            while more and (most is None or kernel.simulations < most):
                more = kernel.run(rounds(kernel.simulations, most))
                if limit.report is not None and more and kernel.simulations != most:
                    limit.report(_result(kernel, actions, poll))
    except SearchStopped:
        pass
    result = _result(kernel, actions, poll, rng if choose == "sample" else None)
    if limit.report is not None:
        limit.report(result)
    return result


def _result(
    kernel: Any, actions: tuple[Any, ...], poll: Poll, rng: random.Random | None = None
) -> SearchResult:
    """Put together what is known now; with ``rng``, draw the action by its visits."""
    edges = {action: kernel.root[action] for action in actions if action in kernel.root}
    edges = {action: edge for action, edge in edges.items() if edge.visits}
    values = {action: edge.total / edge.visits + 0.0 for action, edge in edges.items()}
    visits = {action: int(edge.visits) for action, edge in edges.items()}
    best = max(visits, key=lambda action: (visits[action], values[action]), default=actions[0])
    if rng is not None and visits:
        best = rng.choices(list(visits), weights=list(visits.values()))[0]
    return SearchResult(
        action=best,
        value=values.get(best, 0.0),
        pv=(best,),
        depth=int(kernel.depth),
        nodes=int(kernel.nodes),
        time=poll.seconds(),
        values=values,
        visits=visits,
        simulations=int(kernel.simulations),
    )
