"""Policies for games of perfect information: probabilities of the actions in a state.

A `Policy` is any function from a state, in which a seat is to move, to (action, probability)
pairs.  `plyhouse.search.expectimax` takes a policy as the model of its opponents.  This module
makes common policies; `choose` draws an action from one.

>>> from plyhouse.games.trees import tree_game
>>> from plyhouse.search import Limit, minimax
>>> game = tree_game("(3 12 8) (2 4 6) (14 5 2)")
>>> state = game.initial_state()
>>> opponent = mixed_policy(search_policy(minimax, game, Limit(depth=2)), 0.8)
>>> {action: round(probability, 3) for action, probability in opponent(state)}
{'1': 0.867, '2': 0.067, '3': 0.067}
>>> choose(opponent, state, random.Random(1))
'1'
>>> distribution(lambda state: [("1", 0.5)], state)
Traceback (most recent call last):
ValueError: the probabilities of the policy sum to 0.5, not to 1: (('1', 0.5),)
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from plyhouse.games.base import TERMINAL, Game
from plyhouse.search.callback_types import Evaluation, Policy, evaluated, pairs_of
from plyhouse.search.limit import Limit, SearchResult

__all__ = [
    "Policy",
    "choose",
    "distribution",
    "greedy_policy",
    "mixed_policy",
    "remembered",
    "search_policy",
    "softmax_policy",
    "uniform_policy",
]

TOLERANCE: Final = 1e-9


def uniform_policy(state: Any) -> tuple[tuple[Any, float], ...]:
    """Return the same probability for every action, as a model of a random opponent."""
    actions = tuple(state.actions())
    return tuple((action, 1.0 / len(actions)) for action in actions)


def search_policy(
    search: Callable[..., SearchResult],
    game: Game,
    limit: Limit,
    *,
    share_ties: bool = False,
    **options: Any,
) -> Policy:
    """Return the policy that plays the action that a search finds.

    With ``share_ties``, actions of equal best value have equal probabilities.  This needs a search
    that knows the value of every action (`minimax`, not `alpha_beta`).  ``options`` go to the
    search.
    """

    def policy(state: Any) -> tuple[tuple[Any, float], ...]:
        result = search(game, state, limit, **options)
        if not share_ties:
            return ((result.action, 1.0),)
        best = [action for action in state.actions() if result.values.get(action) == result.value]
        return tuple((action, 1.0 / len(best)) for action in best)

    return policy


def mixed_policy(policy: Policy, share: float, other: Policy = uniform_policy) -> Policy:
    """Return a mixture: ``policy`` with probability ``share``, otherwise ``other``.

    An example is an opponent that plays depth-2 minimax 80 % of the time and at random otherwise.
    Raises `ValueError` for a share that is not from 0 to 1.
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share={share!r}: expected a probability from 0 to 1")

    def mixed(state: Any) -> tuple[tuple[Any, float], ...]:
        merged: dict[Any, float] = {}
        for part, weight in ((policy, share), (other, 1.0 - share)):
            if weight:
                for action, probability in pairs_of(part, state):
                    merged[action] = merged.get(action, 0.0) + weight * probability
        return tuple(merged.items())

    return mixed


def greedy_policy(evaluate: Evaluation | None = None) -> Policy:
    """Return the policy that maximises the value after one action; ties share the probability.

    A finished game has its return as value, any other state ``evaluate(state, seat)``.  Without
    ``evaluate`` the value is the state's ``heuristic()``, or 0 if it has none.
    """

    def policy(state: Any) -> tuple[tuple[Any, float], ...]:
        values = after_each(state, evaluate)
        best = max(values.values())
        actions = [action for action, value in values.items() if value == best]
        return tuple((action, 1.0 / len(actions)) for action in actions)

    return policy


def softmax_policy(temperature: float, evaluate: Evaluation | None = None) -> Policy:
    """Return the policy with probabilities proportional to exp(value / temperature).

    Values are those of `greedy_policy`.  Raises `ValueError` for a temperature that is not above 0.
    """
    if not 0.0 < temperature < math.inf:
        raise ValueError(f"temperature={temperature!r}: expected a number above 0")

    def policy(state: Any) -> tuple[tuple[Any, float], ...]:
        values = after_each(state, evaluate)
        best = max(values.values())
        weights = {
            action: math.exp((value - best) / temperature) for action, value in values.items()
        }
        total = math.fsum(weights.values())
        return tuple((action, weight / total) for action, weight in weights.items())

    return policy


def after_each(state: Any, evaluate: Evaluation | None) -> Mapping[Any, float]:
    """Return the value for the mover after each action, without search; see `greedy_policy`."""
    seat: int = state.to_move
    values: dict[Any, float] = {}
    for action in state.actions():
        child = state.after(action)
        if child.to_move == TERMINAL:
            values[action] = float(child.returns()[seat])
        elif evaluate is not None:
            values[action] = evaluated(evaluate, child, seat)
        elif hasattr(child, "heuristic"):
            values[action] = float(child.heuristic()[seat])
        else:
            values[action] = 0.0
    return values


def remembered(policy: Policy, size: int = 100_000) -> Policy:
    """Return the policy with a cache by the ``key()`` of a state.

    The cache is emptied when it has ``size`` positions; states without ``key`` are not cached.  It
    saves much time if ``policy`` searches and its caller meets positions repeatedly.
    """
    known: dict[Any, Sequence[tuple[Any, float]]] = {}

    def policy_of(state: Any) -> Sequence[tuple[Any, float]]:
        if not hasattr(state, "key"):
            return policy(state)
        key = state.key()
        found = known.get(key)
        if found is None:
            found = policy(state)
            if len(known) >= size:
                known.clear()
            known[key] = found
        return found

    return policy_of


def distribution(policy: Policy, state: Any) -> tuple[tuple[Any, float], ...]:
    """Return the policy's probabilities for a state, checked.

    Raises `TypeError` for what are no pairs, and `ValueError` if an action is illegal, a
    probability is not from 0 to 1, or the sum is not 1.
    """
    pairs = pairs_of(policy, state)
    legal = state.actions()
    for action, probability in pairs:
        if action not in legal:
            raise ValueError(
                f"the policy plays {action!r}, which is not legal; legal are {_few(legal)}"
            )
        if not 0.0 <= probability <= 1.0 + TOLERANCE:
            raise ValueError(
                f"the policy plays {action!r} with probability {probability!r}: "
                "expected a number from 0 to 1"
            )
    total = math.fsum(probability for _, probability in pairs)
    if abs(total - 1.0) > TOLERANCE:
        raise ValueError(f"the probabilities of the policy sum to {total!r}, not to 1: {pairs!r}")
    return pairs


def choose(policy: Policy, state: Any, rng: random.Random) -> Any:
    """Return an action drawn from the policy; raises `ValueError` as `distribution` does."""
    pairs = distribution(policy, state)
    point = rng.random()
    for action, probability in pairs:
        point -= probability
        if point < 0.0:
            return action
    return max(pairs, key=lambda pair: pair[1])[0]


def _few(actions: Iterable[Any]) -> str:
    """Return the first actions as text."""
    shown = [repr(action) for action in actions]
    return ", ".join(shown[:10]) + (" and more" if len(shown) > 10 else "")
