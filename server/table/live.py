"""Drives one match engine: passes in input, and carries out effects.

The engine's effects name rows to store and messages to send.  Rows go to the storage writer, which
commits those of all matches together.  Messages that follow a row wait in a small queue of the
match until that commit is done, while other matches go on.  No match has a task.  Everything
happens in callbacks of sockets, of the writer, and of one timer per match.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

import msgspec

from plyhouse.games.base import Scoring
from plyhouse.protocol.messages import (
    AcceptDraw,
    Act,
    ClientMessage,
    DeclineDraw,
    Error,
    Finished,
    MatchMessage,
    MatchSnapshot,
    Notice,
    OfferDraw,
    Ok,
    Ready,
    Resign,
    Said,
    Say,
    ServerMessage,
    Sync,
    Update,
)
from plyhouse.server.match.effects import Broadcast, Effects, Finish, Send, Started
from plyhouse.server.match.engine import Match
from plyhouse.server.match.events import kept_info, seats_with_public_thoughts
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.table.participants import Line, Participant, send_encoded
from plyhouse.storage.causes import Cause
from plyhouse.storage.errors import (
    PERSISTENT_ATTEMPTS,
    RETRY_SECONDS,
    TRANSIENT,
    StorageError,
    StoreClosed,
)
from plyhouse.storage.rows import EventRow, Op, StartMatch

log = logging.getLogger("plyhouse.server.match.engine")

COUNT_SECONDS: Final = 0.5
"""How long the arrivals of spectators gather before their number is reported."""


@dataclass(eq=False, slots=True)
class LivePairing:
    """The matches that share a seed, until the last of them is over."""

    id: str
    seed: bytes
    open: dict[str, Any] = field(default_factory=dict)
    """The matches that are not over, by id; in a cluster, those of another server, too."""
    over: list[LiveMatch] = field(default_factory=list)
    tournament: str | None = None
    scoring: Scoring | None = None
    """The scoring of a match; None: the game's default."""
    challenge: bool = False


class Referee(Protocol):
    """The interface of the server for a live match.

    See `plyhouse.server.table.live_matches`.
    """

    def now(self) -> int:
        """Return the time, in monotonic nanoseconds."""

    def store(self, ops: Sequence[Op], done: Callable[[StorageError | None], None]) -> None:
        """Make operations durable, all or none; then call ``done`` with the error or None."""

    def finish_ops(self, live: LiveMatch, finish: Finish) -> list[Op]:
        """Return the operations that end a match, and its pairing after the last match."""

    def finished(self, live: LiveMatch) -> None:
        """Remove a match whose end is durable and sent to everyone."""

    def settle_stalls(self) -> None:
        """Account for a stall of the server up to now, before a flag falls."""

    def send_elsewhere(self, lines: Sequence[Line], message: ServerMessage) -> None:
        """Send a message to connections of other servers, once to each of these servers."""


class _Join:
    """A spectator's place in the order of messages; it gets all later ones as well."""

    __slots__ = ("line", "message", "notices")

    def __init__(self, line: Line, message: MatchMessage, notices: Sequence[Notice]) -> None:
        self.line = line
        self.message = message
        self.notices = notices


class _Waiting:
    """Messages to send when ``ops``, and all earlier ones, are durable."""

    __slots__ = ("attempts", "done", "last", "live", "messages", "ops")

    def __init__(self, live: LiveMatch, ops: Sequence[Op], messages: Sequence[Any]) -> None:
        self.live = live
        self.ops = ops
        self.messages = messages
        self.done = not ops
        self.last = False
        self.attempts = 0

    def stored(self, error: StorageError | None) -> None:
        """Pass the writer's answer to the match."""
        self.live.stored(self, error)


