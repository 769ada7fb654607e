"""A match as one viewer follows it: what messages of protocol v1 make of it.

Pure: messages go in, with the time; everything that a screen shows comes out.  The clocks and
absences of seats are the server's last report, extrapolated to the present.  ``now`` is a time in
nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from plyhouse.clients.terminal.action_choice import labels_of
from plyhouse.clients.terminal.interfaces import Incoming, Lost, Position, ServerApi
from plyhouse.clients.terminal.sentences import action_text, holder, verdict, with_holders
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.matches import Replay
from plyhouse.protocol.api.routes import PAGE
from plyhouse.protocol.messages import (
    Accepted,
    ClockState,
    DrawDeclined,
    DrawOffered,
    Error,
    Event,
    Finished,
    MatchMessage,
    MatchSnapshot,
    Notice,
    Outcome,
    Said,
    SeatInfo,
    Turn,
    Update,
    Welcome,
)

MS: Final = 1_000_000
"""Nanoseconds of a millisecond."""


class Clocks:
    """The clock of each seat, and the seats that the match waits for.

    >>> clocks = Clocks()
    >>> clocks.set([ClockState(0, 5000, running=True), ClockState(1, 9000)], now=0)
    >>> clocks.left(0, now=2000 * MS), clocks.left(1, now=2000 * MS), clocks.left(2, now=0)
    (3000, 9000, None)
    """

    def __init__(self) -> None:
        self._states: dict[int, ClockState] = {}
        self._since = 0
        self._running: int | None = None
        self._away: dict[int, int] = {}

    def set(self, states: Sequence[ClockState], now: int, mover: int | None = None) -> None:
        """Set the clocks from a message.

        ``mover`` is the seat whose clock runs if the message marks none as running.
        """
        if not states:
            return
        self._states = {state.seat: state for state in states}
        running = [state.seat for state in states if state.running]
        self._running = running[0] if running else mover
        self._since = now

    def stop(self, now: int) -> None:
        """Stop all clocks at the time that they show."""
        for seat in self._states:
            left = self.left(seat, now)
            if left is not None:
                self._states[seat] = ClockState(seat, max(0, left))
        self._running = None

    def left(self, seat: int, now: int) -> int | None:
        """Return the milliseconds that a seat has left, at least 0; None without a clock."""
        state = self._states.get(seat)
        if state is None:
            return None
        gone = (now - self._since) // MS if seat == self._running else 0
        return max(0, state.remaining_ms - gone)

    def periods(self, seat: int) -> int | None:
        """Return the byo-yomi periods that a seat has left; None without a clock."""
        state = self._states.get(seat)
        return state.periods if state is not None else None

    @property
    def running(self) -> int | None:
        """The seat whose clock runs; None if none runs."""
        return self._running

    def away(self, seat: int, left_ms: int, now: int) -> None:
        """Note that a seat is away and that the match waits ``left_ms`` for it."""
        self._away[seat] = now + left_ms * MS

    def back(self, seat: int | None = None) -> None:
        """Note that a seat has come back; without ``seat``, that all have."""
        if seat is None:
            self._away.clear()
        else:
            self._away.pop(seat, None)

    def gone(self, seat: int, now: int) -> int | None:
        """Return the seconds, rounded up, that the match waits for a seat; None if present."""
        until = self._away.get(seat)
        return None if until is None else max(0, -(-(until - now) // (1000 * MS)))


PHRASES: Final = {
    "good_luck": "Good luck!",
    "well_played": "Well played!",
    "thanks": "Thanks!",
    "oops": "Oops!",
}
"""The phrases of the protocol in words."""


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that happened, in words."""

    at: int
    """The position that it led to."""
    seat: int
    """The acting seat; -1 for chance."""
    text: str
    seconds: float | None = None


