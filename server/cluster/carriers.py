"""Carriers of batches: NATS, and a table of the database while NATS is away.

With NATS each process subscribes to one subject and publishes to those of others.  A new client
takes the place of one that lost its connection: the reconnection of nats-py gives up after some
errors of the server.

In the table each process looks for its own batches every half a second.  It does so while NATS is
connected, too: the NATS connection of another process may be the one that failed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import struct
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from plyhouse.server.cluster.channel import BATCH_BYTES
from plyhouse.server.cluster.link import Changed, Receive
from plyhouse.server.gateway.membership import ClusterError
from plyhouse.storage import members
from plyhouse.storage.errors import StorageError, StoreClosed
from plyhouse.storage.store import Store

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

log = logging.getLogger("plyhouse.server.cluster")

CONNECT_S: Final = 3
"""Time for a connection."""
PAUSE_S: Final = 0.2
"""Time between two attempts to connect, at first; it doubles."""
MOST_PAUSE_S: Final = 2.0
"""Limit of this doubling."""
PING_S: Final = 1
"""Time between pings; three without answer end a connection."""
FLUSH_S: Final = 2
"""Time in which a full buffer must get smaller."""
CLOSE_S: Final = 1
"""Time for a client to close."""
AGAIN_S: Final = 0.5
"""Seconds until a task that should end is cancelled again."""
WATCH_S: Final = 0.25
"""Time between two looks at whether a client is connected, as it may hang before it reports."""
_SCHEMES: Final = ("nats", "tls", "ws", "wss")
_CLUSTER: Final = re.compile(r"[A-Za-z0-9_-]+")

POLL_S: Final = 0.5
"""Time between two looks at the table."""
KEPT_MS: Final = 60_000
"""Age of rows that are deleted unread."""
WAITING_BYTES: Final = 16 * 1024 * 1024
"""Bytes that wait for a transaction at most; more is dropped, as batches may be."""
_LENGTH: Final = struct.Struct("!I")


class NatsCarrier:
    """Carries batches through the NATS servers at ``urls``, separated by commas.

    ``nats://``, ``tls://``, ``ws://`` and ``wss://`` are known, with ``USER:PASSWORD@`` or
    ``TOKEN@``.  Processes with the same ``cluster``, of letters, digits, ``-`` and ``_``, reach
    each other.  Raises `ClusterError` for another scheme, and if nats-py is not installed.
    """

    name = "NATS"
    patience_ns = 200_000_000
    pause_ns = 0

    def __init__(self, urls: str, cluster: str) -> None:
        if not _CLUSTER.fullmatch(cluster):
            raise ValueError(f"'{cluster}' cannot be part of a subject")
        try:
            import nats.aio.client  # noqa: F401
        except ImportError as error:
            raise ClusterError(
                "--cluster needs the package nats-py; install it with: pip install "
                "'plyhouse[cluster]'."
            ) from error
        self._servers = [each.strip() for each in urls.split(",") if each.strip()]
        self._places = ", ".join(map(_place, self._servers))
        self._subject = f"plyhouse.{cluster}."
        self._own = 0
        self._receive: Receive | None = None
        self._changed: Changed | None = None
        self._client: Client | None = None
        """The client while it is connected."""
        self._tried = asyncio.Event()
        """Set after the first attempt to connect."""
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._more = asyncio.Event()
        self._complained = set[str]()
        """The reasons in the log why there is no connection, since there was one."""
        self._task: asyncio.Task[None] | None = None

    @property
    def connected(self) -> bool:
        """True while the client is connected and subscribed."""
        return self._client is not None and self._client.is_connected

    async def start(self, own: int, receive: Receive, changed: Changed) -> None:
        """Begin to connect; return once it has worked or failed."""
        self._own, self._receive, self._changed = own, receive, changed
        if any("@" not in each for each in self._servers):
            log.warning(
                "--cluster has no credentials for NATS: everybody who reaches it can read session "
                "keys. Let NATS ask for a password, and give nats://USER:PASSWORD@HOST:4222",
                extra={"address": self._places},
            )
        self._task = asyncio.create_task(self._keep_connected(), name="connection to NATS")
        await self._tried.wait()

    def send(self, to: int, batch: bytes) -> None:
        """Publish a batch at the next turn of the event loop."""
        if self._client is not None:
            self._waiting.append((to, batch))
            self._more.set()

    async def close(self) -> None:
        """Publish what waits, and disconnect."""
        if self._client is not None:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CLOSE_S):
                    await self._publish_waiting(self._client)
                    await self._client.flush()
        while self._task is not None and not self._task.done():
            # Cancel repeatedly: `wait_for` of Python 3.11 in the client may swallow a cancellation.
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=AGAIN_S)

    async def _keep_connected(self) -> None:
        pause = PAUSE_S
        while True:
            try:
                if await self._live():
                    pause = PAUSE_S
            except Exception as error:
                # nats-py lets errors of many kinds through: of sockets, TLS, its own, plain ones.
                self._complain(f"{type(error).__name__}: {error}".rstrip(": "))
            self._tried.set()
            await asyncio.sleep(pause)
            pause = min(2 * pause, MOST_PAUSE_S)

    async def _live(self) -> bool:
        """One life of a client; return whether it was connected."""
        from nats.aio.client import Client

        client, closed = Client(), asyncio.Event()

        async def on_closed() -> None:
            closed.set()

        try:
            async with asyncio.timeout(CONNECT_S):
                await client.connect(
                    self._servers,
                    name=f"plyhouse {self._own}",
                    error_cb=self._on_error,
                    closed_cb=on_closed,
                    allow_reconnect=False,
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    connect_timeout=CONNECT_S,
                    ping_interval=PING_S,
                    max_outstanding_pings=2,
                    flush_timeout=FLUSH_S,
                    no_echo=True,
                )
                await client.subscribe(f"{self._subject}{self._own}", cb=self._on_message)
                await client.flush()
            if client.max_payload < BATCH_BYTES:
                self._complain(
                    f"it takes messages of {client.max_payload} bytes at most; set max_payload "
                    f"to {BATCH_BYTES} or more"
                )
                return False
            self._complained.clear()
            self._set_client(client)
            self._tried.set()
            await self._publishing(client, closed)
            return True
        finally:
            self._set_client(None)
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CLOSE_S):
                    await client.close()

    async def _publishing(self, client: Client, closed: asyncio.Event) -> None:
        """Publish what is sent until the client has lost its connection."""
        watching = asyncio.create_task(self._watch(client, closed))
        try:
            while client.is_connected:
                await self._more.wait()
                await self._publish_waiting(client)
        finally:
            watching.cancel()

    async def _watch(self, client: Client, closed: asyncio.Event) -> None:
        """Wake `_publishing` when the client has lost its connection."""
        while client.is_connected:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WATCH_S):
                    await closed.wait()
        self._more.set()

    async def _publish_waiting(self, client: Client) -> None:
        self._more.clear()
        while self._waiting:
            to, batch = self._waiting.popleft()
            await client.publish(f"{self._subject}{to}", batch)

    def _set_client(self, client: Client | None) -> None:
        self._waiting.clear()
        if client is self._client:
            return
        self._client = client
        if self._changed is not None:
            self._changed()

    async def _on_message(self, message: Msg) -> None:
        if self._receive is not None:
            self._receive(message.data)

    async def _on_error(self, error: Exception) -> None:
        self._complain(f"{type(error).__name__}: {error}".rstrip(": "))

    def _complain(self, reason: str) -> None:
        """Log a reason once until the next connection: each attempt may have several."""
        if reason not in self._complained:
            self._complained.add(reason)
            log.warning("NATS trouble", extra={"address": self._places, "why": reason})


def _place(url: str) -> str:
    """Return host and port of an address, without its secrets; `ClusterError` for a bad one."""
    parts = urlsplit(url if "://" in url else f"nats://{url}")
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise ClusterError(
            f"--cluster has no address of NATS: '{parts.scheme}://{parts.hostname or ''}'; give "
            "one as nats://HOST:4222 or tls://USER:PASSWORD@HOST:4222."
        )
    return parts.netloc.rpartition("@")[2]


class DatabaseCarrier:
    """Carries batches through the table ``cluster_batches`` of a store.

    ``poll_s`` is the time between two looks at the table.
    """

    name = "the database"
    patience_ns = 1_500_000_000
    pause_ns = 100_000_000
    connected = True

    def __init__(self, store: Store, *, poll_s: float = POLL_S) -> None:
        self._store = store
        self._poll_s = poll_s
        self._own = 0
        self._receive: Receive | None = None
        self._waiting: defaultdict[int, list[bytes]] = defaultdict(list)
        self._waiting_bytes = 0
        self._more = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._failures = 0
        """Failed transactions in a row."""

    async def start(self, own: int, receive: Receive, changed: Changed) -> None:
        """Begin to look for batches of this process."""
        self._own, self._receive = own, receive
        self._tasks = [
            asyncio.create_task(self._writing(), name="batches to the database"),
            asyncio.create_task(self._polling(), name="batches from the database"),
        ]

    def send(self, to: int, batch: bytes) -> None:
        """Store a batch in the next transaction."""
        if self._waiting_bytes + len(batch) > WAITING_BYTES:
            return
        self._waiting[to].append(batch)
        self._waiting_bytes += len(batch)
        self._more.set()

    async def close(self) -> None:
        """Store what waits, and stop."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        with contextlib.suppress(StorageError):
            await self._write()

    async def _writing(self) -> None:
        while True:
            await self._more.wait()
            await self._attempt(self._write)

    async def _write(self) -> None:
        """Store all batches that wait, in one transaction: one row for each receiver."""
        self._more.clear()
        if not self._waiting:
            return
        rows = [(receiver, _joined(batches)) for receiver, batches in self._waiting.items()]
        self._waiting.clear()
        self._waiting_bytes = 0
        await self._store.write(members.add, self._own, rows, self._store.now())

    async def _polling(self) -> None:
        cleaned_ms = self._store.now()
        while True:
            await self._attempt(self._read)
            if self._store.now() - cleaned_ms > KEPT_MS:
                cleaned_ms = self._store.now()
                await self._attempt(self._clean)
            await asyncio.sleep(self._poll_s)

    async def _read(self) -> None:
        full = True
        while full:
            rows = await self._store.read(members.waiting, self._own)
            for _, data in rows:
                for batch in _split(data):
                    if self._receive is not None:
                        self._receive(batch)
            if rows:
                await self._store.write(members.forget, [number for number, _ in rows])
            full = len(rows) == members.AT_ONCE

    async def _clean(self) -> None:
        await self._store.write(members.forget_older, self._store.now() - KEPT_MS)

    async def _attempt(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do work with the database; the log has the first, second, fourth and so on failure."""
        try:
            await work()
        except StoreClosed:
            await asyncio.sleep(self._poll_s)
        except StorageError as error:
            self._failures += 1
            if self._failures & (self._failures - 1) == 0:
                log.warning("messages not stored", extra={"why": str(error)})
            await asyncio.sleep(self._poll_s)
        else:
            self._failures = 0


def _joined(batches: list[bytes]) -> bytes:
    return b"".join(part for each in batches for part in (_LENGTH.pack(len(each)), each))


def _split(data: bytes) -> Iterator[bytes]:
    begin = 0
    while begin + _LENGTH.size <= len(data):
        (length,) = _LENGTH.unpack_from(data, begin)
        begin += _LENGTH.size
        yield data[begin : begin + length]
        begin += length
