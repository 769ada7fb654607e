"""What runner machines could not do: it is not asked of the same one again for a while."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

__all__ = ["REST_NS", "Troubles"]

REST_NS: Final = 60 * 1_000_000_000
"""How long a machine is not asked again for what it could not do."""

MOST_HEARD: Final = 10_000
"""Reports whose ids are remembered."""


@dataclass(slots=True)
class Troubles:
    """What could not be done, where, and until when it is not asked for again."""

    until: dict[tuple[int, str], int] = field(default_factory=dict)
    """By what it is about, and the machine."""
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
        """Something could not be done there."""
        self.until[what, machine] = now + REST_NS
        self.count[what] = self.count.get(what, 0) + 1

    def machines(self, what: int, now: int) -> frozenset[str]:
        """Those that are not asked for it now."""
        return frozenset(
            name for (each, name), until in self.until.items() if each == what and until > now
        )

    def played(self, what: int) -> None:
        """It went well after all: what there was before does not count any more."""
        self.count.pop(what, None)

    def tidy(self, now: int) -> None:
        """Forget what is over."""
        self.until = {key: until for key, until in self.until.items() if until > now}