class FollowedMatch:
    """One match, live or to replay."""

    def __init__(self, match: str = "") -> None:
        self.match = match
        self.game = ""
        self.time_control = ""
        self.rated = False
        self.kind = ""
        """The kind of the match in a word; empty if only its rating is known."""
        self.players: list[SeatInfo] = []
        self.seat: int | None = None
        """The seat of the person here; None for spectators."""
        self.status = "waiting"
        self.scenes: dict[int, dict[str, Any]] = {}
        """By ply: the position after so many actions."""
        self.told: list[Told] = []
        self.clocks = Clocks()
        self.turn: int | None = None
        """The ply that the server waits for, if it is ours."""
        self.legal: tuple[str, ...] = ()
        self.outcome: Outcome | None = None
        self.ending = ""
        """How it ended, of a match that is replayed."""
        self.offered = False
        """True if the other side offers a draw."""
        self.offering = False
        """True if we do."""
        self.quiet = False
        """True if what others say is not shown."""
        self.trouble = ""
        """The problem with the connection."""
        self.notice = ""
        """The last thing that the server had to say, or why an action was refused."""
        self.labels: dict[str, str] = {}
        """The names of actions, from scenes in which they could be chosen."""

    @property
    def last(self) -> int:
        """The latest position that is known."""
        return max(self.scenes, default=0)

    @property
    def names(self) -> list[str]:
        """The game's names of the seats."""
        for scene in self.scenes.values():
            if scene.get("seats"):
                return [str(each) for each in scene["seats"]]
        return []

    @property
    def holders(self) -> list[str]:
        """The holders of the seats."""
        return [holder(info) for info in self.players]

    @property
    def over(self) -> bool:
        """True if the match has ended."""
        return self.outcome is not None or bool(self.ending)

    def name(self, seat: int) -> str:
        """Return the holder of a seat."""
        if seat < 0:
            return "chance"
        return self.holders[seat] if seat < len(self.players) else f"seat {seat + 1}"

    def position(self, at: int) -> dict[str, Any]:
        """The scene after ``at`` actions, or the latest before that is known; {} if none is."""
        known = [ply for ply in self.scenes if ply <= at]
        return self.scenes[max(known)] if known else {}

    def mover(self, at: int) -> int | None:
        """Return the seat to move in a position; None at the end."""
        if self.over and at >= self.last:
            return None
        seat = self.position(at).get("seat_to_move")
        return int(seat) if seat is not None else None

    def status_at(self, at: int) -> str:
        """Return the state of the match in a position, as a sentence."""
        if at >= self.last and self.over:
            return self.result()
        scene = self.position(at)
        return with_holders(str(scene.get("status", "")), self.holders, self.names)

    def result(self) -> str:
        """How it ended; "" while it runs."""
        if self.outcome is not None:
            return verdict(self.outcome, self.holders)
        return self.ending

    # ------------------------------------------------------------------ what comes in

    def take(self, message: Incoming, now: int) -> bool:
        """Learn from a message; whether it was about this match, or about the connection."""
        if isinstance(message, Lost):
            self.clocks.stop(now)
            self.clocks.back()
            wait = f" Trying again in {message.retry_in:.0f} s." if message.retry_in >= 1 else ""
            self.trouble = f"Connection lost: {message.reason}.{wait}"
            return True
        if isinstance(message, Welcome):
            self.trouble = ""
            for snapshot in message.matches:
                if snapshot.match == self.match:
                    self._snapshot(snapshot, now)
            return True
        if isinstance(message, MatchMessage):
            if self.match and message.snapshot.match != self.match:
                return False
            self._snapshot(message.snapshot, now)
            return True
        about = getattr(message, "match", None) or ""
        if about and about != self.match:
            return False
        return self._one(message, now)

    def _one(self, message: Incoming, now: int) -> bool:
        match message:
            case Turn():
                self._goes_on(message.ply, message.scene, message.events)
                self.clocks.set(message.clocks, now, self.seat)
                self.turn = message.ply
                self.legal = tuple(message.observation.get("legal", ()))
                if message.retry:
                    self.notice = self.notice or "That was refused: choose another action."
                else:
                    self.notice = ""
            case Update():
                self._goes_on(message.ply, message.scene, message.events)
                mover = (message.scene or {}).get("seat_to_move")
                self.clocks.set(message.clocks, now, mover)
            case Accepted():
                if not message.duplicate:
                    self._add(message.events)
                self.clocks.set(message.clocks, now)
            case Finished():
                self._add(message.events)
                self._ended(message.outcome, now)
            case DrawOffered():
                self.offered = message.seat != self.seat
                self.offering = message.seat == self.seat
                if self.offered:
                    self.notice = f"{self.name(message.seat)} offers a draw."
            case DrawDeclined():
                if self.offering:
                    self.notice = "The draw was declined."
                self.offered = self.offering = False
            case Said():
                if not self.quiet or message.seat == self.seat:
                    self.notice = f"{self.name(message.seat)}: {PHRASES[message.phrase]}"
            case Notice(code="notice/away", seat=int(seat)):
                self.clocks.away(seat, message.remaining_ms or 0, now)
                self.notice = f"{self.name(seat)} has lost the connection."
            case Notice(code="notice/back", seat=int(seat)):
                self.clocks.back(seat)
                self.notice = f"{self.name(seat)} is back."
            case Notice(code="notice/spectators"):
                pass
            case Notice() | Error():
                self.notice = message.message
            case _:
                return False
        return True

    def _snapshot(self, found: MatchSnapshot, now: int) -> None:
        self.match = found.match
        self.game, self.time_control, self.rated = found.game, found.time_control, found.rated
        self.players, self.seat = list(found.players), found.seat
        self.status = found.status
        self.told = []
        if found.scene is not None:
            self._see(found.ply, found.scene)
        self._add(found.events)
        mover = (found.scene or {}).get("seat_to_move")
        self.clocks.set(found.clocks, now, mover if found.status == "running" else None)
        self.turn = found.ply if found.your_turn else None
        self.legal = tuple(found.observation.get("legal", ())) if found.your_turn else ()
        self.offered = any(seat != self.seat for seat in found.draw_offers)
        self.offering = self.seat in found.draw_offers
        if found.outcome is not None:
            self._ended(found.outcome, now)

    def _goes_on(self, ply: int, scene: dict[str, Any] | None, events: Sequence[Event]) -> None:
        self.status = "running"
        if scene is not None:
            self._see(ply, scene)
        self._add(events)
        if self.turn is not None and ply > self.turn:
            self.turn = None

    def _see(self, ply: int, scene: dict[str, Any]) -> None:
        self.scenes[ply] = scene
        for action, label in labels_of(scene).items():
            if label:
                self.labels[action] = label

    def _add(self, events: Sequence[Event]) -> None:
        for event in events:
            chance = event.seat < 0
            seconds = None if event.ms is None else event.ms / 1000
            at = event.ply if chance else event.ply + 1
            if not chance and self.turn is not None and at > self.turn:
                self.turn = None
            self.told.append(Told(at, event.seat, action_text(event), seconds))

    def _ended(self, outcome: Outcome, now: int) -> None:
        self.status, self.outcome, self.turn, self.legal = "finished", outcome, None, ()
        self.clocks.stop(now)
        self.clocks.back()
        self.offered = self.offering = False
        self.notice = ""


