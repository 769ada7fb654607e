"""Give bots back the time that the server takes to let them in.

From the read of ``hello`` to the write of ``welcome`` a bot waits for the server and its database.
If it left in the middle of its ply, its clock runs meanwhile.  The server gives this time back when
the bot is in, and before its flag falls.

A bot can log in as often as it likes.  So this time counts as a standstill of the server at work,
with the caps of `plyhouse.server.match.time_control.LagPolicy`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from plyhouse.server.table.directory import Directory
from plyhouse.server.table.watchdog import Watchdog
from plyhouse.server.wire.session import Session
from plyhouse.storage.names import key_of

__all__ = ["LoginRefunds", "LoginWait"]


@dataclass(eq=False, slots=True)
class LoginWait:
    """One login under way."""

    session: Session
    since: int
    """The instant, in monotonic nanoseconds, up to which all time was given back."""
    stalled: int
    """All standstills up to then (`Watchdog.total_ns`), which are given back separately."""
    player_id: int = 0
    bot: str = ""
    """`key_of` of the name that the bot says; empty for the player in person."""


class LoginRefunds:
    """The logins that are under way."""

    def __init__(self, directory: Directory, watchdog: Watchdog, now: Callable[[], int]) -> None:
        self._directory = directory
        self._watchdog = watchdog
        self._now = now
        self._waits: set[LoginWait] = set()

    @contextlib.contextmanager
    def begin(self, session: Session, stamp: int) -> Iterator[LoginWait]:
        """Measure a login whose ``hello`` was read at ``stamp``, until the context ends."""
        if self._watchdog.ongoing(stamp):
            self._watchdog.beat(stamp)
        wait = LoginWait(session, stamp, self._watchdog.total_ns)
        self._waits.add(wait)
        try:
            yield wait
        finally:
            self._waits.discard(wait)

    def settle(self) -> None:
        """Give back what the logins under way have taken so far: a flag may fall."""
        waits: dict[tuple[int, str], list[LoginWait]] = {}
        for wait in self._waits:
            if wait.player_id:
                waits.setdefault((wait.player_id, wait.bot), []).append(wait)
        if not waits:
            return
        for each in self._directory.participants.values():
            bot = each.presence
            for wait in waits.get((bot.player_id, key_of(bot.bot)), ()):
                if each.line is None or each.line is wait.session:
                    self.give_back(wait, bot.bot_id)

    def give_back(self, wait: LoginWait, bot: int) -> None:
        """Give a bot back what its login has taken since the last call."""
        now = self._now()
        if self._watchdog.ongoing(now):
            self._watchdog.beat(now)
        span = now - wait.since - (self._watchdog.total_ns - wait.stalled)
        self.skip(wait)
        if span > 0:
            for live, seat in self._directory.matches_of(bot):
                live.let_in(seat, span)

    def skip(self, wait: LoginWait) -> None:
        """Leave out the time up to now, which was given back already."""
        wait.since, wait.stalled = self._now(), self._watchdog.total_ns
