"""The lines of a leaderboard, with intervals."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from plyhouse.games.base import Game, Scoring
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.protocol.api.boards import Standing
from plyhouse.server.results.intervals import interval_of_sums
from plyhouse.server.results.scoring import default_scoring
from plyhouse.storage import leaderboards
from plyhouse.storage.store import Store


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


def installed_game(spec: str) -> Game | None:
    """Return a game; None for a plug-in that is not installed any more."""
    try:
        return get_game(spec)
    except GameError:
        return None
