"""The messages of this process to and from the others of its cluster.

`Link.send` queues; at the end of the event loop's turn everything for one process leaves as one
batch.  A batch goes by the fastest carrier.  It goes by all others as well while the fastest one is
away or brings nothing from the process.  A process to which the fastest one brings nothing asks for
all carriers, too.  `plyhouse.server.cluster.channel` keeps the order and drops doubles.
A carrier (`Carrier`) takes batches from process to process.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, Protocol

from plyhouse.server.cluster.channel import Addresses, Channel

log = logging.getLogger("plyhouse.server.cluster")


Receive = Callable[[bytes], None]
"""Takes a batch that came for this process, on the event loop."""
Changed = Callable[[], None]
"""Is called when `Carrier.connected` has changed."""


class Carrier(Protocol):
    """Carries batches, of which it may lose, double and reorder any."""

    @property
    def name(self) -> str:
        """Its name in the log."""

    @property
    def patience_ns(self) -> int:
        """Time in which an acknowledgement usually comes back."""

    @property
    def pause_ns(self) -> int:
        """Time between two batches for one process; 0 if each may follow at once."""

    @property
    def connected(self) -> bool:
        """True if batches are likely to arrive."""

    async def start(self, own: int, receive: Receive, changed: Changed) -> None:
        """Begin to carry batches to and from the process with the epoch ``own``."""

    def send(self, to: int, batch: bytes) -> None:
        """Carry a batch to the process with the epoch ``to``; drop it where that is impossible."""

    async def close(self) -> None:
        """Stop; batches that were sent before still leave if the connection allows it."""


TICK_S: Final = 0.02
"""Time between two looks at what is due: acknowledgements, repetitions, heartbeats."""
DEAF_NS: Final = 1_500_000_000
"""Time without a batch by the fastest carrier after which the others are used as well."""
SILENT_NS: Final = 3_000_000_000
"""Time without any batch after which a process counts as silent."""
STALL_NS: Final = 500_000_000
"""Delay of a tick after which this process, and not the others, counts as having been silent."""


class _Peer:
    """Another process."""

    def __init__(self, channel: Channel, now: int) -> None:
        self.channel = channel
        self.fast_heard_ns = now
        """When its last batch came by the fastest carrier."""
        self.slowly = False
        """True while batches to it go by every carrier."""
        self.next_ns = 0
        """When the next batch may go, while they go by every carrier."""
        self.silent = False


class Link:
    """Messages between the process with the epoch ``own`` and the others of its cluster.

    ``carriers`` begin with the fastest.  ``now`` returns nanoseconds of a clock that only goes
    forward.  The link calls, on the event loop:

    - ``on_message(epoch, payload)`` for each message, once and in order.
    - ``on_stranger(epoch)`` for each batch of a process that `set_peers` does not name.
    """

    def __init__(
        self,
        own: int,
        carriers: Sequence[Carrier],
        now: Callable[[], int],
        on_message: Callable[[int, bytes], None],
        *,
        on_stranger: Callable[[int], None] | None = None,
    ) -> None:
        self.own = own
        self._carriers = tuple(carriers)
        self._fast = carriers[0]
        self._now = now
        self._on_message = on_message
        self._on_stranger = on_stranger
        self._peers: dict[int, _Peer] = {}
        self._dropped: set[int] = set()
        self._refused: set[int] = set()
        """Those of them that were named again."""
        self._waiting: set[int] = set()
        """Peers with something to send at the end of this turn."""
        self._flushing = False
        """True if the end of this turn has been scheduled."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ticked_ns = 0
        self._healthy = True
        self.unreadable = 0
        """Batches dropped because of their format or receiver."""
        self._past = Counter[str]()
        """Counts of peers that are gone."""

    # what callers use

    async def start(self) -> None:
        """Start the carriers; return when each has connected or failed to."""
        self._loop = asyncio.get_running_loop()
        self._ticked_ns = self._now()
        for carrier in self._carriers:
            receive = partial(self._received, carrier is self._fast)
            await carrier.start(self.own, receive, self._carrier_changed)
        if self._healthy != self._fast.connected:
            self._carrier_changed()
        self._tick()

    async def close(self) -> None:
        """Send what is queued, without waiting for its arrival, and stop."""
        self._flush_waiting()
        if self._timer is not None:
            self._timer.cancel()
        self._loop = None
        for carrier in self._carriers:
            await carrier.close()

    @property
    def healthy(self) -> bool:
        """True if the fastest carrier is connected."""
        return self._fast.connected

    @property
    def peers(self) -> Iterable[int]:
        """The epochs given to `set_peers` last."""
        return self._peers.keys()

    def set_peers(self, epochs: Iterable[int]) -> None:
        """Name the other processes of the cluster.

        The link discards everything for and from processes that are named no longer.  A process
        cannot come back with the epoch that it had: naming it again has no effect.
        """
        wanted = set(epochs) - {self.own}
        for epoch in self._peers.keys() - wanted:
            self._past.update(_counts(self._peers.pop(epoch).channel))
            self._dropped.add(epoch)
        for epoch in wanted - self._peers.keys():
            if epoch in self._dropped:
                if epoch not in self._refused:
                    self._refused.add(epoch)
                    log.error("server dropped from the cluster", extra={"server": epoch})
                continue
            now = self._now()
            self._peers[epoch] = _Peer(Channel(self.own, epoch, now), now)
            self._wake(epoch)

    def send(self, to: int, payload: bytes) -> None:
        """Queue a message; it is discarded if `set_peers` does not name the process."""
        peer = self._peers.get(to)
        if peer is not None:
            peer.channel.queue(payload)
            self._wake(to)

    def silence_ns(self, peer: int) -> int:
        """Return the time since the last batch of a process; KeyError for one not named."""
        return self._now() - self._peers[peer].channel.heard_ns

    def silent_peers(self) -> frozenset[int]:
        """Return the processes from which nothing has come for `SILENT_NS`.

        A process is among them for good if so much waited for it that messages were discarded.
        """
        return frozenset(epoch for epoch, peer in self._peers.items() if peer.silent)

    def idle(self, peer: int) -> bool:
        """Return whether a process has acknowledged every message."""
        return self._peers[peer].channel.idle

    def counts(self) -> dict[str, int]:
        """Return counts for metrics: repeated, doubled, unreadable, waiting_bytes.

        The first three count since the start, also for peers that are gone.
        """
        total = self._past.copy()
        for peer in self._peers.values():
            total.update(_counts(peer.channel))
        return {
            "repeated": total["repeated"],
            "doubled": total["doubled"],
            "unreadable": self.unreadable + total["unreadable"],
            "waiting_bytes": sum(each.channel.waiting_bytes for each in self._peers.values()),
        }

    # sending

    def _wake(self, epoch: int) -> None:
        self._waiting.add(epoch)
        if not self._flushing and self._loop is not None:
            self._flushing = True
            self._loop.call_soon(self._flush_waiting)

    def _flush_waiting(self) -> None:
        self._flushing = False
        waiting, self._waiting = self._waiting, set()
        now = self._now()
        for epoch in waiting:
            if (peer := self._peers.get(epoch)) is not None:
                self._flush(epoch, peer, now)

    def _flush(self, epoch: int, peer: _Peer, now: int) -> None:
        channel = peer.channel
        channel.asks_every_carrier = deaf = now - peer.fast_heard_ns > DEAF_NS
        slowly = not self._fast.connected or deaf or channel.peer_asks_every_carrier
        if slowly != peer.slowly:
            self._set_slowly(epoch, peer, slowly, now)
        if slowly:
            if now < peer.next_ns:
                return  # The next tick sees to it.
            peer.next_ns = now + max(each.pause_ns for each in self._carriers)
        carriers = self._carriers if slowly else self._carriers[:1]
        while (batch := channel.batch(now)) is not None:
            for carrier in carriers:
                carrier.send(epoch, batch)

    def _set_slowly(self, epoch: int, peer: _Peer, slowly: bool, now: int) -> None:
        peer.slowly = slowly
        peer.channel.patience_ns = (
            max(each.patience_ns for each in self._carriers) if slowly else self._fast.patience_ns
        )
        peer.channel.hurry(now)
        if self._fast.connected and len(self._carriers) > 1:
            carriers = self._carriers if slowly else self._carriers[:1]
            log.info(
                "messages change carriers",
                extra={"server": epoch, "carriers": [each.name for each in carriers]},
            )

    def _tick(self) -> None:
        """Send what is due, and look who is silent."""
        if self._loop is None:
            return
        self._timer = self._loop.call_later(TICK_S, self._tick)
        now = self._now()
        stall = now - self._ticked_ns
        self._ticked_ns = now
        for epoch, peer in list(self._peers.items()):
            if stall > STALL_NS:  # Batches that came meanwhile are not read yet.
                peer.channel.heard_ns = max(peer.channel.heard_ns, now - SILENT_NS // 2)
                peer.fast_heard_ns = max(peer.fast_heard_ns, now - DEAF_NS // 2)
            if peer.channel.due_ns() <= now:
                self._flush(epoch, peer, now)
            if peer.channel.broken or now - peer.channel.heard_ns > SILENT_NS:
                peer.silent = True

    # receiving

    def _received(self, fast: bool, batch: bytes) -> None:
        addresses = Addresses.of(batch)
        if addresses is None or addresses.receiver != self.own:
            self.unreadable += 1
            return
        sender = addresses.sender
        peer = self._peers.get(sender)
        if peer is None:
            if sender not in self._dropped:
                self._call(self._on_stranger, sender)
            return
        now = self._now()
        channel = peer.channel
        payloads = channel.received(batch, now)
        if fast:
            peer.fast_heard_ns = now
        peer.silent = peer.silent and channel.broken
        for payload in payloads:
            if self._peers.get(sender) is not peer:
                return  # It was dropped by what a message did.
            self._call(self._on_message, sender, payload)
        if channel.due_ns() <= now:
            self._wake(sender)

    def _carrier_changed(self) -> None:
        """Take note that the fastest carrier came or went."""
        if self._fast.connected == self._healthy or self._loop is None:
            return
        self._healthy = self._fast.connected
        name, others = self._fast.name, [each.name for each in self._carriers[1:]]
        if self._healthy:
            log.info("carrier connected", extra={"carrier": name})
        else:
            log.warning("carrier away", extra={"carrier": name, "others": others})
        for epoch in self._peers:
            self._wake(epoch)

    def _call(self, function: Callable[..., None] | None, *arguments: object) -> None:
        """Call back; an error of one callback must not keep others from being called."""
        if function is None:
            return
        try:
            function(*arguments)
        except Exception:
            log.exception("a message between servers was not processed")


def _counts(channel: Channel) -> dict[str, int]:
    return {
        "repeated": channel.repeated,
        "doubled": channel.doubled,
        "unreadable": channel.unreadable,
    }
