"""The clock of a match.

All times are integer nanoseconds.  The clock never reads the time; callers pass it.

How a ply is charged (`Ledger`)::

    thought  = stop - start                  from the write of the turn to the read of the action
    stall    = the server's own absence      pauses, and what the shell reports (see `stalled`)
    lag      = refund of the round trip      at most per_move_cap, and total_cap in all
    charged  = thought - stall - lag         never negative, never more than was available

The refund that a ply may get is known when it starts, and the deadline includes it:
``deadline = start + available + allowance + stall``.  An action stamped exactly at the deadline
counts; one nanosecond later the flag has fallen.  A better measurement that arrives with the action
can lower the charge, but does not move the deadline.
"""

from __future__ import annotations

from plyhouse.server.match.time_control import ClockReading, LagPolicy, Ledger, TimeControl


class Clock:
    """The clocks of all seats of a match; at most one runs.

    Misuse raises a `RuntimeError`, because it is a fault of the caller, not of a player.  Examples
    are starting a second clock, stopping one that does not run, or going back in time on a pause.
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
        """True if a clock is one number, without periods or bank."""
        self.seats = seats
        self._lag = LagPolicy() if lag is None else lag
        self._main = [control.main_ns] * seats
        self._periods = [control.periods] * seats
        self.available_to_all = [control.initial_ns] * seats
        """The time that each seat has for its next ply (or had, when the current one began).  It is
        stored because every ply reads it several times.
        """
        self._vouched = self._lag.vouched_per_move_ns if control.kind == "move" else 0
        """Most nanoseconds of a refund that may be free of the total."""
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
        """True while the server has stopped all clocks."""
        return self._paused_at is not None

    def available(self, seat: int) -> int:
        """Return the time that a seat has for its next ply.

        During the ply, it is the time that the seat had at its beginning.
        """
        return self.available_to_all[seat]

    def deadline(self) -> int | None:
        """Return the last instant at which an action counts.

        None if no clock runs or all pause.
        """
        return None if self.running is None or self._paused_at is not None else self.limit()

    def limit(self) -> int:
        """Return the deadline of the running clock if no pause comes.

        Raises RuntimeError if no clock runs.
        """
        if self.running is None:
            raise RuntimeError("no clock is running")
        return self._started + self.available_to_all[self.running] + self._allowance + self._stall

    def remaining(self, seat: int, now: int) -> int:
        """Return the time until flag fall, without the lag refund; never negative."""
        left = self.available_to_all[seat]
        if seat != self.running:
            return left
        return max(0, left - max(0, self._elapsed(now)))

    def reading(self, seat: int, now: int) -> ClockReading:
        """Return the reading of a seat's clock at ``now``, including the current ply."""
        control = self.control
        if seat != self.running:
            left = self.available_to_all[seat]
            bank = self._main[seat] if control.kind == "bank" else None
            return ClockReading(left, self._periods[seat] or None, bank)
        used = max(0, self._elapsed(now))
        left = max(0, self.available_to_all[seat] - used)
        bank = None
        if control.kind == "bank":
            bank = min(self._main[seat], left)
        periods: int | None = None
        if control.periods:
            over = max(0, used - self._main[seat])
            periods = max(0, self._periods[seat] - over // control.free_ns)
        return ClockReading(left, periods, bank)

    def _elapsed(self, now: int) -> int:
        """Return the time of the current ply without the server's own."""
        until = now if self._paused_at is None else self._paused_at
        return until - self._started - self._stall

    # ------------------------------------------------------------------------ running it

    def start(self, seat: int, now: int, lag_ns: int = 0, floor_ns: int = 0) -> None:
        """Start the clock of ``seat``, whose last measured round trip is ``lag_ns``.

        The kernel vouches for ``floor_ns`` of it (see `LagPolicy`).
        """
        if self.running is not None:
            raise RuntimeError(f"the clock of seat {self.running} is running")
        self.running = seat
        self._started = now
        self._stall = self._busy = 0
        self._floor = min(floor_ns, self._vouched) if floor_ns else 0
        self._allowance = self._refundable(seat, lag_ns)
        if self._paused_at is not None:
            # The turn was written while the server paused, so the ply begins at the resumption.
            self._started = self._paused_at = max(now, self._paused_at)

    def stop(self, seat: int, now: int, lag_ns: int = 0) -> Ledger:
        """Stop the clock at an action or the end, and account for the ply.

        ``lag_ns`` is the round trip as measured by now.  The ledger says whether the flag had
        fallen.
        """
        if self.running != seat:
            raise RuntimeError(f"the clock of seat {seat} is not running")
        if self._paused_at is not None:
            self._stall += max(0, now - self._paused_at)
        thought = max(0, now - self._started)
        stall = self._stall
        if stall:  # rare
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
        """Stop the clock when the match ends for another reason, and account for the ply.

        Several deadlines may have passed before anyone looked, and the flag may have fallen after
        the event that ended the match.  So the ply is counted up to its deadline at most, and never
        flagged.
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
        """Let the clocks run again; return the length of the pause (0 if there was none)."""
        if self._paused_at is None:
            return 0
        absence = max(0, now - self._paused_at)
        self._paused_at = None
        self._resumed_at = now
        self._stall += absence
        return absence

    def let_in(self, seat: int, begin: int, end: int) -> int:
        """Refund the login of a seat's bot from ``begin`` to ``end``; return the refund.

        The caps are those of a stall at work, because a bot can log in as often as it likes.
        """
        if self.running != seat:
            return 0
        begin = max(begin, self._resumed_at)
        return self.stalled(begin, end, busy_ns=end - begin)

    def stalled(self, begin: int, end: int, busy_ns: int = 0, own_ns: int = 0) -> int:
        """Refund a stall of the server from ``begin`` to ``end``; return the refund.

        For ``own_ns`` of it the server worked on data from the connection of the seat to move: that
        is never refunded.  For ``busy_ns`` (including these) it was at work, which a client may
        have caused: that is refunded up to the caps of `LagPolicy`.  During the rest the process
        did not run, which no client can cause.
        """
        if self.running is None or self._paused_at is not None:
            return 0
        started = self._started
        span = end - (started if started > begin else begin)
        if span <= 0:
            return 0
        if not own_ns and busy_ns >= span:
            # Nearly always everybody's frames kept the server busy, and this clock's no more than
            # others. This path is fast because every running clock takes it many times a second.
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
        """Charge a ply of a restored match as recorded; return what remains.

        Raises ValueError if the charge was more than the seat had.
        """
        if not flagged and not 0 <= charged_ns <= self.available(seat):
            raise ValueError(
                f"seat {seat} was charged {charged_ns} ns and had {self.available(seat)} ns"
            )
        # The recorded part that was vouched for is unknown, so allow the most that was possible.
        self._floor = self._vouched
        if not 0 <= lag_ns <= self._refundable(seat, lag_ns):
            raise ValueError(
                f"seat {seat} was refunded {lag_ns} ns of lag, more than the caps allow"
            )
        self._floor = max(0, lag_ns - self._lag_left[seat])
        return self._charge(seat, charged_ns, lag_ns, flagged)

    def _refundable(self, seat: int, lag_ns: int) -> int:
        """Return the refund that a round trip of ``lag_ns`` may get now."""
        if not lag_ns:
            return 0
        left = self._lag_left[seat] + self._floor
        if 0 < lag_ns <= self._lag.per_move_cap_ns and lag_ns <= left:
            return lag_ns  # the usual case
        return max(0, min(lag_ns, self._lag.per_move_cap_ns, left))

    def _charge(self, seat: int, charged: int, refund: int, flagged: bool) -> int:
        """Take a ply's charge and refund off the accounts; return what remains."""
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
            over = max(0, charged - self._main[seat])
            self._main[seat] = max(0, self._main[seat] - charged)
            self._periods[seat] -= over // control.free_ns
        # Byo-yomi has its free time once per remaining period, every other control once.
        anew = self._periods[seat] if control.periods else 1
        self.available_to_all[seat] = left = self._main[seat] + anew * control.free_ns
        return 0 if flagged else left
