"""Accept sockets a few at a time, and limit the rate of each address.

The server of an event loop accepts all waiting sockets at once, and makes a protocol for each
before anything can refuse it.  This one lets the loop do other work, such as plies, after each
`ADMITTED` sockets that it admits or `REFUSED` sockets that it refuses.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import socket
from collections.abc import Callable
from typing import Any, Final

from plyhouse.protocol.api.answers import problem
from plyhouse.server.wire.limits import Door

log = logging.getLogger("plyhouse.server.wire")

ADMITTED: Final = 1
"""Sockets admitted at once."""
REFUSED: Final = 16
"""Sockets refused at once."""
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
        self._opening: set[asyncio.Task[Any]] = set()
        self._some_wait = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="listener")

    async def close(self) -> None:
        """Accept nothing more; accepted sockets stay open."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
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
            await self._wait()
            let_in: list[bool] = []
            try:
                while let_in.count(True) < ADMITTED and let_in.count(False) < REFUSED:
                    let_in.append(self._admit(*self._listening.accept()))
                await asyncio.sleep(REST)
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                continue
            except OSError as error:
                log.error("no socket can be accepted: %s", error)
                await asyncio.sleep(PAUSE)

    def _admit(self, accepted: socket.socket, address: tuple[Any, ...]) -> bool:
        try:
            accepted.setblocking(False)
            pause = self._door.knock(str(address[0]))
        except Exception:  # it must not end the listener
            log.exception("a socket could not be let in")
            accepted.close()
            return False
        if pause:
            _refuse(accepted, pause)
            return False
        task = asyncio.create_task(self._open(accepted))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)
        return True

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
