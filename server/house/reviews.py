"""Reviews of finished matches, worked out by another program and kept in files.

The server knows no search.  What reviews a match is a command that reads a record from its standard
input and writes JSON (`plyhouse review - --json`); `plyhouse serve` names it in the settings.  Each
runs in a process of its own with the lowest priority, so that the clocks of running matches do not
feel it, for so many seconds at most, and only a few run at once: whoever asks for another one then
is told to come back.  Asking twice for the same costs once.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import shlex
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any, Final

from plyhouse.server.config import ServerConfig

__all__ = ["ReviewRefused", "Reviews"]

log = logging.getLogger("plyhouse.server")

STARTING: Final = 20.0
"""Seconds that the program may take besides those it was given: to start, and to write."""
MOST_KEPT: Final = 10_000
"""Reviews in the folder; the oldest make room."""
LOWEST: Final = 19
"""Of the priorities that the system knows."""


class ReviewRefused(Exception):  # noqa: N818 - a condition, named by its code
    """There is no review now; ``code`` says why, ``retry_after`` when to ask again (seconds)."""

    def __init__(self, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after = retry_after


class Reviews:
    """Where reviews come from."""

    def __init__(self, config: ServerConfig) -> None:
        self._command = shlex.split(config.review_command)
        self._at_once = config.reviews if self._command else 0
        self._seconds = config.review_seconds
        self._folder = Path(config.review_folder) if config.review_folder else None
        self._own_folder: Path | None = None
        self._running: dict[str, asyncio.Task[dict[str, Any]]] = {}

    @property
    def offered(self) -> bool:
        """Whether there are any."""
        return self._at_once > 0

    async def of(self, match: str, seat: int | None, record: str) -> dict[str, Any]:
        """The review of a match that is over, as JSON; raises `ReviewRefused`."""
        if not self.offered:
            raise ReviewRefused("review/off", "This server reviews no matches.")
        key = hashlib.sha256(f"{match}|{seat}|{self._seconds:g}".encode()).hexdigest()[:32]
        task = self._running.get(key)
        if task is None:
            kept = await asyncio.to_thread(self._kept, key)
            if kept is not None:
                return kept
            task = self._running.get(key)  # begun by somebody else meanwhile
        if task is None:
            if len(self._running) >= self._at_once:
                raise ReviewRefused(
                    "review/busy",
                    "Other matches are being reviewed: ask again in a while.",
                    max(1, round(self._seconds)),
                )
            task = asyncio.create_task(self._work(key, match, seat, record))
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                raise  # whoever asked has gone; others may wait for it
            raise ReviewRefused(
                "server/shutting_down", "The server is stopping: ask again in a while."
            ) from None

    async def close(self) -> None:
        """End what is being worked out, and forget what was kept only for this run."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._own_folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._own_folder, ignore_errors=True)

    async def _work(self, key: str, match: str, seat: int | None, record: str) -> dict[str, Any]:
        more = ["--seconds", f"{self._seconds:g}"]
        if seat is not None:
            more += ["--seat", str(seat)]
        try:
            code, said, complaint = await _run([*self._command, *more], record, self._seconds)
        except TimeoutError:
            log.error("the review of match %s took too long", match)
            raise ReviewRefused(
                "review/too_long", f"The review of {match} took too long."
            ) from None
        except OSError as error:
            log.error("the program that reviews matches cannot be run: %s", error)
            raise ReviewRefused("review/failed", f"{match} could not be reviewed.") from error
        try:
            found = json.loads(said) if code == 0 else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            log.error("the review of match %s ended with %s: %s", match, code, complaint[-2000:])
            raise ReviewRefused("review/failed", f"{match} could not be reviewed.")
        with contextlib.suppress(OSError):  # it is there, only not for the next one who asks
            await asyncio.to_thread(self._keep, key, said)
        return found

    # ------------------------------------------------------------------- in threads: files

    def _kept(self, key: str) -> dict[str, Any] | None:
        folder = self._folder or self._own_folder
        if folder is None:
            return None
        try:
            found = json.loads((folder / f"{key}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def _keep(self, key: str, said: bytes) -> None:
        folder = self._folder
        if folder is None:
            if self._own_folder is None:
                self._own_folder = Path(tempfile.mkdtemp(prefix="plyhouse-reviews-"))
            folder = self._own_folder
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f"{key}.new"
        new.write_bytes(said)
        new.replace(folder / f"{key}.json")
        kept = list(folder.glob("*.json"))
        if len(kept) > MOST_KEPT:
            kept.sort(key=lambda path: path.stat().st_mtime)
            for path in kept[: len(kept) - MOST_KEPT]:
                path.unlink(missing_ok=True)


async def _run(command: list[str], record: str, seconds: float) -> tuple[int, bytes, str]:
    """Run the program; its exit code, what it wrote, and what it complained of.

    Raises TimeoutError if it takes too long, and OSError if it cannot be run.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # its children end with it, and Ctrl-C is ours alone
        env=_environment(),
    )
    try:
        with contextlib.suppress(OSError, AttributeError):  # it may be over, or not on this system
            os.setpriority(os.PRIO_PROCESS, process.pid, LOWEST)
        async with asyncio.timeout(seconds + STARTING):
            said, complaint = await process.communicate(record.encode())
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return process.returncode or 0, said, complaint.decode(errors="replace")


def _environment() -> dict[str, str]:
    """The environment without our own settings: they are the server's, and may be secret."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PLYHOUSE_") or name == "PLYHOUSE_PURE"
    }
