"""The clock of a match.

All times are integer nanoseconds; the clock never asks what time it is.

How a ply is charged (`Ledger`)::

    thought  = stop - start                  from the write of the turn to the read of the action
    stall    = the server's own absence      pauses, and what the shell reports (see `stalled`)
    lag      = refund of the round trip      at most per_move_cap, and total_cap in all
    charged  = thought - stall - lag         never negative, never more than was available

The refund that a ply may get is known when it starts, and the deadline includes it:
``deadline = start + available + allowance + stall``.  An action stamped exactly at the deadline
counts; one nanosecond later the flag has fallen.  A better measurement that arrives with the
action can lower the charge, but does not move the deadline.
"""

from __future__ import annotations

from plyhouse.server.match.time_control import ClockReading, LagPolicy, Ledger, TimeControl

__all__ = ["Clock"]


class Clock:
    """The clocks of all seats of a match; at most one runs.

    Misuse (starting a second clock, stopping one that stands, going back in time on a pause) is
    a `RuntimeError`: it is a fault of the caller, not of a player.
    """

    __slots__ = (
        "_allowance",
        "_busy",
        "_busy_left",
        "_floor",
        "_lag",
        "_lag_left",
        "_main",
        "_paused_at",
        "_periods",
        "_resumed_at",
        "_stall",
        "_started",
        "_vouched",
        "available_to_all",
        "control",
        "plain",
        "running",
        "seats",
    )

    def __init__(self, control: TimeControl, seats: int, lag: LagPolicy | None = None) -> None:
        self.control = control
        self.plain = control.kind in ("move", "total")
        """Whether a clock is one number: no periods, no bank."""
        self.seats = seats
        self._lag = LagPolicy() if lag is None else lag
        self._main = [control.main_ns] * seats
        self._periods = [control.periods] * seats
        self.available_to_all = [control.initial_ns] * seats
        """What each seat has for its next ply (or had, when the current one began): kept, as it
        is asked for several times with every ply."""
        self._vouched = self._lag.vouched_per_move_ns if control.kind == "move" else 0
        """Most of a refund that may be free of the total."""
        self._lag_left = [self._lag.total_cap_ns] * seats
        self._busy_left = [self._lag.busy_total_ns] * seats
        self.running: int | None = None
        """The seat whose clock runs (or is paused in the middle of its ply)."""
        self._started = 0
        self._allowance = 0
        self._floor = 0
        self._busy = 0
        self._stall = 0
        self._paused_at: int | None = None
        self._resumed_at = 0

    # ----------------------------------------------------------------------- reading it

    @property
    def paused(self) -> bool:
        """Whether the server has stopped all clocks."""
        return self._paused_at is not None

    def available(self, seat: int) -> int:
        """What a seat has for its next ply (or had, when the current one began)."""
        return self.available_to_all[seat]

    def deadline(self) -> int | None:
        """The last instant at which an action counts; None while no clock runs or all pause."""
        return None if self.running is None or self._paused_at is not None else self.limit()

    def limit(self) -> int:
        """The deadline of the clock that runs, were no pause to come; there must be one."""
        if self.running is None:
            raise RuntimeError("no clock is running")
        return self._started + self.available_to_all[self.running] + self._allowance + self._stall

    def remaining(self, seat: int, now: int) -> int:
        """Time until flag fall, lag refund aside; never negative."""
        left = self.available_to_all[seat]
        if seat != self.running:
            return left
        return max(0, left - max(0, self._elapsed(now)))

    def reading(self, seat: int, now: int) -> ClockReading:
        """What the clock of ``seat`` shows at ``now``, the current ply counted in."""
        control = self.control
        running = seat == self.running
        if not running:
            left = self.available_to_all[seat]
            bank = self._main[seat] if control.kind == "bank" else None
            return ClockReading(left, False, self._periods[seat] or None, bank)
        used = max(0, self._elapsed(now))
        left = max(0, self.available_to_all[seat] - used)
        bank = None
        if control.kind == "bank":
            bank = min(self._main[seat], left)
        periods: int | None = None
        if control.periods:
            over = used - self._main[seat]
            periods = self._periods[seat]
            if over > 0:
                periods = max(0, periods - over // control.free_ns)
        return ClockReading(left, self._paused_at is None, periods, bank)

    def _elapsed(self, now: int) -> int:
        """Time of the current ply that is not the server's own."""
        until = now if self._paused_at is None else self._paused_at
        return until - self._started - self._stall

    # ------------------------------------------------------------------------ running it

    def start(self, seat: int, now: int, lag_ns: int = 0, floor_ns: int = 0) -> None:
        """Start the clock of ``seat``, whose round trip was last measured as ``lag_ns``.

        ``floor_ns`` of it are vouched for (see `LagPolicy`).
        """
        if self.running is not None:
            raise RuntimeError(f"the clock of seat {self.running} is running")
        self.running = seat
        self._started = now
        self._stall = self._busy = 0
        self._floor = min(floor_ns, self._vouched) if floor_ns else 0
        self._allowance = self._refundable(seat, lag_ns)
        if self._paused_at is not None:
            # The turn was written while the server paused: the ply begins at the resumption.
            self._started = self._paused_at = max(now, self._paused_at)

    def stop(self, seat: int, now: int, lag_ns: int = 0, stall_ns: int = 0) -> Ledger:
        """Stop the clock at an action (or at the end of the match) and account for the ply.

        ``lag_ns`` is the round trip as measured by now, ``stall_ns`` what the server held the
        action up besides the pauses.  The ledger says whether the flag had fallen.
        """
        if self.running != seat:
            raise RuntimeError(f"the clock of seat {seat} is not running")
        if self._paused_at is not None:
            self._stall += max(0, now - self._paused_at)
            self._paused_at = now
        thought = max(0, now - self._started)
        stall = self._stall + stall_ns if stall_ns > 0 else self._stall
        if stall:  # hardly ever
            stall = min(thought, stall)
        used = thought - stall
        allowance = self._allowance
        flagged = used > self.available_to_all[seat] + allowance
        refund = max(allowance, self._refundable(seat, lag_ns)) if lag_ns else allowance
        if refund > used:
            refund = used
        self.running = None
        remaining = self._charge(seat, used - refund, refund, flagged)
        return Ledger(thought, refund, stall, used - refund, remaining, flagged)

    def settle(self, seat: int, now: int) -> Ledger:
        """Stop the clock because the match ended otherwise, and account for the ply so far.

        Several things may have come due before anyone looked, a flag among them that fell after
        what ended the match: the ply is counted up to its deadline at most, and never flagged.
        """
        if self.running != seat:
            raise RuntimeError(f"the clock of seat {seat} is not running")
        return self.stop(seat, min(now, self.limit()))

    def pause(self, now: int) -> None:
        """Stop all clocks for an absence of the server; pausing twice changes nothing.

        ``now`` may lie in the past, when a stall is noticed only afterwards.
        """
        if self._paused_at is None:
            self._paused_at = now if self.running is None else max(now, self._started)

    def resume(self, now: int) -> int:
        """Let the clocks run again; returns the length of the pause (0 if there was none)."""
        if self._paused_at is None:
            return 0
        absence = max(0, now - self._paused_at)
        self._paused_at = None
        self._resumed_at = now
        if self.running is not None:
            self._stall += absence
        return absence

    def let_in(self, seat: int, begin: int, end: int) -> int:
        """The server let the bot of ``seat`` in from ``begin`` to ``end``; returns the refund.

        The caps are those of a standstill at work, as a bot can log in as often as it likes.
        """
        if self.running != seat:
            return 0
        begin = max(begin, self._resumed_at)
        return self.stalled(begin, end, busy_ns=max(0, end - begin))

    def stalled(self, begin: int, end: int, busy_ns: int = 0, own_ns: int = 0) -> int:
        """The server stood still from ``begin`` to ``end``; returns what the ply is given back.

        ``own_ns`` of it the server spent on what the connection of the seat to move had sent:
        that is never given back.  ``busy_ns`` (those included) it was at work, which somebody may
        have brought about: that is given back up to the caps of `LagPolicy`.  In the rest it did
        not get to run, and nobody here can have a hand in that.
        """
        if self.running is None or self._paused_at is not None:
            return 0
        started = self._started
        span = end - (started if started > begin else begin)
        if span <= 0:
            return 0
        if not own_ns and busy_ns >= span:
            # Nearly always: everybody's frames kept the server busy, this clock's no more than
            # others.  It is asked of every clock that runs, many times a second.
            seat = self.running
            if span <= self._lag.busy_per_move_ns - self._busy and span <= self._busy_left[seat]:
                self._busy += span
                self._busy_left[seat] -= span
                self._stall += span
                return span
        own = min(span, own_ns)
        busy = min(span - own, max(0, busy_ns - own_ns))
        left = min(self._lag.busy_per_move_ns - self._busy, self._busy_left[self.running])
        refund = max(0, min(busy, left))
        self._busy += refund
        self._busy_left[self.running] -= refund
        given = span - own - busy + refund
        self._stall += given
        return given

    def replay(self, seat: int, charged_ns: int, lag_ns: int, *, flagged: bool = False) -> int:
        """Charge a ply as recorded, when a match is restored or verified; returns what remains.

        Raises ValueError if the charge was more than the seat had.
        """
        if not flagged and not 0 <= charged_ns <= self.available(seat):
            raise ValueError(
                f"seat {seat} was charged {charged_ns} ns and had {self.available(seat)} ns"
            )
        # How much was vouched for is not noted: as much as may have been.
        self._floor = self._vouched
        if not 0 <= lag_ns <= self._refundable(seat, lag_ns):
            raise ValueError(
                f"seat {seat} was refunded {lag_ns} ns of lag, more than the caps allow"
            )
        self._floor = max(0, lag_ns - self._lag_left[seat])
        return self._charge(seat, charged_ns, lag_ns, flagged)

    def _refundable(self, seat: int, lag_ns: int) -> int:
        """What a round trip of ``lag_ns`` may give back now."""
        if not lag_ns:
            return 0
        left = self._lag_left[seat] + self._floor
        if 0 < lag_ns <= self._lag.per_move_cap_ns and lag_ns <= left:
            return lag_ns  # as nearly always
        return max(0, min(lag_ns, self._lag.per_move_cap_ns, left))

    def _charge(self, seat: int, charged: int, refund: int, flagged: bool) -> int:
        """Take a ply's charge and refund off the accounts; returns what remains."""
        control = self.control
        if refund > self._floor:
            self._lag_left[seat] -= refund - self._floor
        if flagged:
            self._main[seat] = self._periods[seat] = 0
        elif control.kind == "total":
            self._main[seat] += control.increment_ns - charged
        elif control.kind == "bank":
            self._main[seat] -= max(0, charged - control.free_ns)
        elif control.kind == "byoyomi":
            over = charged - self._main[seat]
            self._main[seat] = max(0, -over)
            if over > 0:
                self._periods[seat] -= over // control.free_ns
        # Byo-yomi has as much anew as there are periods left, every other control once.
        anew = self._periods[seat] if control.periods else 1
        self.available_to_all[seat] = left = self._main[seat] + anew * control.free_ns
        return 0 if flagged else left
