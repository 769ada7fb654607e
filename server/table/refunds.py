"""Give bots back the time in which the server or a machine kept them waiting.

While the server has no machine for a bot, its clock is stopped without a limit: its machine was
lost or switched off, or others have its place.  A machine may also have the bot and not start it.
Then the clock is stopped for at most `LONGEST_NS` of a match.  The same holds for the grace of a
bot that is not to move, and for the time in which a bot has to get ready.

From the read of ``hello`` to the write of ``welcome`` a bot waits for the server and its database.
If it left in the middle of its ply, its clock runs meanwhile.  The server gives this time back when
the bot is in, and before its flag falls.  A bot can log in as often as it likes.  So this time
counts as a standstill of the server at work, with the caps of
`plyhouse.server.match.time_control.LagPolicy`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from plyhouse.server.match.presence import Presence
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.running_match import RunningMatch
from plyhouse.server.table.watchdog import Watchdog
from plyhouse.server.wire.session import Session
from plyhouse.storage.names import key_of

LONGEST_NS: Final = 600 * 1_000_000_000
"""The longest time in one match that a clock is stopped if a machine does not start its bot."""


class HostingRefunds:
    """Gives back the time that hosted bots lose while no machine runs them.

    A bot gets nothing back if its machine has reported that the program exited (``ended``), or if
    machines failed to run it too often (``given_up``).  ``placed`` returns whether the server has a
    machine for the bot.
    """

    def __init__(
        self,
        directory: Directory,
        now: int,
        *,
        ended: Callable[[Presence], bool],
        given_up: Callable[[Presence], bool],
        placed: Callable[[Presence], bool],
    ) -> None:
        self._directory = directory
        self._ended, self._given_up, self._placed = ended, given_up, placed
        self._until = now
        self._away: dict[int, int] = {}
        """The time since when each placed bot with running matches has been offline."""
        self._own_doing: set[int] = set()
        """The bots among them whose machine has reported that the program exited."""
        self._given: dict[tuple[str, int], int] = {}
        """Nanoseconds given back to a seat of a match while a machine had its bot."""

    def give(self, now: int) -> None:
        """Give back the time since the last call; ``now`` is in nanoseconds."""
        begin, self._until = self._until, now
        away: dict[int, int] = {}
        spans: dict[RunningMatch, dict[int, int]] = {}
        for each in self._directory.presences.values():
            if not each.hosted or each.online or not each.matches:
                continue
            placed = self._placed(each)
            since = away[each.bot_id] = self._away.get(each.bot_id, begin) if placed else now
            if self._ended(each):
                self._own_doing.add(each.bot_id)
            if each.bot_id in self._own_doing or self._given_up(each):
                continue
            for live, seat in self._directory.matches_of(each.bot_id):
                span = self._within_bounds(live, seat, begin, now, since) if placed else now - begin
                if span > 0:
                    spans.setdefault(live, {})[seat] = span
        for live, lost in spans.items():
            live.stand_still(lost, now)
        self._away = away
        self._own_doing &= away.keys()
        self._given = {
            place: given for place, given in self._given.items() if place[0] in self._directory.live
        }

    def _within_bounds(
        self, live: RunningMatch, seat: int, begin: int, now: int, since: int
    ) -> int:
        """Return the nanoseconds that a seat gets back whose bot has a machine."""
        given = self._given.get((live.id, seat), 0)
        span = min(now - max(begin, since), LONGEST_NS - given)
        if now - since > LONGEST_NS or span <= 0:
            return 0
        self._given[live.id, seat] = given + span
        return span


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
