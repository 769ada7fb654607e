"""A server for the screens of the terminal: its HTTP API, and a connection for playing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final, TypeVar

from plyhouse.bots.client.client import Client, ClientError, Connected, Disconnected, Introduction
from plyhouse.bots.client.websocket import websocket_connector
from plyhouse.clients.shared.http import ask, guest_cookie
from plyhouse.clients.terminal.interfaces import Incoming, Lost, Refusal
from plyhouse.protocol.address import Address
from plyhouse.protocol.api.answers import ApiError, Unreachable
from plyhouse.protocol.api.routes import Call
from plyhouse.protocol.messages import ClientMessage, ServerMessage


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
        identity = Introduction(
            self._token or "",
            games=tuple(games[:MOST_GAMES]) if plays else (),
            client="plyhouse-terminal",
            updates=True,
            scenes=True,
            takeover=bool(games),  # a spectator replaces no other connection
            signed_in=self._cookie is not None,
        )
        return TerminalConnection(Client(connector, identity, first_attempts=1))
