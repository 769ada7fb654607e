"""A clock of wall time that tests set."""

from __future__ import annotations

from datetime import UTC, datetime


class WallClock:
    """Wall-clock milliseconds that a test moves by hand."""

    def __init__(self, text: str = "") -> None:
        self.now = 1_000_000
        if text:
            self.set(text)

    def set(self, text: str) -> None:
        """Move to a date, such as ``2026-09-01T12:00``, in UTC."""
        self.now = int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)

    def __call__(self) -> int:
        return self.now
