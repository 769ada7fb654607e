"""Reviews of finished matches, worked out by another program (`plyhouse.server.jobs.helper_jobs`).

What reviews a match is a command that reads a record from its standard input and writes JSON
(`plyhouse review - --json`).  Reviews take long: only a few run at once, nobody waits for others,
and whoever asks for another one then is told to come back.
"""

from __future__ import annotations

import hashlib
from typing import Any

from plyhouse.server.config import ServerConfig
from plyhouse.server.jobs.helper_jobs import NotWorkedOut, WorkedOut

__all__ = ["Reviews"]


class Reviews:
    """Where reviews come from."""

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
        """Whether there are any."""
        return self._found.offered

    async def of(self, match: str, seat: int | None, record: str) -> dict[str, Any]:
        """The review of a match that is over, as JSON; raises `NotWorkedOut`."""
        if not self.offered:
            raise NotWorkedOut("review/off", "This server reviews no matches.")
        seconds = f"{self._found.seconds:g}"
        key = hashlib.sha256(f"{match}|{seat}|{seconds}".encode()).hexdigest()[:32]
        more = ["--seconds", seconds]
        if seat is not None:
            more += ["--seat", str(seat)]
        return await self._found.of(key, f"the review of match {match}", more, record)

    async def close(self) -> None:
        """End what is being worked out."""
        await self._found.close()