class LiveMatch:
    """One match on this server, with the holders of its seats and its spectators."""

    __slots__ = (
        "_alarm",
        "_alarm_at",
        "_backlog",
        "_characters",
        "_counting",
        "_joining",
        "_referee",
        "holders",
        "id",
        "match",
        "over",
        "pairing",
        "spectators",
        "suspended",
    )

    def __init__(
        self,
        referee: Referee,
        match: Match,
        pairing: LivePairing,
        holders: Sequence[Participant],
    ) -> None:
        self._referee = referee
        self.id = match.config.match
        self.match = match
        self.pairing = pairing
        self.holders = tuple(holders)
        self.spectators: dict[Line, bool] = {}
        """The spectators; True for those that want drawings."""
        self._joining: set[Line] = set()
        """Spectators whose snapshots wait for the database, with later messages behind them."""
        self.over = False
        """True when the end is durable and sent."""
        self.suspended = False
        """True while the match waits for the database to come back."""
        self._backlog: deque[_Waiting] = deque()
        self._characters = 0
        """Characters of the texts of all events."""
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0
        self._counting: asyncio.TimerHandle | None = None

    def begin(self, ops: Sequence[Op]) -> None:
        """Announce the match to its seats once ``ops``, which store it, are durable."""
        self._enqueue(ops, self.match.announce(self._referee.now()).messages)
        self.set_alarm()

    # ------------------------------------------------------------------------ what arrives

    def act(self, seat: int, message: Act, stamp: int, lag_ns: int) -> None:
        """Play an action of a seat; most messages are actions."""
        try:
            effects = self.match.act(
                seat,
                message.ply,
                message.action,
                stamp,
                lag_ns=lag_ns,
                re=message.id,
                info=message.info,
            )
            if message.info is not None and self.spectators:
                self._show_thoughts(seat, effects)
            self._perform(effects)
        except Exception:
            self.fault("input failed")

    def request(self, seat: int, message: ClientMessage, stamp: int) -> None:
        """Carry out any other request of a seat about this match."""
        match = self.match
        if isinstance(message, Ready):
            self.input(match.ready, seat, message.nonce, stamp, re=message.id)
        elif isinstance(message, Resign):
            reason, detail = message.reason, message.detail
            self.input(match.resign, seat, stamp, reason, detail, re=message.id)
        elif isinstance(message, OfferDraw):
            self.input(match.offer_draw, seat, stamp, re=message.id)
        elif isinstance(message, AcceptDraw):
            self.input(match.accept_draw, seat, stamp, re=message.id)
        elif isinstance(message, DeclineDraw):
            self.input(match.decline_draw, seat, stamp, re=message.id)
        elif isinstance(message, Sync):
            self.input(match.sync, seat, stamp, re=message.id)
        elif isinstance(message, Say):
            self._say(seat, message)
        else:
            raise TypeError(f"{type(message).__name__} is no request about a match")

    def _say(self, seat: int, message: Say) -> None:
        """Show a phrase of a seat to the people who play and watch."""
        line = self.holders[seat].line
        if line is not None:
            line.send(Ok(message.id))
        phrase = Said(self.id, seat, message.phrase)
        for each in self._listeners():
            if each.scenes:  # people, to whom programs need not listen
                each.send(phrase)

    def exclude(self, seat: int) -> None:
        """Exclude the holder of a seat, on behalf of an organiser."""
        self.input(self.match.exclude, seat, self._referee.now())

    def _show_thoughts(self, seat: int, effects: Effects) -> None:
        """Show spectators the bot's thoughts, if the bot allows it and nobody can profit."""
        kept = [kept_info(row.data) for row in effects.rows if isinstance(row, EventRow)]
        info = next((each for each in kept if each is not None and each.live), None)
        if info is None or seat not in self.seats_with_public_thoughts():
            return
        for index, each in enumerate(effects.messages):
            if type(each) is Broadcast and type(each.message) is Update:
                shown = msgspec.to_builtins(info)
                effects.messages[index] = Broadcast(
                    msgspec.structs.replace(each.message, info=shown)
                )

    def seats_with_public_thoughts(self) -> frozenset[int]:
        """Return the seats whose thoughts spectators may see now.

        See `plyhouse.server.match.events`.
        """
        config = self.match.config
        return seats_with_public_thoughts(
            config.game,
            counts=config.rated or self.pairing.tournament is not None,
            players=[each.player_id for each in self.seats],
            builtin={each.player_id for each in self.seats if each.casual and not each.guest},
        )

    @property
    def seats(self) -> tuple[Presence, ...]:
        """The bot on each seat, as it is now."""
        return tuple([holder.presence for holder in self.holders])

    @property
    def ply(self) -> int:
        """The number of plies so far."""
        return self.match.ply

    def summary(self) -> MatchSummary:
        """Return the record of the match as it is now."""
        match = self.match
        config = match.config
        return MatchSummary(
            id=self.id,
            pairing=self.pairing.id,
            tournament=self.pairing.tournament,
            game=config.game.spec,
            family=config.game.info.name,
            simultaneous=config.game.info.simultaneous,
            time_control=str(config.time_control),
            rated=config.rated,
            players=config.players,
            seats=self.seats,
            status=match.course.status,
            ply=match.ply,
            began=None not in match.course.nonces,
            outcome=match.outcome,
            stored=match.course.rows + self._characters // 100,
            challenge=self.pairing.challenge,
        )

    def input(self, method: Callable[..., Effects], *args: Any, **kwargs: Any) -> None:
        """Call a method of the engine and carry out its effects.

        A bug of the engine makes this match void, and harms no other.
        """
        try:
            self._perform(method(*args, **kwargs))
            self.set_alarm()
        except Exception:
            self.fault("input failed")

    def disconnected(self, seat: int) -> None:
        """Note that a seat has lost its connection."""
        pending = any(
            type(each) is Send and each.seat == seat and each.turn_ply >= 0
            for waiting in self._backlog
            for each in waiting.messages
        )
        self.input(self.match.disconnected, seat, self._referee.now(), turn_pending=pending)

    def enter(self, seat: int, *, updates: bool, scenes: bool) -> MatchSnapshot:
        """Note that a seat's bot has come back, and return what it may know now.

        The snapshot may be sent when `durable` is done, and then `turn_written` follows if the seat
        is to move.
        """
        self.match.audience.subscribe(seat, updates=updates, scenes=scenes)
        self.reconnected(seat)
        return self.match.snapshot(seat, self._referee.now())

    def rejoin(self, seat: int) -> None:
        """Send a connected seat everything, because this server has taken the match over."""
        self.reconnected(seat)
        self.input(self.match.sync, seat, self._referee.now())

    def unexcused(self, seat: int) -> None:
        """Wait for a seat as for any other absent one from now on, if it is not back."""
        if self.match.end_excuse(seat, self._referee.now()):
            self.disconnected(seat)

    def let_in(self, seat: int, span: int) -> None:
        """Give a seat back the last ``span`` nanoseconds, in which the server let it in."""
        now = self._referee.now()
        self.match.clock.let_in(seat, now - span, now)

    def stand_still(self, lost: Mapping[int, int], now: int) -> None:
        """Give back to seats the nanoseconds that they lost until now, without a limit."""
        match = self.match
        mover = match.seat_to_move
        longest = max(lost.values())
        own = longest if mover is None else lost.get(mover, 0)
        if own:
            match.server_stalled(now - own, now)
        if longest > own:
            match.attendance.postpone(longest - own)  # the grace of an absent seat, not to move
        self.set_alarm()

    def send_absences(self, line: Line, seat: int) -> None:
        """Tell a seat that has come which others are away, if it wants to know."""
        if not self.over:
            for notice in self.match.absences(seat, self._referee.now()):
                line.send(notice)

    def reconnected(self, seat: int) -> None:
        """Note that a seat's bot is back.

        Its snapshot replaces the messages that it has missed.
        """
        for waiting in self._backlog:
            waiting.messages = [
                each for each in waiting.messages if not (type(each) is Send and each.seat == seat)
            ]
        self.input(self.match.reconnected, seat, self._referee.now())

    def turn_written(self, seat: int, ply: int, line: Line) -> None:
        """Start the clock of a seat that has learned of its turn."""
        self.match.turn_written(
            seat, ply, self._referee.now(), lag_ns=line.lag_ns, floor_ns=line.floor_ns
        )
        self.set_alarm()

    def watch(self, line: Line, re: int | None, *, scenes: bool) -> None:
        """Let a line follow the match: it gets a snapshot, then everything that happens."""
        match = self.match
        now = self._referee.now()
        message = MatchMessage(match.snapshot(None, now, scenes=scenes), re)
        if self.over:
            line.send(message)
            return
        self.spectators[line] = scenes
        self._joining.add(line)
        match.audience.subscribe(None, updates=True, scenes=any(self.spectators.values()))
        self._enqueue([], [_Join(line, message, match.absences(None, now))])

    def unwatch(self, line: Line) -> None:
        """Stop following; unknown lines are ignored."""
        if self.spectators.pop(line, None) is not None:
            self._joining.discard(line)
            self._count_soon()
        if not self.spectators:
            self.match.audience.unsubscribe(None)

    def public_snapshot(self) -> Awaitable[MatchSnapshot | None]:
        """Return what a spectator may know now, once it is durable."""
        future: asyncio.Future[MatchSnapshot | None] = asyncio.get_running_loop().create_future()
        snapshot = self.match.snapshot(None, self._referee.now(), scenes=False)
        stored = self.durable()
        if stored is None:
            future.set_result(snapshot)
        else:
            stored.add_done_callback(partial(_settle, future, snapshot))
        return future

    @property
    def is_durable(self) -> bool:
        """True if everything so far is committed."""
        return not self._backlog

    def durable(self) -> asyncio.Future[None] | None:
        """Return a future for the commit of everything so far; None if all is durable."""
        if self.is_durable:
            return None
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._enqueue([], [future])
        return future

    # ------------------------------------------------------------------- carrying out

    def _perform(self, effects: Effects) -> None:
        """Carry out effects of the engine after all earlier ones."""
        if not effects.milestone:
            rows: list[Any] = effects.rows  # without a milestone, all are database rows
            self._enqueue(rows, effects.messages)
            return
        ops: list[Op] = []
        last = False
        for row in effects.rows:
            if isinstance(row, Started):
                ops.append(StartMatch(self.id, row.nonces, time.time_ns() // 1_000_000))
            elif isinstance(row, Finish):
                ops += self._referee.finish_ops(self, row)
                last = True
            else:
                ops.append(row)
        self._enqueue(ops, effects.messages, last=last)

    def _enqueue(self, ops: Sequence[Op], messages: Sequence[Any], *, last: bool = False) -> None:
        if not ops and not self._backlog:
            self._send_out(messages)
            return
        for row in ops:
            if isinstance(row, EventRow):
                self._characters += len(row.text) + len(row.data or "")
        waiting = _Waiting(self, ops, messages)
        waiting.last = last
        self._backlog.append(waiting)
        if ops and not self.suspended:
            self._referee.store(ops, waiting.stored)

    def stored(self, waiting: _Waiting, error: StorageError | None) -> None:
        """Handle the database's answer, and send the messages that have become due."""
        if error is not None:
            self._not_stored(waiting, error)
            return
        waiting.done = True
        backlog = self._backlog
        try:
            while backlog and backlog[0].done:
                ready = backlog.popleft()
                self._send_out(ready.messages)
                if ready.last:
                    self._end()
        except Exception:
            self.fault("telling failed")

    def _send_out(self, messages: Sequence[Any]) -> None:
        holders = self.holders
        if len(messages) == 2 and self._send_together(*messages):
            return
        turn = False
        for effect in messages:
            kind = type(effect)
            if kind is Send:
                line = holders[effect.seat].line
                turn = turn or effect.turn_ply >= 0
                if line is not None:
                    message = effect.message
                    if type(message) is Finished:
                        message = self._with_record(message)
                    line.send(message)
                    if effect.turn_ply < 0:
                        pass
                    elif line.on_other_server:
                        line.report_turn(self.id, effect.seat, effect.turn_ply)
                    elif line.holding:
                        # It is logging in, so the turn is written after its welcome.
                        line.after(partial(self.turn_written, effect.seat, effect.turn_ply, line))
                    else:
                        self.match.turn_written(
                            effect.seat,
                            effect.turn_ply,
                            self._referee.now(),
                            lag_ns=line.lag_ns,
                            floor_ns=line.floor_ns,
                        )
                elif effect.turn_ply >= 0:
                    self.match.turn_missed(effect.seat, effect.turn_ply, self._referee.now())
            elif kind is Broadcast:
                message = effect.message
                if type(message) is Finished:
                    message = self._with_record(message)
                self._broadcast(message)
            elif kind is _Join:
                effect.line.send(effect.message)
                for notice in effect.notices:
                    effect.line.send(notice)
                self._joining.discard(effect.line)
                self._count_soon()
            elif not effect.done():  # a future made by `durable`
                effect.set_result(None)
        if turn:
            self.set_alarm()

    def _send_together(self, first: Any, second: Any) -> bool:
        """Send in one piece an acceptance and the same seat's next turn.

        Returns False, and sends nothing, if this is not the case or nobody is connected.
        """
        if type(first) is not Send or type(second) is not Send or first.seat != second.seat:
            return False
        line = self.holders[first.seat].line
        if second.turn_ply < 0 or first.turn_ply >= 0 or line is None:
            return False
        if line.holding or line.on_other_server:
            return False
        line.send_together((first.message, second.message))
        self.turn_written(second.seat, second.turn_ply, line)
        return True

    def _broadcast(self, message: ServerMessage) -> None:
        lines = [line for line in self.spectators if line not in self._joining]
        elsewhere = [line for line in lines if line.on_other_server]
        if elsewhere:
            self._referee.send_elsewhere(elsewhere, message)
            lines = [line for line in lines if not line.on_other_server]
        send_encoded(lines, message)

    def _with_record(self, message: Finished) -> Finished:
        return msgspec.structs.replace(message, record_url=f"/api/v1/matches/{self.id}/record")

    def _end(self) -> None:
        self.over = True
        self.cancel_alarm()
        if self._counting is not None:
            self._counting.cancel()
            self._counting = None
        self._referee.finished(self)

    # ---------------------------------------------------------------------------- time

    def set_alarm(self) -> None:
        """Set the timer for the engine's deadline.

        A timer that is set too early is left alone.  When it fires it is set again, which costs
        less than moving it with every ply.
        """
        deadline = self.match.deadline()
        if deadline is None:
            return
        if self._alarm is not None:
            if self._alarm_at <= deadline:
                return
            self._alarm.cancel()
        self._ring_at(deadline)

    def _ring_at(self, instant: int) -> None:
        delay = max(0, instant - self._referee.now()) / 1e9
        self._alarm_at = instant
        self._alarm = asyncio.get_running_loop().call_later(delay, self._ring)

    def cancel_alarm(self) -> None:
        """Cancel the timer."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _ring(self) -> None:
        self._alarm = None
        loop = asyncio.get_running_loop()
        # Wait two turns of the loop: sockets are read in between, so an action that had arrived
        # when the timer fired is handled before the flag falls.
        loop.call_soon(loop.call_soon, self.check_time)

    def check_time(self) -> None:
        """Let the engine do what is due now, or set the timer again."""
        if self.over or self._alarm is not None:
            return
        self._referee.settle_stalls()
        deadline = self.match.deadline()
        now = self._referee.now()
        if deadline is None or now < deadline:
            self.set_alarm()
            return
        patience = self._patience_ns()
        if now < deadline + patience:  # an action may be on its way from another server
            self._ring_at(deadline + patience)
        else:
            self.input(self.match.tick, now)

    def _patience_ns(self) -> int:
        """Return how long a message of an awaited seat may take from the server with its socket.

        0 if the sockets are here.
        """
        lines = [self.holders[seat].line for seat in self.match.awaited]
        remote = [line.patience_ns for line in lines if line is not None and line.on_other_server]
        return max(remote, default=0)

    # ------------------------------------------------------------------------- trouble

    def fault(self, what: str) -> None:
        """Handle a bug: log it, make the match void, and go on with the others."""
        log.exception("match failed", extra={"match": self.id, "what": what})
        try:
            self._perform(
                self.match.abort(Cause("server_failed"), self._referee.now(), "server_fault")
            )
        except Exception:
            log.exception("match could not even be made void", extra={"match": self.id})
            self._give_up("The server failed: this match is void.")

    def _not_stored(self, waiting: _Waiting, error: StorageError) -> None:
        if isinstance(error, StoreClosed):
            return  # the server stops; seats that come back find what was committed
        waiting.attempts += 1
        if not isinstance(error, TRANSIENT) and waiting.attempts >= PERSISTENT_ATTEMPTS:
            log.error("match cannot be stored", extra={"match": self.id, "why": str(error)})
            self._give_up("This match could not be stored and is void.")
            return
        if not self.suspended:
            log.warning("match suspended", extra={"match": self.id, "why": str(error)})
            self.suspended = True
            self.match.server_paused(self._referee.now())
            if waiting.attempts == 1 and isinstance(error, TRANSIENT):
                text = "The database does not answer: the match waits, clocks stand."
                for line in self._listeners():
                    line.send(Notice("server/storage", text))
            delay = RETRY_SECONDS[min(waiting.attempts, len(RETRY_SECONDS)) - 1]
            asyncio.get_running_loop().call_later(delay, self._retry)

    def _retry(self) -> None:
        if self.over or not self.suspended:
            return
        self.suspended = False
        self.match.server_resumed(self._referee.now())
        for waiting in tuple(self._backlog):
            if not waiting.done:
                self._referee.store(waiting.ops, waiting.stored)
        self.set_alarm()

    def _give_up(self, why: str) -> None:
        """End the match without the database, so that nobody waits for it."""
        waiting, self._backlog = self._backlog, deque()
        for each in (each for entry in waiting for each in entry.messages):
            if isinstance(each, asyncio.Future) and not each.done():
                each.set_result(None)
        for line in self._listeners():
            line.send(Error("server/fault", why, None, self.id, fatal=False))
        self._end()

    def _count_soon(self) -> None:
        """Report the number of spectators in a while, once for all who come and go until then."""
        if self._counting is None and not self.over:
            loop = asyncio.get_running_loop()
            self._counting = loop.call_later(COUNT_SECONDS, self._report_count)

    def _report_count(self) -> None:
        self._counting = None
        count = len(self.spectators)
        text = "One person watches." if count == 1 else f"{count} people watch."
        message = Notice("notice/spectators", text, self.id, count=count)
        for line in self._listeners():
            if line.scenes:
                line.send(message)

    def _listeners(self) -> set[Line]:
        playing = {holder.line for holder in self.holders if holder.line is not None}
        return playing | self.spectators.keys()

    def send_to_all(self, message: ServerMessage) -> None:
        """Send a message to the seats and the spectators, after the match."""
        for line in self._listeners():
            line.send(message)


def _settle(future: asyncio.Future[Any], result: Any, _: object) -> None:
    """Give a future its result, unless nobody waits for it any more."""
    if not future.done():
        future.set_result(result)
