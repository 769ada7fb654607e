"""``plyhouse`` commands as processes of their own, of which none is left behind.

The demo starts a real server and real bots.  Each process carries a mark in its environment, which
what it starts inherits: so a bot whose runner was killed is found as well, where the system lists
environments (``/proc``).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from plyhouse.clients.shared.errors import EXIT_UNREACHABLE, CommandError

READY: Final = "Plyhouse is listening on "
START_TIMEOUT: Final = 120.0
"""Seconds for a server to be ready, on a machine with much else to do."""
GRACE: Final = 3.0
"""Seconds that processes have to end after each signal."""
MARK: Final = "STARTED_BY"
"""In the environment; not ``PLYHOUSE_...``, which would be an option."""


class Processes:
    """Processes by name, and what they print."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._mark = secrets.token_hex(8)

    def start(
        self, name: str, arguments: Sequence[str], extra: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start ``plyhouse`` with these arguments; its output goes to a log.

        It has its own session: Ctrl-C reaches it through `close` alone, in good order.
        """
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PLYHOUSE_")}
        if "PLYHOUSE_PURE" in os.environ:
            kept["PLYHOUSE_PURE"] = os.environ["PLYHOUSE_PURE"]
        with open(self._log_file(name), "ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-P", "-m", "plyhouse.clients.cli.main", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**kept, MARK: self._mark, **(extra or {})},
                start_new_session=True,
            )
        self.running[name] = process
        return process

    def start_server(self, arguments: Sequence[str]) -> str:
        """Start a server with these arguments; returns its address."""
        process = self.start("server", ["serve", *arguments])
        deadline = time.monotonic() + START_TIMEOUT
        while time.monotonic() < deadline:
            for line in self.log("server").splitlines():
                if line.startswith(READY):
                    return line.removeprefix(READY).strip()
            if process.poll() is not None:
                reason = self.last_line("server").removeprefix("plyhouse: ") or "it said nothing"
                raise CommandError(f"The server did not start: {reason}", EXIT_UNREACHABLE)
            time.sleep(0.02)
        raise CommandError("The server did not start in time.", EXIT_UNREACHABLE)

    def _log_file(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def log(self, name: str) -> str:
        """Return the output of a process; of all processes of one name together."""
        file = self._log_file(name)
        return file.read_text(errors="replace") if file.exists() else ""

    def last_line(self, name: str) -> str:
        """The last line that a process has printed."""
        return next(iter(self.log(name).strip().splitlines()[-1:]), "")

    def close(self) -> None:
        """End every process: those that came last first, so that bots can say goodbye."""
        with _deaf():
            order = [*reversed(self.running.values())]
            for sign in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
                for process in order:
                    if process.poll() is None:
                        process.send_signal(sign)
                deadline = time.monotonic() + GRACE
                for process in order:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(timeout=max(0.05, deadline - time.monotonic()))
            for left in self.left():
                with contextlib.suppress(OSError):
                    os.kill(left, signal.SIGKILL)

    def left(self) -> list[int]:
        """Ids of processes that carry our mark."""
        wanted = f"{MARK}={self._mark}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended, or is somebody else's
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Let no further Ctrl-C cut short what cleans up."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def terminating_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a command as Ctrl-C does: with everything cleaned up."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
