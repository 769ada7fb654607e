"""The web server's HTTP side: connections that do not get on with their request are closed.

uvicorn waits for ever for the rest of a request.  Whoever opens many connections and sends a few
bytes on each would hold them all, and with them the file descriptors that bots need.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["PunctualHttp"]


class PunctualHttp(H11Protocol):
    """uvicorn's HTTP protocol with a limit on the time in which a request has to arrive."""

    patience: ClassVar[float] = 10.0
    """Seconds for the head of a request, and as many for all of its body."""

    _late: asyncio.TimerHandle | None = None
    _seen: Any = None
    """The request that was being read or answered when the timer was set."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; whatever begins now has to be complete in time."""
        super().data_received(data)
        if self._late is None and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        if self._late is not None:
            self._late.cancel()

    def _wait(self) -> None:
        self._seen = self.cycle
        self._late = self.loop.call_later(self.patience, self._check)

    def _check(self) -> None:
        """Close the connection if it is where it was, and still owes us something."""
        self._late = None
        transport, cycle = self.transport, self.cycle
        if transport.is_closing() or transport.get_protocol() is not self:
            return  # gone, or a websocket by now
        reading = cycle is None or cycle.response_complete or cycle.more_body
        if not reading:
            return  # we are the ones who have to answer
        if cycle is self._seen:
            transport.close()
        elif not cycle.response_complete:
            self._wait()
