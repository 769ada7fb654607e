"""The match engine: one match from its announcement to its end, without I/O.

::

    waiting --all ready--> running --end of the game, forfeit, agreement--> finished
       |                      |
       '--ready timeout-------'--abort--> finished (void)

Every input takes ``now`` in integer nanoseconds of a monotonic clock and returns `Effects`
(`plyhouse.server.match.effects`, which also has the rules for the shell).  The engine answers
requests that it cannot grant with an ``error`` message.  It never raises because of what a player
sent.  `Match.deadline` is the next instant for which the engine waits: at that instant the shell
calls `Match.tick`.  A frame that was read before a deadline must be passed in before the tick, with
the time of its reading.

The clock of the seat to move starts when the shell reports that its turn was written
(`Match.turn_written`).  For a seat that is away for its own reasons, it starts when the turn could
have been written (`Match.turn_missed`).

A match consists of three parts.  Its `Course` is everything that its stored events determine, which
survives a kill.  Its `Attendance` has the seats that are away, and since when.  Its `Audience` has
the data that each viewer has got.  Only `plyhouse.server.match.views` makes the data for viewers.

The module is long because the match is one state machine.  The effect of an input depends on
status, clock, offers and absences together, so splitting it would give classes that know each
other's fields.
"""

from __future__ import annotations

import traceback
from typing import Any, Final

from msgspec.structs import replace

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.errors import GameError
from plyhouse.games.position import read_action
from plyhouse.protocol.errors import ERRORS
from plyhouse.protocol.messages import (
    Accepted,
    ClockState,
    DrawDeclined,
    DrawOffered,
    Error,
    Finished,
    MatchMessage,
    MatchSnapshot,
    MatchStatus,
    Notice,
    Ok,
    Outcome,
    Termination,
    Turn,
)
from plyhouse.server.match import terminations
from plyhouse.server.match.audience import Attendance, Audience
from plyhouse.server.match.chance import commitment, normal_nonce
from plyhouse.server.match.clock import Clock
from plyhouse.server.match.effects import Broadcast, Effects, Finish, Outgoing, Row, Send, Started
from plyhouse.server.match.events import read_info, tried
from plyhouse.server.match.history import Course
from plyhouse.server.match.terms import MatchConfig, as_sent
from plyhouse.server.match.time_control import MS, SECOND, Ledger
from plyhouse.server.match.views import Views, clock_states, ledger_entry
from plyhouse.storage.causes import NO_CAUSE, Cause, seat_label

__all__ = ["Match", "MatchConfig"]

OUT_OF_STEP: Final = frozenset(["match/not_your_turn", "match/stale_ply", "match/future_ply"])
"""Errors whose answer includes the current ply."""
MAX_NONCE_CHANGES: Final = 10
"""How often a seat may replace its nonce before the match starts."""


_GAVE_UP: Final[dict[Termination, str]] = {"resignation": "resigned", "no_answer": "no_answer"}
"""Codes of causes, by the termination that a seat's runner reports; "failed" for any other."""


