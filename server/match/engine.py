"""The match engine: one match from its announcement to its end, without I/O.

::

    waiting --all ready--> running --end of the game, forfeit, agreement--> finished
       |                      |
       '--ready timeout-------'--abort--> finished (void)

Every input takes ``now`` in integer nanoseconds of a monotonic clock and returns a list of
effects (`plyhouse.server.match.effects`, which also states what the shell must keep to).  Requests
that cannot be granted are answered with an ``error`` message; nothing here raises because of what a
player sent.  The instants that the engine itself waits for are in `Match.deadline`: at that
instant the shell calls `Match.tick`.  A frame that was read before a deadline must be handed in
before the tick, with the time of its reading.

The clock of the seat to move starts when the shell reports its turn as written
(`Match.turn_written`).  A seat that is away by its own doing gets no such grace: its clock starts
with its turn.  After a kill `Match.restore` rebuilds the engine from the stored events; the ply
that was under way is not charged for the time before, and its clock starts again when the seat
has come back and was told so.

What each seat is sent is made by `plyhouse.server.match.views` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from plyhouse.games.base import CHANCE
from plyhouse.games.errors import GameError
from plyhouse.protocol.messages import (
    Accepted,
    DrawDeclined,
    DrawOffered,
    Error,
    MatchMessage,
    Termination,
    Turn,
)
from plyhouse.server.match import outcomes
from plyhouse.server.match.chance import normal_nonce
from plyhouse.server.match.clock import MS
from plyhouse.server.match.core import MatchCore
from plyhouse.server.match.effects import Broadcast, Effect, Send, Started, rows_first
from plyhouse.server.match.events import tried
from plyhouse.server.match.terms import MatchConfig, Played, seat_label
from plyhouse.server.match.views import clock_states, ledger_entry
from plyhouse.storage.rows import EventRow

__all__ = ["Match", "MatchConfig", "seat_label"]

LONG_TEXT: Final = 64
"""Actions written longer than that are not kept as they were written: to recognise one that is
sent again, it is read again."""


class Match(MatchCore):
    """One match; see the module's text for how it is driven."""

    # ------------------------------------------------------------------- before the start

    def announce(self, now: int) -> list[Effect]:
        """Tell every seat of the match: it should answer with ``ready``."""
        return [Send(seat, MatchMessage(self.snapshot(seat, now))) for seat in range(self.seats)]

    def ready(self, seat: int, nonce: str, now: int, *, re: int | None = None) -> list[Effect]:
        """A seat is set up and adds its nonce; with the last one the match starts.

        Until then a seat may say it again, also with another nonce (it may have been restarted).
        """
        if expired := self._expired(now):
            return expired + self._refuse(seat, re, "match/over")
        try:
            nonce = normal_nonce(nonce)
        except ValueError as error:
            return self._refuse(seat, re, "protocol/bad_field", f"{error}.")
        if self.status != "waiting":
            if self.nonces[seat] == nonce:
                return self._ok(seat, re)
            text = "The match has started with the nonces it was given before."
            return self._refuse(seat, re, "protocol/unexpected", text)
        if self.nonces[seat] == nonce:
            return self._ok(seat, re)
        if self.nonces[seat] is not None:
            self._nonce_changes[seat] += 1
            if self._nonce_changes[seat] > self.config.max_retries:
                text = "You have changed your nonce too often."
                return self._refuse(seat, re, "protocol/rate", text)
        self.nonces[seat] = nonce
        effects: list[Effect] = [self._store("ready", seat, nonce)]
        if None in self.nonces:
            return effects + self._ok(seat, re)
        self.status = "running"
        effects.append(Started(tuple(each or "" for each in self.nonces)))
        saved = self._rows
        try:
            rows = self._roll()
            told = self._ok(seat, re) + self._proceed(now)
        except Exception as error:  # whatever the rules of a game, also a user's, may raise
            self._rows = saved
            return rows_first(effects + self._ok(seat, re) + self._fault(error, now))
        return rows_first(effects + rows + told)

    # -------------------------------------------------------------------------- play

    def turn_written(self, seat: int, ply: int, now: int, *, lag_ns: int = 0) -> None:
        """The seat has been told that ply ``ply`` is its turn: its clock starts.

        ``lag_ns``: the connection's measured round trip, for the refund.  Late and repeated
        reports change nothing.
        """
        if self.turn_open and ply == self.ply and seat == self.state.to_move:
            self._excused.discard(seat)
            self.clock.start(seat, now, lag_ns=lag_ns)

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
    ) -> list[Effect]:
        """A seat plays; ``now`` is when its frame was read.

        Sending the same action for the same ply again is answered like the first time, with
        ``duplicate`` set.  ``stall_ns`` is how long the server itself held the frame up.
        """
        if ply < self.ply and ply >= 0:
            return self._act_again(seat, ply, text, now, re)
        if self.status != "running":
            waiting = self.status == "waiting"
            return self._refuse(seat, re, "match/not_ready" if waiting else "match/over")
        if self._paused_at is not None:
            return self._refuse(seat, re, "match/not_running")
        if ply != self.ply:
            return self._refuse(seat, re, "match/future_ply")
        state = self.state
        if seat != state.to_move:
            expired = self._expired(now)
            over = "match/over" if expired else "match/not_your_turn"
            return expired + self._refuse(seat, re, over)
        clock = self.clock
        if clock.running is None:
            clock.start(seat, now, lag_ns=lag_ns)
        else:
            limit = clock.deadline()
            if limit is not None and now > limit + stall_ns:
                return self._flag(seat, now, stall_ns) + self._refuse(seat, re, "match/over")
        saved, seen, draws = self._rows, len(self.views), self._draws
        try:
            try:
                action = self.game.parse(state, text)
            except GameError as error:
                return self._illegal(seat, text, error, now, re)
            canonical = self.game.format(state, action)
            after = state.after(action)
            ledger = clock.stop(seat, now, lag_ns=lag_ns, stall_ns=stall_ns)
            effects: list[Effect] = [self._store("action", seat, canonical, ledger)]
            self.views.record(state, action, canonical, seat, ply, ledger.charged_ns)
            sent = text if len(text) <= LONG_TEXT else canonical
            self.plies.append(Played(seat, action, canonical, sent, ledger))
            self.state = after
            self.ply = ply + 1
            self._retries = 0
            if after.to_move == CHANCE:
                effects += self._roll()
            clocks = clock_states(clock, now)
            told = self._lapse(seat) if self._offers else []
            if re is not None:
                entry = ledger_entry(ply, seat, ledger)
                match = self.config.match
                answer = Accepted(re, match, ply, self._events(seat), clocks, entry)
                told.append(Send(seat, answer))
            told += self._proceed(now, clocks)
        except Exception as error:  # whatever the rules of a game, also a user's, may raise
            self._rows, self._draws = saved, draws
            self.views.rollback(seen)
            del self.plies[ply:]
            self.state, self.ply = state, ply
            return self._fault(error, now) + self._refuse(seat, re, "match/over")
        effects += told
        return effects if self.status == "running" else rows_first(effects)

    def resign(
        self,
        seat: int,
        now: int,
        termination: Termination = "resignation",
        detail: str = "",
        *,
        re: int | None = None,
    ) -> list[Effect]:
        """A seat gives up, or its runner reports that the bot broke (``bot_crash``).

        ``detail`` is stored for the author of the bot and shown to nobody else.
        """
        if expired := self._expired(now):
            return expired + self._refuse(seat, re, "match/over")
        if self.status != "running":
            waiting = self.status == "waiting"
            return self._refuse(seat, re, "match/not_ready" if waiting else "match/over")
        did = "resigned" if termination == "resignation" else "failed"
        reason = f"{seat_label(self.config, seat)} {did} at ply {self.ply}."
        return self._ok(seat, re, self._forfeit(termination, seat, reason, now, detail=detail))

    # -------------------------------------------------------------------------- draws

    def offer_draw(self, seat: int, now: int, *, re: int | None = None) -> list[Effect]:
        """Offer a draw; accepts one that stands.  One offer per seat and ply."""
        if refused := self._no_draws(seat, now, re):
            return refused
        if self._offers - {seat}:
            return self.accept_draw(seat, now, re=re)
        if seat in self._offers:
            return self._ok(seat, re)
        if self._offered_at[seat] == self.ply:
            text = "You have offered a draw in this ply already."
            return self._refuse(seat, re, "protocol/rate", text)
        self._offers.add(seat)
        self._offered_at[seat] = self.ply
        row = self._store("draw_offer", seat)
        return self._ok(seat, re, [row, *self._others(seat, DrawOffered(self.config.match, seat))])

    def accept_draw(self, seat: int, now: int, *, re: int | None = None) -> list[Effect]:
        """Accept the draw on offer; it is agreed when every seat has."""
        if refused := self._no_draws(seat, now, re):
            return refused
        if not self._offers or self._offers == {seat}:
            return self._refuse(seat, re, "match/draw_not_offered")
        if seat in self._offers:
            return self._ok(seat, re)
        self._offers.add(seat)
        effects: list[Effect] = [self._store("draw_accept", seat)]
        if len(self._offers) == self.seats:
            returns = outcomes.draw_returns(self.game)
            effects += self._finish("draw_agreed", returns, None, "A draw was agreed.", now)
        return self._ok(seat, re, effects)

    def decline_draw(self, seat: int, now: int, *, re: int | None = None) -> list[Effect]:
        """Decline the draw on offer (or withdraw one's own)."""
        if refused := self._no_draws(seat, now, re):
            return refused
        if not self._offers:
            return self._refuse(seat, re, "match/draw_not_offered")
        row = self._store("draw_decline", seat)
        return self._ok(seat, re, [row, *self._lapse(seat, declined=True)])

    # --------------------------------------------------------- connections, time, the server

    def disconnected(self, seat: int, now: int) -> list[Effect]:
        """A seat lost its connection: it has the grace to come back, on its own clock."""
        if self.status == "finished" or seat in self._away:
            return []
        self._away[seat] = now + self.config.disconnect_grace_ns
        if self.turn_open and seat == self.state.to_move:
            self.clock.start(seat, now)
        return []

    def reconnected(self, seat: int, now: int) -> list[Effect]:
        """A seat is back.  It is sent a snapshot by `sync` or in its ``welcome``; if that says
        ``your_turn``, `turn_written` follows as after a ``turn``.
        """
        expired = self._expired(now)
        self._away.pop(seat, None)
        self._excused.discard(seat)
        return expired

    def sync(self, viewer: int, now: int, *, re: int | None = None) -> list[Effect]:
        """Send a seat the full state."""
        snapshot = self.snapshot(viewer, now)
        turn_ply = self.ply if snapshot.your_turn else -1
        return [Send(viewer, MatchMessage(snapshot, re), turn_ply)]

    def server_paused(self, now: int) -> None:
        """The server stops to serve (or did at ``now``, when noticed afterwards)."""
        if self._paused_at is None:
            self._paused_at = now
            self.clock.pause(now)

    def server_resumed(self, now: int) -> None:
        """The server is back: no time has passed for anybody."""
        if self._paused_at is None:
            return
        absence = max(0, now - self._paused_at)
        self._paused_at = None
        self.clock.resume(now)
        self._ready_deadline += absence
        for seat in self._away:
            self._away[seat] += absence

    # ------------------------------------------------------------------- after a kill

    @classmethod
    def restore(cls, config: MatchConfig, events: Sequence[EventRow], now: int) -> Match:
        """Rebuild a match from its stored events; every seat counts as away from ``now`` on.

        Raises `plyhouse.server.match.restore.RestoreError` if the events do not fit together.  Call
        `resume` next.
        """
        from plyhouse.server.match.restore import replay  # it works on the inside of this class

        match = cls(config, now)
        replay(match, events)
        if match.status != "finished":
            for seat in range(match.seats):
                match._away[seat] = now + config.disconnect_grace_ns
                match._excused.add(seat)
        return match

    def resume(self, now: int) -> list[Effect]:
        """Go on after `restore`: do what the kill left undone (rolls, the end of the game)."""
        if self.status == "waiting" and None not in self.nonces:
            self.status = "running"
            started: list[Effect] = [Started(tuple(each or "" for each in self.nonces))]
        else:
            started = []
        if self.status != "running":
            return started
        try:
            return rows_first(started + self._roll() + self._proceed(now))
        except Exception as error:  # whatever the rules of a game, also a user's, may raise
            return rows_first(started + self._fault(error, now))

    # -------------------------------------------------------------------------- inside

    def _act_again(self, seat: int, ply: int, text: str, now: int, re: int | None) -> list[Effect]:
        """Answer an action for a ply that has been played."""
        played = self.plies[ply]
        if played.seat != seat:
            over = self.status == "finished"
            return self._refuse(seat, re, "match/over" if over else "match/stale_ply")
        if text not in (played.sent, played.text) and not self._means(ply, text):
            return self._refuse(
                seat, re, "action/conflict", f"You have played {played.text!r} at ply {ply}."
            )
        if re is None:
            return []
        entry = ledger_entry(ply, seat, played.ledger)
        clocks = clock_states(self.clock, now)
        answer = Accepted(re, self.config.match, ply, [], clocks, entry, duplicate=True)
        return [Send(seat, answer)]

    def _means(self, ply: int, text: str) -> bool:
        """Whether ``text`` is another spelling of the action played at ``ply``."""
        try:
            state, _ = self.state_before(ply)
            return bool(
                self.game.format(state, self.game.parse(state, text)) == self.plies[ply].text
            )
        except GameError:
            return False

    def state_before(self, ply: int) -> tuple[Any, int]:
        """The state in which ply ``ply`` was played, and the number of chance draws before it."""
        state: Any = self.game.initial_state()
        draws = 0
        for played in [*self.plies[:ply], None]:
            while state.to_move == CHANCE and self._chance is not None:
                state = state.after(self._chance.draw(draws, state.chance_outcomes()))
                draws += 1
            if played is not None:
                state = state.after(played.action)
        return state, draws

    def _illegal(
        self, seat: int, text: str, error: GameError, now: int, re: int | None
    ) -> list[Effect]:
        """An action that is none, by the match's rule; the clock runs on meanwhile."""
        shown = self.views.refusal(error, self.state, text)
        legal = self.views.legal(self.state)
        effects: list[Effect] = [self._store("illegal", seat, tried(text))]
        if re is not None:
            answer = Error(error.code, shown, re, self.config.match, legal)
            effects.append(Send(seat, answer))
        self._retries += 1
        if self.config.illegal_rule == "retry" and self._retries <= self.config.max_retries:
            observation, scene = self._seen_now(seat)
            clocks = clock_states(self.clock, now)
            left = self.clock.remaining(seat, now) // MS
            match, events = self.config.match, self._events(seat)
            turn = Turn(match, self.ply, events, observation, clocks, left, scene, retry=True)
            return [*effects, Send(seat, turn, self.ply)]
        reason = f"{seat_label(self.config, seat)} played an illegal action at ply {self.ply}."
        detail = f"{tried(text)!r}: {error}"
        ending = self._forfeit("illegal_action", seat, reason, now, detail=detail)
        return rows_first(effects + ending)

    def _others(self, seat: int, message: DrawOffered | DrawDeclined) -> list[Effect]:
        told: list[Effect] = [Send(each, message) for each in range(self.seats) if each != seat]
        if None in self._subscribed:
            told.append(Broadcast(message))
        return told

    def _lapse(self, seat: int, *, declined: bool = False) -> list[Effect]:
        """The offers end because ``seat`` declined or acted; an own action leaves an offer open
        for the others to answer.
        """
        if not declined and seat in self._offers:
            return []
        self._offers.clear()
        return self._others(seat, DrawDeclined(self.config.match, seat))

    def _no_draws(self, seat: int, now: int, re: int | None) -> list[Effect]:
        """Why nothing can be said about draws now; empty if it can."""
        if not self.game.info.draw_offers:
            return self._refuse(seat, re, "match/no_draws")
        expired = self._expired(now)
        if self.status == "running":
            return []
        waiting = self.status == "waiting"
        return expired + self._refuse(seat, re, "match/not_ready" if waiting else "match/over")
