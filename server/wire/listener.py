"""Accept sockets a few at a time, in fair turns of the addresses, and limit the rate of each.

The server of an event loop accepts all waiting sockets at once, and makes a protocol for each
before anything can refuse it.  This one accepts `ACCEPTED` sockets, admits one, and lets the loop
do other work, such as plies.  Addresses take turns, because the system's queue has them in the
order of their arrival: those of a flood would keep all others waiting for seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import socket
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from plyhouse.protocol.api.answers import problem
from plyhouse.server.wire.limits import Door, client_of

log = logging.getLogger("plyhouse.server.wire")

ACCEPTED: Final = 16
"""Sockets accepted at once, of which one is admitted."""
REST: Final = 0.002
"""Seconds until the next ones are accepted."""
PAUSE: Final = 0.1
"""Seconds to wait when the system has no file descriptor left."""


class Listener:
    """Accepts the sockets of a listening one that `Door.knock` admits."""

    def __init__(
        self, listening: socket.socket, door: Door, protocol: Callable[[], asyncio.BaseProtocol]
    ) -> None:
        self._listening = listening
        self._door = door
        self._protocol = protocol
        self._waiting: dict[str, deque[socket.socket]] = {}
        """Accepted sockets of each client, in the order in which clients take turns."""
        self._opening: set[asyncio.Task[Any]] = set()
        self._some_wait = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="listener")

    async def close(self) -> None:
        """Accept nothing more; accepted sockets stay open."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        while self._waiting:
            self._admit()
        await asyncio.gather(*self._opening, return_exceptions=True)

    async def _wait(self) -> None:
        """Wait until a socket can be accepted.

        ``loop.sock_accept`` would lose one that it accepted in the turn in which it is cancelled:
        its client would wait for an answer until the garbage is collected.
        """
        loop = asyncio.get_running_loop()
        self._some_wait.clear()
        loop.add_reader(self._listening, self._some_wait.set)
        try:
            await self._some_wait.wait()
        finally:
            loop.remove_reader(self._listening)

    async def _run(self) -> None:
        while True:
            if not self._waiting:
                await self._wait()
            try:
                for _ in range(ACCEPTED):
                    self._take(*self._listening.accept())
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                pass
            except OSError as error:
                log.error("no socket accepted", extra={"why": str(error)})
                await asyncio.sleep(PAUSE)
            if self._waiting:
                self._admit()
            await asyncio.sleep(REST)

    def _take(self, accepted: socket.socket, peer: tuple[Any, ...]) -> None:
        """Refuse a socket, or let it wait for the turn of its client."""
        try:
            accepted.setblocking(False)
            address = str(peer[0])
            pause = self._door.knock(address)
        except Exception:  # it must not end the listener
            log.exception("a socket could not be let in")
            accepted.close()
            return
        client = client_of(address)
        waiting = self._waiting.get(client, ())
        if pause:
            _refuse(accepted, pause)
        elif not self._door.admits(address, len(waiting)):
            accepted.close()
        else:
            self._waiting.setdefault(client, deque()).append(accepted)

    def _admit(self) -> None:
        """Open the next socket of the client whose turn it is."""
        client = next(iter(self._waiting))
        waiting = self._waiting.pop(client)
        task = asyncio.create_task(self._open(waiting.popleft()))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)
        if waiting:
            self._waiting[client] = waiting

    async def _open(self, accepted: socket.socket) -> None:
        try:
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, accepted)
        except OSError:  # the client has gone already
            accepted.close()
        except Exception:
            log.exception("a socket could not be let in")
            accepted.close()


def _refuse(accepted: socket.socket, pause: float) -> None:
    """Send the reason as an HTTP answer, as far as the kernel takes it, and close."""
    seconds = max(1, math.ceil(pause))
    detail = (
        f"Your address opens too many connections. Wait {seconds} s, and send several requests on "
        "one connection."
    )
    body = json.dumps(problem(429, "http/connections", detail, retry_after=seconds))
    answer = (
        f"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\nRetry-After: {seconds}\r\nConnection: close\r\n\r\n{body}"
    )
    with contextlib.suppress(OSError):
        # Closing a socket with unread data resets the connection, and the client might then not see
        # the answer.
        accepted.recv(65_536)
    with contextlib.suppress(OSError):
        accepted.send(answer.encode())
    accepted.close()