class Match:
    """One match; the module's text explains how to drive it.

    ``course`` is that of a match that began before the server stopped (see
    `plyhouse.server.match.restore`).  All seats then count as away from ``now`` on, and `resume`
    must be called next.
    """

    __slots__ = (
        "_nonce_changes",
        "_paused_at",
        "_ready_deadline",
        "attendance",
        "audience",
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
        """Set by the shell if this match ends its pairing: ``finished`` then reveals the seed."""
        self.commitment = commitment(config.seed)
        self._nonce_changes = [0] * self.seats
        self._ready_deadline = now + config.ready_timeout_ns
        self._paused_at: int | None = None
        self.audience = Audience(config.match, self.seats, self.views)
        if course is not None and course.status != "finished":
            for seat in range(self.seats):
                self.attendance.leave(seat, now)
                self.attendance.excuse(seat, now)

    # ------------------------------------------------------------------------- questions

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
        """The full state, for the server only; seats see it through views."""
        return self.position.state

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the match; None before its end."""
        return self.course.outcome

    @property
    def seat_to_move(self) -> int | None:
        """The seat whose action is awaited; None while waiting and after the end."""
        return self.position.mover if self.course.status == "running" else None

    @property
    def awaited(self) -> list[int]:
        """The seats whose time runs: those that are not ready, later the one on the clock."""
        if self.course.status == "waiting":
            return [seat for seat, nonce in enumerate(self.course.nonces) if nonce is None]
        running = self.clock.running
        return [] if running is None else [running]

    @property
    def turn_open(self) -> bool:
        """True while the seat to move has not got its turn, so its clock does not run."""
        return self.course.status == "running" and self.clock.running is None

    def deadline(self) -> int | None:
        """Return when `tick` is due next; None if only an input can change anything."""
        status = self.course.status
        if status == "finished" or self._paused_at is not None:
            return None
        if status == "waiting":
            return self._ready_due()
        flag = self._flag_due()
        due = self.attendance.due()
        if flag is not None and (due is None or flag < due):
            return flag + 1  # an action stamped exactly at the flag's deadline still counts
        return due

    def _ready_due(self) -> int | None:
        """Return when the match ends for seats that are not ready.

        An excused seat has its grace; without one, the match waits until its excuse ends.
        """
        due = self._ready_deadline
        for seat in self.awaited:
            if seat in self.attendance.excused:
                grace = self.attendance.until(seat)
                if grace is None:
                    return None
                due = max(due, grace)
        return due

    def _flag_due(self) -> int | None:
        """Return the last instant of the clock that runs; None if its seat is excused."""
        excused = self.attendance.excused
        return None if excused and self.clock.running in excused else self.clock.deadline()

    def snapshot(
        self, viewer: int | None, now: int, *, scenes: bool | None = None
    ) -> MatchSnapshot:
        """Return everything that a seat, or a spectator (None), may know now.

        It has a drawing if the viewer subscribed to drawings; ``scenes`` decides instead, for
        viewers without a subscription.

        It must be sent: for seats, the events of the next messages continue from here.  Do not send
        one while effects of the match wait for storage; `sync` keeps the order.
        """
        config = self.config
        course = self.course
        running = course.status == "running"
        yours = running and viewer is not None and viewer == self.position.mover
        state = self.position.state
        stopped = course.status == "finished" and state.to_move != TERMINAL
        observation, scene = self.audience.observed(viewer, state, stopped=stopped, scenes=scenes)
        if course.status == "finished":
            self.views.forget()
        if viewer is not None:
            self.audience.caught_up(viewer)
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

    # ------------------------------------------------------------------- before the start

    def announce(self, now: int) -> Effects:
        """Announce the match to every seat.

        Each should answer ``ready`` within the timeout from now.
        """
        self._ready_deadline = now + self.config.ready_timeout_ns
        return Effects(
            [], [Send(seat, MatchMessage(self.snapshot(seat, now))) for seat in range(self.seats)]
        )

    def ready(self, seat: int, nonce: str, now: int, *, re: int | None = None) -> Effects:
        """Note that a seat is ready, with its nonce; the last seat starts the match.

        Until then a seat may repeat it, even with another nonce (it may have been restarted).
        """
        if expired := self._expired(now):
            return self._refused(seat, re, "match/over", after=expired)
        try:
            nonce = normal_nonce(nonce)
        except ValueError as error:
            return self._refused(seat, re, "protocol/bad_field", f"{error}.")
        course = self.course
        if course.status != "waiting":
            if course.nonces[seat] == nonce:
                return self._ok(seat, re)
            text = "The match has started with the nonces it was given before."
            return self._refused(seat, re, "protocol/unexpected", text)
        if course.nonces[seat] == nonce:
            return self._ok(seat, re)
        if course.nonces[seat] is not None:
            self._nonce_changes[seat] += 1
            if self._nonce_changes[seat] > MAX_NONCE_CHANGES:
                return self._refused(seat, re, "match/too_many_nonces")
        effects = self._ok(seat, re, [course.ready(seat, nonce)])
        return effects if None in course.nonces else effects.then(self._start(now))

    def _start(self, now: int) -> Effects:
        """Deal, and send the first turn, because all seats are ready."""
        nonces = tuple([each or "" for each in self.course.nonces])
        return Effects([Started(nonces)], [], milestone=True).then(self._go_on(now))

    def resume(self, now: int) -> Effects:
        """Do what the server's kill left undone: rolls, the end of the game."""
        return self._go_on(now) if self.course.status == "running" else Effects([], [])

    def _go_on(self, now: int) -> Effects:
        """Let chance act, then send the next turn, or end the match."""
        course = self.course
        mark = course.mark()
        rows: list[Row] = []
        try:
            course.roll(rows)
            return self._proceed(rows, [], now)
        except Exception as error:  # the rules of a game, even a user's, may raise anything
            course.back(mark)
            return self._fault(error, now)

    # -------------------------------------------------------------------------- play

    def turn_missed(self, seat: int, ply: int, now: int) -> None:
        """Start the clock of an absent seat, unless the server is the reason."""
        if self.attendance.unexcused(seat):
            self.turn_written(seat, ply, now)

    def turn_written(
        self, seat: int, ply: int, now: int, *, lag_ns: int = 0, floor_ns: int = 0
    ) -> None:
        """Start the clock of a seat that has got its turn at ply ``ply``.

        ``lag_ns`` is the connection's measured round trip, for the refund.  The kernel vouches for
        ``floor_ns`` of it (see `LagPolicy`).  Late and repeated reports change nothing.
        """
        position = self.position
        if ply == position.ply and self.turn_open and seat == position.state.to_move:
            self._give_back(seat, now)
            self.attendance.seated(seat)
            self.clock.start(seat, now, lag_ns, floor_ns)

    def act(
        self,
        seat: int,
        ply: int,
        text: str,
        now: int,
        *,
        lag_ns: int = 0,
        re: int | None = None,
        info: Any = None,
    ) -> Effects:
        """Play an action of a seat; ``now`` is when its frame was read.

        ``info`` has the bot's thoughts.  They are kept with the ply if possible, and are never a
        reason to refuse the action.

        The same action for the same ply is answered again like the first time, with ``duplicate``
        set.
        """
        course = self.course
        position = self.position
        if ply != position.ply or course.status != "running" or self._paused_at is not None:
            return self._out_of_step(seat, ply, text, now, re)
        if seat != position.state.to_move:
            expired = self._expired(now)
            code = "match/over" if expired else "match/not_your_turn"
            return self._refused(seat, re, code, after=expired)
        clock = self.clock
        if clock.running is None:
            clock.start(seat, now, lag_ns)
        elif now > clock.limit():
            return self._refused(seat, re, "match/over", after=self._flag(seat, now))
        mark = course.mark()
        try:
            try:
                before, action = course.act(seat, text)
            except GameError as error:
                return self._illegal(seat, text, error, now, re)
            canonical = self.game.format(before, action)
            ledger = clock.stop(seat, now, lag_ns)
            row = course.acted(before, action, seat, canonical, as_sent(text), ledger)
            info_error = ""
            if info is not None:
                kept, info_error = read_info(info)
                if kept:
                    row = replace(row, data=kept)
            rows: list[Row] = [row]
            if position.state.to_move == CHANCE:
                course.roll(rows)
            clocks = clock_states(clock, now, position.state.to_move)
            messages: list[Outgoing] = []
            if course.offers and course.lapse(seat):
                messages += self.audience.others(seat, DrawDeclined(self.config.match, seat))
            if re is not None:
                entry = ledger_entry(ply, seat, ledger)
                events = self.audience.events(seat)
                match = self.config.match
                answer = Accepted(re, match, ply, events, clocks, entry, False, info_error)
                messages.append(Send(seat, answer))
            return self._proceed(rows, messages, now, clocks)
        except Exception as error:  # the rules of a game, even a user's, may raise anything
            course.back(mark)
            return self._refused(seat, re, "match/over", after=self._fault(error, now))

    def resign(
        self,
        seat: int,
        now: int,
        termination: Termination = "resignation",
        detail: str = "",
        *,
        re: int | None = None,
    ) -> Effects:
        """Resign for a seat, or end the match as its runner reports: `bot_crash`, `no_answer`.

        ``detail`` is stored for the author of the bot and shown to nobody else.
        """
        if refused := self._not_running(seat, now, re):
            return refused
        did = _GAVE_UP.get(termination, "failed")
        cause = Cause(did, (seat,), (self.position.ply + 1,))
        return self._answered(seat, re, self._forfeit(termination, seat, cause, now, detail=detail))

    # -------------------------------------------------------------------------- draws

    def offer_draw(self, seat: int, now: int, *, re: int | None = None) -> Effects:
        """Offer a draw, or accept one on offer.  A seat may offer once per ply."""
        if refused := self._no_draws(seat, now, re):
            return refused
        course = self.course
        if course.offers - {seat}:
            return self.accept_draw(seat, now, re=re)
        if seat in course.offers:
            return self._ok(seat, re)
        if course.offered_at[seat] == self.position.ply:
            return self._refused(seat, re, "match/draw_offered_already")
        effects = self._ok(seat, re, [course.offer(seat)])
        effects.messages += self.audience.others(seat, DrawOffered(self.config.match, seat))
        return effects

    def accept_draw(self, seat: int, now: int, *, re: int | None = None) -> Effects:
        """Accept the draw on offer; it is agreed when every seat has accepted."""
        if refused := self._no_draws(seat, now, re):
            return refused
        course = self.course
        if not course.offers or course.offers == {seat}:
            return self._refused(seat, re, "match/draw_not_offered")
        if seat in course.offers:
            return self._ok(seat, re)
        effects = self._ok(seat, re, [course.agree(seat)])
        if len(course.offers) < self.seats:
            return effects
        returns = terminations.draw_returns(self.game)
        return effects.then(self._finish("draw_agreed", returns, None, Cause("draw"), now))

    def decline_draw(self, seat: int, now: int, *, re: int | None = None) -> Effects:
        """Decline the draw on offer (or withdraw one's own)."""
        if refused := self._no_draws(seat, now, re):
            return refused
        if not self.course.offers:
            return self._refused(seat, re, "match/draw_not_offered")
        effects = self._ok(seat, re, [self.course.decline(seat)])
        effects.messages += self.audience.others(seat, DrawDeclined(self.config.match, seat))
        return effects

    # --------------------------------------------------------- connections, time, the server

    def disconnected(self, seat: int, now: int, *, turn_pending: bool = False) -> Effects:
        """Note that a seat lost its connection; it may come back within the grace.

        Its own clock runs meanwhile.  With ``turn_pending`` its turn is not durable yet;
        `turn_missed` or `turn_written` follows.
        """
        left = self.course.status != "finished" and self.attendance.leave(seat, now)
        messages = self.audience.notices(seat, self._absence(seat, now)) if left else []
        if turn_pending:
            return Effects([], messages)
        if left and self.turn_open and seat == self.position.state.to_move:
            self.clock.start(seat, now)
        return Effects([], messages)

    def reconnected(self, seat: int, now: int) -> Effects:
        """Note that a seat is back.

        It gets a snapshot by `sync` or in its ``welcome``; if that says ``your_turn``,
        `turn_written` follows as after a ``turn``.
        """
        self._give_back(seat, now)
        expired = self._expired(now)
        if self.attendance.until(seat) is not None:
            text = f"{self._holder(seat)} is back."
            back = Notice("notice/back", text, self.config.match, seat)
            expired.messages += self.audience.notices(seat, [back])
        self.attendance.come(seat)
        return expired

    def excuse(self, seat: int, since: int) -> None:
        """Note that the server with a seat's socket is gone since ``since``.

        No time is charged and nothing is due from the seat, until it is back or `end_excuse` is
        called.
        """
        if self.course.status != "finished":
            self.attendance.excuse(seat, since)

    def end_excuse(self, seat: int, now: int) -> bool:
        """Count a seat that is not back as absent on its own account from now on.

        Returns False if that is settled: it is back, or has a grace since a restart.  Otherwise
        `disconnected` must follow.
        """
        if seat not in self.attendance.excused or self.attendance.until(seat) is not None:
            return False
        self._give_back(seat, now)
        self.attendance.seated(seat)
        return True

    def _give_back(self, seat: int, now: int) -> None:
        """Give an excused seat back the time until now; in full, as no client can cause it."""
        since = self.attendance.excused.get(seat)
        if since is None:
            return
        if self.clock.running == seat:
            self.clock.stalled(since, now)
        elif seat in self.awaited:
            again = now + self.config.ready_timeout_ns
            self._ready_deadline = max(self._ready_deadline, again)

    def absences(self, viewer: int | None, now: int) -> list[Notice]:
        """Return the notices about absent seats.

        They are for a seat that has come, or for a new spectator (None).
        """
        if viewer is not None and not self.audience.wants_notices(viewer):
            return []
        others = [seat for seat in range(self.seats) if seat != viewer]
        return [notice for seat in others for notice in self._absence(seat, now)]

    def _absence(self, seat: int, now: int) -> list[Notice]:
        until = self.attendance.until(seat)
        if until is None:
            return []
        left = max(0, until - now)
        text = f"{self._holder(seat)} is away; the match waits {left / SECOND:.0f} s more."
        return [Notice("notice/away", text, self.config.match, seat, left // MS)]

    def _holder(self, seat: int) -> str:
        """Return a seat and its holder, to begin a sentence."""
        return seat_label(self.config.players, seat).replace("s", "S", 1)

    def sync(self, viewer: int, now: int, *, re: int | None = None) -> Effects:
        """Send a seat the full state."""
        snapshot = self.snapshot(viewer, now)
        turn_ply = self.position.ply if snapshot.your_turn else -1
        return Effects([], [Send(viewer, MatchMessage(snapshot, re), turn_ply)])

    def tick(self, now: int) -> Effects:
        """Let flags fall and timeouts strike.  Call it at `deadline`, or at any time."""
        return self._expired(now)

    def abort(
        self,
        cause: Cause,
        now: int,
        termination: Termination = "aborted",
        *,
        seat: int | None = None,
        detail: str = "",
    ) -> Effects:
        """End the match without a result.

        The termination is ``aborted``, or ``server_fault`` for a fault of the server.
        """
        if self.course.status == "finished":
            return Effects([], [])
        returns = terminations.void_returns(self.seats)
        return self._finish(termination, returns, seat, cause, now, detail=detail)

    def exclude(self, seat: int, now: int) -> Effects:
        """Exclude the holder of a seat, on behalf of an organiser.

        The seat forfeits; before the start, the match is void instead.
        """
        if self.course.status == "finished":
            return Effects([], [])
        cause = Cause("excluded", (seat,))
        if self.course.status == "waiting":
            return self.abort(cause, now, seat=seat)
        return self._forfeit("disconnect", seat, cause, now)

    def server_paused(self, now: int) -> None:
        """Stop all clocks; ``now`` may be in the past if the pause is noticed afterwards."""
        if self._paused_at is None:
            for seat in self.attendance.excused:
                self._give_back(seat, now)
            self._paused_at = now
            self.clock.pause(now)

    def server_stalled(self, begin: int, end: int, busy_ns: int = 0, own_ns: int = 0) -> int | None:
        """Account for a stall of the server; see `Clock.stalled`.

        Returns the refund of the ply under way, None if no clock runs.  An excused seat gets back
        the stall with the rest of its absence, when it returns, and not twice.
        """
        if self._paused_at is not None:
            return None
        self._ready_deadline += end - begin
        if self.attendance.away:
            self.attendance.postpone(end - begin)
        clock = self.clock
        if clock.running is None:
            return None
        if self.attendance.excused:
            since = max(begin, self.attendance.excused.get(clock.running, end))
            if since < end:
                return clock.stalled(begin, since, busy_ns, own_ns) + end - since
        return clock.stalled(begin, end, busy_ns, own_ns)

    def server_resumed(self, now: int) -> None:
        """End a pause, so that no time has passed for anybody."""
        if self._paused_at is None:
            return
        absence = max(0, now - self._paused_at)
        self._paused_at = None
        self.clock.resume(now)
        self.attendance.given_back(now)
        self._ready_deadline += absence
        self.attendance.postpone(absence)

    # ------------------------------------------------------------------------- telling

    def _turn(self, mover: int, now: int, clocks: list[ClockState], *, retry: bool) -> Send:
        position = self.position
        audience = self.audience
        observation, scene = audience.observed(mover, position.state)
        ply = position.ply
        left = self.clock.remaining(mover, now) // MS
        events = audience.events(mover)
        turn = Turn(self.config.match, ply, events, observation, clocks, left, scene, retry)
        return Send(mover, turn, ply)

    def _proceed(
        self,
        rows: list[Row],
        messages: list[Outgoing],
        now: int,
        clocks: list[ClockState] | None = None,
    ) -> Effects:
        """Send the next turn and the updates of followers, or finish the match.

        ``rows`` and ``messages`` are the earlier effects of the input.
        """
        position = self.position
        mover = position.state.to_move
        effects = Effects(rows, messages)
        if mover == TERMINAL:
            returns = tuple([float(value) for value in position.state.returns()])
            return effects.then(self._finish("normal", returns, None, NO_CAUSE, now))
        limit = self.game.info.max_plies
        if mover == CHANCE or position.ply + position.draws >= limit:
            return effects.then(self.abort(Cause("too_long", (), (limit,)), now))
        if clocks is None:
            clocks = clock_states(self.clock, now, mover)
        messages.append(self._turn(mover, now, clocks, retry=False))
        audience = self.audience
        if audience.has_followers:
            messages += audience.updates(mover, position.state, position.ply, clocks)
        return effects

    def _ok(self, seat: int, re: int | None, rows: list[Row] | None = None) -> Effects:
        """Answer with ``ok``."""
        return Effects(rows or [], [] if re is None else [Send(seat, Ok(re))])

    def _answered(self, seat: int, re: int | None, effects: Effects) -> Effects:
        """Answer with ``ok`` before the other messages."""
        if re is not None:
            effects.messages.insert(0, Send(seat, Ok(re)))
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
        """Answer with an error after the other effects."""
        effects = Effects([], []) if after is None else after
        if re is not None:
            text = message or ERRORS[code].message
            ply = self.position.ply if code in OUT_OF_STEP else None
            effects.messages.append(Send(seat, Error(code, text, re, self.config.match, ply=ply)))
        return effects

    # ------------------------------------------------------------- what cannot be granted

    def _not_running(self, seat: int, now: int, re: int | None) -> Effects | None:
        """Refuse a request that needs a running match; None if the match runs."""
        expired = self._expired(now)
        status = self.course.status
        if status == "running":
            return None
        code = "match/not_ready" if status == "waiting" else "match/over"
        return self._refused(seat, re, code, after=expired)

    def _no_draws(self, seat: int, now: int, re: int | None) -> Effects | None:
        """Refuse requests about draws; None if they are possible now."""
        if not self.game.info.draw_offers:
            return self._refused(seat, re, "match/no_draws")
        return self._not_running(seat, now, re)

    def _out_of_step(self, seat: int, ply: int, text: str, now: int, re: int | None) -> Effects:
        """Answer an action that is not for the current ply of a running match."""
        if 0 <= ply < self.position.ply:
            return self._act_again(seat, ply, text, now, re)
        status = self.course.status
        if status != "running":
            code = "match/not_ready" if status == "waiting" else "match/over"
            return self._refused(seat, re, code)
        if self._paused_at is not None:
            return self._refused(seat, re, "match/not_running")
        return self._refused(seat, re, "match/future_ply")

    def _act_again(self, seat: int, ply: int, text: str, now: int, re: int | None) -> Effects:
        """Answer an action for a ply that has been played."""
        played = self.course.plies[ply]
        if played.seat != seat:
            over = self.course.status == "finished"
            return self._refused(seat, re, "match/over" if over else "match/stale_ply")
        if as_sent(text) not in (played.sent, as_sent(played.text)) and not self._means(ply, text):
            return self._refused(
                seat, re, "action/conflict", f"You have played {played.text!r} at ply {ply}."
            )
        if re is None:
            return Effects([], [])
        entry = ledger_entry(ply, seat, played.ledger)
        clocks = clock_states(self.clock, now, self.seat_to_move)
        answer = Accepted(re, self.config.match, ply, [], clocks, entry, duplicate=True)
        return Effects([], [Send(seat, answer)])

    def _means(self, ply: int, text: str) -> bool:
        """Return whether ``text`` is another spelling of the action played at ``ply``.

        For plies that are long past, only the spelling used then is recognised.  A bot would repeat
        such a ply only to make the server read whole matches.
        """
        state = self.course.state_before(ply)
        if state is None:
            return False
        try:
            again: str = self.game.format(state, read_action(self.game, state, text))
        except GameError:
            return False
        return again == self.course.plies[ply].text

    def _illegal(self, seat: int, text: str, error: GameError, now: int, re: int | None) -> Effects:
        """Handle an illegal action by the match's rule; the clock keeps running."""
        shown = self.views.refusal(error, text)
        legal = self.views.legal(self.position.state)
        messages: list[Outgoing] = []
        if re is not None:
            answer = Error(error.code, shown, re, self.config.match, legal)
            messages.append(Send(seat, answer))
        effects = Effects([self.course.illegal(seat, tried(text))], messages)
        state = self.position.state
        may_retry = self.config.illegal_rule == "retry" or not self.game.lists_all(state)
        if may_retry and self.course.retries <= self.config.max_retries:
            messages.append(self._turn(seat, now, clock_states(self.clock, now, seat), retry=True))
            return effects
        cause = Cause("illegal", (seat,), (self.position.ply + 1,))
        detail = f"{tried(text)!r}: {shown}"  # its author may read it: omit the text of `error`
        return effects.then(self._forfeit("illegal_action", seat, cause, now, detail=detail))

    # -------------------------------------------------------------------------- endings

    def _expired(self, now: int) -> Effects:
        """End the match if a flag has fallen or a wait has run out by ``now``."""
        due = self.deadline()
        if due is None or now < due:
            return Effects([], [])
        if self.course.status == "waiting":
            return self._not_ready_in_time(now)
        clock = self.clock
        flag, running = self._flag_due(), clock.running
        if running is not None and flag is not None and due == flag + 1:
            return self._flag(running, now)
        gone = self.attendance.overdue(now)
        seconds = (self.config.disconnect_grace_ns / SECOND,)
        if len(gone) == self.seats and self.attendance.all_excused(gone):
            return self.abort(Cause("nobody_back", (), seconds), now)
        return self._forfeit("disconnect", gone[0], Cause("away", (gone[0],), seconds), now)

    def _not_ready_in_time(self, now: int) -> Effects:
        late = self.awaited
        cause = Cause("late", tuple(late), (self.config.ready_timeout_ns / SECOND,))
        if self.config.no_show_forfeits and len({self.game.team(seat) for seat in late}) == 1:
            return self._forfeit("no_show", late[0], cause, now)
        return self.abort(cause, now, seat=late[0] if len(late) == 1 else None)

    def _flag(self, seat: int, now: int) -> Effects:
        cause = Cause("flag", (seat,), (self.position.ply + 1,))
        ledger = self.clock.stop(seat, now)
        try:
            returns = terminations.flag_returns(self.game, self.position.state, seat)
        except Exception as error:  # the rules of a game, even a user's, may raise anything
            return self._fault(error, now)
        if returns != terminations.forfeit_returns(self.game, seat):
            cause = Cause("flag_draw", (seat, 1 - seat), cause.numbers)
        return self._finish("flag_fall", returns, seat, cause, now, ledger=ledger, on_clock=seat)

    def _fault(self, error: Exception, now: int) -> Effects:
        """Void the match because the game's rules failed.

        The details are for the operator.
        """
        detail = "".join(traceback.format_exception(error))
        cause = Cause("rules_failed", words=(self.game.info.name, type(error).__name__))
        return self.abort(cause, now, "server_fault", detail=detail)

    def _forfeit(
        self,
        termination: Termination,
        seat: int,
        cause: Cause,
        now: int,
        *,
        detail: str = "",
    ) -> Effects:
        returns = terminations.forfeit_returns(self.game, seat)
        return self._finish(termination, returns, seat, cause, now, detail=detail)

    def _finish(
        self,
        termination: Termination,
        returns: tuple[float, ...],
        seat: int | None,
        cause: Cause,
        now: int,
        *,
        detail: str = "",
        ledger: Ledger | None = None,
        on_clock: int | None = None,
    ) -> Effects:
        """End the match; the last row accounts for the ply under way, if there is one."""
        if on_clock is None and (on_clock := self.clock.running) is not None:
            ledger = self.clock.settle(on_clock, now)
        messages: list[Outgoing] = []
        if termination == "normal" and self.audience.has_followers:
            clocks = clock_states(self.clock, now, None)
            position = self.position
            messages = self.audience.updates(None, position.state, position.ply, clocks)
        outcome = Outcome(termination, list(returns), seat, cause.sentence(self.config.players))
        row = self.course.end(outcome, cause, ledger, on_clock, detail)
        self.attendance.clear()
        self.views.forget()
        finish = Finish(outcome, cause, self.position.ply, termination in terminations.VOID)
        messages += [Send(each, self._finished(each)) for each in range(self.seats)]
        if self.audience.has_spectators:
            messages.append(Broadcast(self._finished(-1)))
        return Effects([row, finish], messages, milestone=True)

    def _finished(self, viewer: int) -> Finished:
        outcome = self.course.outcome
        assert outcome is not None  # noqa: S101 (for the type checker)
        done = self.last_of_pairing
        return Finished(
            match=self.config.match,
            outcome=outcome,
            events=self.audience.events(viewer),
            pairing_done=done,
            seed=self.config.seed.hex() if done else "",
        )
