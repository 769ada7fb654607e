"""Keeps ratings up to date: a fit of all results of a game, some time after matches have ended.

Fits run in a thread, one at a time, and never more often than `DELAY_SECONDS` apart, however
many matches end.  What the database does not know yet is fitted again at the next start.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.server.ratings import PairScore, Rating, fit
from plyhouse.storage.errors import StorageError
from plyhouse.storage.rows import PairResult
from plyhouse.storage.store import Store

__all__ = ["Leaderboards"]

log = logging.getLogger("plyhouse.server.ratings")

DELAY_SECONDS: Final = 1.0


class Leaderboards:
    """Ratings of all games; `start` reads them, `played` asks for a new fit."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ratings: dict[str, dict[int, float]] = {}
        self._stale: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._open = True

    def rating_of(self, game: str, bot_id: int) -> float | None:
        """A bot's rating in a game as last fitted; None while it has none."""
        return self._ratings.get(game, {}).get(bot_id)

    async def start(self) -> None:
        """Read the ratings of all games, and fit those anew that have results."""
        for game in await self._store.games_with_results():
            self._ratings[game] = {
                line.bot_id: line.rating
                for line in await self._store.leaderboard(game, limit=100_000)
                if line.rating is not None
            }
            self._stale.add(game)
        if self._stale:
            self._schedule()

    def played(self, game: str) -> None:
        """A rated match of this game has ended."""
        self._stale.add(game)
        self._schedule()

    async def settle(self) -> None:
        """Fit now what is waiting for it, and return when that is stored."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._stale or self._task is not None:
            if self._task is None:
                self._run()
            if self._task is not None:
                await asyncio.wait([self._task])

    async def close(self) -> None:
        """Fit what is waiting, for the last time."""
        self._open = False
        await self.settle()

    def _schedule(self) -> None:
        if self._open and self._timer is None and self._task is None:
            self._timer = asyncio.get_running_loop().call_later(DELAY_SECONDS, self._run)

    def _run(self) -> None:
        self._timer = None
        games, self._stale = self._stale, set()
        self._task = asyncio.get_running_loop().create_task(self._fit(games), name="ratings")
        self._task.add_done_callback(self._fitted)

    def _fitted(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if self._stale:
            self._schedule()

    async def _fit(self, games: set[str]) -> None:
        for game in sorted(games):
            try:
                results = await self._store.pair_results(game)
                ratings = await asyncio.to_thread(_fit, results, _opponents(game))
                await self._store.save_ratings(game, ratings)
            except StorageError as error:
                log.warning("ratings of %s: %s", game, error)
            except Exception:
                log.exception("ratings of %s", game)
            else:
                self._ratings[game] = {bot: rating.elo for bot, rating in ratings.items()}


def _opponents(game: str) -> int:
    """How many opponents everybody has in a match of this game."""
    try:
        return max(1, get_game(game).seats - 1)
    except GameError:  # a plug-in that is not installed any more
        return 1


def _fit(results: list[PairResult], opponents: int) -> dict[int, Rating]:
    """Fit ratings to pairwise results, in which a match counts once for everybody."""
    share = 1.0 / opponents
    return fit(
        PairScore(
            each.bot_a, each.bot_b, each.wins_a * share, each.draws * share, each.wins_b * share
        )
        for each in results
    )
