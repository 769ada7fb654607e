"""Reviews and search trees, which a separate program computes and the server keeps in files.

The server contains no search.  `plyhouse serve` names the command in the settings: `plyhouse review
- --json`, and `plyhouse explain --record - --json`.  The command reads a record from its standard
input and writes JSON.  Each run is a process with the lowest priority and a time limit, so that the
clocks of running matches do not feel it.  Only a few run at once.  A repeated question costs
nothing.

Reviews take long.  A client that asks for another review while one is made must ask again later;
other clients take turns.  A tree takes a moment, so a few requests may wait, and the rate of new
trees for one visitor is limited.  A tree belongs to a position and not to a match, so matches with
the same beginning share the kept trees.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import math
import os
import shlex
import shutil
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from plyhouse.server.config import ServerConfig
from plyhouse.server.jobs.fair_queue import VISITOR, FairQueue
from plyhouse.server.results.record import Record, write_record
from plyhouse.server.wire.limits import Rate

log = logging.getLogger("plyhouse.server")

STARTING: Final = 20.0
"""Seconds that the program may take in addition to its limit, to start and to write."""
MOST_KEPT: Final = 10_000
"""Most answers in a folder; the oldest are deleted."""
VISITORS: Final = 8
"""Visitors who wait for one program; each waits for the others' turns, in 180 s at most."""
LOWEST: Final = 19
"""The lowest priority of the operating system."""
LOWER: Final = 10
"""Steps of priority below that of the clocks: a tenth of their share of a busy processor."""
USAGE: Final = 2
"""The exit code of a command for an impossible request; the command says why."""


