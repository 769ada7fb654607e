"""A server for the screens of the terminal: its HTTP API, its leaderboards, and a connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final, TypeVar

from plyhouse.bots.client.client import Client, ClientError, Connected, Disconnected
from plyhouse.bots.client.websocket import websocket_connector
from plyhouse.clients.shared.http import ask, guest_cookie
from plyhouse.clients.shared.standings import board_cells, standings_cells
from plyhouse.clients.terminal.interfaces import Board, Incoming, Lost, Refusal
from plyhouse.protocol.address import Address
from plyhouse.protocol.api import calls, competition_calls
from plyhouse.protocol.api.answers import ApiError, Unreachable
from plyhouse.protocol.api.routes import Call
from plyhouse.protocol.api.standings import Standing
from plyhouse.protocol.messages import ClientMessage, Hello, ServerMessage


class TerminalConnection:
    """A `plyhouse.clients.terminal.interfaces.Connection` over a `Client`."""

    def __init__(
        self, client: Client, arrived: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._client = client
        self._arrived = arrived
        """Called once, after the first connect."""

    async def incoming(self) -> AsyncGenerator[Incoming, None]:
        """Yield what the server says; see the protocol of the same name."""
        try:
            async with aclosing(self._client.messages()) as messages:
                async for message, _ in messages:
                    match message:
                        case Connected(welcome=welcome, again=again):
                            if self._arrived is not None and not again:
                                await self._arrived()
                            yield welcome
                        case Disconnected(reason=reason, retry_in=seconds):
                            yield Lost(reason, seconds)
                        case _:
                            yield message
        except ClientError as error:
            raise Refusal(str(error), getattr(error, "code", "")) from error

    async def ask(self, build: Callable[[int], ClientMessage]) -> ServerMessage:
        """Send a request, also after a reconnect; raises `Refusal`."""
        try:
            return await self._client.request(build, repeat=True)
        except ClientError as error:
            raise Refusal(str(error), getattr(error, "code", "")) from error

    async def leave(self) -> None:
        """Leave for good."""
        await self._client.leave()


T = TypeVar("T")

MOST_GAMES: Final = 256
"""Games that a hello takes."""


class TerminalServer:
    """A running server; a `plyhouse.clients.terminal.interfaces.ServerApi`.

    token: the player's token; None for a guest or a spectator.
    """

    def __init__(self, server: str, token: str | None) -> None:
        self._url = Address.read(server)
        self.address = self._url.base
        self._token = token
        self.known = token is not None
        self._cookie: str | None = None
        self._player = ""

    async def ask(self, request: Call[T]) -> T:
        """Return the answer to a request; raises `Refusal`."""
        try:
            return await asyncio.to_thread(
                ask, self.address, request, self._token, cookie=self._cookie
            )
        except (ApiError, Unreachable) as error:
            raise Refusal(str(error), error.code) from error

    async def enter(self) -> str:
        """Sign in, as a guest without a token, and return our name; raises `Refusal`."""
        if self._token is None and self._cookie is None:
            try:
                self._player, self._cookie = await asyncio.to_thread(guest_cookie, self.address)
            except ApiError as error:
                raise Refusal(
                    f"{error} With an account, give its token: --token or PLYHOUSE_TOKEN.",
                    error.code,
                ) from error
            except Unreachable as error:
                raise Refusal(str(error), error.code) from error
        return self._player

    def line(self, games: Sequence[str]) -> TerminalConnection:
        """Return a connection to play and watch; before `enter`, to watch only."""
        if self._cookie is not None:
            headers = {"Origin": self.address, "Cookie": self._cookie}
            connector = websocket_connector(self._url.websocket, headers=headers)
        else:
            connector = websocket_connector(self._url.websocket)
        plays = self._token is not None or self._cookie is not None
        hello = Hello(
            0,
            self._token or "",
            games=list(games[:MOST_GAMES]) if plays else [],
            client="plyhouse-terminal",
            updates=True,
            scenes=True,
            takeover=bool(games),  # a spectator replaces no other connection
            signed_in=self._cookie is not None,
        )
        return TerminalConnection(Client(connector, hello, first_attempts=1))


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
