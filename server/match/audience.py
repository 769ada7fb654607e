"""What everybody who follows a match has asked for, has been told, and is told next.

The first floor of `plyhouse.server.match.engine.Match`.  Here messages are put together; what of
the match a viewer may see in them is decided by `plyhouse.server.match.views` alone.  A *viewer*
is the index of a seat, or None for the spectators, who are all told the same.
"""

from __future__ import annotations

from typing import Any, Final

from plyhouse.games.base import TERMINAL
from plyhouse.protocol.errors import ERRORS
from plyhouse.protocol.messages import (
    ClockState,
    DrawDeclined,
    DrawOffered,
    Error,
    Event,
    Finished,
    MatchMessage,
    MatchSnapshot,
    Notice,
    Ok,
    Turn,
    Update,
)
from plyhouse.server.match.clock import MS, SECOND
from plyhouse.server.match.course import Course
from plyhouse.server.match.effects import Broadcast, Effects, Row, Send, Telling
from plyhouse.server.match.standing import MatchStanding
from plyhouse.server.match.terms import MatchConfig, seat_label
from plyhouse.server.match.views import clock_states

__all__ = ["MatchAudience"]

OUT_OF_STEP: Final = frozenset(["match/not_your_turn", "match/stale_ply", "match/future_ply"])
"""Errors that say where the match stands."""


