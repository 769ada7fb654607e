"""Measure the cost of a ply from the kernel's accounts, which the bot cannot forge.

A `Stopwatch` starts with the request and is read with the answer.  If a process thinks about
several turns at the same time (an async bot), each turn has the CPU time of all.

A bot cannot fake the time that it lost to other processes.  Waiting of its threads for each other
does not count; only the time for which the kernel ran other processes on its core counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from typing import Final

import msgspec

__all__ = ["LOOK_AFTER", "CostOfPly", "Stopwatch", "busy_of"]

LOOK_AFTER: Final = 0.02
"""Seconds from which a ply is long enough to read how its core served other processes."""

_TICK: Final = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class CostOfPly(msgspec.Struct, frozen=True):
    """Cost of a ply; durations are in nanoseconds."""

    match: str
    ply: int
    wall: int
    """Time from sending the request to receiving the answer."""
    cpu: int
    """CPU time of the bot's process with all its threads."""
    waited: int
    """Sum of the times for which its threads were runnable but did not run.  0 if the kernel does
    not count it."""
    others: int = 0
    """Time for which its core ran other processes, including steal time. 0 if unknown: in the first
    `LOOK_AFTER` seconds, and if the bot may use several cores."""
    allowed: int = 0
    """Time left on its clock at the request; 0 if unknown."""
    answered: bool = True
    """True if it answered before the turn was over."""

    @property
    def slept(self) -> int:
        """Lower bound of the time for which all threads of the bot slept.

        >>> CostOfPly("m", 0, wall=1000, cpu=300, waited=600).slept
        100
        """
        return max(0, self.wall - self.cpu - self.waited)

    @property
    def lost(self) -> int:
        """Time that the bot lost because the machine ran other processes.

        >>> busy = CostOfPly("m", 0, wall=1000, cpu=300, waited=600, others=650, allowed=1000)
        >>> busy.lost
        600
        >>> fighting_itself = CostOfPly("m", 0, wall=1000, cpu=300, waited=9000, others=5)
        >>> fighting_itself.lost
        5
        """
        lost = min(self.waited, self.others, max(0, self.wall - self.cpu))
        # Without an answer, a late request or an early end of the turn also cost time.
        late = 0 if self.answered or not self.allowed else max(0, self.allowed - self.wall)
        return lost + late


class Stopwatch:
    """Starts when it is created; needs a running event loop.

    ``allowed`` is the time left on the bot's clock, in nanoseconds; 0 if unknown.
    """

    def __init__(self, pid: int, allowed: int = 0) -> None:
        self._pid = pid
        self._allowed = allowed
        self._core: int | None = None
        self._busy: int | None = None
        self._used_then = 0
        loop = asyncio.get_running_loop()
        self._look = loop.call_later(LOOK_AFTER, self._look_at_core)
        self._began = time.monotonic_ns()
        self._used = _used(pid)
        self._waited = _waited(pid)

    def cost(self, match: str, ply: int, *, answered: bool = True) -> CostOfPly | None:
        """Return the cost since the start; None if the process has ended."""
        self._look.cancel()
        wall = time.monotonic_ns() - self._began
        used = _used(self._pid)
        if used is None or self._used is None:
            return None
        cpu = max(0, used - self._used)
        if not cpu and _runnable(self._pid):
            # The kernel counts a wait at its end, and this one has lasted since the request.
            waited = wall
        else:
            waited = max(0, _waited(self._pid) - self._waited)
        return CostOfPly(match, ply, wall, cpu, waited, self._others(used), self._allowed, answered)

    def _look_at_core(self) -> None:
        """Record the accounts of the bot's core, if it has its own."""
        with contextlib.suppress(OSError, AttributeError):
            cores = os.sched_getaffinity(self._pid)
            used = _used(self._pid)
            if len(cores) == 1 and used is not None:
                self._core, self._used_then = min(cores), used
                self._busy = busy_of(self._core)

    def _others(self, used: int) -> int:
        now = busy_of(self._core) if self._core is not None else None
        if now is None or self._busy is None:
            return 0
        return max(0, now - self._busy - (used - self._used_then))


def busy_of(core: int) -> int | None:
    """Return the busy time of a core, including steal time, in nanoseconds; None if unknown.

    The kernel counts it with a precision of about 10 ms.
    """
    with contextlib.suppress(OSError, ValueError), open("/proc/stat", "rb") as file:
        start = b"cpu%d " % core
        for line in file:
            if line.startswith(start):
                user, nice, system, _, _, irq, soft, steal = map(int, line.split()[1:9])
                return (user + nice + system + irq + soft + steal) * _TICK
    return None


def _used(pid: int) -> int | None:
    """Return the CPU time of a process in nanoseconds (``clock_getcpuclockid(3)``)."""
    with contextlib.suppress(OSError):
        return time.clock_gettime_ns((~pid << 3) | 2)
    return None


def _runnable(pid: int) -> bool:
    """Return whether a thread of a process runs or waits for a processor."""
    with contextlib.suppress(OSError, IndexError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/stat", "rb") as file:
                if file.read().rpartition(b") ")[2][:1] == b"R":
                    return True
    return False


def _waited(pid: int) -> int:
    """Return the time that the living threads of a process have spent on a run queue."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat", "rb") as file:
                total += int(file.read().split()[1])
    return total