def replayed(
    positions: Sequence[Position], players: Sequence[SeatInfo], game: str
) -> FollowedMatch:
    """A match that was played, from its positions."""
    course = FollowedMatch()
    course.game, course.players, course.status = game, list(players), "finished"
    for position in positions:
        course.scenes[position.ply] = position.scene
        for text in position.told:
            what, _, seconds = text.partition(" in ") if text.endswith(" s") else (text, "", "")
            seat = _seat_of(text, course.names)
            what = with_holders(what, course.holders, course.names)
            time = float(seconds.removesuffix(" s")) if seconds else None
            course.told.append(Told(position.ply, seat, what, time))
    ending = positions[-1].end if positions else ""
    course.ending = with_holders(ending, course.holders, course.names)
    return course


def _seat_of(text: str, names: Sequence[str]) -> int:
    who = text.partition(":")[0]
    return names.index(who) if who in names else -1


async def whole(api: ServerApi, course: FollowedMatch) -> None:
    """Fetch all positions and events of a finished match; raises `Refusal`."""
    first = 0
    while True:
        replay = await _part(api, course, first)
        for frame in replay.frames:
            course.scenes[frame.ply] = frame.scene
            for event in frame.events:
                at = event.ply + (event.seat >= 0)
                seconds = None if event.ms is None else event.ms / 1000
                course.told.append(Told(at, event.seat, action_text(event), seconds))
        if not replay.frames or course.last >= replay.plies:
            break
        first = course.last + 1


async def earlier(api: ServerApi, course: FollowedMatch) -> None:
    """Fetch the scenes of positions that were missed; raises `Refusal`.

    The snapshot of the match already has their events.
    """
    while missing := [ply for ply in range(course.last) if ply not in course.scenes]:
        frames = (await _part(api, course, missing[0])).frames
        found = {frame.ply: frame.scene for frame in frames}
        if missing[0] not in found:
            break
        course.scenes = found | course.scenes


async def _part(api: ServerApi, course: FollowedMatch, first: int) -> Replay:
    return await api.ask(calls.replay(course.match, first=first, limit=PAGE))
