"""Attackers: raw sockets that keep to no rule. All of it on this machine, all of it bounded."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from tests.harness.clocks import FakeClock
from tests.harness.patience import PATIENCE
from tests.server.conftest import (
    broker,
    clock,
    cluster_url,
    house,
    open_house,
    servers,
    still_house,
)

from plyhouse.protocol.codec import MSGPACK, SUBPROTOCOLS, Codec
from plyhouse.protocol.messages import Hello

__all__ = [
    "FakeClock",
    "Raw",
    "broker",
    "clock",
    "cluster_url",
    "house",
    "masked",
    "open_house",
    "servers",
    "still_house",
]

MASK = b"\x11\x22\x33\x44"


def masked(first: int, payload: bytes = b"") -> bytes:
    """A client's frame; ``first`` is its first byte (0x82: a whole binary message)."""
    size = len(payload)
    if size < 126:
        head = bytes((first, 128 | size))
    elif size < 65536:
        head = bytes((first, 254)) + size.to_bytes(2, "big")
    else:
        head = bytes((first, 255)) + size.to_bytes(8, "big")
    return head + MASK + bytes(byte ^ MASK[i % 4] for i, byte in enumerate(payload))


class Raw:
    """A socket to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.close_code: int | None = None

    def write(self, data: bytes) -> None:
        """Send without waiting; also into a connection that the server has given up."""
        with contextlib.suppress(OSError):
            self.writer.write(data)

    async def drain(self) -> None:
        """Wait until the kernel has taken most of it."""
        with contextlib.suppress(OSError):
            async with asyncio.timeout(PATIENCE):
                await self.writer.drain()

    async def upgrade(self, subprotocol: str = SUBPROTOCOLS[0]) -> None:
        """Become a websocket."""
        key = base64.b64encode(bytes(16)).decode()
        self.write(
            f"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {subprotocol}\r\n\r\n".encode()
        )
        async with asyncio.timeout(PATIENCE):
            assert b" 101 " in await self.reader.readuntil(b"\r\n\r\n")

    async def frame(self) -> tuple[int, bytes] | None:
        """First byte and payload of the next frame; None at the end."""
        try:
            async with asyncio.timeout(PATIENCE):
                first, length = await self.reader.readexactly(2)
                if length == 126:
                    length = int.from_bytes(await self.reader.readexactly(2), "big")
                elif length == 127:
                    length = int.from_bytes(await self.reader.readexactly(8), "big")
                payload = await self.reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        if first == 0x88:
            self.close_code = int.from_bytes(payload[:2], "big")
        return first, payload

    async def until_closed(self, codec: Codec = MSGPACK) -> list[Any]:
        """The messages that come until the server has closed."""
        told = []
        while (frame := await self.frame()) is not None:
            if frame[0] in (0x81, 0x82):
                data = frame[1] if codec.binary else frame[1].decode()
                told.append(codec.decode_server(data))
        return told

    async def answer(self, kind: type[Any], codec: Codec = MSGPACK) -> Any:
        """The next message of a kind."""
        while (frame := await self.frame()) is not None:
            if frame[0] in (0x81, 0x82):
                data = frame[1] if codec.binary else frame[1].decode()
                message = codec.decode_server(data)
                if isinstance(message, kind):
                    return message
        raise AssertionError(f"closed ({self.close_code}) before any {kind.__name__}")

    async def gone(self) -> None:
        """Wait until the server has given the connection up, by an end or a reset."""
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while await self.reader.read(65536):
                    pass

    def say(self, message: Any, codec: Codec = MSGPACK) -> None:
        """Send a message."""
        frame = codec.encode(message)
        if isinstance(frame, str):
            self.write(masked(0x81, frame.encode()))
        else:
            self.write(masked(0x82, frame))

    async def log_in(self, token: str, bot: str = "bot") -> None:
        """Say hello, as a bot or (without a token) as a spectator."""
        from plyhouse.protocol.messages import Welcome

        self.say(Hello(1, token, bot))
        await self.answer(Welcome)


@pytest.fixture
async def dial() -> AsyncIterator[Callable[..., Awaitable[Raw]]]:
    """Open a socket to a house; all are closed with the test."""
    opened: list[Raw] = []

    async def open_socket(house: Any, *, websocket: bool = True) -> Raw:
        made = await asyncio.open_connection(house.server.host, house.server.port)
        raw = Raw(*made)
        opened.append(raw)
        if websocket:
            await raw.upgrade()
        return raw

    yield open_socket
    for raw in opened:
        raw.writer.transport.abort()
