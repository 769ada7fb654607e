"""What a ply cost the machine: read from the kernel by whoever runs the bot, never told by the bot.

`Stopwatch` is started when a process is asked and read when it has answered.  A process that thinks
about several turns at once (an async bot) has the processor time of all on each of them.
"""

from __future__ import annotations

import contextlib
import os
import time

import msgspec

__all__ = ["CostOfPly", "Stopwatch"]


class CostOfPly(msgspec.Struct, frozen=True):
    """Durations are nanoseconds."""

    match: str
    ply: int
    wall: int
    """From the question's way into the pipe to the answer's way out of it."""
    cpu: int
    """Processor time of the bot's process with all its threads."""
    waited: int
    """Time for which its threads could have run, but the machine gave their processor to others.

    None of the bot's doing.  0 where the kernel does not count it.
    """

    @property
    def short(self) -> float:
        """Which part of the time the machine was not the bot's: between 0 and 1."""
        return min(1.0, self.waited / self.wall) if self.wall > 0 else 0.0


class Stopwatch:
    """Runs from its making on."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began = time.monotonic_ns()
        self._used = _used(pid)
        self._waited = _waited(pid)

    def cost(self, match: str, ply: int) -> CostOfPly | None:
        """What was used since; None if the process has ended, and nothing is known."""
        wall = time.monotonic_ns() - self._began
        used = _used(self._pid)
        if used is None or self._used is None:
            return None
        waited = max(0, _waited(self._pid) - self._waited)
        return CostOfPly(match, ply, wall, max(0, used - self._used), waited)


def _used(pid: int) -> int | None:
    """Processor time of a process so far, by its own clock (``clock_getcpuclockid(3)``)."""
    with contextlib.suppress(OSError):
        return time.clock_gettime_ns((~pid << 3) | 2)
    return None


def _waited(pid: int) -> int:
    """Time that its living threads have spent on a run queue."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat", "rb") as file:
                total += int(file.read().split()[1])
    return total
