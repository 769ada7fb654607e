"""The application: one line to a server at most, and a stack of screens."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.interfaces import Connection, Refusal
from plyhouse.clients.terminal.screens.match import MatchScreen
from plyhouse.protocol.messages import Welcome


class TerminalApp(App[None]):
    """Shows ``first``; ends when it is left.

    ink: what there is to draw with.
    light: whether to begin with dark text on a light ground; ctrl+t changes it.
    line: the connection that feeds the screens with matches.
    now: nanoseconds of a clock that never goes back.
    """

    TITLE = "Plyhouse"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    App.colourless .option-list--option-highlighted { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
        Binding("ctrl+t", "theme_of_day", "Light or dark", show=False),
    ]

    def __init__(
        self,
        first: Callable[[TerminalApp], Screen[None]],
        ink: Ink,
        *,
        light: bool = False,
        line: Connection | None = None,
        now: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        super().__init__(ansi_color=not ink.colours)
        self.ink = ink
        self.now = now
        self.line = line
        self.failure: Refusal | None = None
        """The reason for which the application ended early, if it did."""
        self._first = first
        if ink.colours:
            self.theme = "textual-light" if light else "textual-dark"
        else:
            self.add_class("colourless")

    def on_mount(self) -> None:
        """Show the first screen, and listen."""
        self.push_screen(self._first(self), self._left)
        if self.line is not None:
            self.attend(self.line)

    def _left(self, _: None = None) -> None:
        """The first screen was left."""
        self.exit()

    def attend(self, line: Connection) -> None:
        """Listen to a line from now on, until it is left."""
        self.run_worker(self._listen(line), exit_on_error=True)

    async def _listen(self, line: Connection) -> None:
        """Hand on what the server says."""
        try:
            async for message in line.incoming():
                await self.hear(message)
        except Refusal as error:
            if line is self.line or error.code == "auth/replaced":
                self.failure = error
                self.exit()
            else:
                self.say(str(error))

    async def hear(self, message: Any) -> None:
        """A message: to every screen that wants it."""
        for screen in tuple(self.screen_stack):
            if isinstance(screen, MatchScreen):
                if isinstance(message, Welcome):
                    screen.connected()
                screen.take(message)
            elif hasattr(screen, "hear"):
                screen.hear(message)

    def say(self, text: str) -> None:
        """Tell something on the screen that is shown."""
        self.notify(text, markup=False)

    def action_theme_of_day(self) -> None:
        """Dark text on a light ground, or the other way round."""
        if self.ink.colours:
            self.theme = "textual-light" if self.theme == "textual-dark" else "textual-dark"
