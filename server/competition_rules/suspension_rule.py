"""The suspension rule, which counts forfeits in a version's last matches.

The module is pure.  `plyhouse.server.match.terminations` says which ends are forfeits.  Matches
that a bot lost by absence count once per absence: a broken network is one mishap, however many
matches it cost.

>>> hour = 3_600_000
>>> crashed = [Ended(n * hour, "bot_crash") for n in range(3)]
>>> why(crashed, after=3, window=3)
'it forfeited its last 3 matches: 3 times it failed'
>>> why([Ended(0, ""), *crashed], after=3, window=4)
'it forfeited 3 of its last 4 matches: 3 times it failed'
>>> why([Ended(n, "disconnect") for n in range(8)], after=3, window=3)
''
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from plyhouse.server.match.terminations import ENDINGS, Fault, fault_of

__all__ = ["ABSENCE_MS", "Ended", "why"]

ABSENCE_MS: Final = 60_000
"""Forfeits by absence that end at most this long after each other count as one."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A match of a version with a result."""

    ended_ms: int
    forfeit: str
    """The termination of this version's forfeit; empty if it did not forfeit."""


def why(matches: Iterable[Ended], after: int, window: int) -> str:
    """Return why a version is suspended, as the rest of a sentence; else "".

    It is suspended if ``after`` of its last ``window`` matches were its own forfeits; if ``after``
    is 0, never.
    """
    if not after:
        return ""
    counted = _by_absence(matches)[-window:]
    kinds = Counter(each.forfeit for each in counted if each.forfeit)
    total = kinds.total()
    if total < after:
        return ""
    parts = [f"{_times(n)} it {ENDINGS[kind].words}" for kind, n in kinds.most_common()]
    of = f"its last {total}" if total == len(counted) else f"{total} of its last {len(counted)}"
    return f"it forfeited {of} matches: {', '.join(parts)}"


def _by_absence(matches: Iterable[Ended]) -> list[Ended]:
    """Return the matches in the order of their ends, one for each absence."""
    kept: list[Ended] = []
    for each in sorted(matches, key=lambda ended: ended.ended_ms):
        away = bool(each.forfeit) and fault_of(each.forfeit) is Fault.CONNECTION
        if (
            away
            and kept
            and kept[-1].forfeit
            and fault_of(kept[-1].forfeit) is Fault.CONNECTION
            and each.ended_ms - kept[-1].ended_ms <= ABSENCE_MS
        ):
            kept[-1] = each
        else:
            kept.append(each)
    return kept


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
