"""The modules that a command and the processes that it starts have loaded when they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PLYHOUSE = (sys.executable, "-m", "plyhouse")
FOLDER = Path(__file__).with_name("startup")
"""Has the module that notes what a process has loaded."""


@dataclass(frozen=True)
class Loaded:
    """One process that has ended."""

    command: str
    modules: frozenset[str]
    seconds: float
    """Its processor time, user and system."""

    @property
    def ours(self) -> frozenset[str]:
        """The modules of Plyhouse among them."""
        return frozenset([each for each in self.modules if each.startswith("plyhouse.")])

    def of(self, *packages: str) -> set[str]:
        """The modules of these packages among them."""
        below = tuple(f"{each}." for each in packages)
        return {each for each in self.modules if each in packages or each.startswith(below)}


def loaded(
    arguments: Sequence[str],
    folder: Path,
    *,
    ready: str = "",
    environment: Mapping[str, str] | None = None,
) -> list[Loaded]:
    """Run ``plyhouse`` in a folder; return its processes, the command itself first.

    A command that runs until it is stopped is stopped when its output begins with ``ready``.
    """
    with tempfile.TemporaryDirectory() as notes:
        path = os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH", "")]))
        with subprocess.Popen(
            [*PLYHOUSE, *arguments],
            cwd=folder,
            env={**(environment or os.environ), "PYTHONPATH": path, "PLYHOUSE_LOADED": notes},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if ready and line.startswith(ready):
                    process.send_signal(signal.SIGTERM)
        found: list[Loaded] = []
        for note in Path(notes).iterdir():
            command, seconds, modules = note.read_text("utf-8").split("\n", 2)
            one = Loaded(command, frozenset(modules.splitlines()), float(seconds))
            found.insert(0 if int(note.name) == process.pid else len(found), one)
        return found