class NotWorkedOut(Exception):  # noqa: N818 - a condition, named by its code
    """A refusal to answer now.

    ``code`` says why, ``retry_after`` when to ask again (seconds).
    """

    def __init__(self, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after = retry_after


Given = str | Callable[[], Awaitable[str]]
"""Input of a program, or the function that reads it."""


class WorkedOut:
    """Answers of one program.

    ``kind`` is the area of the codes of `NotWorkedOut` and the name of the folder: ``review``.
    ``at_once`` processes run, for one visitor one at a time, and ``waiting`` more requests of each
    visitor may wait for them.  With ``refuses``,
    the exit code 2 is an answer: the request is impossible, and the program has said why
    (``review/impossible``).
    """

    def __init__(
        self,
        kind: str,
        command: str,
        at_once: int,
        seconds: float,
        folder: str,
        *,
        waiting: int = 0,
        refuses: bool = False,
    ) -> None:
        self.kind = kind
        self._command = shlex.split(command)
        self._at_once = at_once if self._command else 0
        self._most = self._at_once + waiting
        """Most requests of one visitor."""
        self._refuses = refuses
        self._places = FairQueue(max(1, self._at_once))
        self.seconds = seconds
        self._folder = Path(folder) if folder else None
        self._own_folder: Path | None = None
        self._running: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self._asked: Counter[Hashable] = Counter()
        """Running requests of each visitor."""

    @property
    def offered(self) -> bool:
        """True if the server offers such answers."""
        return self._at_once > 0

    async def known(self, key: str) -> bool:
        """Return whether an answer is kept or already being computed."""
        return key in self._running or await asyncio.to_thread(self.kept, key) is not None

    async def of(self, key: str, about: str, more: Sequence[str], given: Given) -> dict[str, Any]:
        """Return the answer with this key: a kept one, or that of the program.

        The program gets the arguments ``more`` and the input ``given``, which is read for it alone.
        ``about`` names the subject in messages.  Raises `NotWorkedOut`.
        """
        task = self._running.get(key)
        if task is None:
            kept = await asyncio.to_thread(self.kept, key)
            if kept is not None:
                return kept
            task = self._running.get(key)  # begun by another request meanwhile
        if task is None:
            visitor = VISITOR.get()
            mine = self._asked.get(visitor, 0)
            if mine >= self._most or (not mine and len(self._asked) >= VISITORS):
                raise NotWorkedOut(
                    f"{self.kind}/busy",
                    f"The server works on others of these: ask for {about} again in a while.",
                    max(1, round(self.seconds)),
                )
            task = asyncio.create_task(self._work(visitor, key, about, more, given))
            self._running[key] = task
            self._asked[visitor] += 1
            task.add_done_callback(lambda _: self._done(key, visitor))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                raise  # this request was cancelled; others may wait for the answer
            raise NotWorkedOut(
                "server/shutting_down", "The server is stopping: ask again in a while."
            ) from None

    def _done(self, key: str, visitor: Hashable) -> None:
        self._running.pop(key, None)
        self._asked[visitor] -= 1
        self._asked += Counter()  # without those that have none

    async def close(self) -> None:
        """Stop all running programs, and delete answers kept only for this run."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._own_folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._own_folder, ignore_errors=True)

    async def _work(
        self, visitor: Hashable, key: str, about: str, more: Sequence[str], given: Given
    ) -> dict[str, Any]:
        try:
            async with self._places.of(visitor):
                text = given if isinstance(given, str) else await given()
                code, output, complaint = await _run([*self._command, *more], text, self.seconds)
        except TimeoutError:
            log.error("job took too long", extra={"about": about})
            raise NotWorkedOut(
                f"{self.kind}/too_long", f"{_capital(about)} took too long."
            ) from None
        except OSError as error:
            log.error("job not started", extra={"about": about, "why": str(error)})
            raise NotWorkedOut(
                f"{self.kind}/failed", f"{_capital(about)} could not be worked out."
            ) from error
        if code == USAGE and self._refuses:
            lines = complaint.strip().splitlines() or ["plyhouse: It is not possible."]
            raise NotWorkedOut(f"{self.kind}/impossible", lines[-1].removeprefix("plyhouse: "))
        try:
            found = json.loads(output) if code == 0 else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            log.error("job failed", extra={"about": about, "code": code, "why": complaint[-2000:]})
            raise NotWorkedOut(f"{self.kind}/failed", f"{_capital(about)} could not be worked out.")
        with contextlib.suppress(OSError):  # the answer exists, but will not be kept
            await asyncio.to_thread(self._keep, key, output)
        return found

    # ------------------------------------------------------------------- in threads: files

    def kept(self, key: str) -> dict[str, Any] | None:
        """Return the answer that is kept under a key."""
        folder = self._folder or self._own_folder
        if folder is None:
            return None
        try:
            found = json.loads((folder / f"{key}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def _keep(self, key: str, output: bytes) -> None:
        folder = self._folder
        if folder is None:
            if self._own_folder is None:
                self._own_folder = Path(tempfile.mkdtemp(prefix=f"plyhouse-{self.kind}s-"))
            folder = self._own_folder
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f"{key}.new"
        new.write_bytes(output)
        new.replace(folder / f"{key}.json")
        kept = list(folder.glob("*.json"))
        if len(kept) > MOST_KEPT:
            kept.sort(key=lambda path: path.stat().st_mtime)
            for path in kept[: len(kept) - MOST_KEPT]:
                path.unlink(missing_ok=True)


def _capital(about: str) -> str:
    return about[:1].upper() + about[1:]


async def _run(command: list[str], given: str, seconds: float) -> tuple[int, bytes, str]:
    """Run the program; return its exit code, its output, and its error output.

    Raises TimeoutError if it takes too long, and OSError if it cannot be run.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # its children must end with it; Ctrl-C must reach only the server
        env=environment(),
    )
    try:
        with contextlib.suppress(OSError, AttributeError):  # it may have ended
            os.setpriority(os.PRIO_PROCESS, process.pid, LOWEST)
        async with asyncio.timeout(seconds + STARTING):
            output, complaint = await process.communicate(given.encode())
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return process.returncode or 0, output, complaint.decode(errors="replace")


def lower_priority() -> None:
    """Lower the priority of the calling thread, if the system allows it.

    It does not get the lowest priority, because somebody waits for its result.
    """
    if sys.platform == "linux":  # elsewhere the number would be that of some process
        with contextlib.suppress(OSError):
            mine = threading.get_native_id()
            lower = os.getpriority(os.PRIO_PROCESS, mine) + LOWER
            os.setpriority(os.PRIO_PROCESS, mine, lower)


