"""What the author of a bot gets to see: prints, crashes with their position, and a log file."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plyhouse.bots.process.pipe import cut

__all__ = ["AuthorLog", "Line", "Voice"]

FILE_LIMIT: Final = 24 * 1024 * 1024
"""Bytes of a log file before it becomes the older one, ``BOT.log.1``, in place of the last."""

LOG_LIMIT: Final = 16 * 1024 * 1024
"""Bytes that a bot may print into a log file in one run: a loop must not fill the disk.  What the
runner notes is kept all the same, up to `NOTES_LIMIT`."""

NOTES_LIMIT: Final = 4 * 1024 * 1024
"""Bytes of the runner's notes in one run."""

LONGEST_NOTE: Final = 16_000
"""Characters of a note or a traceback with its position."""

NOTES_SHOWN: Final = 1_000_000
"""Characters of notes that the terminal shows in one run."""

TERMINAL_LIMIT: Final = 2000
"""Printed lines shown on the terminal in one run; the log has the rest."""

TERMINAL_CHARACTERS: Final = 160_000
"""The same in characters, for long lines."""

MOST_EARLY: Final = 200
"""Lines printed at import that are kept for the first match of a process."""

SHOWN_LINE: Final = 2000
"""Characters of one line that are shown on the terminal."""


@dataclass(frozen=True, slots=True)
class Line:
    """Something for the author of a bot, and what in a match it belongs to."""

    match: str
    """Its id; empty outside of matches."""
    ply: int | None
    """The ply that the bot was asked for; None before the first and after the last."""
    kind: str
    """``print``: the bot printed it; ``note``: its runner says so; ``crash``: how it failed."""
    text: str


class AuthorLog:
    """Passes on what a bot prints and how it fails, to the terminal and to a file.

    ``folder`` is made if needed; the file is the bot's name with ``.log``, and is added to.
    ``on_line`` gets all of it by match and ply.
    """

    def __init__(
        self,
        name: str,
        *,
        folder: Path | None = None,
        terminal: Callable[[str], None] | None = None,
        on_line: Callable[[Line], None] | None = None,
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
        """The bot printed these lines."""
        self._log_prints(lines)
        if self._on_line is not None:
            for line in lines:
                self._on_line(Line(match, ply, "print", line.rstrip("\r")))
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
        """Something the author should know: shown, and logged with the time."""
        text = cut(text, LONGEST_NOTE)
        self._hear(match, ply, "note", text)
        self._note(text)

    def tell(self, text: str, match: str, ply: int | None = None, *, kind: str = "note") -> None:
        """Something about a match that is shown and logged already, or by somebody else."""
        self._hear(match, ply, kind, text)

    def crash(
        self, match: str, error: str, traceback: str, position: str, ply: int | None = None
    ) -> None:
        """The bot failed: the traceback, and the position that caused it."""
        parts = [f"match {match}: the bot failed: {error}"]
        # An error of ours that no line of the author raised has nothing more to say.
        if traceback and ('  File "' in traceback or not traceback.rstrip().endswith(error)):
            parts.append(traceback.rstrip())
        if position:
            parts.append(f"the position was:\n{position.rstrip()}")
        text = cut("\n".join(parts), LONGEST_NOTE)
        self._hear(match, ply, "crash", text)
        self._note(text)

    def _hear(self, match: str, ply: int | None, kind: str, text: str) -> None:
        if self._on_line is not None:
            for heading in (f"match {match}: ", f"match {match}, ply {ply}: "):
                text = text.removeprefix(heading)  # said by its fields
            self._on_line(Line(match, ply, kind, text))

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


class Voice:
    """What a process works at, so that what it prints is known to belong there."""

    def __init__(self) -> None:
        self.match = ""
        self.ply: int | None = None
        self._early: list[str] = []
        """Printed before it had a match: while the bot was imported."""

    def printed(self, log: AuthorLog, lines: Sequence[str]) -> None:
        """It printed these lines."""
        if not self.match:
            self._early.extend(lines[: MOST_EARLY - len(self._early)])
        log.printed(lines, self.match, self.ply)

    def begin(self, log: AuthorLog, match: str) -> None:
        """It has a match from now on; what it printed before belongs to its first."""
        self.match, self.ply = match, None
        for line in self._early:
            log.tell(line, match, kind="print")
        self._early.clear()
