"""When a request is worth repeating, and how long to wait before.

A request is repeated if the server says that it is asked too often (429), or that it cannot just
now (503), and if it could not be reached.  A request that changes something is repeated only if it
certainly changed nothing: after a 429, and after a 503 with ``Retry-After``.

>>> patience = Patience(attempts=3, base=0.5)
>>> patience.wait(1, status=503, retry_after=2.0, changes=False)
2.0
>>> patience.wait(2, status=503, retry_after=None, changes=False)
1.0
>>> patience.wait(1, status=503, retry_after=None, changes=True) is None
True
>>> patience.wait(3, status=429, retry_after=1.0, changes=False) is None  # enough
True
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["Patience", "retry_after"]

TOO_MANY = 429
UNAVAILABLE = 503
NO_ANSWER = 0
"""Instead of a status, where nobody answered."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to try; ``Patience(attempts=1)`` does not repeat anything."""

    attempts: int = 4
    """Requests in all, the first one included."""
    base: float = 0.5
    """Seconds before the second request, where the server says nothing; then twice as many each."""
    longest: float = 30.0
    """The longest wait in seconds; a longer one raises the error."""

    def wait(
        self, made: int, *, status: int, retry_after: float | None, changes: bool
    ) -> float | None:
        """Seconds to wait after so many requests; None if it is over.

        ``changes``: whether the request is one that changes something on the server.
        """
        if made >= self.attempts:
            return None
        if status not in (TOO_MANY, UNAVAILABLE, NO_ANSWER):
            return None
        if changes and status != TOO_MANY and retry_after is None:
            return None
        seconds = self.base * 2.0 ** (made - 1) if retry_after is None else retry_after
        return seconds if seconds <= self.longest else None


def retry_after(value: str, now: datetime) -> float | None:
    """Read the header ``Retry-After``: seconds, or a date (RFC 9110, 10.2.3).

    >>> at = datetime(2027, 1, 1, 12, 0, 0, tzinfo=UTC)
    >>> retry_after("120", at), retry_after("Fri, 01 Jan 2027 12:00:30 GMT", at)
    (120.0, 30.0)
    >>> retry_after("soon", at) is None
    True
    """
    text = value.strip()
    if text.isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())
