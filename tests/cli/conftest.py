"""Running the command line in tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


Plyhouse = Callable[..., Done]


def command() -> list[str]:
    return [sys.executable, "-m", "plyhouse.clients.cli.main"]


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without settings that would change what commands do."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLYHOUSE_")}
    if "PLYHOUSE_PURE" in os.environ:
        kept["PLYHOUSE_PURE"] = os.environ["PLYHOUSE_PURE"]
    return {**kept, "COLUMNS": "100", **(extra or {})}


@pytest.fixture
def plyhouse(tmp_path: Path) -> Plyhouse:
    """Run ``plyhouse`` with these arguments in an empty folder, as a process of its own.

    A traceback fails the test, unless ``traceback`` expects one: that of a bot's author.
    """

    def run(
        *arguments: str,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        traceback: bool = False,
    ) -> Done:
        done = subprocess.run(
            [*command(), *arguments],
            cwd=tmp_path,
            env=clean_environment(env),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert traceback or "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    return run
