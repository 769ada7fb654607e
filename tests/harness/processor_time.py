"""Processor time of processes, and waiting for it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

LOOKS = 50_000_000
"""Nanoseconds of processor time after which a test expects a bot to have got some."""


async def pass_time() -> None:
    """Let others act while we use some processor time."""
    end = time.process_time_ns() + LOOKS
    while time.process_time_ns() < end:  # noqa: ASYNC110 - it counts what we use
        await asyncio.sleep(0)


def stands_still(pid: int) -> bool:
    """Return whether all threads of a process are stopped; each stops when it would run next."""
    stats = [path.read_text("ascii") for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(text.rpartition(")")[2].split()[0] == "T" for text in stats)


def processor_time_of(pid: int) -> int:
    """Nanoseconds that a process has used with all its threads, by its own clock."""
    return time.clock_gettime_ns((~pid << 3) | 2)
