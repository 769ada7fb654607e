"""Running the command line in tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.harness.zygote import Done, Zygote, clean_environment, command, forked_command

__all__ = ["CHOMP", "Done", "Plyhouse", "Zygote", "clean_environment", "command", "forked_command"]

Plyhouse = Callable[..., Done]
CHOMP = Path(__file__).parents[2] / "examples" / "chomp.py"
"""A game of one's own, as far as Plyhouse knows."""


@pytest.fixture
def plyhouse(tmp_path: Path, zygote: Zygote) -> Plyhouse:
    """Run ``plyhouse`` with these arguments in an empty folder.

    A traceback fails the test, unless ``traceback`` expects one: that of a bot's author.
    """

    def run(
        *arguments: str,
        stdin: str | bytes = "",
        env: Mapping[str, str] | None = None,
        traceback: bool = False,
    ) -> Done:
        done = zygote.run(arguments, tmp_path, clean_environment(env), stdin)
        assert traceback or "Traceback" not in done.err, done.err
        return done

    return run


@pytest.fixture(scope="session")
def chomp_matches(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> Path:
    """The records of two matches of that game, which was named by its file, ``chomp.py``."""
    folder = tmp_path_factory.mktemp("chomp")
    shutil.copy(CHOMP, folder / "chomp.py")
    series = ("match", "random", "random", "--game", "chomp.py", "--games", "2", "--jobs", "1")
    done = zygote.run((*series, "--save", "c.jsonl"), folder, clean_environment())
    assert done.code == 0, done.err
    return folder / "c.jsonl"
