"""Moves what was committed from SQLite's log into the database file, beside the writer.

SQLite does that within the commit that makes the log too long. Every thousand pages, a commit and
everything that waits for it take a hundred times as long.  Here a thread with its own connection
does it in small portions, for which no commit waits.  The writer's limit stays as a higher fallback
(`WRITER_PAGES`), because a log that always has new pages could not restart otherwise.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable
from typing import Final

__all__ = ["WRITER_PAGES", "Checkpoints"]

log = logging.getLogger("plyhouse.storage.checkpoints")

WRITER_PAGES: Final = 8_000
"""Length of the log, in pages, at which a commit still sees to it itself (32 MB)."""
PAUSE_SECONDS: Final = 0.3
"""Time between two portions: commits of so long go together, and pages that changed several
times are written once."""


class Checkpoints:
    """A thread that follows a writer; `written` wakes it, `stop` ends it.

    ``connect`` opens a connection to the same database; the thread calls it.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._dirty = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="plyhouse-checkpoints", daemon=True)
        self._thread.start()

    def written(self) -> None:
        """Something was committed."""
        if not self._dirty.is_set():
            self._dirty.set()

    def stop(self) -> None:
        """End the thread and wait for it; its connection is closed then."""
        self._stopped.set()
        self._dirty.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            connection = self._connect()
        except sqlite3.Error as error:
            log.warning("checkpoints are left to the writer: %s", error)
            return
        with contextlib.closing(connection):
            while True:
                self._dirty.wait()
                if self._stopped.wait(PAUSE_SECONDS):
                    return
                self._dirty.clear()
                if self._stopped.is_set():  # between the two lines above: what woke us is gone
                    return
                # Failures here (a full disk, a lock) hit the writer, too, which reports them.
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
