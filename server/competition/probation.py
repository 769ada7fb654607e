"""When a version is suspended: forfeits among its last matches, counted; pure.

`plyhouse.server.match.terminations` says which ends are forfeits.  Matches that a bot lost because
it was away count once per absence: a broken network is one mishap, however many matches it cost.

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
"""Forfeits by absence that end within so long of each other are one."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A match of a version, with a result."""

    ended_ms: int
    forfeit: str
    """The termination by which this version forfeited it; empty if it did not."""


def why(matches: Iterable[Ended], after: int, window: int) -> str:
    """Why a version is suspended, as the rest of a sentence; empty if it is not.

    It is, when ``after`` of its last ``window`` matches were forfeits of its own; with 0 never.
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
    """In the order of their ends, with one match for each absence."""
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