def environment() -> dict[str, str]:
    """Return the environment without the server's settings, which may be secret."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PLYHOUSE_") or name == "PLYHOUSE_PURE"
    }


MOST_LOOKED_UP: Final = 20
"""Number of seats whose kept reviews are read for a page."""


class Reviews:
    """The reviews of a server."""

    def __init__(self, config: ServerConfig) -> None:
        self._found = WorkedOut(
            "review",
            config.review_command,
            config.reviews,
            config.review_seconds,
            config.review_folder,
        )

    @property
    def offered(self) -> bool:
        """True if the server offers reviews."""
        return self._found.offered

    async def of(self, match: str, seat: int | None, record: str) -> dict[str, Any]:
        """Return the review of a finished match, as JSON; raises `NotWorkedOut`."""
        if not self.offered:
            raise NotWorkedOut("review/off", "This server reviews no matches.")
        more = ["--seconds", f"{self._found.seconds:g}"]
        if seat is not None:
            more += ["--seat", str(seat + 1)]  # people count from 1, and so do commands
        key = self._key(match, seat)
        return await self._found.of(key, f"the review of match {match}", more, record)

    def kept(self, match: str, seats: int) -> dict[int, dict[str, Any]]:
        """Return the reviewed plies of a match, from the reviews of its seats that are kept."""
        found = (self._found.kept(self._key(match, seat)) for seat in (None, *range(seats)))
        return {row["ply"]: row for each in found if each is not None for row in each["plies"]}

    def plies_of(
        self, played: Sequence[tuple[str, str, int]]
    ) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield the reviewed plies of the first `MOST_LOOKED_UP` seats, from reviews that are kept.

        A seat is its game, match and number; a ply comes with game and match.
        """
        for game, match, seat in played[:MOST_LOOKED_UP]:
            for asked in (seat, None):
                found = self._found.kept(self._key(match, asked))
                if found is not None and found["seat"] == seat:
                    yield from ((game, match, row) for row in found["plies"])
                    break

    async def of_bot(self, bot: str, matches: Sequence[str], read: Given) -> dict[str, Any]:
        """Return what a bot loses per ply in these matches, as JSON; ``read`` gives their records.

        Raises `NotWorkedOut`.
        """
        if not self.offered:
            raise NotWorkedOut("review/off", "This server reviews no matches.")
        seconds = f"{self._found.seconds:g}"
        key = hashlib.sha256("|".join([bot, seconds, *matches]).encode()).hexdigest()[:32]
        more = ["--bot", bot, "--seconds", seconds]
        return await self._found.of(key, f"the review of {bot}", more, read)

    async def close(self) -> None:
        """Stop all running reviews."""
        await self._found.close()

    def _key(self, match: str, seat: int | None) -> str:
        text = f"{match}|{seat}|{self._found.seconds:g}|chances of winning"
        return hashlib.sha256(text.encode()).hexdigest()[:32]


MAX_DEPTH: Final = 12
USUAL_DEPTH: Final = 3
"""The seat's action, the answer to it, and the seat's next action."""
MAX_THEN: Final = 24
"""Most actions after the position of a match."""
MAX_NODES: Final = 300
"""About as many nodes as a person can look through; a picture of them is some metres long."""
WAITING: Final = 8
"""Most requests that wait while other trees are computed: each takes a second."""


class Trees:
    """The search trees of a server."""

    def __init__(self, config: ServerConfig, now: Callable[[], int]) -> None:
        folder = str(Path(config.review_folder) / "trees") if config.review_folder else ""
        self._found = WorkedOut(
            "tree",
            config.tree_command,
            config.trees,
            config.tree_seconds,
            folder,
            waiting=WAITING,
            refuses=True,
        )
        self._rate = Rate(config.trees_per_minute, config.trees_per_minute / 60, now)

    @property
    def offered(self) -> bool:
        """True if the server offers search trees."""
        return self._found.offered

    async def of(
        self,
        visitor: Hashable,
        record: Record,
        ply: int,
        then: Sequence[str],
        search: str,
        depth: int,
    ) -> dict[str, Any]:
        """Return the tree of the position before ply ``ply`` and after ``then``.

        Raises `NotWorkedOut`.
        """
        if not self.offered:
            raise NotWorkedOut("tree/off", "This server draws no search trees.")
        key = _key(record, ply, then, search, depth)
        if not await self._found.known(key) and not self._rate.take(visitor):
            wait = math.ceil(self._rate.wait(visitor))
            raise NotWorkedOut(
                "tree/rate", f"That were many trees: the next one in {wait} s.", wait
            )
        seconds = f"{self._found.seconds:g}"
        # Use `=`, so that a visitor's text is never taken for an option.
        more = [f"--ply={ply + 1}", f"--depth={depth}", f"--max-nodes={MAX_NODES}"]
        more += [f"--seconds={seconds}", *(f"--then={text}" for text in then)]
        if search:
            more.append(f"--search={search}")
        about = f"the tree of match {record.match} at ply {ply + 1}"
        try:
            return await self._found.of(key, about, more, write_record(record))
        except NotWorkedOut as error:
            if error.code == "tree/busy":
                self._rate.give_back(visitor)
            raise

    async def close(self) -> None:
        """Stop all running searches."""
        await self._found.close()


def _key(record: Record, ply: int, then: Sequence[str], search: str, depth: int) -> str:
    """Return the same key for the same question about the same position, in any match."""
    path = [
        (event.seat, event.text)
        for event in record.events
        if event.kind == "chance" or event.kind == "action"
        if event.ply < ply or (event.kind == "chance" and event.ply == ply)
    ]
    # The tree marks the action that was played at the ply.
    played = next((e.text for e in record.events if e.kind == "action" and e.ply == ply), "")
    asked = [record.game, path, played, list(then), search, depth, MAX_NODES, "unit"]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
