"""Running a server: for ``plyhouse serve``, and inside other programs and tests.

`serve` runs until it is told to stop; `running_server` runs one next to the caller's own code::

    async with running_server(ServerConfig(port=0, database="sqlite:///:memory:")) as server:
        print(server.url)
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, Protocol, TypeAlias

import uvicorn

from plyhouse.protocol.address import shown_host
from plyhouse.server import logs
from plyhouse.server.accounts.builtin_bots import BuiltinBots
from plyhouse.server.app import Application, create_app
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.gateway.membership import ClusterError, Membership
from plyhouse.server.web.metrics import WorkerMetrics
from plyhouse.server.wire.direct import websocket_protocol
from plyhouse.server.wire.http import http_protocol
from plyhouse.server.wire.limits import Door, Rate, client_of, raise_file_limit
from plyhouse.server.wire.listener import Listener
from plyhouse.server.wire.websocket import MAX_WEBSOCKET_FRAME
from plyhouse.server.worker import Worker
from plyhouse.storage.errors import StorageError

log = logging.getLogger("plyhouse.server")

BACKLOG: Final = 2048
FILES_KEPT: Final = 100
"""File descriptors that are not for sockets of clients: the database, logs, games."""
SWITCH_SECONDS: Final = 0.0005
"""After how long a thread lets the event loop go on: a tenth of Python's usual time."""
NO_LOCAL_RUNNER: Final = (
    "submissions are accepted, and nothing on this machine checks or runs them: start `plyhouse "
    "runner` on a machine for bots, or this server with --local-runner (the default only on a "
    "loopback address without --proxies)"
)
CLOSE_SECONDS: Final = 5
"""How long a stopping server waits for its connections to close."""


class CannotServe(Exception):  # noqa: N818 (a condition, named after what it stops)
    """The server cannot start or go on; the message is one sentence that says what to change."""

    code: ClassVar[str] = "server/cannot_serve"
    exit_code: ClassVar[int] = 3


class CannotListen(CannotServe):
    """The address cannot be listened on: in use, not of this machine, or not allowed."""

    code = "server/cannot_listen"


class DatabaseUnusable(CannotServe):
    """The database is locked, read-only, of a newer version, or out of reach.

    The cause is the `plyhouse.storage.errors.StorageError`.
    """

    code = "server/database"


class CannotJoin(CannotServe):
    """The cluster cannot be joined: NATS or its package is missing."""

    code = "server/cluster"


class DatabaseTaken(CannotServe):
    """The claim on the database is lost for good: another server may have taken the matches up."""

    code = "server/claim_lost"


class MakeBuiltinBots(Protocol):
    """Makes the object that starts built-in bots for people."""

    def __call__(self, hub: Hub, address: str) -> BuiltinBots:
        """Return the object; ``address`` is where bots connect to the server of ``hub``."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that accepts connections."""

    hub: Hub
    host: str
    port: int

    @property
    def url(self) -> str:
        """Base of the web pages and the API: ``http://HOST:PORT``."""
        return f"http://{shown_host(self.host)}:{self.port}"

    @property
    def ws_url(self) -> str:
        """Address that bots connect to: ``ws://HOST:PORT/ws``."""
        return _ws_url(self.host, self.port)


@contextlib.asynccontextmanager
async def running_server(
    config: ServerConfig,
    *,
    builtin_bots: MakeBuiltinBots | None = None,
    worker: Worker | None = None,
) -> AsyncIterator[RunningServer]:
    """Run a server on the current event loop for the time of the ``async with`` block.

    A ``worker`` shares its port with those of its supervisor: the system spreads connections.

    Raises `CannotListen` and `DatabaseUnusable` before the block is entered.  On the way out the
    clients get a message, running matches stay in the database, and all sockets are closed.
    """
    app = create_app()
    listener = _bind(config.host, config.port, shared=worker is not None)
    host, port = listener.getsockname()[:2]
    internal, address = None, ""
    if config.cluster:
        # Servers on one machine may share their public port, so each has another one, too.
        internal = _bind(config.host, 0)
        secret = secrets.token_urlsafe(24)
        named = _reachable(config.host)
        address = f"http://:{secret}@{shown_host(named)}:{internal.getsockname()[1]}"
    start = None
    if builtin_bots is not None:
        start = partial(builtin_bots, address=_ws_url(host, port))
    try:
        try:
            hub = await Hub.open(
                config, builtin_bots=start, membership=_membership(config), address=address
            )
        except StorageError as error:
            raise DatabaseUnusable(str(error)) from error
        except ClusterError as error:
            raise CannotJoin(str(error)) from error
        try:
            metrics = WorkerMetrics(hub)
            if worker is not None:
                metrics = WorkerMetrics(hub, Path(worker.folder), worker.number)
            app.serve(hub, metrics)
            if config.mcp:
                await _serve_agents(app, hub)
            listeners = [listener] if internal is None else [listener, internal]
            async with _uvicorn(app, listeners, hub), metrics.offered():
                yield RunningServer(hub, host, port)
                await hub.say_goodbye()
        finally:
            await hub.close()
            await app.close()
    finally:
        listener.close()
        if internal is not None:
            internal.close()


