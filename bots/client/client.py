"""The client side of protocol v1, which reconnects and loses nothing meanwhile.

    ClientError
      CannotConnect     the server cannot be reached, or the address is not a server
      Refused           the server does not let us in (`code`): trying again does not help
        Replaced        a newer connection of the same bot took over
      RequestRefused    one request was refused (`code`, `legal`); the connection goes on
      ConnectionLost    one request went down with the connection and may not be repeated

`Client.messages` connects, says hello, and yields what the server says; when the connection is
lost it connects again with back-off and goes on with the same session.  Requests that are safe to
repeat (`act`, ``ready``, ``resign`` ...) are sent again by themselves, with fresh ids, until they
are answered; actions are idempotent by (match, ply).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeGuard

from msgspec.structs import replace

from plyhouse.bots.client.channel import Channel, Connector, NotAServer, Unreachable
from plyhouse.bots.client.timing import REAL_CLOCK, SECOND, Backoff, Clock, first_of
from plyhouse.protocol.codec import MSGPACK, Codec
from plyhouse.protocol.connection import ClientConnection, Rejected
from plyhouse.protocol.errors import LocalProtocolError
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Bye,
    ClientMessage,
    Error,
    Hello,
    ServerMessage,
    Welcome,
)

__all__ = [
    "FIRST_ATTEMPTS",
    "CannotConnect",
    "Client",
    "ClientError",
    "Connected",
    "ConnectionLost",
    "Disconnected",
    "Refused",
    "Replaced",
    "RequestRefused",
]

FIRST_ATTEMPTS: Final = 6
"""Attempts to connect for the first time; once it has worked, there is no end to them."""

PINGS_AT_START: Final = 3
"""Round trips measured at once, so that the first turn has a margin already."""

BYE_TIMEOUT: Final = 2.0
"""Seconds that the server has to answer ``bye``."""

_TRY_AGAIN: Final = frozenset(
    {
        "auth/timeout",
        "server/shutting_down",
        "server/overloaded",
        "server/fault",
        "server/slow_consumer",
    }
)
"""Fatal errors after which connecting again makes sense."""
_TRY_LATER: Final = _TRY_AGAIN | {"auth/rate", "server/storage"}
"""Answers to ``hello`` that do not end a client that was in before: its matches wait for it."""


class ClientError(Exception):
    """Base of what can go wrong between client and server; ``str()`` is for people."""


class CannotConnect(ClientError):  # noqa: N818 - a state of affairs
    """The server cannot be reached, or what is there is no Plyhouse server."""


class Refused(ClientError):  # noqa: N818 - the server's decision
    """The server does not let us in; ``code`` is the protocol's, such as ``auth/bad_token``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Replaced(Refused):
    """A newer connection of the same bot took over."""


class RequestRefused(ClientError):  # noqa: N818 - the server's decision
    """The server refused one request."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.message)
        self.code = error.code
        self.legal = tuple(error.legal)


class ConnectionLost(ClientError):  # noqa: N818 - a state of affairs
    """The connection was lost before the answer came, and the request may not be repeated."""


@dataclass(frozen=True, slots=True)
class Connected:
    """The server has let us in; ``again`` if we had been in before."""

    welcome: Welcome
    again: bool


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The connection is gone; the next attempt starts in ``retry_in`` seconds."""

    reason: str
    retry_in: float

    @property
    def text(self) -> str:
        """The reason and the time of the next attempt, for the bot's author."""
        return f"{self.reason.rstrip('.')}; trying again in {self.retry_in:.1f} s"


@dataclass(eq=False, slots=True)
class _Pending:
    build: Callable[[int], ClientMessage]
    repeat: bool
    future: asyncio.Future[ServerMessage]


Incoming: TypeAlias = "ServerMessage | Connected | Disconnected"


