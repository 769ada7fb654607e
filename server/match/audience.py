"""The viewers of a match: what each asked for, and the events that it has got."""

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
from plyhouse.server.match.effects import Broadcast, Send, Telling
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
    ) -> list[Telling]:
        """Return the updates of everyone who follows the match, except the mover."""
        told: list[Telling] = []
        for viewer in self._subscribed:
            if viewer is not None and viewer == mover:
                continue
            observation, scene = self.observed(viewer, state)
            events = self.events(-1 if viewer is None else viewer)
            update = Update(self._match, ply, events, observation, clocks, scene)
            told.append(Broadcast(update) if viewer is None else Send(viewer, update))
        return told

    def others(self, seat: int, message: DrawOffered | DrawDeclined) -> list[Telling]:
        """Return a message to everyone but one seat."""
        told: list[Telling] = [Send(each, message) for each in range(self._seats) if each != seat]
        if None in self._subscribed:
            told.append(Broadcast(message))
        return told

    def notices(self, seat: int, notices: list[Notice]) -> list[Telling]:
        """Return notices about a seat, for the spectators and the other seats that want them."""
        told: list[Telling] = [
            Send(each, notice)
            for notice in notices
            for each in range(self._seats)
            if each != seat and self.wants_notices(each)
        ]
        if None in self._subscribed:
            told += [Broadcast(notice) for notice in notices]
        return told
