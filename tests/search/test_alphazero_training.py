"""AlphaZero's training: self-play, targets, checkpoints, curves, and the networks that ship."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plyhouse.games import get_game
from plyhouse.games.endgames import Meter
from plyhouse.learning.alphazero_curve import (
    against,
    measure,
    random_opening,
    solved_positions,
)
from plyhouse.learning.alphazero_training import (
    AlphaZeroSettings,
    AlphaZeroTraining,
    _Match,
)
from plyhouse.learning.policy_networks import (
    PolicyNetwork,
    load_policy_network,
    search_together,
    shipped_network,
)
from plyhouse.search import Limit, mcts
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.self_play import SelfPlayTree

SMALL = AlphaZeroSettings(
    "connect_four", seed=3, channels=4, hidden=8, simulations=8, matches=4, batch=32, measured=0
)
SHIPPED = ("breakthrough(size=6)", "connect_four", "tic_tac_toe")


def by_mcts(game: Any, state: Any, seed: int) -> Any:
    """Return the choice of a hundred random playouts."""
    return mcts(game, state, Limit(simulations=100), seed=seed).action


def share_alone(network: PolicyNetwork, every: int) -> float:
    """Return how often the policy alone, without a search, likes a best action most."""
    positions = solved_positions(get_game(network.view.spec))[::every]
    view = network.view
    logits, _ = network.function()(view.encode(view.words([each.state for each in positions])))
    good = []
    for each, row in zip(positions, logits, strict=True):
        places = view.places[each.state.to_move]
        good.append(max(each.state.actions(), key=lambda action: row[places[action]]) in each.best)
    return float(np.mean(good))


def best_share(network: PolicyNetwork, count: int) -> float:
    """Return the share of best actions that a point of the curve has."""
    found = measure(network, count)
    assert found is not None
    return found[0]


def test_resumed_training_gives_the_same_result(tmp_path: Path) -> None:
    through = AlphaZeroTraining(SMALL)
    through.run(12)
    halves = AlphaZeroTraining(SMALL)
    halves.run(8)
    halves.save(tmp_path / "kept")
    resumed = AlphaZeroTraining.load(tmp_path / "kept")
    assert resumed.played == 8
    resumed.run(12)
    assert resumed.text() == through.text()
    assert (resumed.steps, resumed.made) == (through.steps, through.made)
    for one, other in zip(resumed.arrays(), through.arrays(), strict=True):
        assert (one == other).all()
    for one, other in zip(resumed.samples.arrays(), through.samples.arrays(), strict=True):
        assert (one == other).all()


def test_seed_changes_the_result() -> None:
    found = []
    for seed in (1, 2):
        training = AlphaZeroTraining(AlphaZeroSettings(**{**vars(SMALL), "seed": seed}))
        training.run(4)
        found.append(training.samples.words.tolist())
    assert found[0] != found[1]


def test_targets_mix_the_result_with_the_value_of_the_search() -> None:
    training = AlphaZeroTraining(SMALL)
    start: Any = training.game.initial_state()
    match = _Match(kernel_for(SelfPlayTree, start)(training.view.places, 1.25), training.view)
    match.states = [start, start.after(1)]
    match.values = [0.2, -0.4]
    match.strayed = [False, False]
    match.returns = (1.0, -1.0)
    assert match.targets(0.75) == pytest.approx([0.75 + 0.05, -0.75 - 0.1])
    # The second action was random, so the result says nothing about what came before it.
    match.strayed = [False, True]
    assert match.targets(0.75) == pytest.approx([0.3 + 0.05, -0.4])


def test_random_share_decides_how_often_any_action_is_played() -> None:
    network = AlphaZeroTraining(SMALL).player
    state: Any = get_game("connect_four").initial_state()
    rng = np.random.default_rng(1)
    for share, least, most in ((0.0, 1, 1), (0.5, 2, 7), (1.0, 5, 7)):
        actions = set()
        strayed = []
        for _ in range(40):
            tree = kernel_for(SelfPlayTree, state)(network.view.places, 1.25)
            tree.plant(state)
            search_together([tree], 9, network.view, network.function())
            match = _Match(tree, network.view)
            match.act(False, share, rng)
            actions.add(tree.root.state.key())
            strayed += match.strayed
        assert least <= len(actions) <= most
        assert np.mean(strayed) == pytest.approx(share, abs=0.25)


def test_samples_hold_the_shares_of_visits_of_legal_actions() -> None:
    training = AlphaZeroTraining(SMALL)
    training.run(20)
    policies = training.samples.policies
    assert len(policies) > 200
    legal = policies >= 0
    assert (policies[~legal] == -1).all()
    assert np.where(legal, policies, 0).sum(axis=1) == pytest.approx(1, abs=1e-5)
    full = training.view.encode(training.samples.words).reshape(-1, 8, 6, 7)[:, 2].any(axis=1)
    assert (full == legal).all()
    assert (np.abs(training.samples.values) <= 1).all()


def test_oldest_samples_are_forgotten() -> None:
    settings = AlphaZeroSettings(**{**vars(SMALL), "positions": 100})
    training = AlphaZeroTraining(settings)
    training.run(4)
    first = training.samples.words
    training.run(20)
    assert training.made > 200
    assert len(training.samples.values) == 100
    assert training.samples.words.tolist() != first.tolist()


def test_rate_falls_with_the_matches() -> None:
    settings = AlphaZeroSettings(rate=0.01, halving=100)
    assert [settings.rate_after(played) for played in (0, 100, 300)] == [0.01, 0.005, 0.0025]


def test_curve_has_a_point_after_a_hundred_matches() -> None:
    settings = AlphaZeroSettings(
        "tic_tac_toe", channels=2, hidden=2, simulations=2, matches=40, measured=10
    )
    training = AlphaZeroTraining(settings)
    training.run(160)
    assert [played for played, _, _ in training.curve] == [120]
    assert "    [120, " in training.text()


def test_small_training_of_tic_tac_toe_follows_its_curve() -> None:
    settings = AlphaZeroSettings(
        "tic_tac_toe", seed=1, channels=32, hidden=32, simulations=25, matches=20, measured=0
    )
    training = AlphaZeroTraining(settings)
    first = share_alone(training.player, 5)
    training.run(600)
    assert share_alone(training.player, 5) > first + 0.1


def test_small_training_of_connect_four_follows_its_curve() -> None:
    settings = AlphaZeroSettings(
        "connect_four",
        seed=1,
        channels=32,
        hidden=64,
        direct=True,
        simulations=12,
        random=0.2,
        matches=25,
        measured=0,
    )
    training = AlphaZeroTraining(settings)
    first = against(training.player, by_mcts, 8)[0]
    training.run(100)
    assert against(training.player, by_mcts, 8)[0] > first + 0.2


def test_small_training_of_breakthrough_follows_its_curve() -> None:
    training = AlphaZeroTraining(
        AlphaZeroSettings(
            "breakthrough(size=5)", seed=1, channels=16, hidden=32, simulations=20, measured=0
        )
    )
    first = against(training.player, by_mcts, 8)[0]
    training.run(200)
    assert against(training.player, by_mcts, 8)[0] > first + 0.15


def test_random_opening_stops_before_the_end_of_a_match() -> None:
    game = get_game("breakthrough(size=4)")
    openings = [random_opening(game, 4, np.random.default_rng([1, pair])) for pair in range(50)]
    assert all(state.to_move >= 0 for state in openings)
    assert any(state.to_move == 1 for state in openings), "one has three plies"


@pytest.mark.parametrize("size", [5, 6, 7, 8])
def test_random_opening_of_larger_boards_has_all_plies(size: int) -> None:
    game = get_game(f"breakthrough(size={size})")
    for pair in range(20):
        rng = np.random.default_rng([1, pair])
        state: Any = game.initial_state()
        for _ in range(4):
            actions = state.actions()
            state = state.after(actions[int(rng.integers(len(actions)))])
        assert random_opening(game, 4, np.random.default_rng([1, pair])).key() == state.key()


def test_solved_positions_of_connect_four_are_exact() -> None:
    game = get_game("connect_four")
    positions = [each for each in solved_positions(game) if each.ply >= 14]
    assert len(positions) > 100
    start: Any = game.initial_state()
    solver = start.endings(Meter())
    for position in random.Random(1).sample(positions, 12):
        values = {}
        for action in position.state.actions():
            after = position.state.after(action)
            if after.to_move < 0:
                values[action] = after.returns()[position.state.to_move]
            else:
                values[action] = -solver.value(after, 42, -1.0, 1.0)
        best = [action for action, value in values.items() if value == max(values.values())]
        assert position.best == tuple(best)
        assert len(best) < len(values)


def test_solved_positions_of_tic_tac_toe_are_all_with_a_mistake() -> None:
    positions = solved_positions(get_game("tic_tac_toe"))
    assert len({each.state.key() for each in positions}) == len(positions) == 3191
    assert positions[0].ply == 1  # every first action draws
    game = get_game("tic_tac_toe")
    start: Any = game.initial_state()
    corner = start.after(0)
    assert next(each for each in positions if each.state.key() == corner.key()).best == (4,)


def test_game_without_solved_positions_is_refused() -> None:
    with pytest.raises(ValueError, match=r"there are no test positions of connect_four\(columns=8"):
        solved_positions(get_game("connect_four(columns=8)"))


PRINT_TRAINING = """
from plyhouse.learning.alphazero_training import AlphaZeroSettings, AlphaZeroTraining
training = AlphaZeroTraining(AlphaZeroSettings(
    "{game}", seed=2, channels=4, hidden=8, simulations=6, matches=3, batch=32, measured=0))
