"""The local arena: a series of matches between bots, parallel over processes.

Every process (`plyhouse.clients.arena.process`) has its own hub and bots.  It takes one pairing
after the other, so a slow pairing delays no other.  The chance stream of a pairing depends
only on the seed of the series and the pairing's index, not on the process that plays it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator

import msgspec

from plyhouse.clients.arena.tally import MatchResult
from plyhouse.clients.shared.errors import EXIT_FAILED, CommandError

LINE_LIMIT = 64 * 1024 * 1024
"""Longest line of a process: the records of a whole pairing."""


class Series(msgspec.Struct, frozen=True):
    """The conditions of all matches of a series."""

    bots: tuple[str, ...]
    """The spec of each bot."""
    names: tuple[str, ...]
    """The names of the bots, all different."""
    game: str
    time_control: str
    illegal_rule: str
    mirrored: bool
    seed: int
    records: bool
    """True if the records of the matches are wanted."""
    log_folder: str = ""
    """Where to keep what each bot prints and how it fails; "" keeps nothing."""
    opening_plies: int = 0
    """Plies at the start of every pairing that are drawn at random, alike in all its matches."""
    turn_seconds: tuple[float | None, ...] = ()
    """Most seconds of a turn of each bot, where the time control leaves more; empty if that is the
    only limit."""
    boxed: tuple[str, ...] = ()
    """The bots as the user named them, to run in a sandbox; "" for one that runs without."""
    sides: tuple[int, ...] = ()
    """The bot of each seat in the first match of a pairing, where a bot plays all seats of a team
    (`plyhouse.server.results.scoring.teams_of`); empty if each bot plays one seat."""


class PlayedPairing(msgspec.Struct, frozen=True):
    """The result of one pairing."""

    results: list[MatchResult]
    records: list[str]
    """One line of JSON per match, if wanted."""


class ArenaFailure(msgspec.Struct, frozen=True):
    """The reason why a series cannot be played, as a process reports it."""

    message: str
    exit_code: int
    details: str = ""
    """Traceback within the code of a bot's author."""


class ArenaError(CommandError):
    """The series cannot be played; ``details`` is the traceback in a bot author's code."""

    def __init__(self, failure: ArenaFailure) -> None:
        super().__init__(failure.message, failure.exit_code)
        self.details = failure.details


def default_jobs(bots: int, mirrored: bool) -> int:
    """Return the number of processes that keeps every core busy.

    A mirrored pairing has one match per bot, played at the same time, so as many bots think at
    once.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) // (bots if mirrored else 1))


async def play_series(
    series: Series,
    pairings: Iterable[int],
    jobs: int,
    on_played: Callable[[int, PlayedPairing], None],
    on_line: Callable[[str], None],
    gate: asyncio.Semaphore | None = None,
) -> None:
    """Play the pairings with these indices in ``jobs`` processes; ``on_played`` gets each.

    ``on_played`` is called as pairings end, in any order, with the index and the result.
    ``on_line`` gets each line that bots print or fail with.  ``pairings`` is advanced when a
    process is free.  ``gate`` limits the pairings that several series play at once.  Raises
    `ArenaError`.  No process outlives the call.
    """
    queue = iter(pairings)
    gate = gate or asyncio.Semaphore(jobs)
    async with asyncio.TaskGroup() as group:
        for _ in range(jobs):
            group.create_task(_work(series, queue, gate, on_played, on_line))


async def _work(
    series: Series,
    queue: Iterator[int],
    gate: asyncio.Semaphore,
    on_played: Callable[[int, PlayedPairing], None],
    on_line: Callable[[str], None],
) -> None:
    """Let one process play what is left in the queue."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # a json.py in this folder must not hide the standard library's
        "-m",
        "plyhouse.clients.arena.process",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,  # a progress bar may be where it would print
        limit=LINE_LIMIT,
    )
    telling = asyncio.create_task(_tell(process, on_line))
    grace = 0.5  # when interrupted, nobody wants to wait for the end of a match
    try:
        await _ask(process, msgspec.json.encode(series).decode())
        while True:
            async with gate:
                if (index := next(queue, None)) is None:
                    break
                played = await _ask(process, str(index))
            on_played(index, msgspec.convert(played["played"], PlayedPairing))
        grace = 10.0
    finally:
        await _end(process, grace)
        # A process that it left behind may keep its standard error open.
        await asyncio.wait({telling}, timeout=1.0)
        telling.cancel()


async def _tell(process: asyncio.subprocess.Process, on_line: Callable[[str], None]) -> None:
    """Pass on what a process prints."""
    if process.stderr is not None:
        async for line in process.stderr:
            on_line(line.decode(errors="replace").rstrip("\n"))


async def _ask(process: asyncio.subprocess.Process, line: str) -> dict[str, object]:
    """Send a line and return the answer; raises `ArenaError` if it says why not."""
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("a process of the arena is started with pipes")
    with contextlib.suppress(ConnectionError):
        process.stdin.write(f"{line}\n".encode())
        await process.stdin.drain()
    answer = await process.stdout.readline()
    if not answer:
        code = await process.wait()
        raise ArenaError(
            ArenaFailure(f"A process of the arena ended with code {code}.", EXIT_FAILED)
        )
    fields: dict[str, object] = json.loads(answer)
    if "error" in fields:
        raise ArenaError(msgspec.convert(fields["error"], ArenaFailure))
    return fields


async def _end(process: asyncio.subprocess.Process, grace: float) -> None:
    """Let a process leave; end it if it does not within ``grace`` seconds."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), grace)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):  # it has left just now
            process.kill()
        await process.wait()
    except asyncio.CancelledError:  # while it was leaving: it gets no more than a moment
        await _end(process, min(grace, 0.5))
        raise
