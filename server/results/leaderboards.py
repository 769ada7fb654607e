"""Leaderboards: their lines with intervals, and when ratings are fitted.

The first match after a quiet time is rated at once.  Further fits begin `DELAY_SECONDS` or more
after the one before, however many matches end.  They run in a thread, one at a time.
After a start, all games with results are fitted again, because the database may lack the last
ratings.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from plyhouse.games.base import Scoring
from plyhouse.protocol.api.standings import Standing
from plyhouse.server.results.intervals import interval_of_sums
from plyhouse.server.results.scoring import default_scoring, installed_game, teams_of
from plyhouse.storage import leaderboards
from plyhouse.storage.errors import StorageError
from plyhouse.storage.rows import PairResult
from plyhouse.storage.store import Store

if TYPE_CHECKING:
    from plyhouse.server.results.ratings import Rating


log = logging.getLogger("plyhouse.server.results.ratings")
DELAY_SECONDS: Final = 1.0


async def board(
    store: Store, spec: str, limit: int = 100, offset: int = 0, *, every_version: bool = False
) -> list[Standing]:
    """Read a page of a game's table; games for one rank by mean return."""
    game = installed_game(spec)
    alone = game is not None and game.seats == 1
    return lines(
        spec,
        await store.read(
            leaderboards.leaderboard,
            spec,
            limit,
            offset,
            every_version=every_version,
            by_mean=alone,
        ),
    )


def lines(spec: str, standings: Iterable[Standing]) -> list[Standing]:
    """Return the lines of a game's table; with mean returns where returns decide."""
    game = installed_game(spec)
    if game is None or default_scoring(game) is not Scoring.RETURNS:
        return list(standings)
    bounds = game.return_bounds  # Forfeits give these returns, too.
    made = []
    for each in standings:
        mean = interval_of_sums(each.games, each.returns, each.return_squares, bounds=bounds)
        made.append(replace(each, mean_return=mean.mean, mean_low=mean.low, mean_high=mean.high))
    return made


def scoring_of(spec: str) -> Scoring:
    """Return the scoring of a game; by wins if it is not installed any more."""
    game = installed_game(spec)
    return Scoring.WINS if game is None else default_scoring(game)


class RatingRefits:
    """The ratings of all games; `start` reads them, `played` requests a fit."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ratings: dict[str, dict[int, float]] = {}
        self._stale: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._open = True
        self._earliest = 0.0
        """Time of the event loop before which no fit begins."""

    def rating_of(self, game: str, version_id: int) -> float | None:
        """Return a version's rating in a game as last fitted; None without one."""
        return self._ratings.get(game, {}).get(version_id)

    async def start(self) -> None:
        """Read the ratings of all games, and schedule a fit of those with results."""
        for game in await self._store.read(leaderboards.games_with_results):
            self._ratings[game] = {
                line.version_id: line.rating
                for line in await self._store.read(
                    leaderboards.leaderboard, game, 1_000_000, every_version=True
                )
                if line.rating is not None
            }
            self._stale.add(game)
        if self._stale:
            self._schedule()

    def played(self, game: str) -> None:
        """Schedule a fit because a rated match of this game ended or became void."""
        self._stale.add(game)
        self._schedule()

    async def settle(self) -> None:
        """Run all waiting fits now, and return when they are stored."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._stale or self._task is not None:
            if self._task is None:
                self._run()
            if self._task is not None:
                await asyncio.wait([self._task])

    async def close(self) -> None:
        """Run all waiting fits for the last time."""
        self._open = False
        await self.settle()

    def _schedule(self) -> None:
        if self._open and self._timer is None and self._task is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._earliest), self._run)

    def _run(self) -> None:
        self._timer = None
        games, self._stale = self._stale, set()
        loop = asyncio.get_running_loop()
        self._earliest = loop.time() + DELAY_SECONDS
        self._task = loop.create_task(self._fit(games), name="ratings")
        self._task.add_done_callback(self._fitted)

    def _fitted(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if self._stale:
            self._schedule()

    async def _fit(self, games: set[str]) -> None:
        for game in sorted(games):
            try:
                results = await self._store.read(leaderboards.pair_results_of, game)
                ratings = await asyncio.to_thread(_fit, results, _opponents(game))
                await self._store.write(leaderboards.save_ratings, game, ratings, self._store.now())
            except StorageError as error:
                log.warning("ratings failed", extra={"game": game, "why": str(error)})
            except Exception:
                log.exception("ratings failed", extra={"game": game})
            else:
                self._ratings[game] = {version: each.elo for version, each in ratings.items()}


def _opponents(spec: str) -> int:
    """Return the largest number of opponents of a seat in a match of this game."""
    game = installed_game(spec)
    if game is None:
        return 1
    teams = teams_of(game) or range(game.seats)
    return max(1, *[game.seats - teams.count(team) for team in teams])


def _fit(results: list[PairResult], opponents: int) -> dict[int, Rating]:
    """Fit ratings to pairwise results; each match counts once for each seat."""
    # This imports numpy, which matches on one's own machine, being unrated, do not need.
    from plyhouse.server.results.ratings import PairScore, fit

    share = 1.0 / opponents
    return fit(
        PairScore(
            each.version_a,
            each.version_b,
            each.games * share,
            each.score_a * share,
            each.squares_a * share,
        )
        for each in results
    )
