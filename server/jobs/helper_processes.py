"""Run long work in processes with a lower priority.

A computing thread blocks the event loop for moments; a process does not.  With a lower priority it
leaves most of the processor to the clocks.  Processes start when they are first needed, and stay.
A function is passed by reference: the process imports its module.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import sys
from collections.abc import Callable
from typing import IO, Any, Final, ParamSpec, TypeVar, cast

from plyhouse.games.registry import add_game_file, added_game_files
from plyhouse.server.jobs.fair_queue import FairQueue
from plyhouse.server.jobs.helper_jobs import NotWorkedOut, environment, lower_priority

P_ = ParamSpec("P_")
T = TypeVar("T")

log = logging.getLogger("plyhouse.server")

SECONDS: Final = 60.0
"""The longest duration of one call, including the start of its process, in seconds."""
LENGTH: Final = 8
"""Bytes before each message that hold its length."""


class Helpers:
    """A pool of at most ``most`` processes, which know the same games as this one."""

    def __init__(self, most: int) -> None:
        self.queue = FairQueue()
        """Admits one visitor at a time to work that a reader asks for again and again."""
        self._places = asyncio.Semaphore(most)
        self._idle: list[asyncio.subprocess.Process] = []
        self._game_files: dict[asyncio.subprocess.Process, set[str]] = {}
        """All processes, with the game files that each has loaded."""

    async def run(self, work: Callable[P_, T], *args: P_.args, **named: P_.kwargs) -> T:
        """Call a module's function; its arguments and result have to be picklable.

        Raises what the function raises, and `NotWorkedOut` (``server/overloaded``) if its process
        ends or takes more than `SECONDS`.
        """
        async with self._places:
            process: asyncio.subprocess.Process | None = None
            try:
                async with asyncio.timeout(SECONDS):
                    process = self._idle.pop() if self._idle else await self._start()
                    await self._add_games(process)
                    worked, found = await _ask(process, work, args, named)
            except BaseException as error:
                if process is not None:  # it may still be working on this call
                    await self._end(process)
                if not isinstance(error, TimeoutError | OSError | EOFError):
                    raise
                log.error("helper failed", extra={"work": work.__qualname__, "why": repr(error)})
                raise NotWorkedOut(
                    "server/overloaded", "The server could not work this out: try again later.", 10
                ) from error
            self._idle.append(process)
        if not worked:
            raise cast(BaseException, found)
        return cast(T, found)

    async def close(self) -> None:
        """End all processes."""
        for process in tuple(self._game_files):
            await self._end(process)

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "plyhouse.server.jobs.helper_processes",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C must reach only the server
            env=environment(),
        )
        self._game_files[process] = set()
        return process

    async def _add_games(self, process: asyncio.subprocess.Process) -> None:
        """Let a process load the games that were added here since its last call."""
        known = self._game_files[process]
        for source in added_game_files():
            if source not in known:
                await _ask(process, add_game_file, (source,), {})
                known.add(source)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        self._game_files.pop(process, None)
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        # Reap the process even if the caller is cancelled.
        await asyncio.shield(process.wait())


async def _ask(
    process: asyncio.subprocess.Process,
    work: Callable[..., Any],
    args: tuple[Any, ...],
    named: dict[str, Any],
) -> tuple[bool, Any]:
    """Send a call; return whether it succeeded, and its result or exception."""
    given, answers = (
        cast(asyncio.StreamWriter, process.stdin),
        cast(asyncio.StreamReader, process.stdout),
    )
    message = pickle.dumps((work, args, named))
    given.write(len(message).to_bytes(LENGTH) + message)
    await given.drain()
    size = int.from_bytes(await answers.readexactly(LENGTH))
    # Here and below, the other end of the pipe is our own code, so unpickling is safe.
    answer: tuple[bool, Any] = pickle.loads(await answers.readexactly(size))  # noqa: S301
    return answer


def main() -> None:
    """Answer calls until standard input ends, because the server's end has closed."""
    lower_priority()
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # the output of a game is no answer
    while head := given.read(LENGTH):
        _answer(given.read(int.from_bytes(head)), answers)


def _answer(message: bytes, answers: IO[bytes]) -> None:
    try:
        work, args, named = pickle.loads(message)  # noqa: S301
        found = pickle.dumps((True, work(*args, **named)))
    except Exception as error:
        try:
            found = pickle.dumps((False, error))
            pickle.loads(found)  # noqa: S301
        except Exception:  # some exceptions cannot be unpickled
            found = pickle.dumps((False, RuntimeError(repr(error))))
    answers.write(len(found).to_bytes(LENGTH) + found)
    answers.flush()


if __name__ == "__main__":
    main()
