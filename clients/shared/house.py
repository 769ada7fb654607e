"""A server as the screens of the terminal want it: its HTTP API, and a line to play over."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from plyhouse.bots.client.client import Client, Introduction
from plyhouse.bots.client.websocket import websocket_connector
from plyhouse.clients.shared.http import (
    ApiError,
    UnreachableError,
    Url,
    call,
    guest_cookie,
    path,
)
from plyhouse.clients.shared.line import ClientLine
from plyhouse.clients.terminal.line import Refusal

__all__ = ["ServerHouse"]

MOST_GAMES: Final = 256
"""Games that a hello takes."""


class ServerHouse:
    """A running server; a `plyhouse.clients.terminal.line.House`.

    token: of the player; None for a guest, or to look on.
    """

    def __init__(self, server: str, token: str | None) -> None:
        self._url = Url(server)
        self.address = self._url.base
        self._token = token
        self.known = token is not None
        self._cookie: str | None = None
        self._player = ""

    async def call(self, method: str, *parts: str, query: str = "", body: Any = None) -> Any:
        """Ask; raises `Refusal`."""
        target = path(*parts) + query
        arguments = (self.address, method, target, body, self._token)
        try:
            return await asyncio.to_thread(call, *arguments, cookie=self._cookie)
        except (ApiError, UnreachableError) as error:
            raise Refusal(str(error), error.code) from error

    async def enter(self) -> str:
        """See to it that we may play; raises `Refusal` where that needs an account."""
        if self._token is None and self._cookie is None:
            try:
                self._player, self._cookie = await asyncio.to_thread(guest_cookie, self.address)
            except ApiError as error:
                raise Refusal(
                    f"{error} With an account, give its token: --token or PLYHOUSE_TOKEN.",
                    error.code,
                ) from error
            except UnreachableError as error:
                raise Refusal(str(error), error.code) from error
        return self._player

    def line(self, games: Sequence[str]) -> ClientLine:
        """A connection to play and watch; without having entered, to watch only."""
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
            takeover=bool(games),  # who only looks on sends nobody away
            signed_in=self._cookie is not None,
        )
        return ClientLine(Client(connector, identity, first_attempts=1))
