"""Time controls and refunds: the rules of a match's clock.

All times are integer nanoseconds.  The four controls:

================  ==================================================================
``move:1``        one second for every ply; what is left over is lost
``total:60+0.5``  sixty seconds in all, and half a second added after every own ply
``byoyomi:60+5x10``  sixty seconds, then five periods of ten seconds: a ply gives its
                  period back unless it used it up, and using k full periods burns k
``bank:1+30``     one free second for every ply, then thirty seconds in all
================  ==================================================================
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import ClassVar, Final, NamedTuple

from msgspec import Struct

MS: Final = 1_000_000
"""Nanoseconds in a millisecond."""
SECOND: Final = 1_000_000_000
"""Nanoseconds in a second."""

LONGEST: Final = 30 * 24 * 3600 * SECOND
"""The longest time that a time control can have, in nanoseconds: thirty days."""

_NUMBER = r"([0-9]{1,7}(?:\.[0-9]{1,9})?)"
_MOVE = re.compile(_NUMBER)
_TOTAL = re.compile(rf"{_NUMBER}(?:\+{_NUMBER})?")
_BYOYOMI = re.compile(rf"{_NUMBER}\+([0-9]{{1,3}})x{_NUMBER}")
_BANK = re.compile(rf"{_NUMBER}\+{_NUMBER}")
_EXPECTED = (
    "move:SECONDS, total:SECONDS+INCREMENT, byoyomi:SECONDS+PERIODSxSECONDS or "
    "bank:SECONDS_PER_MOVE+BANK, such as move:1, total:60+0.5, byoyomi:60+5x10 or bank:1+30"
)


class InvalidTimeControl(ValueError):  # noqa: N818 (named like InvalidAction)
    """A time control that cannot be read, or whose times are out of range."""

    code: ClassVar[str] = "time_control/invalid"

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{text!r} is not a time control: {reason}.")
        self.text = text
        self.reason = reason


class TimeControl(Struct, frozen=True):
    """The rule by which the clocks of a match run.

    ``kind`` is ``move``, ``total``, ``byoyomi`` or ``bank``.  Fields that a kind does not use are
    0.  Make one with `parse`, or with the constructor and times in nanoseconds.
    """

    kind: str
    main_ns: int = 0
    """Time for the whole match: total and main time, or the bank."""
    free_ns: int = 0
    """Time that every ply gets: per move, per byo-yomi period, or before the bank is used."""
    increment_ns: int = 0
    """Added after every own ply."""
    periods: int = 0
    """Number of byo-yomi periods."""

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Read the text of a time control; raises `InvalidTimeControl`."""
        kind, _, rest = text.strip().partition(":")
        if kind == "move" and (found := _MOVE.fullmatch(rest)):
            made = cls("move", free_ns=_ns(found[1]))
        elif kind == "total" and (found := _TOTAL.fullmatch(rest)):
            made = cls("total", main_ns=_ns(found[1]), increment_ns=_ns(found[2] or "0"))
        elif kind == "byoyomi" and (found := _BYOYOMI.fullmatch(rest)):
            made = cls("byoyomi", _ns(found[1]), _ns(found[3]), periods=int(found[2]))
            if made.periods < 1 or not made.free_ns:
                raise InvalidTimeControl(text, "there must be a period, longer than nothing")
        elif kind == "bank" and (found := _BANK.fullmatch(rest)):
            made = cls("bank", main_ns=_ns(found[2]), free_ns=_ns(found[1]))
        else:
            raise InvalidTimeControl(text, f"write {_EXPECTED}")
        if made.initial_ns < MS:
            raise InvalidTimeControl(text, "the first ply would have less than a millisecond")
        if max(made.initial_ns, made.increment_ns) > LONGEST:
            raise InvalidTimeControl(text, "no time may be longer than thirty days")
        return made

    @property
    def initial_ns(self) -> int:
        """The time before a seat's flag falls, at the start of the match."""
        return self.main_ns + self.free_ns * (self.periods or 1)

    def __str__(self) -> str:
        main, free = _seconds(self.main_ns), _seconds(self.free_ns)
        if self.kind == "move":
            return f"move:{free}"
        if self.kind == "total":
            return f"total:{main}+{_seconds(self.increment_ns)}"
        if self.kind == "byoyomi":
            return f"byoyomi:{main}+{self.periods}x{free}"
        return f"bank:{free}+{main}"


class LagPolicy(Struct, frozen=True):
    """The limits of refunds for round trips and for stalls of the server at work.

    Under ``move:`` controls, where saved time is lost, `total_cap_ns` would starve an honest bot
    far away after a few dozen plies.  There the part of a refund that the kernel vouches for (the
    least round trip that it has seen on the connection) is not counted against the total.  The
    total still bounds what a bot adds by answering late.

    per_move_cap_ns: the most nanoseconds for one ply.
    total_cap_ns: the most nanoseconds for a seat in the whole match.
    vouched_per_move_ns: the most nanoseconds of one refund that are free of the total.
    busy_per_move_ns: the most nanoseconds for stalls of the server at work, in one ply.
    busy_total_ns: the same for a seat in the whole match.
    """

    per_move_cap_ns: int = 200 * MS
    total_cap_ns: int = 5 * SECOND
    vouched_per_move_ns: int = 0
    """Most of one refund that may be free of the total, under ``move:`` controls."""
    busy_per_move_ns: int = 500 * MS
    """Most that is refunded in one ply for stalls in which the server was at work."""
    busy_total_ns: int = 5 * SECOND
    """The same limit per seat and match."""


class Ledger(Struct, frozen=True, gc=False):
    """The accounting of one ply's time.

    See the table in `plyhouse.server.match.clock`.
    """

    thought_ns: int
    lag_ns: int
    stall_ns: int
    charged_ns: int
    remaining_ns: int
    """The time before the seat's next flag fall, including the increment."""
    flagged: bool = False


class ClockReading(NamedTuple):
    """One seat's clock at some instant."""

    remaining_ns: int
    """Time until flag fall, without the lag refund."""
    periods: int | None
    """Byo-yomi periods left, including the current one; None in other controls."""
    bank_ns: int | None
    """Time left in the bank; None in other controls."""


def _ns(text: str) -> int:
    """Convert seconds as text to nanoseconds, exactly."""
    return int(Decimal(text) * SECOND)


def _seconds(ns: int) -> str:
    """Convert nanoseconds to the shortest text of seconds, exactly."""
    whole, part = divmod(ns, SECOND)
    return f"{whole}.{part:09d}".rstrip("0") if part else str(whole)