training.run(6)
print(training.text())
"""


@pytest.mark.parametrize("game", SHIPPED)
def test_training_is_the_same_interpreted_and_compiled(game: str) -> None:
    printed = [
        subprocess.run(
            [sys.executable, "-c", PRINT_TRAINING.format(game=game)],
            env={**os.environ, "PLYHOUSE_PURE": pure},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for pure in ("1", "0")
    ]
    assert "6 matches of self-play, seed 2" in printed[0]
    assert printed[0] == printed[1]


@pytest.mark.parametrize("spec", SHIPPED)
def test_shipped_network_is_small_and_has_its_curve(spec: str) -> None:
    path = shipped_network(get_game(spec))
    assert path is not None
    assert path.stat().st_size < 1_000_000
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    assert "matches of self-play, seed 1" in content["trained"]
    assert content["curve"][0][0] in (100, 200)
    assert content["curve"][0][1] < content["curve"][-1][1]


@pytest.mark.parametrize(("spec", "least"), [("connect_four", 0.91), ("tic_tac_toe", 0.99)])
def test_shipped_network_finds_best_actions(spec: str, least: float) -> None:
    game = get_game(spec)
    path = shipped_network(game)
    assert path is not None
    assert best_share(load_policy_network(path, game), 300) > least


def test_shipped_network_wins_breakthrough() -> None:
    game = get_game("breakthrough(size=6)")
    path = shipped_network(game)
    assert path is not None
    assert against(load_policy_network(path, game), by_mcts, 3)[0] > 0.8
