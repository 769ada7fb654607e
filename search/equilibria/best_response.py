"""Best responses, and two measures of a policy that follow: NashConv and exploitability.

A best response has the highest expected return against fixed policies of the other seats.
*NashConv* is the sum, over the seats, of each seat's gain by a best response.  It is 0 in a Nash
equilibrium. *Exploitability* is NashConv divided by the number of seats, as in OpenSpiel for two
seats.  Johanson, Waugh, Bowling and Zinkevich, "Accelerating best response calculation in large
extensive games", IJCAI 2011; Lanctot and others, "A unified game-theoretic approach to multiagent
reinforcement learning", NIPS 2017 (NashConv).

>>> from plyhouse.games import get_game
>>> from plyhouse.search.policies import uniform_policy
>>> game = get_game("kuhn_poker")
>>> round(best_response(game, uniform_policy, seat=0).value, 3)
0.5
>>> expected_returns(game, uniform_policy)
(0.12500000000000003, -0.12499999999999996)
>>> round(exploitability(game, uniform_policy), 3)
0.458
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plyhouse.games.base import Game
from plyhouse.search.callback_types import Policy, pairs_of
from plyhouse.search.equilibria.sequence_form import sequence_form
from plyhouse.search.equilibria.tabular import TOLERANCE, TabularPolicy
from plyhouse.search.game_requirements import require_solvable
from plyhouse.search.kernels.sequences import SequenceForm
from plyhouse.search.tree_size import MAX_NODES

__all__ = ["BestResponse", "best_response", "expected_returns", "exploitability", "nash_conv"]


@dataclass(frozen=True)
class BestResponse:
    """A best response and its value: the expected return of the responding seat."""

    value: float
    policy: TabularPolicy
    """A pure policy of the responding seat; of equally good actions it takes the first."""


def best_response(
    game: Game, policy: Policy, seat: int, *, max_nodes: int = MAX_NODES
) -> BestResponse:
    """Compute an exact best response of one seat to the policy of the others.

    Raises `GameMismatch` if the game does not fit (see
    `plyhouse.search.equilibria.sequence_form.sequence_form`).  Raises `ValueError` if the policy
    gives an illegal action, a negative probability, or probabilities that do not add up to 1.
    """
    if not 0 <= seat < game.seats:
        raise ValueError(f"seat={seat!r}: {game.spec} has the seats 0 to {game.seats - 1}")
    form = on_trial(game, policy, "best_response", max_nodes)
    chosen: list[int] = []
    value = form.respond(seat, chosen)
    pure = [
        (info.state, [float(place == pick) for place in range(len(info.slots))])
        for info, pick in zip(form.sets[seat], chosen, strict=True)
    ]
    return BestResponse(value, TabularPolicy.of_states(game, pure, algorithm="best_response"))


def expected_returns(
    game: Game, policy: Policy, *, max_nodes: int = MAX_NODES
) -> tuple[float, ...]:
    """Return the exact expected return of each seat if all seats play the policy."""
    form = on_trial(game, policy, "expected_returns", max_nodes)
    return tuple([form.value(seat) for seat in range(game.seats)])


def nash_conv(game: Game, policy: Policy, *, max_nodes: int = MAX_NODES) -> float:
    """Return the sum over the seats of what each gains by a best response to the others."""
    form = on_trial(game, policy, "nash_conv", max_nodes)
    return sum([form.respond(seat, None) - form.value(seat) for seat in range(game.seats)])


def exploitability(game: Game, policy: Policy, *, max_nodes: int = MAX_NODES) -> float:
    """Return `nash_conv` divided by the number of seats; 0 exactly in a Nash equilibrium."""
    return nash_conv(game, policy, max_nodes=max_nodes) / game.seats


def on_trial(game: Game, policy: Policy, algorithm: str, max_nodes: int) -> SequenceForm:
    """Build the sequence form of the game and set the policy to evaluate in it."""
    require_solvable(algorithm, game)
    form = sequence_form(game, algorithm=algorithm, max_nodes=max_nodes)
    for own in form.sets:
        for info in own:
            shares = shares_of(game, policy, info.state, info.actions)
            for slot, action in zip(info.slots, info.actions, strict=True):
                slot.trial = shares[action]
    form.spread_trial()
    return form


def shares_of(game: Game, policy: Policy, state: Any, actions: Sequence[Any]) -> dict[Any, float]:
    """Return the probability of each action, also of those that the policy never takes.

    Raises `ValueError` if the policy gives an illegal action, a negative probability, or
    probabilities that do not add up to 1.
    """
    given = dict(pairs_of(policy, state))
    total = sum(given.values())
    unknown = [action for action in given if action not in actions]
    if unknown or min(given.values(), default=0.0) < 0.0 or not abs(total - 1.0) <= TOLERANCE:
        problem = f"{unknown[0]!r} is not legal" if unknown else f"they add up to {total}"
        seat = state.to_move
        key = game.information_state(state, seat)
        raise ValueError(
            f"the policy of seat {seat} in the information state {key!r} is not "
            f"probabilities of its actions: {problem}"
        )
    return {action: given.get(action, 0.0) for action in actions}
