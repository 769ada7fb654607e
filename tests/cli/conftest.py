"""Running the command line in tests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.cli.zygote import Done, Zygote, clean_environment

__all__ = ["Done", "Plyhouse", "Zygote", "clean_environment", "command"]

Plyhouse = Callable[..., Done]


def command() -> list[str]:
    return [sys.executable, "-m", "plyhouse.clients.cli.main"]


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
