"""Clocks of hosted bots that the house has lost: no time passes for them, within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from plyhouse.server.house.directory import Directory
from plyhouse.server.house.participants import Participant

__all__ = ["LONGEST_NS", "Credit"]

LONGEST_NS: Final = 600 * 1_000_000_000
"""How long the clock of a bot stands still whose machine is lost; in all, for a match."""


class Credit:
    """Gives back what bots lose while their machine is away.

    A bot is away by its own doing once its machine has said that its program ended by itself
    (``ended``), and if it could not be run again and again (``given_up``).
    """

    def __init__(
        self,
        directory: Directory,
        now: int,
        *,
        ended: Callable[[Participant], bool],
        given_up: Callable[[Participant], bool],
    ) -> None:
        self._directory = directory
        self._ended, self._given_up = ended, given_up
        self._until = now
        self._away: dict[int, int] = {}
        """Since when a bot that should be hosted is away with matches of its own."""
        self._own_doing: set[int] = set()
        """Those of them whose program has ended by itself, as their machine has said since."""
        self._given: dict[tuple[str, int], int] = {}
        """For how long the clock of a seat of a match has stood still, in nanoseconds."""

    def give(self, now: int) -> None:
        """Do so for the time since the last call; nanoseconds."""
        begin, self._until = self._until, now
        away: dict[int, int] = {}
        for each in self._directory.participants.values():
            if not each.hosted or each.online or not each.matches:
                continue
            since = away[each.bot_id] = self._away.get(each.bot_id, begin)
            if self._ended(each):
                self._own_doing.add(each.bot_id)
            itself = each.bot_id in self._own_doing or self._given_up(each)
            if itself or now - since > LONGEST_NS:
                continue
            for live, seat in self._directory.matches_of(each):
                if live.match.seat_to_move == seat:
                    lost, given = max(begin, since), self._given.get((live.id, seat), 0)
                    until = min(now, lost + LONGEST_NS - given)
                    if until > lost:
                        live.match.server_stalled(lost, until)
                        live.set_alarm()
                        self._given[live.id, seat] = given + until - lost
        self._away = away
        self._own_doing &= away.keys()
        self._given = {
            place: given for place, given in self._given.items() if place[0] in self._directory.live
        }
