"""Withdrawal of entries that keep a final waiting for too long, or in vain.

Each game of a final measures its own waits.  An entry's wait counts only while one of its pairings
could otherwise begin.  A program that does not play the game is withdrawn at once.

Baselines are never withdrawn, because grades need them; the organiser gets a report instead.  A
ladder waits for nobody.  Waits are kept in memory, so a restart resets them.  After a gap between
two looks (the machine slept, the clock was set) all waits start again, so that no entry is late
through the server's fault.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Hashable, Iterable
from typing import Final, Generic, TypeVar

from plyhouse.server.competitions.tournaments import Tournaments
from plyhouse.storage.competition_rows import CompetitionGame
from plyhouse.storage.rows import By

log = logging.getLogger("plyhouse.server.competitions.absences")

GAP_MS: Final = 60_000
"""Looks further apart than this (in ms), or backwards in time, restart all waits."""
MINUTE_MS: Final = 60_000
WHO: Final = "the clock"

KeyT = TypeVar("KeyT", bound=Hashable)


class Waits(Generic[KeyT]):
    """The keys that are waited for, and since when.

    >>> waits = Waits[str]()
    >>> waits.look(0, ["ada", "bob"])
    {'ada': 0, 'bob': 0}
    >>> waits.look(40_000, ["ada"])  # bob has come
    {'ada': 40000}
    >>> waits.look(50_000, ["ada", "bob"])  # and has left again
    {'ada': 50000, 'bob': 0}
    >>> waits.look(3_600_000, ["ada"])  # nobody has looked for an hour
    {'ada': 0}
    """

    def __init__(self) -> None:
        self._since: dict[KeyT, int] = {}
        self._seen: int | None = None

    def look(self, now_ms: int, missing: Collection[KeyT]) -> dict[KeyT, int]:
        """Return the keys that are missing now, with the wait of each in ms."""
        if self._seen is not None and not 0 <= now_ms - self._seen <= GAP_MS:
            self._since.clear()
        self._seen = now_ms
        self._since = {each: self._since.get(each, now_ms) for each in missing}
        return self.waited()

    def waited(self) -> dict[KeyT, int]:
        """Return the answer of the last look."""
        return {each: (self._seen or 0) - since for each, since in self._since.items()}


class Absences:
    """The waits of the finals of one server."""

    def __init__(self, tournaments: Tournaments) -> None:
        self._tournaments = tournaments
        self._waits: dict[str, tuple[int, Waits[int]]] = {}
        """The run and its waits by the id of the tournament that plays a game."""

    async def look(self, games: Iterable[CompetitionGame], minutes: int, now_ms: int) -> None:
        """Withdraw entries waited for ``minutes`` or longer (0: never), or in vain."""
        for game in games:
            here = game.tournament_id or ""
            missed = self._tournaments.missed(here)
            if missed is None:
                self._waits.pop(here, None)
                continue
            run = self._tournaments.run_of(here)
            if here not in self._waits or self._waits[here][0] != run:
                self._waits[here] = run, Waits()  # a rerun waits anew
            waits = self._waits[here][1]
            for bot, waited in waits.look(now_ms, missed).items():
                each = missed[bot]
                if each.baseline:
                    continue
                if each.in_vain or (minutes and waited >= minutes * MINUTE_MS):
                    why = each.brief if each.in_vain else f"{each.brief} for {_minutes(minutes)}"
                    await self._tournaments.withdraw(here, bot, By(WHO, why))
                    log.warning(
                        "entry withdrawn", extra={"tournament": here, "bot": each.name, "why": why}
                    )

    def texts(self, tournament_id: str, minutes: int) -> list[str]:
        """Return a sentence for each bot waited for a minute or longer.

        The sentence says how long the wait has lasted and what follows from it.
        """
        run, waits = self._waits.get(tournament_id, (0, None))
        missed = self._tournaments.missed(tournament_id)
        if waits is None or missed is None or run != self._tournaments.run_of(tournament_id):
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
