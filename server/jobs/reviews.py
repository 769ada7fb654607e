"""Reviews of finished matches by a separate program.

See `plyhouse.server.jobs.helper_jobs`.

The program is a command that reads a record from its standard input and writes JSON
(`plyhouse review - --json`).  Reviews take long, so only a few run at once.  There is
no queue: a client that asks for another review must ask again later.
"""

from __future__ import annotations

import hashlib
from typing import Any

from plyhouse.server.config import ServerConfig
from plyhouse.server.jobs.helper_jobs import NotWorkedOut, WorkedOut

__all__ = ["Reviews"]


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
        seconds = f"{self._found.seconds:g}"
        key = hashlib.sha256(f"{match}|{seat}|{seconds}|plies from 1".encode()).hexdigest()[:32]
        more = ["--seconds", seconds]
        if seat is not None:
            more += ["--seat", str(seat + 1)]  # people count from 1, and so do commands
        return await self._found.of(key, f"the review of match {match}", more, record)

    async def close(self) -> None:
        """Stop all running reviews."""
        await self._found.close()
