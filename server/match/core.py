"""The inner half of the match engine: what a match is, what it tells, and how it ends.

`plyhouse.server.match.engine.Match` is the class to use; it adds the inputs and says how they are
used.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.protocol.errors import ERRORS
from plyhouse.protocol.messages import (
    CHANCE_SEAT,
    ClockState,
    Error,
    Event,
    Finished,
    MatchSnapshot,
    MatchStatus,
    Ok,
    Outcome,
    Termination,
    Turn,
    Update,
)
from plyhouse.server.match import outcomes
from plyhouse.server.match.chance import Chance, commitment
from plyhouse.server.match.clock import MS, SECOND, Clock, Ledger
from plyhouse.server.match.effects import Broadcast, Effect, Finish, Send, Store
from plyhouse.server.match.events import end_row, event_row
from plyhouse.server.match.terms import MatchConfig, Played, seat_label
from plyhouse.server.match.views import Views, clock_states

__all__ = ["MatchCore"]


class MatchCore:
    """State, telling and endings of one match; `Match` adds the inputs."""

    def __init__(self, config: MatchConfig, now: int) -> None:
        self.config = config
        self.game = config.game
        self.seats = config.game.seats
        self.status: MatchStatus = "waiting"
        self.ply = 0
        """Index of the next action of a seat."""
        self.state: Any = config.game.initial_state()
        """The full state: for the server only, seats see it through views."""
        self.outcome: Outcome | None = None
        self.last_of_pairing = False
        """Set by the shell when the match's end ends its pairing: ``finished`` then reveals."""
        self.commitment = commitment(config.seed)
        self.nonces: list[str | None] = [None] * self.seats
        self._nonce_changes = [0] * self.seats
        self.plies: list[Played] = []
        self.views = Views(self.game, self.seats)
        self.clock = Clock(config.time_control, self.seats, config.lag)
        self._chance: Chance | None = None
        self._draws = 0
        self._rows = 0
        self._retries = 0
        self._ready_deadline = now + config.ready_timeout_ns
        self._paused_at: int | None = None
        self._away: dict[int, int] = {}
        """Seats without a connection, with the instant their grace ends."""
        self._excused: set[int] = set()
        """Seats that are away because the server was: their clocks do not start yet."""
        self._subscribed: dict[int | None, bool] = {}
        self._scenes: set[int | None] = set()
        self._seen = [0] * (self.seats + 1)
        self._offers: set[int] = set()
        self._offered_at = [-1] * self.seats

    # ------------------------------------------------------------------------- questions

    @property
    def seat_to_move(self) -> int | None:
        """The seat whose action is awaited; None while waiting and after the end."""
        return self.state.to_move if self.status == "running" else None

    @property
    def turn_open(self) -> bool:
        """Whether the seat to move has not been told so yet: its clock stands."""
        return self.status == "running" and self.clock.running is None

    def deadline(self) -> int | None:
        """The instant at which `tick` is due next; None if only an input can change anything."""
        if self.status == "finished" or self._paused_at is not None:
            return None
        if self.status == "waiting":
            return self._ready_deadline
        flag = self.clock.deadline()
        due = min(self._away.values()) if self._away else None
        if flag is not None and (due is None or flag < due):
            return flag + 1  # an action stamped exactly at the flag's deadline still counts
        return due

    def snapshot(self, viewer: int | None, now: int) -> MatchSnapshot:
        """Everything that a seat, or a spectator, may know now.

        It must be sent: for seats, the next messages' events continue from here.  Beware of
        sending one while effects of the match still wait for storage; `sync` keeps the order.
        """
        config = self.config
        running = self.status == "running"
        yours = running and viewer is not None and viewer == self.state.to_move
        observation, scene = self._seen_now(viewer)
        if viewer is not None:
            self._seen[viewer] = len(self.views)
        return MatchSnapshot(
            match=config.match,
            pairing=config.pairing,
            game=self.game.spec,
            time_control=str(config.time_control),
            rated=config.rated,
            seat=viewer,
            players=list(config.players),
            status=self.status,
            ply=self.ply,
            commitment=self.commitment,
            nonces=[] if self.status == "waiting" else [nonce or "" for nonce in self.nonces],
            illegal_rule=config.illegal_rule,
            events=self.views.events(viewer),
            observation=observation,
            clocks=clock_states(self.clock, now),
            your_turn=yours,
            deadline_ms=self.clock.remaining(viewer, now) // MS
            if yours and viewer is not None
            else None,
            scene=scene,
            outcome=self.outcome,
        )

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
            self._seen[-1] = len(self.views)

    def unsubscribe(self, viewer: int | None) -> None:
        """Send a seat, or the spectators, no more than is necessary."""
        self._subscribed.pop(viewer, None)
        self._scenes.discard(viewer)

    # -------------------------------------------------------------------------- the end

    def tick(self, now: int) -> list[Effect]:
        """Time has passed: flags fall, timeouts strike.  Call it at `deadline`, or any time."""
        if self.status == "waiting" and self._paused_at is None and now >= self._ready_deadline:
            late = [seat for seat, nonce in enumerate(self.nonces) if nonce is None]
            who = " and ".join(seat_label(self.config, seat) for seat in late)
            seconds = self.config.ready_timeout_ns / SECOND
            verb = "was" if len(late) == 1 else "were"
            reason = f"{who} {verb} not ready within {seconds:g} s."
            return self.abort(reason, now, seat=late[0] if len(late) == 1 else None)
        return self._expired(now)

    def abort(
        self,
        reason: str,
        now: int,
        termination: Termination = "aborted",
        *,
        seat: int | None = None,
        detail: str = "",
    ) -> list[Effect]:
        """End the match without a result: ``aborted``, or ``server_fault`` if it is our fault."""
        if self.status == "finished":
            return []
        returns = outcomes.void_returns(self.seats)
        return self._finish(termination, returns, seat, reason, now, detail=detail)

    # ------------------------------------------------------------------------- telling

    def _store(self, kind: str, seat: int, text: str = "", ledger: Ledger | None = None) -> Store:
        row = event_row(self.config.match, self._rows, kind, self.ply, seat, text, ledger)
        self._rows += 1
        return Store(row)

    def _events(self, viewer: int) -> list[Event]:
        """What happened since the last message to a viewer (-1: the spectators)."""
        since = self._seen[viewer]
        self._seen[viewer] = len(self.views)
        return self.views.events(None if viewer < 0 else viewer, since)

    def _seen_now(self, viewer: int | None) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Observation and, if wanted, scene."""
        if viewer in self._scenes:
            return self.views.drawn(self.state, viewer)
        return self.views.observation(self.state, viewer), None

    def _roll(self) -> list[Effect]:
        """Let chance act until a seat is to move or the game is over."""
        rows: list[Effect] = []
        state = self.state
        while state.to_move == CHANCE:
            if self._chance is None:
                nonces = [nonce or "" for nonce in self.nonces]
                self._chance = Chance(self.config.seed, self.config.chance_stream, nonces)
            if self.ply + self._draws >= self.game.info.max_plies:
                break
            outcome = self._chance.draw(self._draws, state.chance_outcomes())
            text = self.views.chance_text(state, outcome)
            after = state.after(outcome)
            rows.append(self._store("chance", CHANCE_SEAT, text))
            self.views.record(state, outcome, text, CHANCE_SEAT, self.ply, None)
            self._draws += 1
            self.state = state = after
        return rows

    def _proceed(self, now: int, clocks: list[ClockState] | None = None) -> list[Effect]:
        """Tell whoever is to move, and whoever follows the match; or finish it."""
        state = self.state
        mover = state.to_move
        if mover == TERMINAL:
            returns = tuple(float(value) for value in state.returns())
            return self._finish("normal", returns, None, "", now)
        limit = self.game.info.max_plies
        if mover == CHANCE or self.ply + self._draws >= limit:
            return self.abort(f"The match did not end within {limit} actions.", now)
        if clocks is None:
            clocks = clock_states(self.clock, now)
        told: list[Effect] = []
        if mover in self._away and mover not in self._excused:
            self.clock.start(mover, now)
        observation, scene = self._seen_now(mover)
        left = self.clock.remaining(mover, now) // MS
        turn = Turn(
            self.config.match, self.ply, self._events(mover), observation, clocks, left, scene
        )
        told.append(Send(mover, turn, self.ply))
        return told + self._updates(mover, now, clocks)

    def _updates(
        self, mover: int | None, now: int, clocks: list[ClockState] | None = None
    ) -> list[Effect]:
        """What the followers of the match are sent: everyone subscribed but the mover."""
        told: list[Effect] = []
        for viewer in self._subscribed:
            if viewer is not None and viewer == mover:
                continue
            if clocks is None:
                clocks = clock_states(self.clock, now)
            observation, scene = self._seen_now(viewer)
            events = self._events(-1 if viewer is None else viewer)
            update = Update(self.config.match, self.ply, events, observation, clocks, scene)
            told.append(Broadcast(update) if viewer is None else Send(viewer, update))
        return told

    def _expired(self, now: int) -> list[Effect]:
        """End the match if a flag has fallen or a grace has run out by ``now``."""
        due = self.deadline()
        if due is None or now < due:
            return []
        if self.status == "waiting":
            return self.tick(now)
        flag = self.clock.deadline()
        running = self.clock.running
        if running is not None and flag is not None and due == flag + 1:
            return self._flag(running, now)
        gone = sorted(seat for seat, end in self._away.items() if end <= now)
        seconds = f"{self.config.disconnect_grace_ns / SECOND:g} s"
        if len(gone) == self.seats and self._excused.issuperset(gone):
            return self.abort(f"Nobody came back within {seconds} of the server's restart.", now)
        seat = min(gone, key=lambda each: (self._away[each], each))
        reason = f"{seat_label(self.config, seat)} was away for more than {seconds}."
        return self._forfeit("disconnect", seat, reason, now)

    def _flag(self, seat: int, now: int, stall_ns: int = 0) -> list[Effect]:
        reason = f"{seat_label(self.config, seat)} ran out of time at ply {self.ply}."
        ledger = self.clock.stop(seat, now, stall_ns=stall_ns)
        return self._forfeit("flag_fall", seat, reason, now, ledger=ledger, on_clock=seat)

    def _fault(self, error: Exception, now: int) -> list[Effect]:
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
    ) -> list[Effect]:
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
    ) -> list[Effect]:
        """End the match; the ply under way, if any, is accounted for in the last row."""
        if on_clock is None and (on_clock := self.clock.running) is not None:
            ledger = self.clock.settle(on_clock, now)
        updates = self._updates(None, now) if termination == "normal" else []
        self.outcome = Outcome(termination, list(returns), seat, reason)
        self.status = "finished"
        self._away.clear()
        row = end_row(
            self.config.match, self._rows, self.ply, self.outcome, ledger, on_clock, detail
        )
        self._rows += 1
        void = termination in outcomes.VOID
        effects: list[Effect] = [Store(row), Finish(self.outcome, self.ply, void)]
        effects += updates
        effects += [Send(each, self._finished(each)) for each in range(self.seats)]
        if None in self._subscribed:
            effects.append(Broadcast(self._finished(-1)))
        return effects

    def _finished(self, viewer: int) -> Finished:
        assert self.outcome is not None  # noqa: S101 (for the type checker)
        done = self.last_of_pairing
        return Finished(
            match=self.config.match,
            outcome=self.outcome,
            events=self._events(viewer),
            pairing_done=done,
            seed=self.config.seed.hex() if done else "",
        )

    def _ok(self, seat: int, re: int | None, effects: Sequence[Effect] = ()) -> list[Effect]:
        """Answer with ``ok``, after the rows and before what else is told."""
        if re is None:
            return list(effects)
        cut = 0
        while cut < len(effects) and not isinstance(effects[cut], Send | Broadcast):
            cut += 1
        return [*effects[:cut], Send(seat, Ok(re)), *effects[cut:]]

    def _refuse(self, seat: int, re: int | None, code: str, message: str = "") -> list[Effect]:
        if re is None:
            return []
        return [Send(seat, Error(code, message or ERRORS[code].message, re, self.config.match))]
