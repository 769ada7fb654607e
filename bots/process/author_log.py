"""Output for the author of a bot: prints, crashes with their position, and a log file."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plyhouse.bots.process.messages import cut

__all__ = ["AuthorLine", "AuthorLog", "AuthorOutput", "heading"]

FILE_LIMIT: Final = 24 * 1024 * 1024
"""Size in bytes at which a log file is renamed to ``BOT.log.1``."""

LOG_LIMIT: Final = 16 * 1024 * 1024
"""Bytes that a bot may print into a log file in one run, so that a loop does not fill the disk.
The
runner's notes have a separate limit, `NOTES_LIMIT`."""

NOTES_LIMIT: Final = 4 * 1024 * 1024
"""Bytes of the runner's notes in one run."""

LONGEST_NOTE: Final = 16_000
"""Longest note, or traceback with its position, in characters."""

NOTES_SHOWN: Final = 1_000_000
"""Characters of notes that the terminal shows in one run."""

TERMINAL_LIMIT: Final = 2000
"""Printed lines shown on the terminal in one run; the log has the rest."""

TERMINAL_CHARACTERS: Final = 160_000
"""Printed characters shown on the terminal in one run."""

MOST_EARLY: Final = 200
"""Lines printed at import that are stored for the first match of a process."""

SHOWN_LINE: Final = 2000
"""Characters of one line that are shown on the terminal."""


@dataclass(frozen=True, slots=True)
class AuthorLine:
    """A line for the author of a bot, with the match and ply that it belongs to."""

    match: str
    """Id of the match; empty outside of matches."""
    ply: int | None
    """The bot's current ply; None before its first and after its last ply."""
    kind: str
    """``print``: output of the bot; ``note``: a remark of its runner; ``crash``: a failure."""
    text: str


def heading(match: str, ply: int | None = None) -> str:
    """Return the place that a note is about; the ply is the author's `turn.ply`, from 0.

    >>> heading("m1", 4)
    'match m1, turn.ply 4'
    """
    return f"match {match}" if ply is None else f"match {match}, turn.ply {ply}"


class AuthorLog:
    """Writes a bot's output and failures to the terminal and to a file.

    The file is the bot's name with ``.log`` in ``folder``, which is created if necessary; new
    output is appended.  ``on_line`` receives every line with its match and ply.
    """

    def __init__(
        self,
        name: str,
        *,
        folder: Path | None = None,
        terminal: Callable[[str], None] | None = None,
        on_line: Callable[[AuthorLine], None] | None = None,
    ) -> None:
        self.name = name
        self._on_line = on_line
        self.path: Path | None = None
        """The log file."""
        self._terminal = terminal
        self._shown = 0
        self._characters = 0
        self._flooded = False
        self._room = LOG_LIMIT
        self._room_for_notes = NOTES_LIMIT
        self._notes_to_show = NOTES_SHOWN
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name) or "bot"
            self.path = folder / f"{safe}.log"

    def printed(self, lines: Sequence[str], match: str = "", ply: int | None = None) -> None:
        """Write lines that the bot printed."""
        self._log_prints(lines)
        if self._on_line is not None:
            for line in lines:
                self._on_line(AuthorLine(match, ply, "print", line.rstrip("\r")))
        if self._terminal is None or self._flooded:
            return
        for line in lines:
            self._shown += 1
            self._characters += min(len(line), SHOWN_LINE)
            if self._shown > TERMINAL_LIMIT or self._characters > TERMINAL_CHARACTERS:
                self._flooded = True
                rest = f"see {self.path}" if self.path else "`--log-folder` keeps it"
                self._terminal(f"[{self.name}] ... it prints a lot and is not shown on; {rest}")
                return
            text = line.rstrip("\r")
            cut = "" if len(text) <= SHOWN_LINE else f"... ({len(text)} characters)"
            self._terminal(f"[{self.name}] {text[:SHOWN_LINE]}{cut}")

    def note(self, text: str, match: str = "", ply: int | None = None) -> None:
        """Show a remark to the author and log it with the time."""
        text = cut(text, LONGEST_NOTE)
        self._hear(match, ply, "note", text)
        self._note(text)

    def tell(self, text: str, match: str, ply: int | None = None, *, kind: str = "note") -> None:
        """Pass on a remark about a match that is already shown and logged."""
        self._hear(match, ply, kind, text)

    def crash(
        self, match: str, error: str, traceback: str, position: str, ply: int | None = None
    ) -> None:
        """Write the traceback of a failure and its position."""
        parts = [f"match {match}: the bot failed: {error}"]
        # Omit the traceback of an error that no line of the author raised.
        if traceback and ('  File "' in traceback or not traceback.rstrip().endswith(error)):
            parts.append(traceback.rstrip())
        if position:
            parts.append(f"the position was:\n{position.rstrip()}")
        text = cut("\n".join(parts), LONGEST_NOTE)
        self._hear(match, ply, "crash", text)
        self._note(text)

    def _hear(self, match: str, ply: int | None, kind: str, text: str) -> None:
        if self._on_line is not None:
            for where in (heading(match), heading(match, ply)):
                text = text.removeprefix(f"{where}: ")  # the fields have it already
            self._on_line(AuthorLine(match, ply, kind, text))

    def _note(self, text: str) -> None:
        stamp = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        data = f"--- {stamp} {text}\n".encode(errors="replace")
        if self._room_for_notes > 0:
            self._room_for_notes -= len(data)
            self._write(data)
        if self._terminal is not None and self._notes_to_show > 0:
            self._notes_to_show -= len(text)
            self._terminal(f"[{self.name}] {text}")
            if self._notes_to_show <= 0:
                rest = f"see {self.path}" if self.path else "`--log-folder` keeps it"
                self._terminal(f"[{self.name}] ... what else is noted of it is not shown; {rest}")

    def _log_prints(self, lines: Sequence[str]) -> None:
        if self.path is None or self._room <= 0:
            return
        data = "".join(line.rstrip("\r") + "\n" for line in lines).encode(errors="replace")
        self._room -= len(data)
        if self._room <= 0:
            data = b"--- the log is full; nothing more that is printed in this run is kept\n"
        self._write(data)

    def _write(self, data: bytes) -> None:
        if self.path is None:
            return
        with self.path.open("ab") as file:
            if file.tell() + len(data) > FILE_LIMIT:
                self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            else:
                file.write(data)
                return
        self.path.write_bytes(data)


class AuthorOutput:
    """Assigns the output of a process to its current match and ply."""

    def __init__(self) -> None:
        self.match = ""
        self.ply: int | None = None
        self._early: list[str] = []
        """Lines printed before the first match, during the import."""

    def printed(self, log: AuthorLog, lines: Sequence[str]) -> None:
        """Write lines that the process printed."""
        if not self.match:
            self._early.extend(lines[: MOST_EARLY - len(self._early)])
        log.printed(lines, self.match, self.ply)

    def begin(self, log: AuthorLog, match: str) -> None:
        """Begin a match; earlier lines belong to the first one."""
        self.match, self.ply = match, None
        for line in self._early:
            log.tell(line, match, kind="print")
        self._early.clear()
