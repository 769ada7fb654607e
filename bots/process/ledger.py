"""What a ply cost the machine: read from the kernel by whoever runs the bot, never told by the bot.

`Stopwatch` is started when a process is asked and read when it has answered.  A process that thinks
about several turns at once (an async bot) has the processor time of all on each of them.

What of the time went to others is worked out so that a bot cannot feign it.  Its threads may wait
for each other as long as they like: what counts is only for how long their processor, by the
kernel's own account of it, was at work for anybody else.
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
"""Seconds after which a ply is long enough to look at what its processor does for others."""

_TICK: Final = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class CostOfPly(msgspec.Struct, frozen=True):
    """Durations are nanoseconds."""

    match: str
    ply: int
    wall: int
    """From the question's way into the pipe to the answer's way out of it."""
    cpu: int
    """Processor time of the bot's process with all its threads."""
    waited: int
    """Time for which its threads could have run, but did not, summed up: the machine gave their
    processor to others, or to another thread of the bot.  0 where the kernel does not count it.
    """
    others: int = 0
    """Time for which its processor was at work for others, steal included; 0 if that is not
    known: in the first `LOOK_AFTER` seconds, or if it may run on several."""
    allowed: int = 0
    """What was left on its clock when it was asked; 0 if that is not known."""
    answered: bool = True
    """Whether it answered before the turn was over."""

    @property
    def short(self) -> float:
        """Which part of the time its threads waited: between 0 and 1."""
        return min(1.0, self.waited / self.wall) if self.wall > 0 else 0.0

    @property
    def slept(self) -> int:
        """Time for which no thread of the bot was running or waiting for a processor, at least.

        >>> CostOfPly("m", 0, wall=1000, cpu=300, waited=600).slept
        100
        """
        return max(0, self.wall - self.cpu - self.waited)

    @property
    def lost(self) -> int:
        """How much of the time the machine was not the bot's, for all that it could do.

        >>> busy = CostOfPly("m", 0, wall=1000, cpu=300, waited=600, others=650, allowed=1000)
        >>> busy.lost
        600
        >>> fighting_itself = CostOfPly("m", 0, wall=1000, cpu=300, waited=9000, others=5)
        >>> fighting_itself.lost
        5
        """
        lost = min(self.waited, self.others, max(0, self.wall - self.cpu))
        # Whoever did not answer, and was asked late or told of its flag early, had less time.
        late = 0 if self.answered or not self.allowed else max(0, self.allowed - self.wall)
        return lost + late


class Stopwatch:
    """Runs from its making on; needs a running event loop.

    ``allowed`` is what is left on the bot's clock now, in nanoseconds; 0 if that is not known.
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
        """What was used since; None if the process has ended, and nothing is known."""
        self._look.cancel()
        wall = time.monotonic_ns() - self._began
        used = _used(self._pid)
        if used is None or self._used is None:
            return None
        waited = max(0, _waited(self._pid) - self._waited)
        cpu = max(0, used - self._used)
        return CostOfPly(match, ply, wall, cpu, waited, self._others(used), self._allowed, answered)

    def _look_at_core(self) -> None:
        """Note what the bot's processor has done so far, if it has one."""
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
    """For how long a processor has been at work, or its host has kept it; None if not known.

    To about 10 ms, which is how the kernel keeps this account.
    """
    with contextlib.suppress(OSError, ValueError), open("/proc/stat", "rb") as file:
        start = b"cpu%d " % core
        for line in file:
            if line.startswith(start):
                user, nice, system, _, _, irq, soft, steal = map(int, line.split()[1:9])
                return (user + nice + system + irq + soft + steal) * _TICK
    return None


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