class MatchAudience(MatchStanding):
    """A match with those who follow it."""

    __slots__ = ("_scenes", "_seen", "_subscribed")

    def __init__(self, config: MatchConfig, now: int, course: Course | None = None) -> None:
        super().__init__(config, now, course)
        self._subscribed: dict[int | None, bool] = {}
        self._scenes: set[int | None] = set()
        """Viewers that want drawings along with observations."""
        self._seen = [0] * (self.seats + 1)
        """How many events each seat has been told; the last is the spectators' (so -1 is, too)."""

    # --------------------------------------------------------- what they have asked for

    def subscribe(self, viewer: int | None, *, updates: bool = True, scenes: bool = False) -> None:
        """Say what a seat (or the spectators: None) wants besides its turns.

        ``updates``: an ``update`` when somebody else is to move; ``scenes``: drawings along with
        observations.  Without a subscription spectators are sent nothing.
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
            self._seen[-1] = self.views.length

    def unsubscribe(self, viewer: int | None) -> None:
        """Send a seat, or the spectators, no more than is necessary."""
        self._subscribed.pop(viewer, None)
        self._scenes.discard(viewer)

    def _hears(self, seat: int) -> bool:
        """Whether a seat wants to be told what it need not act on: people do, and who asks."""
        return seat in self._subscribed or seat in self._scenes

    # ---------------------------------------------------------------- the whole at once

    def snapshot(self, viewer: int | None, now: int) -> MatchSnapshot:
        """Everything that a seat, or a spectator, may know now.

        It must be sent: for seats, the next messages' events continue from here.  Beware of
        sending one while effects of the match still wait for storage; `sync` keeps the order.
        """
        config = self.config
        course = self.course
        running = course.status == "running"
        yours = running and viewer is not None and viewer == self.position.mover
        observation, scene = self._seen_now(viewer)
        if viewer is not None:
            self._seen[viewer] = self.views.length
        return MatchSnapshot(
            match=config.match,
            pairing=config.pairing,
            game=self.game.spec,
            time_control=str(config.time_control),
            rated=config.rated,
            seat=viewer,
            players=list(config.players),
            status=course.status,
            ply=self.position.ply,
            commitment=self.commitment,
            nonces=[] if course.status == "waiting" else [nonce or "" for nonce in course.nonces],
            illegal_rule=config.illegal_rule,
            events=self.views.events(viewer),
            observation=observation,
            clocks=clock_states(self.clock, now, self.seat_to_move),
            your_turn=yours,
            deadline_ms=self.clock.remaining(viewer, now) // MS
            if yours and viewer is not None
            else None,
            scene=scene,
            outcome=course.outcome,
            draw_offers=sorted(course.offers) if running else [],
        )

    def sync(self, viewer: int, now: int, *, re: int | None = None) -> Effects:
        """Send a seat the full state."""
        snapshot = self.snapshot(viewer, now)
        turn_ply = self.position.ply if snapshot.your_turn else -1
        return Effects([], [Send(viewer, MatchMessage(snapshot, re), turn_ply)])

    # ---------------------------------------------------------------- turns and updates

    def _events(self, viewer: int) -> list[Event]:
        """What happened since the last message to a viewer (-1: the spectators)."""
        since = self._seen[viewer]
        self._seen[viewer] = self.views.length
        return self.views.events(None if viewer < 0 else viewer, since)

    def _seen_now(self, viewer: int | None) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Observation and, if wanted, scene."""
        state = self.position.state
        wanted = viewer in self._scenes
        if self.course.status == "finished" and state.to_move != TERMINAL:
            observation, scene = self.views.stopped(state, viewer)
            return observation, scene if wanted else None
        if wanted:
            return self.views.drawn(state, viewer)
        return self.views.observation(state, viewer), None

    def _turn(self, mover: int, now: int, clocks: list[ClockState], *, retry: bool) -> Send:
        observation, scene = self._seen_now(mover)
        ply = self.position.ply
        left = self.clock.remaining(mover, now) // MS
        events = self._events(mover)
        turn = Turn(self.config.match, ply, events, observation, clocks, left, scene, retry)
        return Send(mover, turn, ply)

    def _updates(
        self, mover: int | None, now: int, clocks: list[ClockState] | None = None
    ) -> list[Telling]:
        """What the followers of the match are sent: everyone subscribed but the mover."""
        told: list[Telling] = []
        for viewer in self._subscribed:
            if viewer is not None and viewer == mover:
                continue
            if clocks is None:
                clocks = clock_states(self.clock, now, mover)
            observation, scene = self._seen_now(viewer)
            events = self._events(-1 if viewer is None else viewer)
            update = Update(
                self.config.match, self.position.ply, events, observation, clocks, scene
            )
            told.append(Broadcast(update) if viewer is None else Send(viewer, update))
        return told

    def _finished(self, viewer: int) -> Finished:
        outcome = self.course.outcome
        assert outcome is not None  # noqa: S101 (for the type checker)
        done = self.last_of_pairing
        return Finished(
            match=self.config.match,
            outcome=outcome,
            events=self._events(viewer),
            pairing_done=done,
            seed=self.config.seed.hex() if done else "",
        )

    # --------------------------------------------------------------- draws and absences

    def _others(self, seat: int, message: DrawOffered | DrawDeclined) -> list[Telling]:
        told: list[Telling] = [Send(each, message) for each in range(self.seats) if each != seat]
        if None in self._subscribed:
            told.append(Broadcast(message))
        return told

    def _onlookers(self, seat: int, notices: list[Notice]) -> list[Telling]:
        """Tell spectators, and the other seats that want to hear of it."""
        told: list[Telling] = [
            Send(each, notice)
            for notice in notices
            for each in range(self.seats)
            if each != seat and self._hears(each)
        ]
        if None in self._subscribed:
            told += [Broadcast(notice) for notice in notices]
        return told

    def absences(self, viewer: int | None, now: int) -> list[Notice]:
        """What a seat that has come, or who begins to watch (None), is told of who is away."""
        if viewer is not None and not self._hears(viewer):
            return []
        others = [seat for seat in range(self.seats) if seat != viewer]
        return [notice for seat in others for notice in self._absence(seat, now)]

    def _absence(self, seat: int, now: int) -> list[Notice]:
        until = self.attendance.until(seat)
        if until is None:
            return []
        left = max(0, until - now)
        text = (
            f"{_sentence(seat_label(self.config, seat))} is away; "
            f"the match waits {left / SECOND:.0f} s more."
        )
        return [Notice("notice/away", text, self.config.match, seat, left // MS)]

    def _return(self, seat: int) -> Notice:
        text = f"{_sentence(seat_label(self.config, seat))} is back."
        return Notice("notice/back", text, self.config.match, seat)

    # -------------------------------------------------------------- answers to requests

    def _ok(self, seat: int, re: int | None, rows: list[Row] | None = None) -> Effects:
        """Answer with ``ok``."""
        return Effects(rows or [], [] if re is None else [Send(seat, Ok(re))])

    def _answered(self, seat: int, re: int | None, effects: Effects) -> Effects:
        """Answer with ``ok`` before what else is told."""
        if re is not None:
            effects.told.insert(0, Send(seat, Ok(re)))
        return effects

    def _refused(
        self,
        seat: int,
        re: int | None,
        code: str,
        message: str = "",
        *,
        after: Effects | None = None,
    ) -> Effects:
        """Answer with an error, after what else happened."""
        effects = Effects([], []) if after is None else after
        if re is not None:
            text = message or ERRORS[code].message
            ply = self.position.ply if code in OUT_OF_STEP else None
            effects.told.append(Send(seat, Error(code, text, re, self.config.match, ply=ply)))
        return effects


def _sentence(text: str) -> str:
    """Let a text begin as a sentence does."""
    return text[0].upper() + text[1:]
