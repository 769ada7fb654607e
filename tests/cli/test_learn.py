"""``plyhouse learn``: a network for backgammon, in one run or in several, and a bot by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.conftest import Plyhouse

from plyhouse.clients.cli import learn as command
from plyhouse.clients.shared.errors import EXIT_INTERRUPTED
from plyhouse.search.evaluation.backgammon_training import BackgammonTraining

OPTIONS = ("--seed", "4", "--hidden", "4", "--pairs", "0")


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


def test_file_that_does_not_fit_is_refused(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("learn", "backgammon", "--matches", "8", *OPTIONS)
    assert done.code == 0, done.err
    done = plyhouse("learn", "backgammon", "--matches", "16", *OPTIONS, "--trace", "0.7")
    assert done.code == 2
    assert (
        "network.toml.training is of a training with other settings: Settings(seed=4," in done.err
    )

    (tmp_path / "network.toml.training").write_text("{}")
    done = plyhouse("learn", "backgammon", "--matches", "16", *OPTIONS)
    assert done.code != 0
    assert "network.toml.training: this is not a checkpoint of format" in done.err

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
    monkeypatch.setattr(command, "EVERY", 0.0)
    output = tmp_path / "network.toml"
    arguments = ["backgammon", "--matches", "80", *OPTIONS, "-o", str(output)]
    done = CliRunner().invoke(command.learn, arguments, standalone_mode=False)
    assert done.return_value == EXIT_INTERRUPTED
    assert "TD(lambda) on 16 matches" in output.read_text(encoding="utf-8")
    assert BackgammonTraining.load(f"{output}.training").played == 16
