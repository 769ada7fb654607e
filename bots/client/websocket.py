"""Connections to a server across a network."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import ipaddress
import ssl
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from websockets.asyncio.client import ClientConnection as WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidStatus,
    InvalidURI,
    NegotiationError,
)
from websockets.typing import Subprotocol

from plyhouse.bots.client.channel import Channel, Connector, NotAServer, Unreachable
from plyhouse.protocol.codec import MAX_SERVER_FRAME, MSGPACK, Codec, Frame

__all__ = ["WebSocketChannel", "server_url", "websocket_connector"]

OPEN_TIMEOUT: Final = 10.0
"""Seconds for connecting, handshake included."""

CLOSE_TIMEOUT: Final = 2.0
"""Seconds for the closing handshake."""

_RETRIED_STATUS: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP answers of a server (or a proxy before it) that may be better in a moment."""


def server_url(text: str) -> str:
    """Return the websocket address of a server, however it was written; raises `ValueError`.

    >>> server_url("127.0.0.1:8765")
    'ws://127.0.0.1:8765/ws'
    >>> server_url("https://games.example.org/")  # as a browser shows it
    'wss://games.example.org/ws'
    """
    written = text.strip()
    parts = urlsplit(written if "://" in written else f"ws://{written}")
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    try:
        valid = scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        valid = False
    if not valid:
        raise ValueError(
            f"{text!r} is not the address of a server: write one like http://127.0.0.1:8765"
        )
    path = parts.path.rstrip("/")
    if not path.endswith("/ws"):
        path += "/ws"
    return urlunsplit((scheme, parts.netloc, path, parts.query, ""))


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
    """Connect to ``server`` (see `server_url`) over a websocket that speaks ``codec``.

    ``headers`` are sent along when it is opened, such as the cookie of a session.
    """
    url = server_url(server)
    options: dict[str, Any] = {
        "subprotocols": [Subprotocol(codec.subprotocol)],
        "compression": None,  # frames are small: compressing costs more than it saves
        "ping_interval": None,  # the protocol has its own heartbeat
        "max_size": MAX_SERVER_FRAME,
        "open_timeout": OPEN_TIMEOUT,
        "close_timeout": CLOSE_TIMEOUT,
        "additional_headers": dict(headers or {}),
    }
    if _is_local(url) and "proxy" in inspect.signature(connect.__init__).parameters:
        options["proxy"] = None  # never ask a proxy for this machine

    async def open_channel() -> Channel:
        try:
            socket = await connect(url, **options)
        except NegotiationError as error:
            raise NotAServer(f"the server at {url} does not speak {codec.subprotocol}") from error
        except InvalidStatus as error:
            status = error.response.status_code
            if status in _RETRIED_STATUS:
                raise Unreachable(f"the server at {url} answers with status {status}") from error
            raise NotAServer(
                f"there is no Plyhouse server at {url} (it answers with status {status})"
            ) from error
        except InvalidURI as error:
            raise NotAServer(f"{url} is not the address of a server") from error
        except ssl.SSLError as error:
            raise NotAServer(f"no secure connection to {url}: {error.reason}") from error
        except TimeoutError as error:
            raise Unreachable(f"{url} did not answer within {OPEN_TIMEOUT:g} s") from error
        except (OSError, EOFError) as error:
            raise Unreachable(f"cannot reach {url}: {_plain(error)}") from error
        except InvalidHandshake as error:
            raise NotAServer(f"there is no Plyhouse server at {url}: {error}") from error
        if socket.subprotocol != codec.subprotocol:
            await socket.close()
            raise NotAServer(f"the server at {url} does not speak {codec.subprotocol}")
        return WebSocketChannel(socket)

    return open_channel


def _is_local(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _plain(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there (connection refused)"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
