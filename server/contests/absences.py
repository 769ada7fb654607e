"""Withdrawal of entries that keep a final waiting for too long.

Each game of a final measures its own waits.  An entry's wait counts only while one of its pairings
could otherwise begin.  Baselines are never withdrawn, because grades need them; the organiser gets
a report instead.  A ladder waits for nobody.  Waits are kept in memory, so a restart resets them.
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
    """The waits of the finals of one server."""

    def __init__(self, competitions: Competitions) -> None:
        self._competitions = competitions
        self._waits: dict[str, Waits[int]] = {}
        """Waits by the id of the competition in which a game is played."""

    async def look(self, games: Iterable[ClassGame], minutes: int, now_ms: int) -> None:
        """Withdraw entries waited for ``minutes`` or longer; 0: never."""
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
        """Return a sentence for each bot waited for a minute or longer.

        The sentence says how long the wait has lasted and what follows from it.
        """
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
