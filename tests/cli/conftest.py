"""Running the command line in tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.cli.zygote import Done, Zygote

__all__ = ["Done", "Plyhouse", "Zygote", "clean_environment", "command"]

Plyhouse = Callable[..., Done]


def command() -> list[str]:
    return [sys.executable, "-m", "plyhouse.clients.cli.main"]


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without settings that would change what commands do."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLYHOUSE_")}
    if "PLYHOUSE_PURE" in os.environ:
        kept["PLYHOUSE_PURE"] = os.environ["PLYHOUSE_PURE"]
    return {**kept, "COLUMNS": "100", **(extra or {})}


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """What forks commands."""
    made = Zygote(clean_environment())
    yield made
    made.close()


@pytest.fixture
def plyhouse(tmp_path: Path, zygote: Zygote) -> Plyhouse:
    """Run ``plyhouse`` with these arguments in an empty folder.

    A traceback fails the test, unless ``traceback`` expects one: that of a bot's author.
    """

    def run(
        *arguments: str,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        traceback: bool = False,
    ) -> Done:
        done = zygote.run(arguments, tmp_path, clean_environment(env), stdin)
        assert traceback or "Traceback" not in done.err, done.err
        return done

    return run
