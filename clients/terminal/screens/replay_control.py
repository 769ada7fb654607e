"""Stepping through a match, automatic playback, and following it while it runs.

The positions of a live match that is faster than eyes follow each other at a pace (`patience`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rich.text import Text
from textual import events
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.followed_match import FollowedMatch
from plyhouse.clients.terminal.interfaces import Connection

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

    def __init__(self, ink: Ink) -> None:
        super().__init__()
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


LEAST: Final = 350_000_000
"""Nanoseconds that each position is shown, as long as that keeps up with the match."""
TOO_MANY: Final = 120
"""Behind by more plies than these, one sees the latest position at once."""


def patience(behind: int) -> int:
    """Nanoseconds until the next position, ``behind`` plies before the last; 0: go to the end.

    The time shrinks with the queue, so that nobody is left far behind.

    >>> [patience(behind) // 1_000_000 for behind in (1, 4, 8, 40, 121)]
    [350, 350, 175, 35, 0]
    """
    return 0 if behind > TOO_MANY else int(LEAST / max(1.0, behind / 4))


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
