"""Leaderboards for the screen of standings, read from a database or a server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from plyhouse.clients.shared.http import ask
from plyhouse.clients.shared.standings import board_cells, standings_cells, standings_from_database
from plyhouse.clients.terminal.interfaces import Board, Boards, Refusal
from plyhouse.games.errors import GameError
from plyhouse.protocol.api import calls, competition_calls
from plyhouse.protocol.api.answers import ApiError, Unreachable
from plyhouse.protocol.api.boards import Standing
from plyhouse.protocol.api.routes import Call
from plyhouse.server.results.leaderboards import scoring_of
from plyhouse.storage import leaderboards
from plyhouse.storage.errors import StorageError

T = TypeVar("T")

COMPETITION = "competition:"
"""Prefix of the key of a competition's table."""


async def games_with_results(server: str | None, database: str) -> list[str]:
    """Return the games that have results; of the database if ``server`` is None."""
    if server is not None:
        return await asyncio.to_thread(ask, server, calls.leaderboards())
    from plyhouse.storage.store import Store

    store = await Store.open(database, create=False)
    try:
        return list(await store.read(leaderboards.games_with_results))
    finally:
        await store.close()


def boards_of(server: str | None, database: str, limit: int, *, versions: bool) -> Boards:
    """Return the leaderboards of a server; of the database if ``server`` is None.

    A table has at most ``limit`` rows.  With ``versions`` every version of a bot has a row.
    """
    if server is None:
        return _Stored(database, limit, versions=versions)
    return _Served(server, limit, versions=versions)


def _board(title: str, rows: Sequence[Standing], *, versions: bool) -> Board:
    columns, cells, align = standings_cells(rows, versions=versions)
    spans = tuple(
        None
        if row.rating is None or row.low is None or row.high is None
        else (row.low, row.rating, row.high)
        for row in rows
    )
    return Board(title, tuple(columns), tuple(map(tuple, cells)), align, spans)


class _Stored:
    """Leaderboards of a database."""

    def __init__(self, database: str, limit: int, *, versions: bool) -> None:
        self._database, self._limit, self._versions = database, limit, versions

    async def names(self) -> list[tuple[str, str]]:
        try:
            return [(game, game) for game in await games_with_results(None, self._database)]
        except StorageError as error:
            raise Refusal(str(error), error.code) from error

    async def board(self, key: str) -> Board:
        try:
            rows = await standings_from_database(
                self._database, key, self._limit, every_version=self._versions
            )
            scoring = scoring_of(key).value
        except (StorageError, GameError) as error:
            raise Refusal(str(error), str(getattr(error, "code", ""))) from error
        return _board(f"{key}, by {scoring}", rows, versions=self._versions)


class _Served:
    """Leaderboards of a server, and the tables of its competitions."""

    def __init__(self, server: str, limit: int, *, versions: bool) -> None:
        self._server, self._limit, self._versions = server, limit, versions

    async def _ask(self, what: Call[T]) -> T:
        try:
            return await asyncio.to_thread(ask, self._server, what)
        except (ApiError, Unreachable) as error:
            raise Refusal(str(error), error.code) from error

    async def names(self) -> list[tuple[str, str]]:
        games = await self._ask(calls.leaderboards())
        classes = await self._ask(competition_calls.competitions())
        return [
            *((game, game) for game in games),
            *((f"{COMPETITION}{each.competition}", each.name) for each in classes),
        ]

    async def board(self, key: str) -> Board:
        if key.startswith(COMPETITION):
            name = key.removeprefix(COMPETITION)
            view = await self._ask(competition_calls.table(name))
            title, columns, rows, align = board_cells(view)
            ratings = [line.rating for line in view.lines]
            spans = tuple(
                None if each is None else (each.low, each.elo, each.high) for each in ratings
            )
            return Board(
                title, tuple(columns), tuple(map(tuple, rows)), align, spans, tuple(view.notes)
            )
        which = "all" if self._versions else "latest"
        answer = await self._ask(calls.leaderboard(key, versions=which, limit=self._limit))
        title = f"{answer.game}, by {answer.scoring}"
        return _board(title, answer.standings, versions=self._versions)
