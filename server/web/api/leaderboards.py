"""Standings, game by game."""

from __future__ import annotations

from typing import Any, Final, Literal

from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.protocol.api import calls
from plyhouse.protocol.api.boards import Leaderboard
from plyhouse.server.lobby.lobby import read_game
from plyhouse.server.results.leaderboards import board, scoring_of
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import Limit, Offset, service
from plyhouse.storage import leaderboards as stored_leaderboards
from plyhouse.storage.store import Store


@serve(calls.leaderboards)
async def leaderboards(state: State) -> list[str]:
    """List the games that have results."""
    return await service(state, Store).read(stored_leaderboards.games_with_results)


@serve(calls.leaderboard)
async def leaderboard(
    state: State,
    game: FromPath[str],
    versions: FromQuery[Literal["latest", "all"]] = "latest",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Leaderboard:
    """Give the standings of a game; ratings come with their 95 % interval.

    For a game scored by returns, the mean return per match has one, too.  Results are kept per
    version of a bot: shown are those of the version that it played with last, or of all versions.
    """
    spec = read_game(game).spec
    standings = await board(
        service(state, Store), spec, limit, offset, every_version=versions == "all"
    )
    return Leaderboard(spec, scoring_of(spec).value, standings)


HANDLERS: Final[tuple[Any, ...]] = (leaderboards, leaderboard)
