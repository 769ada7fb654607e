"""Connections to a server across a network."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from typing import Any, Final

from websockets.asyncio.client import ClientConnection as WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidProxyStatus,
    InvalidStatus,
    NegotiationError,
    ProxyError,
)
from websockets.typing import Subprotocol

from plyhouse.bots.client.channel import Channel, Connector, NotAServer, Unreachable
from plyhouse.protocol.address import Address, proxy_for
from plyhouse.protocol.api.answers import ApiError, answer_of, unreached
from plyhouse.protocol.api.answers import Unreachable as NotOurs
from plyhouse.protocol.codec import MAX_SERVER_FRAME, MSGPACK, Codec, Frame

__all__ = ["WebSocketChannel", "websocket_connector"]

OPEN_TIMEOUT: Final = 10.0
"""Seconds for connecting, handshake included."""

CLOSE_TIMEOUT: Final = 2.0
"""Seconds for the closing handshake."""

_RETRIED_STATUS: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP answers of a server (or a proxy before it) that may be better in a moment."""


class WebSocketChannel:
    """A `Channel` over a websocket; a separate task writes the frames in order."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._queue: asyncio.Queue[Frame | tuple[int, str]] = asyncio.Queue()
        self._writer = asyncio.create_task(self._write())
        self.close_code: int | None = None
        self.close_reason = ""

    def send(self, frame: Frame) -> None:
        """Queue a frame; ignored once the connection is closed."""
        self._queue.put_nowait(frame)

    async def recv(self) -> Frame | None:
        """Return the next frame; None when the connection is closed."""
        try:
            return await self._socket.recv()
        except ConnectionClosed:
            self.close_code = self._socket.close_code
            self.close_reason = self._socket.close_reason or ""
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
            return None

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Start to close, after what was queued."""
        self._queue.put_nowait((code, reason[:120]))

    async def _write(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                item = await self._queue.get()
                if isinstance(item, tuple):
                    await self._socket.close(*item)
                    return
                await self._socket.send(item)


def websocket_connector(
    server: str, codec: Codec = MSGPACK, headers: Mapping[str, str] | None = None
) -> Connector:
    """Connect to ``server`` (see `Address`) over a websocket that speaks ``codec``.

    ``headers`` are sent along when it is opened, such as the cookie of a session.
    """
    address = Address.read(server)
    url, proxy = address.websocket, proxy_for(address)
    options: dict[str, Any] = {
        "subprotocols": [Subprotocol(codec.subprotocol)],
        "compression": None,  # frames are small: compressing costs more than it saves
        "ping_interval": None,  # the protocol has its own heartbeat
        "max_size": MAX_SERVER_FRAME,
        "open_timeout": OPEN_TIMEOUT,
        "close_timeout": CLOSE_TIMEOUT,
        "additional_headers": dict(headers or {}),
        "proxy": None if proxy is None else proxy.full_url,
    }

    async def open_channel() -> Channel:
        try:
            socket = await _Connect(url, **options)
        except NegotiationError as error:
            raise NotAServer(f"the server at {url} does not speak {codec.subprotocol}") from error
        except InvalidStatus as error:
            raise _refused(address, error) from error
        except InvalidProxyStatus as error:
            retried = error.response.status_code in _RETRIED_STATUS
            raise (Unreachable if retried else NotAServer)(unreached(address, error)) from error
        except ProxyError as error:
            raise Unreachable(unreached(address, error)) from error
        except ssl.SSLError as error:
            raise NotAServer(unreached(address, error)) from error
        except TimeoutError as error:
            raise Unreachable(f"{url} did not answer within {OPEN_TIMEOUT:g} s") from error
        except (OSError, EOFError) as error:
            raise Unreachable(unreached(address, error)) from error
        except InvalidHandshake as error:
            raise NotAServer(f"there is no Plyhouse server at {url}: {error}") from error
        if socket.subprotocol != codec.subprotocol:
            await socket.close()
            raise NotAServer(f"the server at {url} does not speak {codec.subprotocol}")
        return WebSocketChannel(socket)

    return open_channel


class _Connect(connect):
    """Follows no redirect: the server's own address is the one to write down."""

    def process_redirect(self, exc: Exception) -> Exception:
        """Leave the answer to the caller."""
        return exc


def _refused(address: Address, error: InvalidStatus) -> Exception:
    """Return the exception for an answer that opens no websocket."""
    answer = error.response
    status, body = answer.status_code, bytes(answer.body or b"")
    try:
        if status >= 300:
            answer_of(status, body, address.base, "/ws", answer.headers.get("Location"))
        said = f"there is no Plyhouse server at {address.websocket}: it answers {status}"
    except (ApiError, NotOurs) as cause:
        said = str(cause)
    return Unreachable(said) if status in _RETRIED_STATUS else NotAServer(said)
