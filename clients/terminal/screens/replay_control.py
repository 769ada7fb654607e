"""Stepping through a match, automatic playback, and following it while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual.screen import Screen
from textual.timer import Timer

from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.followed_match import FollowedMatch
from plyhouse.clients.terminal.interfaces import Connection
from plyhouse.clients.terminal.playback_speed import patience
from plyhouse.clients.terminal.screens.progress_line import SPEEDS, ProgressLine

__all__ = ["DRAWN", "ReplayControl"]

DRAWN: Final = 100_000_000
"""Nanoseconds between two looks at what is to be drawn."""


class ReplayControl(Screen[None]):
    """The position that is shown of a match, and which one comes next.

    at: the position to begin with; None for the latest, which is then followed.
    playing: plies per second at which it goes on by itself; None if it does not.
    """

    def __init__(
        self,
        course: FollowedMatch,
        ink: Ink,
        now: Callable[[], int],
        line: Connection | None,
        *,
        at: int | None = None,
        playing: float | None = None,
    ) -> None:
        super().__init__()
        self.course = course
        self._ink = ink
        self._now = now
        self._line = line
        self.at = course.last if at is None else max(0, min(at, course.last))
        self.follow = line is not None and at is None
        self.playing = playing is not None
        self.speed = playing or 1.0
        self._player: Timer | None = None
        self._since: int | None = None
        """Since when the position is shown; None before there was one."""

    def refresh_all(self) -> None:
        """Draw everything as it is now."""
        raise NotImplementedError

    # ---------------------------------------------------------------- while it is played

    @property
    def behind(self) -> int:
        """How many plies have been played since the position that is shown, if it is followed."""
        return max(0, self.course.last - self.at) if self.follow else 0

    @property
    def live(self) -> str:
        """Return the line for a running match, or one before its end."""
        behind = self.behind
        if behind:
            return f"live {self._ink.sign(chr(0x2212), '-')}{behind}"
        if self.course.over:
            return ""
        return "live" if self.follow else "running"

    @property
    def is_due(self) -> bool:
        """True if the position of a match that is followed was shown for long enough."""
        shown = self._now() - (self._since or 0)
        return bool(self.behind) and shown >= patience(self.behind)

    def keep_up(self) -> None:
        """Go on to the position that is to be shown now.

        A player sees the latest position at once, as does a new spectator. Other spectators see
        each position for a while, because bots are faster than eyes.
        """
        course, now = self.course, self._now()
        if not self.follow or not course.scenes:
            return
        if course.seat is not None or self._since is None:
            self.at, self._since = course.last, now
        while self.is_due:
            wait = patience(self.behind)
            at = min(ply for ply in course.scenes if ply > self.at)
            self.at = at if wait else course.last
            # Several at once only where the screen is drawn less often than they follow each other.
            self._since = max((self._since or 0) + wait, now - DRAWN)

    # ------------------------------------------------------------------------ stepping

    def action_go(self, by: int) -> None:
        """Step through the match."""
        self._stop()
        self.go(self.at + by)

    def go(self, at: int) -> None:
        """Show another position."""
        last = self.course.last
        self.at = max(0, min(last, at))
        self.follow = self._line is not None and self.at == last
        self.refresh_all()

    def on_progress_line_moved(self, event: ProgressLine.Moved) -> None:
        """Somebody clicked on the rail."""
        self._stop()
        self.go(event.at)

    def action_play(self) -> None:
        """Start automatic playback, from the beginning if it was at the end; or stop it."""
        if self.playing:
            self._stop()
            self.refresh_all()
            return
        if self.at == self.course.last:
            self.go(0)
        self._run()
        self.refresh_all()

    def action_speed(self, by: int) -> None:
        """Faster or slower."""
        at = next((i for i, each in enumerate(SPEEDS) if each >= self.speed), len(SPEEDS) - 1)
        self.speed = SPEEDS[max(0, min(len(SPEEDS) - 1, at + by))]
        if self.playing:
            self._run()
        self.refresh_all()

    def _run(self) -> None:
        if self._player is not None:
            self._player.stop()
        self.playing = True
        self._player = self.set_interval(1 / self.speed, self.advance)

    def _stop(self) -> None:
        self.playing = False
        if self._player is not None:
            self._player.stop()
            self._player = None

    def advance(self) -> None:
        """Advance automatic playback by one ply."""
        if self.at >= self.course.last:
            self._stop()
        self.go(self.at + 1)