async def _serve_agents(app: Application, hub: Hub) -> None:
    try:
        with hub.deliberate_stall():  # the package takes a second to import
            await app.serve_agents(hub)
    except ImportError as error:
        raise CannotServe(
            f"--mcp needs the extra 'mcp': pip install 'plyhouse[mcp]' ({error})."
        ) from error


def _membership(config: ServerConfig) -> Callable[[Hub], Membership] | None:
    """Return what makes a hub the member of a cluster; None for a single server."""
    if not config.cluster:
        return None
    from plyhouse.server.cluster.member import Member

    return Member


Beside: TypeAlias = Callable[[RunningServer], contextlib.AbstractAsyncContextManager[None]]
"""The other tasks of a running server."""


def serve(
    config: ServerConfig,
    announce: Callable[[str], None] | None = None,
    *,
    beside: Beside | None = None,
    builtin_bots: MakeBuiltinBots | None = None,
    worker: Worker | None = None,
) -> None:
    """Run a server until SIGINT or SIGTERM; a second SIGINT ends it at once.

    ``announce`` is given the lines that say where the server listens, once it does, and where
    people play; by default they go to standard output.  ``beside`` is entered when the server
    accepts connections and left before it stops.  ``builtin_bots`` makes the object that starts
    bots for people.  ``worker`` is that of `running_server`.  Raises `CannotServe`.
    """
    logs.set_up(config.log_level, config.log_format)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve_until_stopped(config, announce or _say, beside, builtin_bots, worker))


