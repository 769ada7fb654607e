"""Policies: how a seat behaves, as probabilities of its actions in a position.

A `Policy` is any function from a state, in which a seat is to move, to (action, probability)
pairs.  `plyhouse.search.expectimax` plays against a model of this kind; the functions here
make the usual ones, and `choose` plays by one.  They are for games of perfect information.

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
from plyhouse.search.callback_types import Evaluation, Policy
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
    """Play all actions alike, as an opponent that moves at random."""
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
    """Return the policy that plays a search's action with certainty.

    With ``share_ties`` all actions that the search values as high as its best are played
    alike; that is for searches that know the value of every action (`minimax`, not
    `alpha_beta`).  ``options`` go to the search.
    """

    def policy(state: Any) -> tuple[tuple[Any, float], ...]:
        result = search(game, state, limit, **options)
        if not share_ties:
            return ((result.action, 1.0),)
        best = [action for action in state.actions() if result.values.get(action) == result.value]
        return tuple((action, 1.0 / len(best)) for action in best)

    return policy


def mixed_policy(policy: Policy, share: float, other: Policy = uniform_policy) -> Policy:
    """``policy`` with probability ``share``, else ``other``: the course's opponent that plays
    depth-2 minimax 80 % of the time and at random otherwise.

    Raises `ValueError` for a share that is not from 0 to 1.
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share={share!r}: expected a probability from 0 to 1")

    def mixed(state: Any) -> tuple[tuple[Any, float], ...]:
        merged: dict[Any, float] = {}
        for part, weight in ((policy, share), (other, 1.0 - share)):
            if weight:
                for action, probability in part(state):
                    merged[action] = merged.get(action, 0.0) + weight * probability
        return tuple(merged.items())

    return mixed


def greedy_policy(evaluate: Evaluation | None = None) -> Policy:
    """Return the action after which the mover likes the position best; equal ones alike.

    ``evaluate(state, seat)`` says how much; without it the returns of a finished game and
    the state's ``heuristic()`` do, or else 0.
    """

    def policy(state: Any) -> tuple[tuple[Any, float], ...]:
        values = after_each(state, evaluate)
        best = max(values.values())
        actions = [action for action, value in values.items() if value == best]
        return tuple((action, 1.0 / len(actions)) for action in actions)

    return policy


def softmax_policy(temperature: float, evaluate: Evaluation | None = None) -> Policy:
    """Better actions more often: in proportion to exp(value / temperature), the values as for
    `greedy_policy`.

    Raises `ValueError` for a temperature that is not above 0.
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
    """Return the expected value of the mover after each action, without search."""
    seat: int = state.to_move
    values: dict[Any, float] = {}
    for action in state.actions():
        child = state.after(action)
        if child.to_move == TERMINAL:
            values[action] = float(child.returns()[seat])
        elif evaluate is not None:
            values[action] = float(evaluate(child, seat))
        elif hasattr(child, "heuristic"):
            values[action] = float(child.heuristic()[seat])
        else:
            values[action] = 0.0
    return values


def remembered(policy: Policy, size: int = 100_000) -> Policy:
    """Return the same policy, asked once for each position with equal ``key()``, as long as no more
    than ``size`` positions are known; states without a ``key`` are asked for every time.

    A search that meets positions again and again, with a model that searches, gains much.
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

    Raises `ValueError` when an action is not legal, or the probabilities are none.
    """
    pairs = tuple(policy(state))
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
    """Return an action drawn by the policy; raises `ValueError` as `distribution` does."""
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
