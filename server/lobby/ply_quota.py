"""How many plies the server stores for a player in a day, outside of competitions.

Two bots with a standing seek may play without end, and a fast game fills gigabytes in a night.
Matches at once are limited, but not those one after the other.  So each player has an allowance of
plies, which comes back evenly over a day.  A match may begin while any of it is left, and counts
when it is over.  The allowance may go below zero then, and no match begins until it is above again.

The match itself, chance events and long thoughts of bots count, too: two bots that resign at once
could fill the disk without a ply.

Guests share the allowance of their address, because one person can be many of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Final

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.wire.limits import Rate

DAY_S: Final = 24 * 3600
"""Seconds in which the whole allowance comes back."""
OF_A_MATCH: Final = 12
"""Plies that take as much of the database as a match without its events."""


class PlyQuota:
    """Counts the plies of matches that are over, for the player of each seat.

    Built-in bots have no limit.  A restart forgets what was played.  In a cluster the leader counts
    the matches of all servers.
    """

    def __init__(self, per_day: int, now: Callable[[], int]) -> None:
        """``per_day`` 0 is no limit; ``now`` returns monotonic nanoseconds."""
        self._per_day = per_day
        self._rate = Rate(per_day, per_day / DAY_S, now) if per_day else None
        self.payer: Callable[[int], Hashable] = _itself
        """Returns for whom the plies of a player count."""

    def spend(self, match: MatchSummary) -> None:
        """Count a match that is over, unless it belongs to a competition."""
        if self._rate is not None and match.tournament is None:
            # A server that has stopped may have reported the plies only.
            cost = OF_A_MATCH + max(match.ply, match.stored)
            for payer in {self.payer(each.player_id) for each in match.seats}:
                self._rate.spend(payer, cost)

    def free(self, bot: Presence | None) -> int:
        """Return how many more matches a bot can take now; 0 if it is not here."""
        return 0 if bot is None or self._wait_s(bot) else bot.free

    def check(self, bot: Presence) -> None:
        """Raise `ProtocolError` if the player of a bot may begin no match now."""
        wait_s = self._wait_s(bot)
        if wait_s:
            raise ProtocolError(
                "seek/plies",
                f"{bot.player} has played the {self._per_day} plies that this server stores for a "
                f"player in a day: play again in {math.ceil(wait_s / 60)} minutes, or let bots "
                "meet on your own machine by `plyhouse match`.",
            )

    def _wait_s(self, bot: Presence) -> float:
        """Return the seconds until the player of a bot has plies left."""
        if self._rate is None or (bot.casual and not bot.guest):
            return 0.0
        return self._rate.wait(self.payer(bot.player_id))


def _itself(player_id: int) -> Hashable:
    return player_id
