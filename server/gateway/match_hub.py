"""Sessions, participants and their matches: the part of a hub that every referee has.

`plyhouse.server.gateway.hub.Hub` adds accounts, the lobby, competitions, hosting and the cluster.
`plyhouse.server.gateway.local_hub.LocalHub` adds nothing but names, for matches on one machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Final

from plyhouse.protocol.codec import MSGPACK, Codec, codec_for
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import Act, ClientMessage, Hello, Register
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.entrance import Connections, Entrance
from plyhouse.server.gateway.match_requests import MatchRequests
from plyhouse.server.gateway.membership import Membership
from plyhouse.server.jobs.periodic import Periodic
from plyhouse.server.table.directory import Directory
from plyhouse.server.table.live_matches import LiveMatches
from plyhouse.server.table.participants import Participant
from plyhouse.server.table.refunds import LoginRefunds, LoginWait
from plyhouse.server.table.watchdog import Watchdog
from plyhouse.server.wire.limits import Full
from plyhouse.server.wire.memory import MemoryClient, link
from plyhouse.server.wire.session import Session
from plyhouse.server.wire.transport import Transport

log = logging.getLogger("plyhouse.server")

SWEEP_SECONDS: Final = 0.25
"""How often the server checks connections for pings, silence and missing logins."""
LONG_STALL_NS: Final = 100_000_000
"""Stalls longer than this extend the silence limits of connections, which are seconds long."""


class MatchHub(ABC):
    """The base of a hub; a `plyhouse.server.wire.session.SessionHub`."""

    live_matches: LiveMatches
    requests: MatchRequests
    member: Membership
    _entrance: Entrance

    def __init__(self, config: ServerConfig, now: Callable[[], int]) -> None:
        self.config = config
        self.now = now
        """Returns monotonic nanoseconds, for all measurements."""
        self.connections = Connections(config, now)
        self.sessions = self.connections.sessions
        self.seated = self.connections.seated
        self.counts = self.connections.counts
        self.journal = self.connections.journal
        self._due: dict[Session, int] = {}
        """When each connection has something to do, or earlier: what it hears only postpones it."""
        self.directory = Directory()
        self.stopping = False
        self.watchdog = Watchdog(now, self._stalled)
        self._stalls_deliberately = False
        self.login_refunds = LoginRefunds(self.directory, self.watchdog, now)
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers = (Periodic(self._sweep, SWEEP_SECONDS, "sweep of connections", log),)

    def _make_entrance(self, refund_hosted: Callable[[], None] = lambda: None) -> Entrance:
        """Return what lets connections in; ``refund_hosted`` is that of `Entrance`."""
        return Entrance(
            self.config,
            self.connections,
            self.directory,
            self.login_refunds,
            self.member.sockets,
            refund_hosted,
        )

    # ------------------------------------------------------------------ connections

    def attach(self, transport: Transport, subprotocol: str) -> Session:
        """Make the session of a new connection."""
        return self._attach(transport, codec_for(subprotocol))

    def connect(self, codec: Codec = MSGPACK, peer: str = "memory") -> MemoryClient:
        """Connect a client in this process; it speaks the same protocol as any other.

        ``peer`` is that of `plyhouse.server.wire.memory.link`.
        """
        return link(lambda transport: self._attach(transport, codec), self.now, peer)

    def _attach(self, transport: Transport, codec: Codec) -> Session:
        session = Session(self, transport, codec, self.connections.limits, self.config.max_queue)
        self.counts.connections += 1
        self.journal.connected(session)
        self.sessions.add(session)
        if self.stopping:
            session.fail("server/shutting_down")
            return session
        try:
            gone = self.connections.places.enter(session, session.address)
        except Full as full:
            session.fail("server/overloaded", f"{full} Try again later.")
        else:
            if isinstance(gone, Session):
                gone.fail("server/overloaded", "Others wait: log in at once after connecting.")
        return session

    def spent(self, session: Session, nanoseconds: int) -> None:
        """Note how long the server was busy with a connection's frames."""
        self.watchdog.note(session, nanoseconds)

    def waits(self, session: Session, size: int) -> None:
        """Note how many bytes wait for a client that reads slowly; 0 once it has read them."""
        self.connections.backlog.note(session, session.address, size)

    def left(self, session: Session) -> None:
        """Clean up after a connection that has ended, whichever side ended it."""
        self.sessions.discard(session)
        self.waits(session, 0)
        self._due.pop(session, None)
        self.connections.places.leave(session)
        for match_id in tuple(session.watching):
            live = self.directory.match(match_id)
            if live is not None:
                live.unwatch(session)
        session.watching.clear()
        participant = self.seated.pop(session, None)
        self.journal.left(session, None if participant is None else participant.presence)
        if participant is None or participant.line is not session:
            self.member.sockets.left(session, 0)
            return
        self.directory.leave(participant)
        self._leaving(participant)
        self.member.sockets.leaving(session)
        bot = participant.presence.bot_id
        for live, seat in tuple(self.directory.matches_of(bot)):
            live.disconnected(seat)
        self.member.sockets.left(session, bot)
        self.directory.forget(bot)

    def _leaving(self, participant: Participant) -> None:  # noqa: B027 (a hook)
        """Clean up after a bot's connection before its matches hear of the end."""

    def spawn(
        self,
        work: Coroutine[Any, Any, None],
        done: Callable[[Exception | None], None] | None = None,
    ) -> None:
        """Run a coroutine that must wait, for the database for example.

        Then call ``done`` with its error.
        """
        if done is not None:
            work = _report(work, done)
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _sweep(self) -> None:
        """Let every connection do what is due, and close one that fails; end matches that are too
        long.
        """
        self.live_matches.end_longest()
        now = self.now()
        broken = []
        for session in tuple(self.sessions):
            if now < self._due.get(session, 0):
                continue
            try:
                session.tick(now)
            except Exception:
                log.exception("connection failed", extra={"address": session.peer})
                broken.append(session)
                continue
            following = session.connection.next_deadline()
            if following is not None and session in self.sessions:
                self._due[session] = following
        for session in broken:
            session.fail("server/fault")

    @contextlib.contextmanager
    def deliberate_stall(self) -> Iterator[None]:
        """Keep the event loop busy in the block without a warning; clocks get the time back."""
        self._stalls_deliberately = True
        try:
            yield
            self.watchdog.beat()
        finally:
            self._stalls_deliberately = False

    def _settle_stalls(self) -> None:
        self.watchdog.beat()
        self.login_refunds.settle()

    def _stalled(self, begin: int, end: int, busy_ns: int) -> None:
        self.live_matches.stalled(begin, end, busy_ns, self.watchdog.spent)
        if end - begin > LONG_STALL_NS and not self._stalls_deliberately:
            fields: dict[str, object] = {
                "stall_ms": (end - begin) // 1_000_000,
                "work_ms": busy_ns // 1_000_000,
            }
            who, spent = self.watchdog.busiest()
            if who is not None:  # frames of a connection were read meanwhile
                fields |= {"client": who, "client_ms": spent // 1_000_000}
            log.warning("server stalled", extra=fields)
            for session in self.sessions:
                session.connection.forgive(end - begin)

    # ---------------------------------------------------------- what a connection asks for

    @abstractmethod
    async def register(self, session: Session, message: Register) -> None:
        """Make an account; raises `ProtocolError`."""

    async def login(self, session: Session, hello: Hello, stamp: int) -> None:
        """Log in a bot with all of its running matches; without token and name, a spectator.

        ``stamp`` is when ``hello`` was read.  Raises `ProtocolError`.
        """
        if not (hello.token or hello.bot or hello.games or hello.signed_in):
            self._entrance.watch(session, hello)
            return
        try:
            with self.login_refunds.begin(session, stamp) as wait:
                await self._log_in(session, hello, wait)
        except ProtocolError as error:
            self.counts.refused[error.code] += 1
            self.journal.login_refused(session, hello, error)
            raise

    @abstractmethod
    async def _log_in(self, session: Session, hello: Hello, wait: LoginWait) -> None:
        """Find out who says ``hello``, and let them in; raises `ProtocolError`."""

    def act(self, session: Session, message: Act, stamp: int) -> None:
        """Pass an action to its match."""
        participant = self.seated.get(session)
        seat = None if participant is None else participant.presence.matches.get(message.match)
        if seat is not None:
            live = self.directory.live[message.match]
        else:
            try:
                live, seat = self.requests.seat(session, message)
            except ProtocolError as error:
                session.refuse(message, error)
                return
        if self.watchdog.ongoing(stamp):
            self.watchdog.beat(stamp)  # settles the stall before this frame
        live.act(seat, message, stamp, session.lag_ns)

    def request(self, session: Session, message: ClientMessage, stamp: int) -> None:
        """Carry out any other request; raises `ProtocolError` if that is not possible."""
        self.requests.carry_out(session, message, stamp)

    # -------------------------------------------------------------------------- the life

    def start(self) -> None:
        """Begin to watch connections and the event loop."""
        self.watchdog.start()
        for timer in self._timers:
            timer.start()

    async def say_goodbye(self) -> None:
        """Tell every client that the server stops, and let the last frames go out."""
        self.stopping = True
        self.directory.lead(False)
        self.live_matches.freeze()
        for session in tuple(self.sessions):
            session.fail("server/shutting_down")
        await asyncio.sleep(0)

    async def _end_tasks(self) -> None:
        """Stop the timers, and everything that `spawn` has begun."""
        for timer in self._timers:
            timer.stop()
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


async def _report(
    work: Coroutine[Any, Any, None], done: Callable[[Exception | None], None]
) -> None:
    """Await ``work`` for a compiled module, then call ``done``.

    ``done`` gets the error of ``work``, or None.

    A compiled coroutine that awaits passes exceptions on by a call of ``throw`` that Python 3.12
    deprecates, so compiled modules await nothing.
    """
    try:
        await work
    except Exception as error:
        done(error)  # in here, so that it can log the traceback
    else:
        done(None)
