"""A process that forks commands: they need neither start an interpreter nor import everything.

Most of what a short command costs is just that, and there are hundreds of them in these tests.  It
is a process of its own, without threads and without the tests' modules, so that what it forks is
as if it had been started from nothing.

It reads requests, a line of JSON each, from standard input, and answers each with two lines: the
process id of the command, and its exit status as `os.waitpid` has it.  It leaves when its input
ends.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

PATIENCE = 120.0
"""Seconds after which a command counts as hanging."""


@dataclass(frozen=True)
class Done:
    """What a command said."""

    code: int
    out: str
    err: str


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without settings that would change what commands do."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLYHOUSE_")}
    if "PLYHOUSE_PURE" in os.environ:
        kept["PLYHOUSE_PURE"] = os.environ["PLYHOUSE_PURE"]
    return {**kept, "COLUMNS": "100", **(extra or {})}


class Zygote:
    """The side of the tests."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        stdin: str = "",
    ) -> Done:
        """Run ``plyhouse`` with these arguments in a folder; raises `subprocess.TimeoutExpired`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert len(stdin.encode()) < 65536, "more than a pipe holds"
        with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            request = [list(arguments), str(folder), dict(environment), stdin, out.name, err.name]
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            child = int(self._process.stdout.readline())
            late = threading.Event()

            def stop() -> None:
                late.set()
                os.kill(child, 9)

            timer = threading.Timer(PATIENCE, stop)
            timer.start()
            status = int(self._process.stdout.readline())
            timer.cancel()
            if late.is_set():
                raise subprocess.TimeoutExpired(list(arguments), PATIENCE)
            texts = [Path(file.name).read_bytes() for file in (out, err)]
        said, complained = (text.decode().replace("\r\n", "\n") for text in texts)
        return Done(os.waitstatus_to_exitcode(status), said, complained)

    def close(self) -> None:
        """Let it leave."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE)
        self._process.stdout.close()


def serve() -> None:
    """Import what commands need, and fork them."""
    import plyhouse.clients.cli
    import plyhouse.server.gateway.hub

    for module in pkgutil.walk_packages(plyhouse.clients.cli.__path__, "plyhouse.clients.cli."):
        importlib.import_module(module.name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _be_the_command(*json.loads(line))
        _answer(child)
        _answer(os.waitpid(child, 0)[1])


def _answer(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _be_the_command(
    arguments: list[str], folder: str, environment: dict[str, str], stdin: str, out: str, err: str
) -> NoReturn:
    """In the forked process: end with the command's exit code."""
    from plyhouse.clients.cli.main import main

    code = 1
    try:
        reading, writing = os.pipe()
        os.write(writing, stdin.encode())
        os.close(writing)
        os.dup2(reading, 0)
        os.close(reading)
        for target, path in ((1, out), (2, err)):
            file = os.open(path, os.O_WRONLY | os.O_APPEND)
            os.dup2(file, target)
            os.close(file)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            for number, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        tempfile.tempdir = None  # which is chosen by the environment
        sys.path[0] = folder
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


if __name__ == "__main__":
    serve()
