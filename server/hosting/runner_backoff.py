"""Backoff of runner machines after failures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

__all__ = ["REST_NS", "RunnerFailures"]

REST_NS: Final = 60 * 1_000_000_000
"""How long a machine does not get again what failed there, in nanoseconds."""

MOST_HEARD: Final = 10_000
"""Number of reports whose ids are remembered."""


@dataclass(slots=True)
class RunnerFailures:
    """Failures by machine, and until when the machine does not get it again."""

    until: dict[tuple[int, str], int] = field(default_factory=dict)
    """By the id of a version or submission, and the machine."""
    count: dict[int, int] = field(default_factory=dict)
    _heard: dict[str, None] = field(default_factory=dict)
    """Ids of reports."""

    def is_new(self, report: str) -> bool:
        """Note the id of a report; return whether it is new, as an empty one always is."""
        if not report:
            return True
        if report in self._heard:
            return False
        self._heard[report] = None
        if len(self._heard) > MOST_HEARD:
            del self._heard[next(iter(self._heard))]
        return True

    def note(self, what: int, machine: str, now: int) -> None:
        """Count a failure of ``what`` on a machine."""
        self.until[what, machine] = now + REST_NS
        self.count[what] = self.count.get(what, 0) + 1

    def machines(self, what: int, now: int) -> frozenset[str]:
        """Return the machines that do not get ``what`` now."""
        return frozenset(
            name for (each, name), until in self.until.items() if each == what and until > now
        )

    def played(self, what: int) -> None:
        """Forget the failures of ``what``, because it went well."""
        self.count.pop(what, None)

    def tidy(self, now: int) -> None:
        """Forget the backoffs that are over."""
        self.until = {key: until for key, until in self.until.items() if until > now}
