"""Backgammon's network learns by self-play: inputs, gradient, targets, checkpoints, strength."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.games.random_positions import random_position

from plyhouse.bots.reference.td_gammon_bot import valued_by
from plyhouse.games import get_game
from plyhouse.games.stochastic.backgammon.estimate import chances_of, is_race, points_of
from plyhouse.games.stochastic.backgammon.position import read_position
from plyhouse.games.stochastic.backgammon.rules import ROLLS, START
from plyhouse.games.stochastic.backgammon.turns import apply_turn, turns_of
from plyhouse.learning.backgammon_training import (
    SHIPPED,
    BackgammonTraining,
    Settings,
    Weights,
    against_estimate,
    encode,
    gradient,
    load_backgammon_network,
)
from plyhouse.search import Limit, expectiminimax
from plyhouse.search.files import InvalidFile
from plyhouse.search.kernels.backgammon_learning import flipped

SMALL = Settings(seed=3, hidden=5, batch=2, pairs=0)


def position(text: str) -> bytes:
    one, two, _, _ = read_position(text)
    return bytes([*one, *two])


def positions(seed: int, count: int) -> list[bytes]:
    rng = random.Random(seed)
    found: list[bytes] = []
    while len(found) < count:
        state: Any = random_position("backgammon", rng)[1]
        if state.one[0] < 15 and state.two[0] < 15:
            found.append(bytes([*state.one, *state.two]))
    return found


def test_inputs_of_start_follow_tesauro() -> None:
    inputs = encode([bytes([*START, *START])])[0].reshape(2, 26, 4)
    for side in inputs:
        assert side[6].tolist() == [1, 1, 1, 1]  # five checkers: three, and two halves
        assert side[8].tolist() == [1, 1, 1, 0]
        assert side[13].tolist() == [1, 1, 1, 1]
        assert side[24].tolist() == [1, 1, 0, 0]
        assert side.sum() == 4 + 3 + 4 + 2


def test_inputs_of_bar_and_of_checkers_borne_off_are_shares() -> None:
    first, second = encode([position("barx2 6x8; 1; 0")])[0].reshape(2, 26, 4)
    assert first[25].tolist() == [1, 0, 0, 0]
    assert first[0].tolist() == [5 / 15, 0, 0, 0]
    assert first[6].tolist() == [1, 1, 1, 2.5]
    assert second[1].tolist() == [1, 0, 0, 0]
    assert second[0].tolist() == [pytest.approx(14 / 15), 0, 0, 0]


def test_gradient_agrees_with_differences() -> None:
    weights = Weights.random(3, seed=1)
    inputs = encode(positions(1, 6))
    targets = np.random.default_rng(2).uniform(size=(6, 5))

    def loss() -> float:
        chances = weights.chances(inputs)
        entropy = targets * np.log(chances) + (1 - targets) * np.log(1 - chances)
        return float(-entropy.sum(axis=1).mean())

    step = 1e-6
    for array, slope in zip(
        weights.arrays(), gradient(weights, inputs, targets).arrays(), strict=True
    ):
        flat = array.reshape(-1)
        for index in range(0, flat.size, 1 + flat.size // 60):
            kept = flat[index]
            flat[index] = kept + step
            above = loss()
            flat[index] = kept - step
            below = loss()
            flat[index] = kept
            assert slope.reshape(-1)[index] == pytest.approx((above - below) / (2 * step), abs=1e-8)


def test_kernel_gives_the_chances_of_the_weights() -> None:
    training = BackgammonTraining(SMALL)
    kernel = training.kernel()
    found = positions(4, 40)
    expected = training.weights.chances(encode(found))
    for each, chances in zip(found, expected, strict=True):
        assert kernel.chances(list(each[:26]), list(each[26:])) == pytest.approx(chances, abs=1e-12)


def test_kernel_chooses_the_turn_after_which_the_other_seat_expects_least() -> None:
    training = BackgammonTraining(SMALL)
    training.run(40)
    kernel = training.kernel()
    rng = random.Random(5)
    ended = 0
    for each in [*positions(5, 120), position("3 2; 24x2 6; 0"), position("2 1; 12x15; 0")]:
        mine, theirs = list(each[:26]), list(each[26:])
        dice = rng.choice(ROLLS)[0]
        worth = {}
        for turn in turns_of(mine, theirs, dice):
            own, other = mine[:], theirs[:]
            apply_turn(own, other, dice, turn)
            if own[0] == 15:
                gammon = float(other[0] == 0)
                chances = [0.0, 0.0, 0.0, gammon, gammon * any(other[19:])]
            elif is_race(tuple(other), tuple(own)):
                chances = chances_of(tuple(other), tuple(own))
            else:
                chances = training.weights.chances(encode([bytes(other + own)]))[0].tolist()
            win, gammon, backgammon, lost, badly = chances
            worth[turn] = 2 * win - 1 + gammon + backgammon - lost - badly
        chosen = kernel.choose(mine, theirs, dice)
        assert worth[chosen] == pytest.approx(min(worth.values()), abs=1e-9)
        win, gammon, backgammon, lost, badly = kernel.best
        points = 2 * win - 1 + gammon + backgammon - lost - badly
        assert points == pytest.approx(worth[chosen], abs=1e-9)
        ended += kernel.ended
    assert 5 < ended < 115


def played(trace: float) -> tuple[list[list[float]], list[list[float]]]:
    """The targets of a match and the chances of its positions, from the last one on."""
    training = BackgammonTraining(Settings(seed=3, hidden=5, trace=trace))
    kernel = training.kernel()
    assert kernel.play(random.Random(7).random)
    return kernel.targets, [kernel.chances(list(p[:26]), list(p[26:])) for p in kernel.positions]


def test_targets_with_lambda_0_are_the_next_positions_chances() -> None:
    targets, chances = played(0.0)
    for target, following in zip(targets[1:], chances, strict=False):
        assert target == pytest.approx(flipped(following), abs=1e-12)


def test_targets_with_lambda_1_are_the_end_of_the_match() -> None:
    targets, _ = played(1.0)
    for index, target in enumerate(targets):
        expected = targets[0] if index % 2 == 0 else flipped(targets[0])
        assert target == pytest.approx(expected, abs=1e-12)


def test_targets_between_mix_the_next_position_with_its_target() -> None:
    targets, chances = played(0.25)
    for target, following, later in zip(targets[1:], chances, targets, strict=False):
        mixed = [0.75 * a + 0.25 * b for a, b in zip(following, later, strict=True)]
        assert target == pytest.approx(flipped(mixed), abs=1e-12)


def test_small_training_follows_its_curve() -> None:
    training = BackgammonTraining(Settings(seed=4, hidden=16, rate=0.006, batch=4, pairs=0))
    untrained = against_estimate(training.kernel(), 30)[0]
    training.run(200)
    assert untrained < -2.2
    assert against_estimate(training.kernel(), 30)[0] > untrained + 0.1


def test_curve_has_a_point_after_a_thousand_matches() -> None:
    training = BackgammonTraining(Settings(seed=1, hidden=1, pairs=2))
    training.played = 992
    training.run(1000)
    training.run(1008)
    assert [played for played, _, _ in training.curve] == [1000]
    assert "    [1000, " in training.text()


def test_resumed_training_gives_the_same_result(tmp_path: Path) -> None:
    through = BackgammonTraining(SMALL)
    through.run(12)
    halves = BackgammonTraining(SMALL)
    halves.run(6)
    halves.save(tmp_path / "kept")
    resumed = BackgammonTraining.load(tmp_path / "kept")
    resumed.run(12)
    assert resumed.text() == through.text()
    assert resumed.steps == through.steps
    for one, other in zip(resumed.mean.arrays(), through.mean.arrays(), strict=True):
        assert (one == other).all()


def test_rate_falls_with_the_matches() -> None:
    settings = Settings(rate=0.01, halving=100)
    assert [settings.rate_after(played) for played in (0, 100, 300)] == [0.01, 0.005, 0.0025]


def test_network_file_has_the_same_chances_up_to_rounding(tmp_path: Path) -> None:
    training = BackgammonTraining(SMALL)
    training.run(10)
    path = tmp_path / "network.toml"
    path.write_text(training.text(), encoding="utf-8")
    network = load_backgammon_network(path)
    found = positions(6, 40)
    for each, chances in zip(found, training.weights.chances(encode(found)), strict=True):
        read = network.chances(tuple(each[:26]), tuple(each[26:]))
        assert read == pytest.approx(chances, abs=2e-3)


def test_file_that_is_no_network_is_refused_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "network.toml"
    text = BackgammonTraining(SMALL).text()
    path.write_text("hidden = ", encoding="utf-8")
    with pytest.raises(InvalidFile, match=r"network\.toml: this is not a network for backgammon"):
        load_backgammon_network(path)
    path.write_text(text.replace("hidden = 5", "hidden = 6"), encoding="utf-8")
    with pytest.raises(InvalidFile, match="for backgammon: 5 numbers in an input, expected 6"):
        load_backgammon_network(path)
    path.write_text(text.replace("chances_bias", "other"), encoding="utf-8")
    with pytest.raises(InvalidFile, match="no 'chances_bias'"):
        load_backgammon_network(path)


PRINT_TRAINING = """
from plyhouse.learning.backgammon_training import BackgammonTraining, Settings
training = BackgammonTraining(Settings(seed=2, hidden=4, batch=2, pairs=0))
training.run(4)
print([weight.hex() for array in training.weights.arrays() for weight in array.ravel().tolist()])
"""


def test_training_is_the_same_interpreted_and_compiled() -> None:
    printed = [
        subprocess.run(
            [sys.executable, "-c", PRINT_TRAINING],
            env={**os.environ, "PLYHOUSE_PURE": pure},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for pure in ("1", "0")
    ]
    assert len(printed[0]) > 10_000
    assert printed[0] == printed[1]


def test_shipped_network_is_small_and_has_its_curve() -> None:
    assert SHIPPED.stat().st_size < 1_000_000
    content = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    assert "matches of self-play, seed 1" in content["trained"]
    assert [row[0] for row in content["curve"][:4]] == [1000, 2000, 5000, 10_000]
    assert content["curve"][0][1] < content["curve"][-1][1]


@pytest.mark.parametrize(
    ("roll", "turn"), [("31", "8/5 6/5"), ("42", "8/4 6/4"), ("61", "13/7 8/7")]
)
def test_shipped_network_plays_well_known_openings(roll: str, turn: str) -> None:
    game = get_game("backgammon")
    start: Any = game.initial_state()
    state = start.after(game.parse_chance(start, roll))
    found = expectiminimax(
        game, state, Limit(depth=1), evaluate=valued_by(load_backgammon_network(SHIPPED))
    )
    assert game.format(state, found.action) == turn


def test_shipped_network_knows_who_is_better() -> None:
    network = load_backgammon_network(SHIPPED)
    closed = position("bar 13x5 8x3 6x5 24; 6x2 5x2 4x2 3x2 2x2 8x3 7x2; 0")
    assert points_of(tuple(closed[:26]), tuple(closed[26:]), network) < -0.5
    assert points_of(tuple(closed[26:]), tuple(closed[:26]), network) > 0.5
    start = points_of(START, START, network)
    assert -0.05 < start < 0.25  # to roll first is worth a little


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program of `benchmarks/train_backgammon.c`, which saves every ten matches."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    program = tmp_path_factory.mktemp("trainer") / "train"
    source = Path(__file__).parents[2] / "benchmarks" / "train_backgammon.c"
    command = ["cc", "-O2", "-DSAVED=10", "-o", str(program), str(source), "-lm"]
    subprocess.run(command, check=True)
    return program


def test_trainer_in_c_names_the_network_that_it_began_with(trainer: Path, tmp_path: Path) -> None:
    subprocess.run([trainer, "first.toml", "20", "1"], cwd=tmp_path, check=True)
    subprocess.run([trainer, "second.toml", "10", "1", "./first.toml"], cwd=tmp_path, check=True)
    trained = tomllib.loads((tmp_path / "second.toml").read_text(encoding="utf-8"))["trained"]
    assert trained.startswith("TD(lambda) on 10 matches of self-play, seed 1,")
    assert trained.endswith(", from first.toml")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["first.toml", "second.toml"]


def test_trainer_in_c_keeps_its_last_file_if_it_cannot_write(trainer: Path, tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text("older", encoding="utf-8")
    script = 'trap "" XFSZ; ulimit -f 4; exec "$0" one.toml 20 1'
    done = subprocess.run(
        ["sh", "-c", script, trainer], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "cannot write one.toml.tmp: " in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["one.toml"]
    assert (tmp_path / "one.toml").read_text(encoding="utf-8") == "older"


def test_trainer_in_c_finds_a_wrong_folder_before_it_trains(trainer: Path, tmp_path: Path) -> None:
    command = [str(trainer), str(tmp_path / "absent" / "one.toml"), "1000000000", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "one.toml.tmp: No such file or directory" in done.stderr
