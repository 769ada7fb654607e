"""Leaderboards for the screen of standings, asked of a server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from plyhouse.clients.shared.http import ask
from plyhouse.clients.shared.standings import board_cells, standings_cells
from plyhouse.clients.terminal.interfaces import Board, Refusal
from plyhouse.protocol.api import calls, competition_calls
from plyhouse.protocol.api.answers import ApiError, Unreachable
from plyhouse.protocol.api.boards import Standing
from plyhouse.protocol.api.routes import Call

T = TypeVar("T")

COMPETITION = "competition:"
"""Prefix of the key of a competition's table."""


def _board(title: str, rows: Sequence[Standing], *, versions: bool) -> Board:
    columns, cells, align = standings_cells(rows, versions=versions)
    spans = tuple(
        None
        if row.rating is None or row.low is None or row.high is None
        else (row.low, row.rating, row.high)
        for row in rows
    )
    return Board(title, tuple(columns), tuple(map(tuple, cells)), align, spans)


class ServedBoards:
    """Leaderboards of a server, and the tables of its competitions."""

    def __init__(self, server: str, limit: int, *, versions: bool) -> None:
        """Take at most ``limit`` rows a table.  With ``versions`` every version has a row."""
        self._server, self._limit, self._versions = server, limit, versions

    async def _ask(self, what: Call[T]) -> T:
        try:
            return await asyncio.to_thread(ask, self._server, what)
        except (ApiError, Unreachable) as error:
            raise Refusal(str(error), error.code) from error

    async def names(self) -> list[tuple[str, str]]:
        """Return the keys and titles of the games and competitions."""
        games = await self._ask(calls.leaderboards())
        classes = await self._ask(competition_calls.competitions())
        return [
            *((game, game) for game in games),
            *((f"{COMPETITION}{each.competition}", each.name) for each in classes),
        ]

    async def board(self, key: str) -> Board:
        """Return the table with this key."""
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
