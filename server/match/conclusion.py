"""How a match comes to an end otherwise than by a last ply: on time, by forfeit, agreement, decree.

The second floor of `plyhouse.server.match.engine.Match`.  All endings, that by the rules of the
game among them, meet in `MatchConclusion._finish`.  What each means is in
`plyhouse.server.match.endings`, what each is worth in `plyhouse.server.match.outcomes`.
"""

from __future__ import annotations

import traceback

from plyhouse.protocol.messages import DrawDeclined, DrawOffered, Outcome, Termination
from plyhouse.server.match import outcomes
from plyhouse.server.match.audience import MatchAudience
from plyhouse.server.match.clock import SECOND, Ledger
from plyhouse.server.match.effects import Broadcast, Effects, Finish, Send
from plyhouse.server.match.terms import seat_label

__all__ = ["MatchConclusion"]


class MatchConclusion(MatchAudience):
    """A match that can end."""

    __slots__ = ()

    # ------------------------------------------------------------------------ by a seat

    def resign(
        self,
        seat: int,
        now: int,
        termination: Termination = "resignation",
        detail: str = "",
        *,
        re: int | None = None,
    ) -> Effects:
        """A seat gives up, or its runner reports that the bot broke (``bot_crash``).

        ``detail`` is stored for the author of the bot and shown to nobody else.
        """
        if refused := self._not_running(seat, now, re):
            return refused
        did = "resigned" if termination == "resignation" else "failed"
        reason = f"{seat_label(self.config, seat)} {did} at ply {self.position.ply + 1}."
        return self._answered(
            seat, re, self._forfeit(termination, seat, reason, now, detail=detail)
        )

    def offer_draw(self, seat: int, now: int, *, re: int | None = None) -> Effects:
        """Offer a draw; accepts one that stands.  One offer per seat and ply."""
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
        effects.told += self._others(seat, DrawOffered(self.config.match, seat))
        return effects

    def accept_draw(self, seat: int, now: int, *, re: int | None = None) -> Effects:
        """Accept the draw on offer; it is agreed when every seat has."""
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
        returns = outcomes.draw_returns(self.game)
        return effects.then(self._finish("draw_agreed", returns, None, "A draw was agreed.", now))

    def decline_draw(self, seat: int, now: int, *, re: int | None = None) -> Effects:
        """Decline the draw on offer (or withdraw one's own)."""
        if refused := self._no_draws(seat, now, re):
            return refused
        if not self.course.offers:
            return self._refused(seat, re, "match/draw_not_offered")
        effects = self._ok(seat, re, [self.course.decline(seat)])
        effects.told += self._others(seat, DrawDeclined(self.config.match, seat))
        return effects

    def _no_draws(self, seat: int, now: int, re: int | None) -> Effects | None:
        """Refuse requests about draws; None if they are possible now."""
        if not self.game.info.draw_offers:
            return self._refused(seat, re, "match/no_draws")
        return self._not_running(seat, now, re)

    def _not_running(self, seat: int, now: int, re: int | None) -> Effects | None:
        """Refuse what only a running match can take; None if the match runs."""
        expired = self._expired(now)
        status = self.course.status
        if status == "running":
            return None
        code = "match/not_ready" if status == "waiting" else "match/over"
        return self._refused(seat, re, code, after=expired)

    # --------------------------------------------------------------------- by the house

    def tick(self, now: int) -> Effects:
        """Time has passed: flags fall, timeouts strike.  Call it at `deadline`, or any time."""
        return self._expired(now)

    def abort(
        self,
        reason: str,
        now: int,
        termination: Termination = "aborted",
        *,
        seat: int | None = None,
        detail: str = "",
    ) -> Effects:
        """End the match without a result: ``aborted``, or ``server_fault`` if it is our fault."""
        if self.course.status == "finished":
            return Effects([], [])
        returns = outcomes.void_returns(self.seats)
        return self._finish(termination, returns, seat, reason, now, detail=detail)

    def exclude(self, seat: int, now: int) -> Effects:
        """An organiser excludes the holder of a seat: it forfeits, and before the start the match
        is void.
        """
        if self.course.status == "finished":
            return Effects([], [])
        reason = f"{seat_label(self.config, seat)} was excluded by the organiser."
        if self.course.status == "waiting":
            return self.abort(reason, now, seat=seat)
        return self._forfeit("disconnect", seat, reason, now)

    # ---------------------------------------------------------------- what they come to

    def _expired(self, now: int) -> Effects:
        """End the match if a flag has fallen or a wait has run out by ``now``."""
        due = self.deadline()
        if due is None or now < due:
            return Effects([], [])
        if self.course.status == "waiting":
            return self._not_ready_in_time(now)
        clock = self.clock
        flag, running = clock.deadline(), clock.running
        if running is not None and flag is not None and due == flag + 1:
            return self._flag(running, now)
        gone = self.attendance.overdue(now)
        seconds = f"{self.config.disconnect_grace_ns / SECOND:g} s"
        if len(gone) == self.seats and self.attendance.all_excused(gone):
            return self.abort(f"Nobody came back within {seconds} of the server's restart.", now)
        reason = f"{seat_label(self.config, gone[0])} was away for more than {seconds}."
        return self._forfeit("disconnect", gone[0], reason, now)

    def _not_ready_in_time(self, now: int) -> Effects:
        late = [seat for seat, nonce in enumerate(self.course.nonces) if nonce is None]
        who = " and ".join(seat_label(self.config, seat) for seat in late)
        seconds = self.config.ready_timeout_ns / SECOND
        verb = "was" if len(late) == 1 else "were"
        reason = f"{who} {verb} not ready within {seconds:g} s."
        if self.config.no_show_forfeits and len(late) == 1:
            return self._forfeit("no_show", late[0], reason, now)
        return self.abort(reason, now, seat=late[0] if len(late) == 1 else None)

    def _flag(self, seat: int, now: int, stall_ns: int = 0) -> Effects:
        reason = f"{seat_label(self.config, seat)} ran out of time at ply {self.position.ply + 1}."
        ledger = self.clock.stop(seat, now, stall_ns=stall_ns)
        return self._forfeit("flag_fall", seat, reason, now, ledger=ledger, on_clock=seat)

    def _fault(self, error: Exception, now: int) -> Effects:
        """The rules of the game failed: nobody's result, the details for the host."""
        detail = "".join(traceback.format_exception(error))
        reason = f"The rules of {self.game.info.name} failed ({type(error).__name__})."
        return self.abort(reason, now, "server_fault", detail=detail)

    def _forfeit(
        self,
        termination: Termination,
        seat: int,
        reason: str,
        now: int,
        *,
        detail: str = "",
        ledger: Ledger | None = None,
        on_clock: int | None = None,
    ) -> Effects:
        returns = outcomes.forfeit_returns(self.game, seat)
        return self._finish(
            termination, returns, seat, reason, now, detail=detail, ledger=ledger, on_clock=on_clock
        )

    def _finish(
        self,
        termination: Termination,
        returns: tuple[float, ...],
        seat: int | None,
        reason: str,
        now: int,
        *,
        detail: str = "",
        ledger: Ledger | None = None,
        on_clock: int | None = None,
    ) -> Effects:
        """End the match; the ply under way, if any, is accounted for in the last row."""
        if on_clock is None and (on_clock := self.clock.running) is not None:
            ledger = self.clock.settle(on_clock, now)
        told = self._updates(None, now) if termination == "normal" else []
        outcome = Outcome(termination, list(returns), seat, reason)
        row = self.course.end(outcome, ledger, on_clock, detail)
        self.attendance.clear()
        finish = Finish(outcome, self.position.ply, termination in outcomes.VOID)
        told += [Send(each, self._finished(each)) for each in range(self.seats)]
        if None in self._subscribed:
            told.append(Broadcast(self._finished(-1)))
        return Effects([row, finish], told, milestone=True)
