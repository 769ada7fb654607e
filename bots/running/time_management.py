"""How long to think about one action: pure arithmetic on the clock, in integer nanoseconds.

With each turn the server sends the time left until the flag falls.  From this time, the time
control and a safety margin for the way to the server follow two instants:

* ``soft``: the time that a search should use now (``turn.limit.time``).  It leaves enough for the
  rest of the match, and room for a search that runs a little over;
* ``hard``: when the action must leave this machine.  The best action reported so far is played
  then.

Laws (tests/bots/test_time_management.py): ``0 <= soft <= hard <= left - margin`` wherever the
margin fits.  More time left never means less to think.  A bot that always uses ``soft`` never loses
on time, however long the match.

>>> rule = parse_time_control("total:60+0.5")
>>> margin = safety_margin(60 * SECOND, round_trip=30 * MS, jitter=5 * MS)
>>> margin // MS
65
>>> given = allot(rule, 60 * SECOND, margin=margin, moves_left=expected_moves_left(made=4))
>>> given.soft // MS, given.hard // MS
(2540, 59935)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from plyhouse.bots.client.timing import MS, SECOND

__all__ = [
    "Allotment",
    "TimeRule",
    "allot",
    "expected_moves_left",
    "parse_time_control",
    "safety_margin",
]

BASE_MARGIN: Final = 25 * MS
"""Kept free for our own hops: frame to session, session to bot's process and back."""

OVERRUN: Final = 20 * MS
"""Searches look at the clock now and then only: ``soft`` lies this much before ``hard``."""

TYPICAL_MOVES: Final = 30
"""Own moves of a match whose length is not bounded more tightly by its rules."""

FEWEST_MOVES: Final = 8
"""Never plan for fewer own moves than these: an end that looks near is often not."""

_NUMBER = r"(\d+(?:\.\d+)?)"
_FORMS: Final = {
    "move": re.compile(rf"move:{_NUMBER}"),
    "total": re.compile(rf"total:{_NUMBER}(?:\+{_NUMBER})?"),
    "byoyomi": re.compile(rf"byoyomi:{_NUMBER}\+{_NUMBER}x(\d+)"),
    "bank": re.compile(rf"bank:{_NUMBER}\+{_NUMBER}"),
}


@dataclass(frozen=True, slots=True)
class TimeRule:
    """The parts of a time control that matter for planning.

    ``each`` is the time of every action that cannot be saved: the time per move, or one byo-yomi
    period.  ``increment`` is added after each action and can be saved.
    """

    kind: Literal["move", "total", "byoyomi", "bank"]
    each: int = 0
    increment: int = 0
    periods: int = 0


@dataclass(frozen=True, slots=True)
class Allotment:
    """Time for one action from now, in nanoseconds."""

    soft: int
    """Time that a search should use."""
    hard: int
    """Time by which the action must be sent; 0 if it is too late already."""


def parse_time_control(text: str) -> TimeRule:
    """Read ``move:1``, ``total:60+0.5``, ``byoyomi:60+5x10`` or ``bank:1+30`` (seconds).

    An unknown form, perhaps of a newer server, is taken for a time per move: then all the
    time to flag fall may be used, which no rule forbids.

    >>> parse_time_control("byoyomi:60+5x10")
    TimeRule(kind='byoyomi', each=5000000000, increment=0, periods=10)
    >>> parse_time_control("sandglass:60")
    TimeRule(kind='move', each=0, increment=0, periods=0)
    """
    for kind, form in _FORMS.items():
        found = form.fullmatch(text.replace(" ", ""))
        if found is None:
            continue
        first = round(float(found[1]) * SECOND)
        match kind:
            case "total":
                return TimeRule("total", increment=round(float(found[2] or 0) * SECOND))
            case "byoyomi":
                each = round(float(found[2]) * SECOND)
                return TimeRule("byoyomi", each=each, periods=int(found[3]))
            case "bank":
                return TimeRule("bank", each=first)
            case _:
                return TimeRule("move", each=first)
    return TimeRule("move")


def safety_margin(left: int, round_trip: int = 0, jitter: int = 0) -> int:
    """Nanoseconds to keep between the last moment to answer and flag fall.

    ``round_trip`` is the measured way to the server and back and ``jitter`` its usual deviation.
    The server refunds lag, but only within a cap, so none of the refund is counted on.  With
    very little time left the margin shrinks to a third of it: some time to think must remain.
    """
    wanted = BASE_MARGIN + round_trip + 2 * jitter
    return min(wanted, max(left, 0) // 3)


def expected_moves_left(made: int, most: int | None = None) -> int:
    """Estimate how many own actions a match still takes, after ``made`` of them.

    ``most`` bounds the own actions of the whole match where the rules do (always at least 1
    is left, since one is being asked for).

    >>> [expected_moves_left(made) for made in (0, 20, 40, 100)]
    [30, 20, 10, 8]
    >>> expected_moves_left(made=4, most=5)
    1
    """
    left = max(FEWEST_MOVES, TYPICAL_MOVES - made // 2)
    if most is not None:
        left = min(left, max(1, most - made))
    return left


def allot(
    rule: TimeRule,
    left: int,
    *,
    margin: int,
    periods: int | None = None,
    moves_left: int = TYPICAL_MOVES,
) -> Allotment:
    """Split the time ``left`` until flag fall.

    ``periods`` are the byo-yomi periods left (the current one included), ``moves_left`` the own
    actions to plan for.
    """
    hard = max(0, left - margin)
    moves_left = max(1, moves_left)
    match rule.kind:
        case "move":
            soft = hard
        case "total":
            # The increment comes back after the action; most of it can be spent each time.
            # Never more than half of what is there, so that the plan always has a rest.
            soft = min(hard // moves_left + rule.increment * 4 // 5, hard // 2)
            if moves_left == 1:
                soft = hard
        case "byoyomi":
            # A period that is not used up is not lost: thinking until just before its end is
            # free.  Any main time is spread over the moves on top of that.
            main = max(0, left - rule.each * (rule.periods if periods is None else periods))
            soft = main // moves_left + max(0, rule.each - margin)
        case "bank":
            bank = max(0, left - rule.each)
            soft = max(0, rule.each - margin) + bank // (2 * moves_left)
    latest = hard - min(OVERRUN, hard // 4)
    return Allotment(soft=max(0, min(soft, latest)), hard=hard)
