"""Search trees of positions by a separate program.

See `plyhouse.server.jobs.helper_jobs`.

The program is a command that reads a record from its standard input and writes JSON
(`plyhouse explain --record - --json`).  A tree takes a moment, so a few requests may
wait.  The rate of new trees for one visitor is limited.  A tree belongs to a position and not to a
match, so matches with the same beginning share the kept trees.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, Final

from plyhouse.server.config import ServerConfig
from plyhouse.server.jobs.helper_jobs import NotWorkedOut, WorkedOut
from plyhouse.server.results.record import Record, write_record
from plyhouse.server.wire.rates import Rate

__all__ = ["MAX_DEPTH", "MAX_THEN", "USUAL_DEPTH", "Trees"]

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
    asked = [record.game, path, played, list(then), search, depth, MAX_NODES]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