async def _serve_until_stopped(
    config: ServerConfig,
    announce: Callable[[str], None],
    beside: Beside | None,
    builtin_bots: MakeBuiltinBots | None,
    worker: Worker | None,
) -> None:
    stop = asyncio.Event()
    with _stopped_by_signals(stop):
        async with contextlib.AsyncExitStack() as stack:
            served = running_server(config, builtin_bots=builtin_bots, worker=worker)
            server = await stack.enter_async_context(served)
            if beside is not None:
                await stack.enter_async_context(beside(server))
            # Objects alive now stay alive: collections need not visit them again, and rarer
            # collections keep their pauses out of the clocks.
            with server.hub.deliberate_stall():
                gc.collect()
                gc.freeze()
            gc.set_threshold(20_000, 20, 50)
            sys.setswitchinterval(SWITCH_SECONDS)
            announce(f"Plyhouse is listening on {server.url}")
            who = "as a guest or " if config.takes_guests else ""
            announce(f"People play at {server.url}/play ({who}with an account)")
            if (
                config.hosted
                and not config.has_local_runner
                and (worker is None or worker.number == 1)
            ):
                log.warning(NO_LOCAL_RUNNER)
            stopped = asyncio.create_task(stop.wait())
            taken = asyncio.create_task(server.hub.store.claim_lost())
            try:
                await asyncio.wait({stopped, taken}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                stopped.cancel()
                taken.cancel()
            if not stopped.done():
                why = taken.result()
                log.critical("the server stops", extra={"why": why})
                raise DatabaseTaken(str(why)) from why
            if config.cluster:
                log.info("stopping: other servers take over the running matches")
            else:
                log.info("stopping: running matches are kept and resumed at the next start")


@contextlib.contextmanager
def _stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        if stop.is_set() and number == signal.SIGINT:
            # A second Ctrl-C means that the user does not want to wait; the database survives it.
            os._exit(130)
        stop.set()

    numbers: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
    try:
        for number in numbers:
            loop.add_signal_handler(number, on_signal, number)
    except (NotImplementedError, RuntimeError):  # Windows, or not the main thread
        numbers = ()
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


class _Server(uvicorn.Server):
    """uvicorn that says when it is ready, stops at once, and leaves signals to us."""

    def __init__(self, config: uvicorn.Config, door: Door) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._stopping = asyncio.Event()
        self._door = door
        self._listeners: list[Listener] = []

    def stop(self) -> None:
        """Let `serve` come to an end."""
        self.should_exit = True
        self._stopping.set()

    async def main_loop(self) -> None:
        """Renew the ``date`` of answers every second until stopped."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, which looks ten times a second whether connections are closed."""
        for listener in self._listeners:
            await listener.close()
        for each in sockets or []:
            each.close()
        state = self.server_state
        for connection in list(state.connections):
            connection.shutdown()
        try:
            async with asyncio.timeout(self.config.timeout_graceful_shutdown):
                while state.connections or state.tasks:  # noqa: ASYNC110 - uvicorn tells nobody
                    await asyncio.sleep(0.005)
        except TimeoutError:
            for task in state.tasks:
                task.cancel()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, with listeners of our own."""
        await super().startup([])

        def protocol() -> asyncio.Protocol:
            made: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
                config=self.config,
                server_state=self.server_state,
                app_state=self.lifespan.state,
            )
            return made

        self._listeners = [Listener(each, self._door, protocol) for each in sockets or []]
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def _uvicorn(
    app: Application, listeners: list[socket.socket], hub: Hub
) -> AsyncIterator[None]:
    config = hub.config
    proxies = [name for name in map(str.strip, config.proxies.split(",")) if name]
    files = raise_file_limit()
    door = Door(
        max(files - FILES_KEPT, 1),
        config.max_connections_per_address,
        proxies,
        _pauses(config, hub.now),
    )
    app.trust = door.trust
    settings = uvicorn.Config(
        app,
        http=http_protocol(door, hub.connections.backlog),
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies,
        ws=websocket_protocol(),
        ws_max_size=MAX_WEBSOCKET_FRAME,
        ws_per_message_deflate=False,
        ws_ping_interval=None,  # the protocol's own pings measure round trips as well
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )
    server = _Server(settings, door)
    task = asyncio.create_task(server.serve(listeners), name="uvicorn")
    ready = asyncio.create_task(server.ready.wait())
    try:
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
            raise CannotListen("The web server stopped before it was ready.")
        yield
    finally:
        ready.cancel()
        server.stop()
        await task


def _pauses(config: ServerConfig, now: Callable[[], int]) -> Callable[[str], float] | None:
    """For how long an address has to wait that opens a socket."""
    if not config.connections_per_second:
        return None
    rate = Rate(config.connections_burst, config.connections_per_second, now)

    def pause(address: str) -> float:
        client = client_of(address)
        return 0.0 if rate.take(client) else rate.wait(client)

    return pause


@contextlib.contextmanager
def shared_port(host: str, port: int) -> Iterator[int]:
    """Keep a port for the time of the block, for servers that share it; yield its number.

    ``port`` 0 picks a free one.  Raises `CannotListen` if another program uses it.
    """
    # A second bind, as the first one does not join those who share the port already.
    with _bind(host, port, listens=False) as free:
        number = int(free.getsockname()[1])
    with _bind(host, number, shared=True, listens=False):
        yield number


def _bind(host: str, port: int, *, shared: bool = False, listens: bool = True) -> socket.socket:
    if shared and not hasattr(socket, "SO_REUSEPORT"):
        raise CannotListen("This system cannot share a port; start one server without --workers.")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise CannotListen(f"'{host}' is no address of this machine; try 127.0.0.1.") from error
    family, kind, number, _, address = found[0]
    listener = socket.socket(family, kind, number)
    try:
        if os.name == "posix":  # elsewhere the option lets two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(address)
        if listens:
            listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise CannotListen(_why_not(error, host, port)) from error
    return listener


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is in use by another program; stop that one or choose "
            "another with --port (0 picks a free one)."
        )
    if error.errno == errno.EACCES:
        return f"Port {port} may not be used by this user; choose one above 1023 with --port."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"'{host}' is no address of this machine; try 127.0.0.1 or 0.0.0.0."
    return f"Cannot listen on {host} port {port}: {error.strerror or error}."


def _reachable(host: str) -> str:
    """Return a name for ``host`` that other machines can connect to."""
    return socket.gethostname() if host in ("0.0.0.0", "::", "") else host  # noqa: S104 - compared


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:  # not made for this system
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def _ws_url(host: str, port: int) -> str:
    return f"ws://{shown_host(host)}:{port}/ws"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
