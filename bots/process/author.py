"""What the author of a bot gets to see: prints, crashes with their position, and a log file."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Final

__all__ = ["AuthorLog"]

LOG_LIMIT: Final = 16 * 1024 * 1024
"""Bytes written to a log file by one run: a bot that prints in a loop must not fill the disk."""

TERMINAL_LIMIT: Final = 2000
"""Printed lines shown on the terminal in one run; the log has the rest."""


class AuthorLog:
    """Passes on what a bot prints and how it fails, to the terminal and to a file.

    ``folder`` is made if needed; the file is the bot's name with ``.log``, and is added to.
    """

    def __init__(
        self,
        name: str,
        *,
        folder: Path | None = None,
        terminal: Callable[[str], None] | None = None,
    ) -> None:
        self.name = name
        self.path: Path | None = None
        """The log file."""
        self._terminal = terminal
        self._shown = 0
        self._written = 0
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name) or "bot"
            self.path = folder / f"{safe}.log"

    def printed(self, line: str) -> None:
        """The bot printed a line."""
        self._write(line)
        if self._terminal is None:
            return
        self._shown += 1
        if self._shown <= TERMINAL_LIMIT:
            self._terminal(f"[{self.name}] {line}")
        elif self._shown == TERMINAL_LIMIT + 1:
            rest = f"see {self.path}" if self.path else "`--log-folder` keeps it"
            self._terminal(f"[{self.name}] ... it prints a lot; {rest}")

    def note(self, text: str) -> None:
        """Something the author should know: shown, and logged with the time."""
        stamp = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        self._write(f"--- {stamp} {text}")
        if self._terminal is not None:
            self._terminal(f"[{self.name}] {text}")

    def crash(self, match: str, error: str, traceback: str, position: str) -> None:
        """The bot failed: the traceback, and the position that caused it."""
        parts = [f"match {match}: the bot failed: {error}"]
        # An error of ours that no line of the author raised has nothing more to say.
        if traceback and ('  File "' in traceback or not traceback.rstrip().endswith(error)):
            parts.append(traceback.rstrip())
        if position:
            parts.append(f"the position was:\n{position.rstrip()}")
        self.note("\n".join(parts))

    def _write(self, line: str) -> None:
        if self.path is None or self._written > LOG_LIMIT:
            return
        data = f"{line}\n".encode(errors="replace")
        self._written += len(data)
        if self._written > LOG_LIMIT:
            data = b"--- the log is full; nothing more of this run is kept\n"
        with self.path.open("ab") as file:
            file.write(data)
