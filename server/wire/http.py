"""The web server's HTTP side, which closes slow connections.

uvicorn waits without limit for the rest of a request, and for the reading of an answer.  A client
could open many connections and send a few bytes on each, or request much and read nothing.  It
would hold all these connections, and the file descriptors that bots need.  Every socket also passes
the `Door`.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from plyhouse.server.wire.limits import Backlog, Door

LEAST_TAKEN: Final = 65_536
"""Bytes of an answer that a client must read within the patience, unless that completes it.

The same holds for sending a body.  Few requests may have a longer body: packages of bots.
"""


def http_protocol(door: Door, backlog: Backlog) -> type[PunctualHttp]:
    """Return the HTTP protocol of a server whose sockets pass ``door``.

    ``backlog`` counts the bytes that wait for slow readers.
    """
    return type("PunctualHttp", (PunctualHttp,), {"door": door, "backlog": backlog})


class _StrictConnection(h11.Connection):
    """Refuses requests that two readers may understand differently.

    See RFC 9112, section 6.1.
    """

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if b"content-length" in names and b"transfer-encoding" in names:
                raise h11.RemoteProtocolError(
                    "both Content-Length and Transfer-Encoding", error_status_hint=400
                )
        return event


class PunctualHttp(H11Protocol):
    """uvicorn's HTTP protocol with time limits for requests and answers."""

    patience: ClassVar[float] = 10.0
    """Seconds for the head of a first request.

    Every later head or body, and every `LEAST_TAKEN` bytes of an answer or of a long body, has
    between one and two times as long.
    """
    door: ClassVar[Door] = Door()
    backlog: ClassVar[Backlog] = Backlog(1 << 28)

    _late: asyncio.TimerHandle | None = None
    _owed: Any = None
    """The data that the client still had to send at the last look."""
    _unsent = 0
    """Bytes of answers that the client had not read then."""
    _inside = False
    _received = 0
    """Bytes received."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.conn = _StrictConnection(h11.SERVER, self.conn._max_incomplete_event_size)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit the connection if there is room, and wait for the first request."""
        super().connection_made(transport)
        self._inside = self.door.enter(self._address)
        if not self._inside:
            transport.abort()
            return
        self._owed = (None, "head")
        self._late = self.loop.call_later(self.patience, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        if self._late is not None:
            self._late.cancel()
        self.backlog.note(self, self._address, 0)
        self._leave()

    def pause_writing(self) -> None:
        """Note that an answer waits, whole: the application writes no more until it is read."""
        super().pause_writing()
        self.backlog.note(self, self._address, self.unread())

    def resume_writing(self) -> None:
        """Note that the answer is read."""
        super().resume_writing()
        self.backlog.note(self, self._address, 0)

    def unread(self) -> int:
        """Return how many bytes of answers wait for the client."""
        waiting: int = self.transport.get_write_buffer_size()
        return waiting

    def cut_off(self) -> None:
        """Drop the connection, because too much waits for slow readers."""
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Count the bytes received."""
        self._received += len(data)
        super().data_received(data)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Pass the socket's place on to the websocket that it becomes."""
        super().handle_websocket_upgrade(event)
        self.backlog.note(self, self._address, 0)  # what waits now counts as the websocket's
        protocol: Any = self.transport.get_protocol()
        if hasattr(protocol, "on_lost"):
            protocol.on_lost = self._leave
        else:
            self._leave()

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _leave(self) -> None:
        if self._inside:
            self._inside = False
            self.door.leave(self._address)

    def _look(self) -> None:
        """Close the connection if it has made no progress and the client still has to act."""
        self._late = None
        transport = self.transport
        if transport.get_protocol() is not self:
            return  # a websocket, which has its own limits
        unsent, owed = transport.get_write_buffer_size(), self._debt()
        if unsent and self._unsent and unsent > self._unsent - LEAST_TAKEN:
            transport.abort()
            return
        if owed is not None and owed == self._owed:
            transport.close()
            owed = None
        self._unsent, self._owed = unsent, owed
        self._late = self.loop.call_later(self.patience, self._look)

    def _debt(self) -> Any:
        """Return what the client has to send now, and in which request.

        None if it is the server's turn.
        """
        cycle = self.cycle
        if self.transport.is_closing():
            return None
        if cycle is None or cycle.response_complete:
            # Between requests uvicorn's own timer runs, until something arrives.
            return (cycle, "head") if self.timeout_keep_alive_task is None else None
        return (cycle, "body", self._received // LEAST_TAKEN) if cycle.more_body else None
