"""One connection: it takes frames, passes requests to the hub, and sends messages.

This module is a thin shell around the protocol's rules in `plyhouse.protocol.connection`.  Requests
are carried out at once, within the callback that read them.  The few requests that need the
database first (``hello``, ``register``) run in a task, and later ones of the client wait for it.  A
client cannot harm another one by what it sends, or fails to read.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Hashable, Iterable
from functools import partial
from typing import Any, Final, Protocol

from plyhouse.protocol.codec import Codec
from plyhouse.protocol.connection import Rejected, ServerConnection, State
from plyhouse.protocol.errors import LocalProtocolError, ProtocolError
from plyhouse.protocol.liveness import ConnectionLimits, FloodLimit
from plyhouse.protocol.messages import (
    Act,
    Bye,
    ClientMessage,
    Error,
    Hello,
    Ok,
    Pong,
    Register,
    ServerMessage,
)
from plyhouse.protocol.side import CLOSE_LOST
from plyhouse.server.wire.transport import Frame, Transport, Upgrade

log = logging.getLogger("plyhouse.server.wire.session")

VIEWS_PER_SECOND: Final = 5
VIEW_BURST: Final = 100
MAX_WAITING: Final = 100
"""Most requests that may wait while a login is processed."""


class SessionHub(Protocol):
    """The interface of the hub for sessions.

    See `plyhouse.server.gateway.hub.Hub`.
    """

    def now(self) -> int:
        """Return the time, in monotonic nanoseconds."""

    def act(self, session: Session, message: Act, stamp: int) -> None:
        """Play an action that was read at ``stamp``; never raises because of the client."""

    def request(self, session: Session, message: ClientMessage, stamp: int) -> None:
        """Carry out any other request; raises `ProtocolError` if that is not possible."""

    async def login(self, session: Session, hello: Hello, stamp: int) -> None:
        """Log in a client whose ``hello`` was read at ``stamp``; raises `ProtocolError`."""

    async def register(self, session: Session, message: Register) -> None:
        """Make an account; raises `ProtocolError`."""

    def spawn(
        self,
        work: Coroutine[Any, Any, None],
        done: Callable[[Exception | None], None] | None = None,
    ) -> None:
        """Run a coroutine that must wait for the database.

        Then call ``done`` with its error.
        """

    def spent(self, session: Session, nanoseconds: int) -> None:
        """Note how long the server was busy with a connection's frames."""

    def waits(self, session: Session, size: int) -> None:
        """Note how many bytes wait for a client that reads slowly; 0 once it has read them."""

    def left(self, session: Session) -> None:
        """Clean up after a connection that has ended, whichever side ended it."""


