"""Counters for monitoring the server: whole numbers, read on request.

Counters change with a connection or a match, never with a ply, so they cost plies nothing.
"""

from __future__ import annotations

from collections import Counter

from plyhouse.protocol.messages import Outcome

__all__ = ["Counts"]


class Counts:
    """Numbers since the start of the server."""

    def __init__(self) -> None:
        self.connections = 0
        """Accepted connections, with and without a login."""
        self.logins = 0
        self.refused: Counter[str] = Counter()
        """Refused logins by error code."""
        self.terminations: Counter[str] = Counter()
        """Finished matches by termination."""

    def ended(self, outcome: Outcome | None) -> None:
        """Count a finished match; None stands for a match that could not even be stored."""
        self.terminations["server_fault" if outcome is None else outcome.termination] += 1
