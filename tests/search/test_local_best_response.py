"""Local best response: exact against always folding, and a bound in other cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plyhouse.clients.arena.tally import mean_interval
from plyhouse.games.hidden.texas_holdem.expected_strength import PAIRS
from plyhouse.search.equilibria.limit_holdem_training import (
    LimitSettings,
    LimitTraining,
    Strengths,
)
from plyhouse.search.equilibria.local_best_response import Responder, always, of_policy

NONE: Strengths = (np.zeros(len(PAIRS)), np.zeros(len(PAIRS)))
"""For policies that do not look at their cards."""


def blind(kind: int, seed: int = 1) -> Responder:
    return Responder(always(kind), lambda board: NONE, seed)


def test_always_folding_loses_the_blinds() -> None:
    # The big blind in one seat, the small blind in the other.
    assert blind(0).tables(2) == [750.0, 750.0]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "published"), [(1, 1163.48), (2, 3697.69)])
def test_bound_lies_below_the_published_best_response(kind: int, published: float) -> None:
    found = mean_interval(blind(kind).tables(4))
    assert found.low < published
    assert found.value > 0.5 * published


def test_result_does_not_depend_on_the_variance_reduction_on_average() -> None:
    plain = blind(1, seed=3)

    def without_luck(state: Any, seat: int, own: list[int], weights: Any) -> float:
        ended = state.folded or state.to_move == -2
        return Responder.value(plain, state, seat, own, weights) if ended else 0.0

    # Against a caller the opponent has no choice, so only the table is luck.
    plain.value = without_luck  # type: ignore[method-assign]
    raw = mean_interval(plain.tables(4))
    reduced = mean_interval(blind(1, seed=3).tables(4))
    assert reduced.high - reduced.low < raw.high - raw.low
    widths = raw.high - raw.low + reduced.high - reduced.low
    assert abs(raw.value - reduced.value) < widths / 2


@pytest.mark.slow
def test_policy_of_buckets_is_one_of_all_pairs() -> None:
    training = LimitTraining(LimitSettings(seed=3, parts=(2, 2, 3), deals=20, boards=2))
    training.run(400)
    policy = of_policy(training.policy)
    responder = Responder(policy, training.table.strengths, seed=2)
    state: Any = responder.game.initial_state()
    for card in range(4):
        state = state.dealt(card)
    shares = policy(state, None)
    assert shares.shape == (len(PAIRS), 3)
    assert np.allclose(shares.sum(axis=1), 1.0)
    (result,) = responder.tables(1)
    assert abs(result) < 24_000
