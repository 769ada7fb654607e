"""What is counted for whoever watches the server: whole numbers, read when somebody asks.

Nothing here is on the way of a ply: these change with a connection or a match.
"""

from __future__ import annotations

from collections import Counter

from plyhouse.protocol.messages import Outcome

__all__ = ["Counts"]


class Counts:
    """Numbers since the start of the server."""

    def __init__(self) -> None:
        self.connections = 0
        """Connections accepted, with and without a login."""
        self.logins = 0
        self.refused: Counter[str] = Counter()
        """Logins refused, by the code of the error."""
        self.terminations: Counter[str] = Counter()
        """Matches that ended, by termination."""

    def ended(self, outcome: Outcome | None) -> None:
        """Count a match that is over; None for one that could not even be stored."""
        self.terminations["server_fault" if outcome is None else outcome.termination] += 1
