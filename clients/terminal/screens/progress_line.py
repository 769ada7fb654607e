"""The line with which one goes through a match: where one is, and a rail to click on."""

from __future__ import annotations

from typing import Final

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widgets import Static

from plyhouse.clients.terminal.colours import Ink

__all__ = ["SPEEDS", "ProgressLine"]

SPEEDS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""The speeds of automatic playback, in plies per second."""


class ProgressLine(Static):
    """Ply 12 of 57, a rail, and how fast it goes."""

    DEFAULT_CSS = "ProgressLine { height: 1; }"

    class Moved(Message):
        """Somebody wants to see another position."""

        def __init__(self, at: int) -> None:
            super().__init__()
            self.at = at

    def __init__(self, ink: Ink, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._ink = ink
        self._rail = (0, 1)
        self._last = 0

    def show(self, at: int, last: int, speed: float, *, playing: bool, live: str) -> None:
        """Draw it; ``live`` is said of a match that runs."""
        ink = self._ink
        self._last = last
        head = f" {ink.sign(chr(0x25B6), '>') if playing else ink.sign(chr(0x2016), '=')} "
        head += f"Ply {at} of {last} "
        tail = f" {live} " if live else f" {speed:g}/s "
        width = max(5, self.size.width - len(head) - len(tail) - 2)
        knob = round((width - 1) * at / last) if last else 0
        rail = ink.sign("\u2501", "=") * knob + ink.sign("\u25cf", "O")
        rest = ink.sign("\u2500", "-") * (width - 1 - knob)
        self._rail = (len(head), width)
        text = Text(head, "bold")
        text.append(rail, "bold")
        text.append(rest, "dim")
        text.append(tail)
        self.update(text, layout=False)

    def on_click(self, event: events.Click) -> None:
        """Go where somebody clicked."""
        left, width = self._rail
        share = (event.x - left) / max(1, width - 1)
        self.post_message(self.Moved(round(max(0.0, min(1.0, share)) * self._last)))