class Session:
    """The server's end of one connection.

    It is a `plyhouse.server.wire.transport.FrameSink`.
    """

    __slots__ = (
        "_busy",
        "_closed",
        "_held",
        "_hub",
        "_longest",
        "_max_queue",
        "_transport",
        "_trips",
        "_waited",
        "_waiting",
        "codec",
        "connection",
        "name",
        "on_other_server",
        "payer",
        "remote",
        "scenes",
        "views",
        "watching",
    )

    def __init__(
        self,
        hub: SessionHub,
        transport: Transport,
        codec: Codec,
        limits: ConnectionLimits,
        max_queue: int,
    ) -> None:
        self._hub = hub
        self._transport = transport
        self._max_queue = max_queue
        self._longest = 0
        """Length of the longest frame since the client has read everything."""
        self._waited = 0
        """The bytes that waited for the client after the last frame."""
        self.codec = codec
        self.remote = transport.remote
        self.on_other_server = False
        self.payer: Hashable = self.address
        self.connection = ServerConnection(codec, hub.now(), limits)
        self.connection.network = transport.network
        self._trips = self.connection.round_trips
        self.name = ""
        """The name of the bot or person that logged in, for logs; empty until then."""
        self.scenes = False
        self.watching: set[str] = set()
        """Matches that it follows as a spectator."""
        self.views = FloodLimit(VIEWS_PER_SECOND, VIEW_BURST)
        """The limit on requests for snapshots of whole matches."""
        self._closed = False
        self._busy = False
        self._waiting: deque[tuple[ClientMessage, int]] = deque()
        self._held: list[ServerMessage | Callable[[], None]] | None = None

    def __repr__(self) -> str:
        return f"<session {self._transport.peer} {self.name or 'not logged in'}>"

    @property
    def identity(self) -> dict[str, str]:
        """Return the fields of a log line that say whose session this is."""
        return {"address": self._transport.peer, "bot": self.name}

    @property
    def peer(self) -> str:
        """The address of the client, for logs."""
        return self._transport.peer

    @property
    def address(self) -> str:
        """The client's address without its port; empty in this process."""
        return self._transport.peer.rpartition(":")[0]

    @property
    def upgrade(self) -> Upgrade | None:
        """The request that opened the websocket; None in this process."""
        return self._transport.upgrade

    @property
    def lag_ns(self) -> int:
        """Measured round trip to the client, in nanoseconds; 0 at first."""
        return self._trips.median_ns

    @property
    def floor_ns(self) -> int:
        """The part of the round trip that the kernel vouches for, in nanoseconds."""
        return self.connection.floor_ns

    @property
    def patience_ns(self) -> int:
        """No time, because the socket is here."""
        return 0

    @property
    def holding(self) -> bool:
        """True while messages are kept back; see `hold`."""
        return self._held is not None

    def report_turn(self, match: str, seat: int, ply: int) -> None:
        """Never called, because `on_other_server` is False."""
        raise AssertionError("the socket is here")

    # -------------------------------------------------------------------------- incoming

    def received(self, frame: Frame, stamp: int) -> None:
        """Act on one frame, read at ``stamp``."""
        if self._closed:
            return
        connection = self.connection
        try:
            for event in connection.receive(frame, stamp):
                if type(event) is Rejected:
                    log.debug(
                        "request refused",
                        extra={"address": self.peer, "code": event.error.code, "who": repr(self)},
                    )
                elif self._busy:
                    self._wait(event, stamp)  # type: ignore[arg-type]
                elif type(event) is Act:
                    self._hub.act(self, event, stamp)
                else:
                    self._dispatch(event, stamp)  # type: ignore[arg-type]
            if connection.restless:
                self.flush()
        except Exception:
            self._fault()

    def counted(self, stamp: int) -> None:
        """Count a frame that carries no message."""
        if not self._closed:
            self.connection.count(stamp)
            if self.connection.restless:
                self.flush()

    def spent(self, nanoseconds: int) -> None:
        """Report for how long the server was busy with this connection's frames."""
        self._hub.spent(self, nanoseconds)

    def admit(self, name: str, account: Hashable = None) -> None:
        """Apply the wider limits of a bot or person that has logged in, under this name."""
        self.name = name
        self.payer = self.payer if account is None else account
        self.connection.trust()
        self._transport.trust()

    def lost(self, code: int = CLOSE_LOST) -> None:
        """End the session after its transport has closed, with this code."""
        if not self._closed:
            self.connection.lost(code)
            self._leave()

    def tick(self, now: int) -> None:
        """Let the connection do what is due: ping the client, or give it up."""
        due = self.connection.next_deadline()
        if due is not None and now >= due and not self._closed:
            self.connection.tick(now)
            self.flush()

    def _dispatch(self, message: ClientMessage, stamp: int) -> None:
        if type(message) is Act:
            self._hub.act(self, message, stamp)
        elif isinstance(message, Hello):
            self._run(message, self._hub.login(self, message, stamp))
        elif isinstance(message, Register):
            self._run(message, self._hub.register(self, message))
        elif isinstance(message, Bye):
            self.send(Ok(message.id))
        else:
            try:
                self._hub.request(self, message, stamp)
            except ProtocolError as error:
                self.refuse(message, error)

    def _wait(self, message: ClientMessage, stamp: int) -> None:
        if len(self._waiting) >= MAX_WAITING:
            self.fail("protocol/rate", "Too many requests before the login was answered.")
            return
        self._waiting.append((message, stamp))

    def _run(self, message: ClientMessage, work: Coroutine[Any, Any, None]) -> None:
        self._busy = True
        self._hub.spawn(work, partial(self._answered, message))

    def _answered(self, message: ClientMessage, error: Exception | None) -> None:
        """Answer a failed login or registration, then carry out the requests that waited."""
        if isinstance(error, ProtocolError):
            self.refuse(message, error)
        elif error is not None:
            self._fault()
        self._busy = False
        try:
            while self._waiting and not self._busy and not self._closed:
                self._dispatch(*self._waiting.popleft())
            self.flush()
        except Exception:
            self._fault()

    # -------------------------------------------------------------------------- outgoing

    def send(self, message: ServerMessage) -> None:
        """Send a message; never raises, in any state of the client."""
        if self._closed:
            return
        if self._held is not None:
            self._held.append(message)
            return
        connection = self.connection
        try:
            frame = connection.send(message, self._hub.now())
        except LocalProtocolError as error:
            if connection.state is State.OPEN:  # otherwise the client left meanwhile
                what = {"message_type": type(message).__name__, "why": str(error)}
                log.error("message not sent", extra={**self.identity, **what})
            return
        self._transport.send(frame)
        if self._overfull(frame):
            self._drop()
        elif connection.restless:
            self.flush()

    def send_together(self, messages: Iterable[ServerMessage]) -> None:
        """Send messages in one piece, which costs little more than one of them."""
        self._transport.cork()
        for message in messages:
            self.send(message)
        self._transport.uncork()

    def send_frame(self, frame: Frame) -> None:
        """Send a frame that was already encoded with this session's codec."""
        if self._closed:
            return
        self._transport.send(frame)
        if self._overfull(frame):
            self._drop()

    def _overfull(self, frame: Frame) -> bool:
        """Return whether too many bytes wait for the client, after a frame was sent.

        The longest one does not count: a ``welcome`` with many long matches may be longer than the
        whole queue, and would never arrive.
        """
        waiting = self.unread()
        if waiting != self._waited:
            self._hub.waits(self, waiting)
            self._waited = waiting
        if not waiting:
            self._longest = 0
            return False
        self._longest = max(self._longest, len(frame))
        return waiting > self._max_queue + self._longest and not self._closed

    def refuse(self, message: ClientMessage, error: ProtocolError) -> None:
        """Answer a request with an error."""
        re = None if isinstance(message, Pong) else message.id
        self.send(Error(error.code, error.message, re, fatal=error.fatal))

    def fail(self, code: str, text: str = "") -> None:
        """End the connection with a fatal error."""
        error = ProtocolError(code, text, fatal=True)
        self._held = None
        self.send(error.to_message())

    def hold(self) -> Callable[[ServerMessage | None], None]:
        """Keep messages back until the returned function is called with the first message."""
        held = self._held = []

        def release(first: ServerMessage | None) -> None:
            if self._held is held:
                self._held = None
            if first is not None:
                self.send(first)
                for each in held:
                    if callable(each):
                        each()
                    else:
                        self.send(each)

        return release

    def after(self, call: Callable[[], None]) -> None:
        """Run ``call`` once all messages kept back have been written.

        Runs it at once if there are none.
        """
        if self._held is None:
            call()
        else:
            self._held.append(call)

    def flush(self) -> None:
        """Write the connection's own frames, and close it if it asks for that."""
        connection = self.connection
        for frame in connection.outgoing():
            self.send_frame(frame)
        closing = connection.closing
        if closing is not None and not self._closed:
            self._transport.close(closing.code, closing.reason)
            self._leave()

    def close(self, code: int, reason: str) -> None:
        """Close after everything was written."""
        self.connection.close(code, reason)
        self.flush()

    # --------------------------------------------------------------------------- the end

    def unread(self) -> int:
        """Return how many bytes wait for the client."""
        return self._transport.pending()

    def cut_off(self) -> None:
        """Drop the client, because too much waits for slow readers."""
        if not self._closed:
            self._drop()
            self._transport.abort()

    def _drop(self) -> None:
        """Drop a client that does not read, with an error in case it reads later."""
        log.warning("client too slow", extra=self.identity)
        error = ProtocolError("server/slow_consumer")
        self._transport.send(self.codec.encode(error.to_message()))
        self._transport.close(error.close, error.message)
        self.connection.lost()
        self._leave()
        # A client that never reads never answers the close either.
        asyncio.get_running_loop().call_later(1.0, self._transport.abort)

    def _fault(self) -> None:
        log.exception("connection failed", extra=self.identity)
        self.fail("server/fault")

    def _leave(self) -> None:
        self._closed = True
        self._waiting.clear()
        self._hub.left(self)
