"""Late submissions: days after the freeze, and their penalty.

>>> rule = LateRule(3, 10.0)
>>> day = 86_400_000
>>> rule.days_late(created_ms=5 * day, freeze_ms=5 * day)
0
>>> rule.days_late(created_ms=5 * day + 1, freeze_ms=5 * day)
1
>>> rule.days_late(created_ms=7 * day, freeze_ms=5 * day, extended_ms=6 * day), rule.penalty(2)
(1, 20.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from plyhouse.server.competition_rules.dates import days_after

__all__ = ["MAX_DAYS", "LateRule"]

LONGEST_MS: Final = 90_000_000
"""The longest calendar day, on which clocks go back."""
MAX_DAYS: Final = 60


@dataclass(frozen=True, slots=True)
class LateRule:
    """The rule of a competition file for late submissions."""

    days: int = 0
    """The number of days after the freeze during which they are taken; 0: none."""
    penalty_per_day: float = 0.0
    """Percent of the points for each day, begun or full."""
    final_waits: bool = True
    """True if the final waits for late submissions and extensions; otherwise it begins on its date,
    and a rerun plays what comes later."""

    def until(self, freeze_ms: int | None, zone: str) -> int | None:
        """Return when late submissions end, in ms; None if none are taken."""
        if freeze_ms is None or not self.days:
            return None
        return days_after(freeze_ms, self.days, zone)

    def days_late(
        self,
        created_ms: int,
        freeze_ms: int | None,
        extended_ms: int | None = None,
        zone: str = "UTC",
    ) -> int:
        """Return how many days, begun or full, a version was late; 0 if in time.

        ``created_ms`` is when the server saw the version first.  ``extended_ms`` is the end of the
        student's extension, which is later than the freeze if there is one.  Days are those of the
        calendar in ``zone``.  Without a freeze date nothing is late.
        """
        if not self.days or freeze_ms is None:
            return 0
        begin = max(freeze_ms, extended_ms or 0)
        if created_ms <= begin:
            return 0
        days = max(1, (created_ms - begin) // LONGEST_MS)
        while days_after(begin, days, zone) < created_ms:
            days += 1
        return days

    def penalty(self, days: int) -> float:
        """Return the penalty for this number of days, in percent, at most 100."""
        return min(100.0, days * self.penalty_per_day)
