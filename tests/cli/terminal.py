"""Runs the command line in a pseudo-terminal, as a person sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cli.conftest import clean_environment, forked_command

__all__ = ["Shown", "in_terminal"]

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
QUIET = 0.2
"""A screen is still when nothing has been written for so many seconds."""
PATIENCE = 2.0
"""Seconds after which keys are typed even though the screen goes on changing."""


@dataclass(frozen=True)
class Shown:
    """The output that a terminal received."""

    code: int
    raw: str

    @property
    def text(self) -> str:
        """Without control sequences."""
        return _CONTROL.sub("", self.raw)

    @property
    def lines(self) -> list[str]:
        return [line.split("\r")[-1] for line in self.text.replace("\r\n", "\n").split("\n")]


def in_terminal(
    *arguments: str,
    columns: int = 80,
    stdin: str = "",
    keys: Sequence[str] = (),
    after: str = "quit\r\n",
    steps: Sequence[tuple[str, str]] = (),
    rows: int = 40,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Shown:
    """Run ``plyhouse`` in its own terminal.

    ``stdin`` is typed at once, each of ``keys`` when what is shown ends with ``after``.  ``steps``
    are pairs of a text to wait for, since the previous step, and the keys to type when it has come
    and the screen is still.
    """
    waiting, coming, seen, came = list(keys), list(steps), 0, 0.0
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = clean_environment({"TERM": "xterm-256color", **(env or {})})
    environment.pop("COLUMNS", None)
    environment.pop("NO_COLOR", None) if env is None or "NO_COLOR" not in env else None
    process = subprocess.Popen(
        [*forked_command(), *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=cwd,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    if stdin:
        os.write(ours, stdin.encode())
    data, deadline = b"", time.monotonic() + 120
    try:
        while time.monotonic() < deadline:
            quiet = not select.select([ours], [], [], QUIET)[0]
            if not quiet:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # the terminal is closed
                    break
                if not piece:
                    break
                data += piece
            if coming and coming[0][0] in _CONTROL.sub("", data[seen:].decode(errors="replace")):
                came = came or time.monotonic()
                if quiet or time.monotonic() - came > PATIENCE:
                    came, seen = 0.0, len(data)
                    os.write(ours, coming.pop(0)[1].encode())
            if waiting and data.endswith(after.encode()):
                while termios.tcgetattr(ours)[3] & termios.ICANON:  # until it listens to keys
                    assert time.monotonic() < deadline
                    assert process.poll() is None
                    time.sleep(0.005)
                os.write(ours, waiting.pop(0).encode())
        shown = _CONTROL.sub("", data[seen:].decode(errors="replace"))[-1500:]
        assert not coming or time.monotonic() < deadline, f"{coming[0]!r} never came: {shown}"
        code = process.wait(timeout=100)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return Shown(code, data.decode(errors="replace"))
