"""Running the command line in tests."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from plyhouse.clients.cli.main import main

PATIENCE = 120.0
"""Seconds after which a command counts as hanging."""


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


def run_command(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: str = ""
) -> Done:
    """Run ``plyhouse`` with these arguments in a folder, as a process of its own.

    It is forked from this one, with what is imported here: most of what a short command costs is
    the start of an interpreter and its imports.  Processes that commands start, and tests that use
    `command`, begin from nothing.
    """
    reading, writing = os.pipe()
    data = stdin.encode()
    assert len(data) < 65536, "more than a pipe holds"
    os.write(writing, data)
    os.close(writing)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with warnings.catch_warnings():
            # Of threads, which are none of the command's: it uses nothing that they may hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            _be_the_command(arguments, folder, environment, (reading, out.fileno(), err.fileno()))
        os.close(reading)
        deadline = time.monotonic() + PATIENCE
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > deadline:
                os.kill(child, 9)
                os.waitpid(child, 0)
                raise subprocess.TimeoutExpired(list(arguments), PATIENCE)
            time.sleep(0.004)
        texts = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in (out, err)]
    said, complained = (text.decode().replace("\r\n", "\n") for text in texts)
    return Done(os.waitstatus_to_exitcode(ended[1]), said, complained)


def _be_the_command(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    standard: tuple[int, int, int],
) -> NoReturn:
    """In the forked process: forget the tests, and end with the command's exit code."""
    code = 1
    try:
        for target, source in enumerate(standard):
            os.dup2(source, target)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            for number, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        warnings.resetwarnings()
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)  # as an interpreter does by itself
        ours, tempfile.tempdir = tempfile.gettempdir(), None  # which is chosen by the environment
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(ours):
                del sys.modules[name]  # what earlier tests wrote may have the same name
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        code = main(arguments)
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


@pytest.fixture
def plyhouse(tmp_path: Path) -> Plyhouse:
    """Run ``plyhouse`` with these arguments in an empty folder.

    A traceback fails the test, unless ``traceback`` expects one: that of a bot's author.
    """

    def run(
        *arguments: str,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        traceback: bool = False,
    ) -> Done:
        done = run_command(arguments, tmp_path, clean_environment(env), stdin)
        assert traceback or "Traceback" not in done.err, done.err
        return done

    return run
