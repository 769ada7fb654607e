"""Where a match stands: its parts, and what can be asked of it without changing anything.

The ground floor of `plyhouse.server.match.engine.Match`, whose text says how the floors fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plyhouse.protocol.messages import MatchStatus, Outcome
from plyhouse.server.match.attendance import Attendance
from plyhouse.server.match.chance import commitment
from plyhouse.server.match.clock import Clock
from plyhouse.server.match.course import Course
from plyhouse.server.match.terms import MatchConfig
from plyhouse.server.match.views import Views

__all__ = ["MatchStanding"]


class MatchStanding:
    """The parts of a match, and its standing."""

    __slots__ = (
        "_paused_at",
        "_ready_deadline",
        "attendance",
        "clock",
        "commitment",
        "config",
        "course",
        "game",
        "last_of_pairing",
        "position",
        "seats",
        "views",
    )

    def __init__(self, config: MatchConfig, now: int, course: Course | None = None) -> None:
        self.config = config
        self.game = config.game
        self.seats = config.game.seats
        self.course = Course(config) if course is None else course
        self.position = self.course.position
        self.clock: Clock = self.course.clock
        self.views: Views = self.course.views
        self.attendance = Attendance(config.disconnect_grace_ns)
        self.last_of_pairing = False
        """Set by the shell when the match's end ends its pairing: ``finished`` then reveals."""
        self.commitment = commitment(config.seed)
        self._ready_deadline = now + config.ready_timeout_ns
        self._paused_at: int | None = None
        """Since when the server does not serve; None while it does."""
        if course is not None and course.status != "finished":
            self.attendance.excuse(self.seats, now)

    @property
    def status(self) -> MatchStatus:
        """``waiting``, ``running`` or ``finished``."""
        return self.course.status

    @property
    def ply(self) -> int:
        """Index of the next action of a seat."""
        return self.position.ply

    @property
    def state(self) -> Any:
        """The full state: for the server only, seats see it through views."""
        return self.position.state

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended; None before."""
        return self.course.outcome

    @property
    def nonces(self) -> Sequence[str | None]:
        """What each seat contributed to chance; None if it is not ready."""
        return self.course.nonces

    @property
    def seat_to_move(self) -> int | None:
        """The seat whose action is awaited; None while waiting and after the end."""
        return self.position.mover if self.course.status == "running" else None

    @property
    def turn_open(self) -> bool:
        """Whether the seat to move has not been told so yet: its clock stands."""
        return self.course.status == "running" and self.clock.running is None

    def deadline(self) -> int | None:
        """The instant at which `tick` is due next; None if only an input can change anything."""
        status = self.course.status
        if status == "finished" or self._paused_at is not None:
            return None
        if status == "waiting":
            return self._ready_deadline
        flag = self.clock.deadline()
        due = self.attendance.due()
        if flag is not None and (due is None or flag < due):
            return flag + 1  # an action stamped exactly at the flag's deadline still counts
        return due
