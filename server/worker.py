"""The part of a server process among those that a supervisor has started."""

from __future__ import annotations

import os
import signal
import threading
from typing import Final, Self

import msgspec

VARIABLE: Final = "PLYHOUSE_WORKER"
"""Variable of the environment that holds it, as JSON: other users cannot read it."""


class Worker(msgspec.Struct, frozen=True):
    """The part of a process among the workers of one supervisor."""

    number: int
    """The first is 1."""
    port: int
    """Port that all workers listen on."""
    cluster: str
    """Address of NATS."""
    folder: str
    """Folder in which the workers reach each other, for the time of the supervisor."""

    @classmethod
    def take(cls) -> Self | None:
        """Return the part of this process; None if no supervisor started it.

        Removes it from the environment, which this process hands down.
        """
        text = os.environ.pop(VARIABLE, None)
        return msgspec.json.decode(text, type=cls) if text else None

    def environment(self) -> dict[str, str]:
        """Return the variables that tell a process of its part."""
        return {VARIABLE: msgspec.json.encode(self).decode()}


def end_with_supervisor() -> None:
    """Send SIGTERM to this process when its standard input ends, which the supervisor holds."""

    def wait() -> None:
        while os.read(0, 4096):  # A lock of sys.stdin would be missing at the end of Python.
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="end with the supervisor", daemon=True).start()
