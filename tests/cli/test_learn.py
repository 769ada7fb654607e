"""``plyhouse learn``: networks trained in one run or in several, and bots by them."""

from __future__ import annotations

import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.conftest import Plyhouse

from plyhouse.clients.cli import learn as command
from plyhouse.clients.cli import training as running
from plyhouse.clients.shared.errors import EXIT_INTERRUPTED, CommandError
from plyhouse.learning.alphazero_training import AlphaZeroTraining
from plyhouse.learning.backgammon_training import BackgammonTraining, Settings
from plyhouse.learning.leduc_training import LeducTraining
from plyhouse.learning.limit_holdem import load_limit_policy
from plyhouse.learning.limit_holdem_training import LimitSettings, LimitTraining

OPTIONS = ("--seed", "4", "--hidden", "4", "--pairs", "0")
TINY = ("--seed", "4", "--hidden", "4", "--channels", "2", "--simulations", "4", "--at-once", "4")
GAMES = (
    ("breakthrough", "breakthrough(size=4)", ("--size", "4")),
    ("connect_four", "connect_four", ()),
    ("tic_tac_toe", "tic_tac_toe", ()),
)


def test_training_continues_to_the_same_network(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("learn", "backgammon", "--matches", "24", *OPTIONS, "-o", "one.toml")
    assert done.code == 0, done.err
    assert "24 matches in " in done.err
    assert "Wrote one.toml: 24 matches of self-play." in done.err

    done = plyhouse("learn", "backgammon", "--matches", "8", *OPTIONS, "-o", "two.toml")
    assert done.code == 0, done.err
    done = plyhouse("learn", "backgammon", "--matches", "24", *OPTIONS, "-o", "two.toml")
    assert done.code == 0, done.err
    assert "Continuing two.toml.training after 8 matches." in done.err
    assert (tmp_path / "one.toml").read_bytes() == (tmp_path / "two.toml").read_bytes()

    done = plyhouse("learn", "backgammon", "--time", "0", *OPTIONS, "-o", "three.toml")
    assert "Wrote three.toml: 8 matches of self-play." in done.err

    bot = f'td_gammon(file="{tmp_path}/one.toml",depth=1)'
    done = plyhouse("match", bot, "random", "--game", "backgammon", "--games", "2", "--jobs", "1")
    assert done.code == 0, done.err


def test_bot_with_a_damaged_network_is_refused_before_the_match(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    done = plyhouse("learn", "backgammon", "--matches", "8", *OPTIONS, "-o", "one.toml")
    assert done.code == 0, done.err
    path = tmp_path / "one.toml"
    path.write_bytes(path.read_bytes()[:-200])
    done = plyhouse("match", 'td_gammon(file="one.toml")', "random", "--game", "backgammon")
    assert done.code == 2
    assert "td_gammon cannot read one.toml: this is not a network for backgammon" in done.err


def test_training_for_leduc_poker_continues_to_the_same_network(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    tiny = ("--hidden", "4", "--features", "4", "--iterations", "10", "--steps", "2")
    done = plyhouse("learn", "leduc_poker", "--subgames", "1000", *tiny, "-o", "one.toml")
    assert done.code == 0, done.err
    assert "1,000 subgames  error " in done.out
    assert "NashConv" in done.out
    assert "Wrote one.toml: 1,440 subgames." in done.err
    for count in ("1", "1000"):
        done = plyhouse("learn", "leduc_poker", "--subgames", count, *tiny, "-o", "two.toml")
        assert done.code == 0, done.err
    assert "Continuing two.toml.training after 720 subgames." in done.err
    assert (tmp_path / "one.toml").read_bytes() == (tmp_path / "two.toml").read_bytes()


def test_file_that_does_not_fit_is_refused(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("learn", "backgammon", "--matches", "8", *OPTIONS)
    assert done.code == 0, done.err
    done = plyhouse("learn", "backgammon", "--matches", "16", *OPTIONS, "--trace", "0.7")
    assert done.code == 2
    message = "network.toml.training was trained with --trace 0.5, not 0.7. Repeat its options, or"
    assert message in done.err

    (tmp_path / "network.toml.training").write_text("{}")
    done = plyhouse("learn", "backgammon", "--matches", "16", *OPTIONS)
    assert done.code == 2
    assert "network.toml.training: this is not a checkpoint of format" in done.err
    assert "Delete it to train from the beginning" in done.err

    done = plyhouse("learn", "backgammon", "-o", "absent/network.toml")
    assert done.code == 2
    assert "there is no folder absent" in done.err


def test_interrupted_training_keeps_its_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = BackgammonTraining.run

    def interrupted(training: BackgammonTraining, matches: int, *rest: Any) -> None:
        if training.played >= 16:
            raise KeyboardInterrupt
        run(training, matches, *rest)

    monkeypatch.setattr(BackgammonTraining, "run", interrupted)
    monkeypatch.setattr(running, "EVERY", 0.0)
    output = tmp_path / "network.toml"
    arguments = ["backgammon", "--matches", "80", *OPTIONS, "-o", str(output)]
    done = CliRunner().invoke(command.learn, arguments, standalone_mode=False)
    assert done.return_value == EXIT_INTERRUPTED
    assert "TD(lambda) on 16 matches" in output.read_text(encoding="utf-8")
    assert BackgammonTraining.load(f"{output}.training").played == 16


def test_training_for_another_board_is_refused(plyhouse: Plyhouse) -> None:
    options = (*TINY, "--measured", "0", "--matches", "4")
    done = plyhouse("learn", "breakthrough", "--size", "4", *options)
    assert done.code == 0, done.err
    done = plyhouse("learn", "breakthrough", "--size", "5", *options)
    assert done.code == 2
    assert "network.toml.training was trained with --size 4, not 5. Repeat its" in done.err


def test_training_by_other_versions_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(seed=4, hidden=4, pairs=0)
    arguments = ["backgammon", "--matches", "8", "-o", str(tmp_path / "network.toml")]
    BackgammonTraining(replace(settings, batch=16)).save(tmp_path / "network.toml.training")
    runner = CliRunner()
    with pytest.raises(CommandError) as refused:
        runner.invoke(
            command.learn, [*arguments, *OPTIONS], standalone_mode=False, catch_exceptions=False
        )
    assert str(refused.value).endswith(
        "network.toml.training was trained by another version of Plyhouse. "
        "Choose another file with -o."
    )


def press_ctrl_c(monkeypatch: pytest.MonkeyPatch, kind: Any, times: int) -> None:
    """Interrupt the first step of a kind of training, in its middle."""
    step = kind.step
    steps = []

    def interrupted(training: Any) -> None:
        steps.append(training)
        for _ in range(times if len(steps) == 1 else 0):
            signal.raise_signal(signal.SIGINT)
        step(training)

    monkeypatch.setattr(kind, "step", interrupted)


@pytest.fixture
def few_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `plyhouse learn texas_holdem` compute a policy of few buckets."""
    module = "plyhouse.learning.limit_holdem_training"
    small = partial(LimitSettings, parts=(2, 2, 3), finer=(2, 1, 1), deals=20, boards=2)
    monkeypatch.setattr(f"{module}.LimitSettings", small)
    monkeypatch.setattr(f"{module}.RUNOUTS", 1)


FIRST_STEPS = (
    (BackgammonTraining, ("backgammon", "--matches", "80", *OPTIONS), 8),
    (AlphaZeroTraining, ("tic_tac_toe", "--matches", "80", *TINY), 4),
    (
        LeducTraining,
        ("leduc_poker", "--hidden", "4", "--features", "4", "--iterations", "10", "--steps", "2"),
        720,
    ),
    (LimitTraining, ("texas_holdem", "--deals", "8000"), 80),
)


@pytest.mark.usefixtures("few_buckets")
@pytest.mark.parametrize(("kind", "arguments", "played"), FIRST_STEPS)
def test_interrupted_training_finishes_and_saves_its_step(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: Any,
    arguments: tuple[str, ...],
    played: int,
) -> None:
    press_ctrl_c(monkeypatch, kind, times=1)
    before = signal.getsignal(signal.SIGINT)
    output = tmp_path / "output.toml"
    done = CliRunner().invoke(command.learn, [*arguments, "-o", str(output)], standalone_mode=False)
    assert done.return_value == EXIT_INTERRUPTED, done.output
    assert "Interrupted: finishing this step. Press Ctrl-C again" in done.output
    assert f"Wrote {output}: {played}" in done.output
    assert kind.load(f"{output}.training").played == played
    assert signal.getsignal(signal.SIGINT) is before


def test_second_interrupt_leaves_a_training_without_checkpoint_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    press_ctrl_c(monkeypatch, BackgammonTraining, times=2)
    output = tmp_path / "output.toml"
    arguments = ["backgammon", "--matches", "80", *OPTIONS, "-o", str(output)]
    done = CliRunner().invoke(command.learn, arguments, standalone_mode=False)
    assert done.return_value == EXIT_INTERRUPTED
    assert "Interrupted before the first checkpoint: nothing is kept." in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "spec", "size"), GAMES)
def test_alphazero_training_continues_to_the_same_network(
    plyhouse: Plyhouse, tmp_path: Path, name: str, spec: str, size: tuple[str, ...]
) -> None:
    options = (*TINY, *size, "--measured", "0")
    done = plyhouse("learn", name, "--matches", "12", *options, "-o", "one.toml")
    assert done.code == 0, done.err
    assert "Wrote one.toml: 12 matches of self-play." in done.err
    done = plyhouse("learn", name, "--matches", "4", *options, "-o", "two.toml")
    assert done.code == 0, done.err
    done = plyhouse("learn", name, "--matches", "12", *options, "-o", "two.toml")
    assert done.code == 0, done.err
    assert "Continuing two.toml.training after 4 matches." in done.err
    assert (tmp_path / "one.toml").read_bytes() == (tmp_path / "two.toml").read_bytes()

    bot = f'alpha_zero(file="{tmp_path}/one.toml",simulations=5)'
    done = plyhouse("match", bot, "random", "--game", spec, "--games", "2", "--jobs", "1")
    assert done.code == 0, done.err


def test_alphazero_training_prints_its_curve(plyhouse: Plyhouse) -> None:
    options = ("--at-once", "50", "--simulations", "2", "--measured", "20")
    done = plyhouse("learn", "tic_tac_toe", "--matches", "100", *options)
    assert done.code == 0, done.err
    assert "        100 matches  " in done.out
    assert " best actions" in done.out


def test_smallest_board_of_breakthrough_has_a_curve(plyhouse: Plyhouse) -> None:
    options = ("--size", "4", "--simulations", "2", "--channels", "2", "--hidden", "4")
    done = plyhouse("learn", "breakthrough", "--matches", "100", *options, "--measured", "40")
    assert done.code == 0, done.err
    assert "        100 matches  " in done.out
    assert " of the points" in done.out


def test_alphazero_checkpoint_with_other_settings_is_refused(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    options = (*TINY, "--measured", "0", "--matches", "4")
    done = plyhouse("learn", "connect_four", *options)
    assert done.code == 0, done.err
    done = plyhouse("learn", "tic_tac_toe", *options)
    assert done.code == 2
    assert (
        "network.toml.training was trained for connect_four, not for tic_tac_toe. "
        "Choose another file with -o." in done.err
    )
    done = plyhouse("learn", "connect_four", *options, "--channels", "3", "--at-once", "5")
    assert done.code == 2
    message = "was trained with --channels 2, not 3, and with --at-once 4, not 5. Repeat its"
    assert message in done.err
    path = tmp_path / "network.toml.training"
    path.write_bytes(path.read_bytes()[:-1])
    done = plyhouse("learn", "connect_four", *options)
    assert done.code == 2
    assert "its content does not fit its checksum: it is damaged, train again" in done.err


def test_interrupted_alphazero_training_keeps_its_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = AlphaZeroTraining.run

    def interrupted(training: AlphaZeroTraining, matches: int, *rest: Any) -> None:
        if training.played >= 8:
            raise KeyboardInterrupt
        run(training, matches, *rest)

    monkeypatch.setattr(AlphaZeroTraining, "run", interrupted)
    monkeypatch.setattr(running, "EVERY", 0.0)
    output = tmp_path / "network.toml"
    arguments = ["tic_tac_toe", "--matches", "40", *TINY, "--measured", "0", "-o", str(output)]
    done = CliRunner().invoke(command.learn, arguments, standalone_mode=False)
    assert done.return_value == EXIT_INTERRUPTED
    assert "8 matches of self-play" in output.read_text(encoding="utf-8")
    assert AlphaZeroTraining.load(f"{output}.training").played == 8


@pytest.mark.usefixtures("few_buckets")
def test_policy_of_limit_holdem_continues_to_the_same_file(tmp_path: Path) -> None:
    def learn(deals: int, name: str) -> Path:
        output = tmp_path / name
        arguments = ["texas_holdem", "--deals", str(deals), "--seed", "4", "-o", str(output)]
        done = CliRunner().invoke(command.learn, arguments, standalone_mode=False)
        assert done.return_value == 0, done.output
        assert f"Wrote {output}: {deals:,} deals." in done.output
        is_new = "Continuing" not in done.output
        assert ("Computing the buckets (half a minute) ..." in done.output) == is_new
        return output

    whole = learn(160, "one.toml")
    learn(80, "two.toml")
    assert learn(160, "two.toml").read_bytes() == whole.read_bytes()
    policy = load_limit_policy(whole)
    assert (policy.deals, policy.seed) == (160, 4)
