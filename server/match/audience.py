"""The viewers of a match and the seats that are away.

An `Audience` knows what each viewer asked for, and the events that it has got; the attendance, how
long the match waits for absent seats.
"""

from __future__ import annotations

from typing import Any

from plyhouse.protocol.messages import (
    ClockState,
    DrawDeclined,
    DrawOffered,
    Event,
    Notice,
    Update,
)
from plyhouse.server.match.effects import Broadcast, Outgoing, Send
from plyhouse.server.match.views import Views


class Audience:
    """The seats of a match, and its spectators (None) as one viewer.

    Every message continues the events of the previous one to the same viewer.
    """

    __slots__ = ("_match", "_scenes", "_seats", "_seen", "_subscribed", "_views")

    def __init__(self, match: str, seats: int, views: Views) -> None:
        self._match = match
        self._seats = seats
        self._views = views
        self._subscribed: dict[int | None, bool] = {}
        self._scenes: set[int | None] = set()
        self._seen = [0] * (seats + 1)
        """How many events each seat has got, and at the end the spectators."""

    def subscribe(self, viewer: int | None, *, updates: bool = True, scenes: bool = False) -> None:
        """Set what a seat, or the spectators (None), get in addition to turns.

        ``updates`` asks for an ``update`` when somebody else is to move, ``scenes`` for drawings
        along with observations.  Without a subscription spectators get nothing.
        """
        if updates:
            self._subscribed[viewer] = True
        else:
            self._subscribed.pop(viewer, None)
        if scenes:
            self._scenes.add(viewer)
        else:
            self._scenes.discard(viewer)
        if viewer is None:
            self._seen[-1] = self._views.length

    def unsubscribe(self, viewer: int | None) -> None:
        """Send a seat, or the spectators, no more than is necessary."""
        self._subscribed.pop(viewer, None)
        self._scenes.discard(viewer)

    @property
    def has_followers(self) -> bool:
        """True if any viewer asked for updates."""
        return bool(self._subscribed)

    @property
    def has_spectators(self) -> bool:
        """True if spectators follow the match."""
        return None in self._subscribed

    def wants_notices(self, seat: int) -> bool:
        """Return whether a seat wants notices: people do, and bots that ask for updates."""
        return seat in self._subscribed or seat in self._scenes

    def caught_up(self, seat: int) -> None:
        """Note that a seat gets all events in a snapshot."""
        self._seen[seat] = self._views.length

    def events(self, viewer: int) -> list[Event]:
        """Return the events since the last message to a viewer (-1: the spectators)."""
        since = self._seen[viewer]
        self._seen[viewer] = self._views.length
        return self._views.events(None if viewer < 0 else viewer, since)

    def observed(
        self,
        viewer: int | None,
        state: Any,
        *,
        stopped: bool = False,
        scenes: bool | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return a viewer's observation and, if it asked for drawings, the scene.

        ``stopped`` means that the match ended before its game.  ``scenes`` replaces what the
        viewer asked for.
        """
        wanted = viewer in self._scenes if scenes is None else scenes
        if stopped:
            observation, scene = self._views.stopped(state, viewer)
            return observation, scene if wanted else None
        if wanted:
            return self._views.drawn(state, viewer)
        return self._views.observation(state, viewer), None

    def updates(
        self, mover: int | None, state: Any, ply: int, clocks: list[ClockState]
    ) -> list[Outgoing]:
        """Return the updates of everyone who follows the match, except the mover."""
        messages: list[Outgoing] = []
        for viewer in self._subscribed:
            if viewer is not None and viewer == mover:
                continue
            observation, scene = self.observed(viewer, state)
            events = self.events(-1 if viewer is None else viewer)
            update = Update(self._match, ply, events, observation, clocks, scene)
            messages.append(Broadcast(update) if viewer is None else Send(viewer, update))
        return messages

    def others(self, seat: int, message: DrawOffered | DrawDeclined) -> list[Outgoing]:
        """Return a message to everyone but one seat."""
        messages: list[Outgoing] = [
            Send(each, message) for each in range(self._seats) if each != seat
        ]
        if None in self._subscribed:
            messages.append(Broadcast(message))
        return messages

    def notices(self, seat: int, notices: list[Notice]) -> list[Outgoing]:
        """Return notices about a seat, for the spectators and the other seats that want them."""
        messages: list[Outgoing] = [
            Send(each, notice)
            for notice in notices
            for each in range(self._seats)
            if each != seat and self.wants_notices(each)
        ]
        if None in self._subscribed:
            messages += [Broadcast(notice) for notice in notices]
        return messages


class Attendance:
    """Seats without a connection.

    A seat that goes away has a grace period to come back in.  A seat is *excused* while a server
    keeps it away, because that one was killed: nothing is due from it before it has come back.
    """

    __slots__ = ("away", "excused", "grace_ns")

    def __init__(self, grace_ns: int) -> None:
        self.grace_ns = grace_ns
        self.away: dict[int, int] = {}
        """The seats that are away, each with the end of its grace period."""
        self.excused: dict[int, int] = {}
        """The seats that are excused, each with the instant from which on it was kept away.

        After a restart of this server they are also away.  If the server of their sockets is gone,
        the cluster says when the grace begins.
        """

    def leave(self, seat: int, now: int) -> bool:
        """Note that a seat lost its connection; return False if it was already away."""
        if seat in self.away:
            return False
        self.away[seat] = now + self.grace_ns
        return True

    def excuse(self, seat: int, since: int) -> None:
        """Note that a server keeps a seat away; an earlier excuse stays."""
        self.excused.setdefault(seat, since)

    def come(self, seat: int) -> None:
        """Note that a seat has come back."""
        self.away.pop(seat, None)
        self.excused.pop(seat, None)

    def given_back(self, until: int) -> None:
        """Note that excused seats have got back their time up to an instant."""
        for seat, since in self.excused.items():
            self.excused[seat] = max(since, until)

    def seated(self, seat: int) -> None:
        """End the excuse of a seat, because it has got a message."""
        self.excused.pop(seat, None)

    def clear(self) -> None:
        """Wait for no seat any more, because the match is over."""
        self.away.clear()
        self.excused.clear()

    def unexcused(self, seat: int) -> bool:
        """Return whether a seat is away and not excused."""
        return seat in self.away and seat not in self.excused

    def until(self, seat: int) -> int | None:
        """Return when the grace of a seat ends; None if it is not away."""
        return self.away.get(seat)

    def due(self) -> int | None:
        """Return when the first grace ends; None if no seat is away."""
        return min(self.away.values()) if self.away else None

    def overdue(self, now: int) -> list[int]:
        """Return the seats whose grace has ended by ``now``, the earliest first."""
        gone = [(end, seat) for seat, end in self.away.items() if end <= now]
        return [seat for _, seat in sorted(gone)]

    def all_excused(self, seats: list[int]) -> bool:
        """Return whether all of these seats are away because of the server."""
        return self.excused.keys() >= set(seats)

    def postpone(self, nanoseconds: int) -> None:
        """Extend the grace of all seats by an absence of the server."""
        for seat in self.away:
            self.away[seat] += nanoseconds
