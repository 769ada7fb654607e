"""Websocket connections: the ASGI endpoint ``/ws``.

The endpoint is an ordinary ASGI application, for any server.  It negotiates the subprotocol,
refuses others with a reason, and then moves frames.  A server that offers `EXTENSION` in the scope,
as `plyhouse.server.wire.direct` does, moves the frames itself.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from typing import Any, Final, Protocol

from plyhouse.protocol.api.answers import problem
from plyhouse.protocol.side import CLOSE_LOST, CLOSE_NO_CODE
from plyhouse.server.wire.transport import Frame, FrameSink, Transport, Upgrade

MAX_WEBSOCKET_FRAME: Final = 1 << 20
"""Longest frame that the websocket layer reads.

Above the protocol's own, lower limit the sender gets an error message; above this one it only gets
the close code.
"""

EARLY_WEBSOCKET_FRAME: Final = 1 << 16
"""The same limit before the client has logged in."""

EXTENSION: Final = "plyhouse.direct"
"""The name under which the extensions of an ASGI scope may hold a `ShortWay`."""

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Attach = Callable[[Transport, str], FrameSink]
"""Makes the session for a transport that speaks the given subprotocol."""


class ShortWay(Protocol):
    """A server's direct path from the socket to a session, without ASGI's queue."""

    def take(
        self, attach: Callable[[Transport], FrameSink], peer: str
    ) -> asyncio.Future[tuple[int, str] | None]:
        """Move frames from now on, and return a future for the end.

        Its result is the server's close code once the session ends it, or None when the connection
        has closed.
        """


def websocket_endpoint(
    subprotocols: Sequence[str], attach: Attach
) -> Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]:
    """Return the ASGI application that connects websockets to sessions.

    ``attach`` makes the sessions.

    ``subprotocols`` are those on offer, the preferred one first.
    """

    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        offered = scope.get("subprotocols", ())
        chosen = next((name for name in offered if name in subprotocols), None)
        if chosen is None:
            detail = f"Ask for one of the subprotocols {' or '.join(subprotocols)}."
            await refuse(scope, send, 400, "protocol/version", detail)
            return
        await send({"type": "websocket.accept", "subprotocol": chosen})
        client = scope.get("client")
        peer = f"{client[0]}:{client[1]}" if client else "unknown"
        asked = _upgrade(scope)

        def attached(transport: Transport) -> FrameSink:
            transport.upgrade = asked
            return attach(transport, chosen)

        short: ShortWay | None = scope.get("extensions", {}).get(EXTENSION)
        if short is not None:
            closing = await short.take(attached, peer)
        else:
            queued = QueuedTransport(peer)
            closing = await queued.pump(attached(queued), receive, send)
        if closing is not None:
            code, reason = closing
            await send({"type": "websocket.close", "code": code, "reason": reason[:120]})

    return endpoint


def _upgrade(scope: Scope) -> Upgrade:
    said: dict[bytes, list[str]] = {b"cookie": [], b"origin": [], b"host": []}
    for name, value in scope.get("headers", ()):
        if name in said:
            said[name].append(value.decode("latin-1"))
    return Upgrade(
        "; ".join(said[b"cookie"]),
        # No browser sends two of them, so then neither counts.
        said[b"origin"][0] if len(said[b"origin"]) == 1 else "",
        said[b"host"][0] if len(said[b"host"]) == 1 else "",
        scope.get("scheme") in ("wss", "https"),
    )


async def refuse(scope: Scope, send: Send, status: int, code: str, detail: str) -> None:
    """Refuse a websocket before it opens, with an HTTP answer that says why."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 4000 + status, "reason": detail})
        return
    body = json.dumps(problem(status, code, detail)).encode()
    headers = [(b"content-type", b"application/problem+json")]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


class QueuedTransport:
    """The ordinary ASGI path, for other servers: a queue and a task that empties it."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.remote = True
        self.upgrade: Upgrade | None = None
        self._frames: deque[Frame] = deque()
        self._size = 0
        self._wanted = asyncio.Event()
        self._closing: tuple[int, str] | None = None
        self._reader: asyncio.Task[None] | None = None
        self._gone = False
        self._code = CLOSE_LOST

    def send(self, frame: Frame) -> None:
        """Queue one frame for the writing task."""
        if self._closing is None and not self._gone:
            self._frames.append(frame)
            self._size += len(frame)
            self._wanted.set()

    def cork(self) -> None:
        """Do nothing: the ASGI server takes frames one by one."""

    def uncork(self) -> None:
        """Do nothing: no frame was kept back."""

    def pending(self) -> int:
        """Return the length of the queued frames."""
        return self._size

    def network(self) -> None:
        """Return nothing: the network is unknown."""

    def trust(self) -> None:
        """Do nothing: the ASGI server limits what it reads."""

    def close(self, code: int, reason: str) -> None:
        """Close once the queue is empty."""
        if self._closing is None:
            self._closing = (code, reason)
            self._wanted.set()

    def abort(self) -> None:
        """Drop the queue and close."""
        self._frames.clear()
        self.close(1001, "dropped")

    async def pump(self, sink: FrameSink, receive: Receive, send: Send) -> tuple[int, str] | None:
        """Move frames both ways until either side closes; return the server's close code."""
        self._reader = asyncio.ensure_future(self._read(sink, receive))
        try:
            while not self._gone:
                while self._frames:
                    frame = self._frames.popleft()
                    self._size -= len(frame)
                    kind = "text" if isinstance(frame, str) else "bytes"
                    await send({"type": "websocket.send", kind: frame})
                if self._closing is not None:
                    return self._closing
                self._wanted.clear()
                await self._wanted.wait()
            return None
        finally:
            self._reader.cancel()
            sink.lost(self._code)

    async def _read(self, sink: FrameSink, receive: Receive) -> None:
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                code = message.get("code", CLOSE_NO_CODE)
                # uvicorn gives this code to lost connections, too.
                self._code = CLOSE_LOST if code == CLOSE_NO_CODE else code
                break
            text = message.get("text")
            sink.received(message["bytes"] if text is None else text, time.monotonic_ns())
        self._gone = True
        self._wanted.set()
