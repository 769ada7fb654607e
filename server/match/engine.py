"""The match engine: one match from its announcement to its end, without I/O.

::

    waiting --all ready--> running --end of the game, forfeit, agreement--> finished
       |                      |
       '--ready timeout-------'--abort--> finished (void)

Every input takes ``now`` in integer nanoseconds of a monotonic clock and returns `Effects`
(`plyhouse.server.match.effects`, which also states what the shell must keep to).  Requests that
cannot be granted are answered with an ``error`` message; nothing here raises because of what a
player sent.  The instants that the engine itself waits for are in `Match.deadline`: at that
instant the shell calls `Match.tick`.  A frame that was read before a deadline must be handed in
before the tick, with the time of its reading.

The clock of the seat to move starts when the shell reports its turn as written
(`Match.turn_written`), or, of a seat that is away by its own doing, as one that could have been
(`Match.turn_missed`).

A match consists of its `Course` (all that its stored events determine, so all that survives a
kill), its `Attendance` (who is away, and since when), and what each viewer has been told.  What
each viewer is sent is made by `plyhouse.server.match.views` alone.

The match is one state machine: what an input may do depends on status, clock, offers and absences
together.  It is written on four floors, each of which uses those below it and knows none above:

==========================================  ==================================================
`plyhouse.server.match.standing`            its parts, and where it stands
`plyhouse.server.match.audience`            what each viewer is told, and how
`plyhouse.server.match.conclusion`          draws, resignations, flags, absences: how it ends
this module                                 the start, plies, and connections that come and go
==========================================  ==================================================

(Classes beside each other instead of on top of each other were tried: each had to know most
fields of the others.)
"""

from __future__ import annotations

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.errors import GameError
from plyhouse.protocol.messages import Accepted, ClockState, DrawDeclined, Error, MatchMessage
from plyhouse.server.match.chance import normal_nonce
from plyhouse.server.match.conclusion import MatchConclusion
from plyhouse.server.match.course import Course
from plyhouse.server.match.effects import Effects, Row, Send, Started, Telling
from plyhouse.server.match.events import tried
from plyhouse.server.match.terms import MatchConfig, as_sent, seat_label
from plyhouse.server.match.views import clock_states, ledger_entry

__all__ = ["Match", "MatchConfig"]