class Client:
    """A connection that is made again whenever it is lost.

    ``clock`` and ``rng`` drive time-outs, back-off and jitter; tests pass their own.
    """

    def __init__(
        self,
        connector: Connector,
        hello: Hello,
        *,
        codec: Codec = MSGPACK,
        clock: Clock = REAL_CLOCK,
        rng: random.Random | None = None,
        backoff: Backoff | None = None,
        first_attempts: int = FIRST_ATTEMPTS,
    ) -> None:
        self.hello = hello
        """Names who logs in and how; each connection fills in its id, session and takeover."""
        self.welcome: Welcome | None = None
        """The server's last ``welcome``."""
        self._connector = connector
        self._codec = codec
        self._clock = clock
        self._rng = rng or random.Random()
        self._backoff = backoff or Backoff()
        self._first_attempts = first_attempts
        self._channel: Channel | None = None
        self._connection: ClientConnection | None = None
        self._pending: dict[int, _Pending] = {}
        self._waiting: list[_Pending] = []
        self._open = False
        self._left = False
        self._leaving: asyncio.Future[None] | None = None
        self._round_trip = 0
        self._jitter = 0

    @property
    def left(self) -> bool:
        """True if we have left for good, by `leave` or because the server refused us."""
        return self._left

    @property
    def connected(self) -> bool:
        """True if requests reach the server now."""
        return self._open

    @property
    def round_trip(self) -> int:
        """Usual nanoseconds to the server and back, as last measured; 0 before."""
        self._measure()
        return self._round_trip

    @property
    def jitter(self) -> int:
        """By how many nanoseconds round trips usually differ."""
        self._measure()
        return self._jitter

    # Requests

    async def act(
        self, match: str, ply: int, action: str, info: dict[str, Any] | None = None
    ) -> Accepted:
        """Play an action: returns once it is stored, however often the connection breaks.

        ``info`` is what the bot says of its thoughts.  Raises `RequestRefused`.
        """
        answer = await self.request(
            lambda number: Act(number, match, ply, action, info), repeat=True
        )
        if not isinstance(answer, Accepted):
            raise ClientError(f"the server answered act with {type(answer).__name__}")
        return answer

    async def request(
        self, build: Callable[[int], ClientMessage], *, repeat: bool = False
    ) -> ServerMessage:
        """Send the request that ``build`` makes with a given id; return its answer.

        With ``repeat`` it is sent again after a reconnect; otherwise a lost connection raises
        `ConnectionLost`.  Raises `RequestRefused` if the server refuses it.
        """
        if self._left:
            raise ConnectionLost("the client has left the server")
        pending = _Pending(build, repeat, asyncio.get_running_loop().create_future())
        if self._open:
            self._send(pending)
        elif repeat:
            self._waiting.append(pending)
        else:
            raise ConnectionLost("there is no connection to the server now")
        answer = await pending.future
        if isinstance(answer, Error):
            raise RequestRefused(answer)
        return answer

    async def leave(self) -> None:
        """Say ``bye`` and close; `messages` ends.  May be called at any time, also twice."""
        if self._left:
            return
        self._left = True
        if self._leaving is not None and not self._leaving.done():
            self._leaving.set_result(None)
        connection, channel = self._connection, self._channel
        if channel is None or connection is None:
            return
        if self._open:
            self._open = False
            pending = _Pending(Bye, False, asyncio.get_running_loop().create_future())
            self._transmit(connection, channel, pending)
            await first_of(pending.future, self._clock.sleep(BYE_TIMEOUT))
        channel.close(1000, "bye")

    # The connection

    async def messages(self) -> AsyncGenerator[tuple[Incoming, int], None]:
        """Yield everything the server says, with the instant it was read, until `leave`.

        Answers to requests are included, after the request has got them.  Raises
        `CannotConnect` if the first connection cannot be made, and `Refused`.
        """
        failures = 0
        self._leaving = asyncio.get_running_loop().create_future()
        try:
            while not self._left:
                reason = await self._connect(failures + 1)
                if self._channel is not None:
                    try:
                        async with aclosing(self._converse(self._channel)) as conversation:
                            async for incoming in conversation:
                                if isinstance(incoming[0], Connected):
                                    failures = 0
                                yield incoming
                    finally:
                        reason = self._disconnected(self._channel)
                if self.left:
                    return
                failures += 1
                wait = self._backoff.delay(failures, self._rng)
                yield Disconnected(reason, wait), self._clock.now()
                await self._pause(wait)
        finally:
            self._abandon()

    async def _connect(self, attempt: int) -> str:
        """Open a channel, or return why there is none now."""
        try:
            self._channel = await self._connector()
        except NotAServer as error:
            if self.welcome is None:
                raise CannotConnect(str(error)) from error
            return str(error)
        except Unreachable as error:
            if self.welcome is None and attempt >= self._first_attempts:
                raise CannotConnect(str(error)) from error
            return str(error)
        return ""

    async def _pause(self, seconds: float) -> None:
        """Wait, but not longer than until `leave`."""
        if self._leaving is not None:
            await first_of(self._leaving, self._clock.sleep(seconds))

    async def _converse(self, channel: Channel) -> AsyncGenerator[tuple[Incoming, int], None]:
        """Hello, and everything until the channel is closed."""
        connection = ClientConnection(self._codec, self._clock.now())
        self._connection = connection
        hello = self._hello(connection.next_id())
        channel.send(connection.request(hello))
        tending = asyncio.create_task(self._tend(connection, channel))
        try:
            while (frame := await channel.recv()) is not None:
                now = self._clock.now()
                events = connection.receive(frame, now)
                for out in connection.outgoing():
                    channel.send(out)
                for event in events:
                    if isinstance(event, Rejected):
                        continue  # not for us; the next sync or turn puts everything right
                    if isinstance(event, Welcome):
                        yield Connected(event, self._welcomed(event, connection, channel)), now
                        continue
                    if self._must_come_later(event, hello.id):
                        connection.close(reason=event.message)
                        continue
                    self._answered(event)
                    yield event, now
                if connection.closing is not None:
                    channel.close(connection.closing.code, connection.closing.reason)
        finally:
            tending.cancel()
            await asyncio.gather(tending, return_exceptions=True)
            channel.close()

    def _hello(self, number: int) -> Hello:
        who, last = self.hello, self.welcome
        return replace(
            who,
            id=number,
            client=who.client or "plyhouse-bot",
            session=last.session if last is not None else "",
            # The server may not have noticed yet that our old connection is gone.
            takeover=who.takeover or last is not None,
        )

    def _welcomed(self, welcome: Welcome, connection: ClientConnection, channel: Channel) -> bool:
        again = self.welcome is not None
        self.welcome = welcome
        self._open = True
        for _ in range(PINGS_AT_START):
            connection.ping(self._clock.now())
        for out in connection.outgoing():
            channel.send(out)
        waiting, self._waiting = self._waiting, []
        for pending in waiting:
            self._send(pending)
        return again

    def _must_come_later(self, event: ServerMessage, hello: int) -> TypeGuard[Error]:
        """Return whether the server does not let us in now; raise for an error that ends it."""
        if not isinstance(event, Error):
            return False
        if event.code == "auth/replaced":
            raise Replaced(event.code, event.message)
        refused = event.re == hello
        if refused and self.welcome is not None and event.code in _TRY_LATER:
            return True
        if refused or (event.fatal and event.code not in _TRY_AGAIN):
            raise Refused(event.code, event.message)
        return False

    def _answered(self, event: ServerMessage) -> None:
        re: int | None = getattr(event, "re", None)
        pending = self._pending.pop(re, None) if re is not None else None
        if pending is not None and not pending.future.done():
            pending.future.set_result(event)

    def _send(self, pending: _Pending) -> None:
        if self._connection is not None and self._channel is not None:
            self._transmit(self._connection, self._channel, pending)

    def _transmit(self, connection: ClientConnection, channel: Channel, pending: _Pending) -> None:
        number = connection.next_id()
        try:
            frame = connection.request(pending.build(number))
        except LocalProtocolError as error:
            pending.future.set_exception(ClientError(f"cannot be sent: {error.message}"))
            return
        self._pending[number] = pending
        channel.send(frame)

    def _disconnected(self, channel: Channel) -> str:
        """Drop the connection, keep requests to repeat, and return why it ended."""
        self._measure()
        connection, self._connection, self._channel, self._open = (
            self._connection,
            None,
            None,
            False,
        )
        pending, self._pending = list(self._pending.values()), {}
        for one in pending:
            if one.future.done():
                continue
            if one.repeat and not self._left:
                self._waiting.append(one)
            else:
                _give_up(one)
        if connection is not None and connection.closing is not None:
            return connection.closing.reason
        if channel.close_reason:
            return channel.close_reason
        code = channel.close_code
        return "the connection was lost" + (f" (close code {code})" if code else "")

    def _abandon(self) -> None:
        """Fail all waiting requests, because no further connection follows."""
        self._left = True
        for one in [*self._waiting, *self._pending.values()]:
            _give_up(one)
        self._waiting.clear()
        self._pending.clear()

    def _measure(self) -> None:
        trips = self._connection.round_trips if self._connection is not None else None
        if trips is not None and trips.count:
            self._round_trip = trips.median_ns
            self._jitter = max(0, trips.median_ns - trips.minimum_ns)

    async def _tend(self, connection: ClientConnection, channel: Channel) -> None:
        """Close the connection to a silent server, and measure round trips."""
        limits = connection.limits
        ping_at = self._clock.now() + limits.heartbeat_ns
        while (silent_at := connection.next_deadline()) is not None:
            now = self._clock.now()
            await self._clock.sleep(max(0, min(silent_at, ping_at) - now) / SECOND)
            now = self._clock.now()
            if now >= ping_at:
                ping_at = now + limits.heartbeat_ns
                if self._open:
                    connection.ping(now)
                    for out in connection.outgoing():
                        channel.send(out)
            connection.tick(now)
            if connection.closing is not None:
                channel.close(connection.closing.code, connection.closing.reason)
                return


def _give_up(pending: _Pending) -> None:
    if not pending.future.done():
        pending.future.set_exception(ConnectionLost("the connection to the server was lost"))
        pending.future.exception()  # nobody need be waiting for it
