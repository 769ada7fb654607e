"""Adapter from a bot's client to the `Connection` that the screens of the terminal use."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from plyhouse.bots.client.client import Client, ClientError, Connected, Disconnected
from plyhouse.clients.terminal.interfaces import Incoming, Lost, Refusal
from plyhouse.protocol.messages import ClientMessage, ServerMessage

__all__ = ["TerminalConnection"]


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
