"""Entries that a final has waited for too long are withdrawn from it, game by game.

Only what a final waits for is measured: an entry that is away while nothing of it could begin
keeps nobody.  Baselines are never withdrawn, as grades need them: the organiser is told.  A ladder
waits for nobody.  Waits are kept in memory, so that a restart begins them anew.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from plyhouse.server.competition.absence import Waits
from plyhouse.server.contests.competitions import Competitions
from plyhouse.storage.class_rows import ClassGame
from plyhouse.storage.rows import By

__all__ = ["Absences"]

log = logging.getLogger("plyhouse.server.contests.absences")

MINUTE_MS: Final = 60_000
WHO: Final = "the clock"


class Absences:
    """Whom the finals of one server wait for."""

    def __init__(self, competitions: Competitions) -> None:
        self._competitions = competitions
        self._waits: dict[str, Waits[int]] = {}
        """By the id of the competition in which a game is played."""

    async def look(self, games: Iterable[ClassGame], minutes: int, now_ms: int) -> None:
        """Withdraw who has kept a game of a running final for so long; 0: nobody ever."""
        for game in games:
            here = game.competition_id or ""
            missed = self._competitions.missed(here)
            if missed is None:
                self._waits.pop(here, None)
                continue
            waits = self._waits.setdefault(here, Waits())
            for bot, waited in waits.look(now_ms, missed).items():
                each = missed[bot]
                if minutes and not each.baseline and waited >= minutes * MINUTE_MS:
                    why = f"{each.brief} for {_minutes(minutes)}"
                    await self._competitions.withdraw(here, bot, By(WHO, why), tell=True)
                    log.warning(
                        "entry withdrawn", extra={"competition": here, "bot": each.name, "why": why}
                    )

    def told(self, competition_id: str, minutes: int) -> list[str]:
        """Who has been waited for for a minute and more, and what comes of it."""
        waits = self._waits.get(competition_id)
        missed = self._competitions.missed(competition_id)
        if waits is None or missed is None:
            return []
        found = []
        for bot, waited in waits.waited().items():
            each = missed.get(bot)
            if each is None or waited < MINUTE_MS:
                continue
            if each.baseline:
                then = "a baseline is never withdrawn: what is played against it waits for you"
            elif minutes:
                then = f"after {_minutes(minutes)} it is withdrawn"
            else:
                then = "it is waited for until it comes, or you disqualify it"
            passed = _minutes(waited // MINUTE_MS)
            found.append(f"{each.name} has been {each.brief} for {passed}; {then}.")
        return found


def _minutes(count: int) -> str:
    return "1 minute" if count == 1 else f"{count} minutes"
