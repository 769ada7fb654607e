"""Leduc poker's second rounds, the network that values them, and continual resolving by it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plyhouse.games import GameMismatch, get_game
from plyhouse.learning.leduc_continual import FirstRound, continual_policy
from plyhouse.learning.leduc_network import (
    SHIPPED,
    WORTH,
    LeducNetwork,
    load_leduc_network,
    write_leduc_network,
)
from plyhouse.learning.leduc_subgames import PAID, SecondRounds, deal_ranges
from plyhouse.learning.leduc_training import (
    LeducSettings,
    LeducTraining,
    solve,
)
from plyhouse.search import cfr_plus, nash_conv, resolve_subgame, subgames
from plyhouse.search.files import InvalidFile

LEDUC = get_game("leduc_poker")
SMALL = LeducSettings(hidden=16, features=24, iterations=150, steps=60)


def solved(paid: Any, ranges: Any) -> Any:
    """Return leaf values without a network."""
    rounds = SecondRounds(paid, ranges)
    rounds.run(100)
    return rounds.values()[0]


def test_second_rounds_are_worth_what_the_game_says() -> None:
    """Two equal ranges: compare with the solver that knows the game and all its cards."""
    policy = cfr_plus(LEDUC, iterations=3).policy
    ranges = np.array([[2.0, 2.0, 1.0], [2.0, 2.0, 1.0]]) / 5
    rounds = SecondRounds(np.array([1]), ranges[None])
    rounds.run(2000)
    values, gap = rounds.values()
    assert gap[0] < 1e-3
    record = ((-1, None), (-1, None), (0, "check"), (1, "check"), (-1, "Ks"))
    even = {key: dict.fromkeys(shares, 1 / len(shares)) for key, shares in policy.table.items()}
    roots = subgames(LEDUC, type(policy)(LEDUC, even), lambda seen: seen.board is not None)[record]
    fixed = [
        resolve_subgame(LEDUC, policy, roots, seat, iterations=2000, gadget=False)
        for seat in range(2)
    ]

    def worth(state: Any) -> float:
        if state.to_move < 0:
            return float(state.returns()[0])
        choices = fixed[state.to_move](state)
        return float(sum(share * worth(state.after(action)) for action, share in choices))

    # The values of hands count pairs of hands that fit, so that their sum is 20 of 25.
    expected = sum(worth(root.state) for root in roots) / 25
    assert (values[0, 0] * ranges[0]).sum() == pytest.approx(expected, abs=1e-3)


def test_values_are_those_of_best_responses() -> None:
    rng = np.random.default_rng(1)
    ranges = deal_ranges(rng, 60)
    assert np.allclose(ranges.sum(axis=2), 1)
    rounds = SecondRounds(np.repeat(PAID, 20), ranges)
    gaps = []
    for iterations in (50, 200, 800):
        rounds.run(iterations)
        gaps.append(rounds.values()[1])
        assert (gaps[-1] > -1e-9).all(), "no policy beats a best response"
    assert gaps[2].mean() < gaps[1].mean() / 3 < gaps[0].mean() / 9


def test_network_is_zero_sum_and_its_gradient_is_right() -> None:
    network = LeducNetwork(5, 7)
    network.randomize(3)
    network.weights = [weight.astype(float) for weight in network.weights]
    rng = np.random.default_rng(2)
    ranges = deal_ranges(rng, 30)
    values = network(np.repeat(PAID, 10), ranges)
    assert np.abs(values).max() > 0.1
    assert np.allclose((values * ranges).sum(axis=(1, 2)), 0, atol=1e-6)

    ranges = ranges.reshape(3, 10, 2, 3)
    targets = rng.standard_normal(ranges.shape)

    def loss() -> float:
        found = [network(np.full(10, chips), ranges[pot]) for pot, chips in enumerate(PAID)]
        wrong = (np.stack(found) - targets) * np.array([[1.0], [-1.0]])
        worth = (wrong * ranges).sum(axis=(2, 3)) / 2
        return float(((wrong**2).sum() + WORTH * (worth**2).sum()) / 20)

    for weight, slope in zip(network.weights, network.gradient(ranges, targets), strict=True):
        at = np.unravel_index(np.abs(slope).argmax(), weight.shape)
        kept = weight[at]
        found = []
        for change in (1e-3, -1e-3):
            weight[at] = kept + change
            found.append(loss())
        weight[at] = kept
        assert (found[0] - found[1]) / 2e-3 == pytest.approx(slope[at], rel=0.02, abs=2e-3)


def test_training_lowers_the_error_and_nash_conv() -> None:
    training = LeducTraining(SMALL)
    held_out = solve(deal_ranges(np.random.default_rng(9), 99).reshape(3, -1, 2, 3), 300)
    before = training.mean_error(held_out)
    untrained = nash_conv(
        LEDUC, continual_policy(LEDUC, training.network, iterations=100, second=100)
    )
    training.run(1000)
    assert training.mean_error(held_out) < 0.5 * before
    assert training.error < 0.5, "in chips, in ranges met before they were learned from"
    ((subgames_solved, random, met, found),) = training.curve[:1]
    assert (subgames_solved, random > 0, met > 0) == (1000, True, True)
    assert found < 0.5 * untrained


def test_training_continues_from_a_checkpoint_to_the_same_weights(tmp_path: Path) -> None:
    settings = LeducSettings(hidden=4, features=4, iterations=10, steps=3)
    whole, first = LeducTraining(settings), LeducTraining(settings)
    for _ in range(2):
        whole.step()
    first.step()
    first.save(tmp_path / "kept")
    again = LeducTraining.load(tmp_path / "kept")
    again.step()
    assert again.text() == whole.text()
    assert again.played == whole.played


def test_network_files_are_read_back(tmp_path: Path) -> None:
    network = LeducNetwork(3, 4)
    network.randomize(1)
    path = tmp_path / "network.toml"
    path.write_text(write_leduc_network(network, "by a test", [(1000, 0.5, 0.25, 0.125)]))
    again = load_leduc_network(path)
    for before, after in zip(network.weights, again.weights, strict=True):
        assert np.allclose(before, after, rtol=1e-3)


@pytest.mark.parametrize(
    ("pattern", "replacement", "problem"),
    [
        ("format = .*", 'format = "other"', "this is not a network of format"),
        ("hidden = 3", "hidden = 0", "it has 0 hidden units and 4 features, expected 1 to 1024"),
        ("hidden = 3", "hidden = 4", "weights, expected"),
        ("features = 4", 'features = "4"', "its features is missing or of the wrong type"),
        ('sha256 = ".', 'sha256 = "x', "do not fit their checksum: it is damaged"),
        ('"""\\\\\n....', '"""\\\\\n!!!!', "its weights cannot be decoded"),
        ("curve = ", "curve ", "this is not a network"),
    ],
)
def test_damaged_network_is_refused(
    tmp_path: Path, pattern: str, replacement: str, problem: str
) -> None:
    text = write_leduc_network(LeducNetwork(3, 4), "by a test", [])
    changed = re.sub(pattern, replacement, text, count=1)
    assert changed != text
    path = tmp_path / "network.toml"
    path.write_text(changed)
    with pytest.raises(InvalidFile, match=problem):
        load_leduc_network(path)


def test_first_round_with_solved_leaves_approaches_an_equilibrium() -> None:
    found = [
        nash_conv(LEDUC, continual_policy(LEDUC, solved, iterations=count, second=100))
        for count in (5, 40)
    ]
    assert found[1] < 0.15 < found[0]


def test_shipped_network_plays_leduc_poker_well() -> None:
    assert SHIPPED.stat().st_size < 200_000
    network = load_leduc_network()
    safe = continual_policy(LEDUC, network, iterations=1000)
    assert len(safe) == 936, "every information state"
    assert nash_conv(LEDUC, safe) < 0.012
    alone = continual_policy(LEDUC, network, iterations=300, second=100, gadget=False)
    assert nash_conv(LEDUC, alone) > 0.04


def test_first_round_alone_has_its_policy_and_promises() -> None:
    first = FirstRound(solved)
    first.run(10)
    policy = first.policy(LEDUC)
    assert policy.iterations == 10
    assert len(policy) == 36
    suits = [LEDUC.initial_state().after(card).after(1 - card) for card in (0, 1)]
    assert policy(suits[0]) == policy(suits[1])
    promised = first.promised()
    assert np.abs(promised).max() < 13


def test_other_games_are_refused() -> None:
    with pytest.raises(GameMismatch, match="continual_policy"):
        continual_policy(get_game("kuhn_poker"), solved)