class Match(MatchConclusion):
    """One match; see the module's text for how it is driven.

    ``course`` is that of a match that was begun before the server stopped (see
    `plyhouse.server.match.restore`): all seats count as away from ``now`` on, and `resume` comes
    next.
    """

    __slots__ = ("_nonce_changes",)

    def __init__(self, config: MatchConfig, now: int, course: Course | None = None) -> None:
        super().__init__(config, now, course)
        self._nonce_changes = [0] * self.seats

    # ----------------------------------------------------------------- before the start

    def announce(self, now: int) -> Effects:
        """Tell every seat of the match: it should answer with ``ready``."""
        return Effects(
            [], [Send(seat, MatchMessage(self.snapshot(seat, now))) for seat in range(self.seats)]
        )

    def ready(self, seat: int, nonce: str, now: int, *, re: int | None = None) -> Effects:
        """A seat is set up and adds its nonce; with the last one the match starts.

        Until then a seat may say it again, also with another nonce (it may have been restarted).
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
            if self._nonce_changes[seat] > self.config.max_retries:
                return self._refused(seat, re, "match/too_many_nonces")
        effects = self._ok(seat, re, [course.ready(seat, nonce)])
        return effects if None in course.nonces else effects.then(self._start(now))

    def _start(self, now: int) -> Effects:
        """All are ready: deal, and tell who begins."""
        nonces = tuple([each or "" for each in self.course.nonces])
        return Effects([Started(nonces)], [], milestone=True).then(self._go_on(now))

    def resume(self, now: int) -> Effects:
        """Go on after a restart: do what the kill left undone (rolls, the end of the game)."""
        return self._go_on(now) if self.course.status == "running" else Effects([], [])

    def _go_on(self, now: int) -> Effects:
        """Chance acts, then whoever is to move is told; or the match ends."""
        course = self.course
        mark = course.mark()
        rows: list[Row] = []
        try:
            course.roll(rows)
            return self._proceed(rows, [], now)
        except Exception as error:  # whatever the rules of a game, also a user's, may raise
            course.back(mark)
            return self._fault(error, now)

    # ----------------------------------------------------------------------------- play

    def turn_missed(self, seat: int, ply: int, now: int) -> None:
        """Nobody was there to be told: the clock starts, unless the absence is our doing."""
        if self.attendance.unexcused(seat):
            self.turn_written(seat, ply, now)

    def turn_written(
        self, seat: int, ply: int, now: int, *, lag_ns: int = 0, floor_ns: int = 0
    ) -> None:
        """The seat has been told that ply ``ply`` is its turn: its clock starts.

        ``lag_ns``: the connection's measured round trip, for the refund; ``floor_ns`` of it are
        vouched for (see `LagPolicy`).  Late and repeated reports change nothing.
        """
        position = self.position
        if ply == position.ply and self.turn_open and seat == position.state.to_move:
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
        stall_ns: int = 0,
        re: int | None = None,
    ) -> Effects:
        """A seat plays; ``now`` is when its frame was read.

        Sending the same action for the same ply again is answered like the first time, with
        ``duplicate`` set.  ``stall_ns`` is how long the server itself held the frame up.
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
        elif now > clock.limit() + stall_ns:
            flag = self._flag(seat, now, stall_ns)
            return self._refused(seat, re, "match/over", after=flag)
        mark = course.mark()
        try:
            try:
                before, action = course.act(seat, text)
            except GameError as error:
                return self._illegal(seat, text, error, now, re)
            canonical = self.game.format(before, action)
            ledger = clock.stop(seat, now, lag_ns, stall_ns)
            rows: list[Row] = [course.acted(before, action, seat, canonical, as_sent(text), ledger)]
            if position.state.to_move == CHANCE:
                course.roll(rows)
            clocks = clock_states(clock, now, position.state.to_move)
            told: list[Telling] = []
            if course.offers and course.lapse(seat):
                told += self._others(seat, DrawDeclined(self.config.match, seat))
            if re is not None:
                entry = ledger_entry(ply, seat, ledger)
                answer = Accepted(re, self.config.match, ply, self._events(seat), clocks, entry)
                told.append(Send(seat, answer))
            return self._proceed(rows, told, now, clocks)
        except Exception as error:  # whatever the rules of a game, also a user's, may raise
            course.back(mark)
            return self._refused(seat, re, "match/over", after=self._fault(error, now))

    def _proceed(
        self,
        rows: list[Row],
        told: list[Telling],
        now: int,
        clocks: list[ClockState] | None = None,
    ) -> Effects:
        """Tell whoever is to move, and whoever follows the match; or finish it.

        ``rows`` and ``told`` are what the input has led to before.
        """
        position = self.position
        mover = position.state.to_move
        effects = Effects(rows, told)
        if mover == TERMINAL:
            returns = tuple([float(value) for value in position.state.returns()])
            return effects.then(self._finish("normal", returns, None, "", now))
        limit = self.game.info.max_plies
        if mover == CHANCE or position.ply + position.draws >= limit:
            return effects.then(self.abort(f"The match did not end within {limit} actions.", now))
        if clocks is None:
            clocks = clock_states(self.clock, now, mover)
        told.append(self._turn(mover, now, clocks, retry=False))
        if self._subscribed:
            told += self._updates(mover, now, clocks)
        return effects

    # ----------------------------------------------------- actions that cannot be taken

    def _out_of_step(self, seat: int, ply: int, text: str, now: int, re: int | None) -> Effects:
        """Answer an action that is not for the present ply of a running match."""
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
        """Whether ``text`` is another spelling of the action played at ``ply``.

        Of plies that are long past only the spelling used then is known again: nobody repeats
        those but to make the server read whole matches.
        """
        state = self.course.state_before(ply)
        if state is None:
            return False
        try:
            again: str = self.game.format(state, self.game.parse(state, text))
        except GameError:
            return False
        return again == self.course.plies[ply].text

    def _illegal(self, seat: int, text: str, error: GameError, now: int, re: int | None) -> Effects:
        """An action that is none, by the match's rule; the clock runs on meanwhile."""
        shown = self.views.refusal(error, self.position.state, text)
        legal = self.views.legal(self.position.state)
        told: list[Telling] = []
        if re is not None:
            answer = Error(error.code, shown, re, self.config.match, legal)
            told.append(Send(seat, answer))
        effects = Effects([self.course.illegal(seat, tried(text))], told)
        if self.config.illegal_rule == "retry" and self.course.retries <= self.config.max_retries:
            told.append(self._turn(seat, now, clock_states(self.clock, now, seat), retry=True))
            return effects
        ply = self.position.ply
        reason = f"{seat_label(self.config, seat)} played an illegal action at ply {ply + 1}."
        detail = f"{tried(text)!r}: {shown}"  # its author may read it: not the text of `error`
        return effects.then(self._forfeit("illegal_action", seat, reason, now, detail=detail))

    # ----------------------------------------------- connections, and the server itself

    def disconnected(self, seat: int, now: int, *, turn_pending: bool = False) -> Effects:
        """A seat lost its connection: it has the grace to come back, on its own clock.

        ``turn_pending``: its turn waits to be durable; `turn_missed` or `turn_written` follows.
        """
        left = self.course.status != "finished" and self.attendance.leave(seat, now)
        told = self._onlookers(seat, self._absence(seat, now)) if left else []
        if turn_pending:
            return Effects([], told)
        if left and self.turn_open and seat == self.position.state.to_move:
            self.clock.start(seat, now)
        return Effects([], told)

    def reconnected(self, seat: int, now: int) -> Effects:
        """A seat is back.  It is sent a snapshot by `sync` or in its ``welcome``; if that says
        ``your_turn``, `turn_written` follows as after a ``turn``.
        """
        expired = self._expired(now)
        if self.attendance.until(seat) is not None:
            expired.told += self._onlookers(seat, [self._return(seat)])
        self.attendance.come(seat)
        return expired

    def server_paused(self, now: int) -> None:
        """The server stops to serve (or did at ``now``, when noticed afterwards)."""
        if self._paused_at is None:
            self._paused_at = now
            self.clock.pause(now)

    def server_stalled(
        self, begin: int, end: int, *, busy_ns: int = 0, own_ns: int = 0
    ) -> int | None:
        """The server stood still for a while; see `Clock.stalled`.

        Returns what the ply under way is given back, None if no clock runs.
        """
        if self._paused_at is not None:
            return None
        self._ready_deadline += end - begin
        self.attendance.postpone(end - begin)
        if self.clock.running is None:
            return None
        return self.clock.stalled(begin, end, busy_ns=busy_ns, own_ns=own_ns)

    def server_resumed(self, now: int) -> None:
        """The server is back: no time has passed for anybody."""
        if self._paused_at is None:
            return
        absence = max(0, now - self._paused_at)
        self._paused_at = None
        self.clock.resume(now)
        self._ready_deadline += absence
        self.attendance.postpone(absence)
