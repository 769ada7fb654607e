"""Limits on sockets and sessions, and rates by address, account or pair.

Three things are scarce.  `Door` limits file descriptors and the time to accept sockets, and
`Places` limits the sessions.  One address gets at most a share of each, and spectators get at most
half of the places.  So neither strangers nor spectators can shut out bots.

A `Rate` is a token bucket.  A `Backlog` limits the memory that slow readers take.
"""

from __future__ import annotations

import ipaddress
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Protocol

log = logging.getLogger("plyhouse.server.wire")


def client_of(address: str) -> str:
    """Return the common part of one client's addresses.

    The result is an IPv4 address, or the /64 of an IPv6 one.  Anything else is returned unchanged.

    >>> client_of("192.0.2.7"), client_of("2001:db8:1:2:3::4"), client_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8:1:2::', '192.0.2.7')
    """
    if ":" not in address:
        return address
    try:
        parsed = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(parsed) >> 64 << 64))


class Rate:
    """Allows ``burst`` actions at once and then ``per_second``, for each key.

    Keys that have their whole allowance again are forgotten.  Beyond ``most`` keys, the least
    recently used ones are also forgotten, which bounds the memory that an attacker with many
    addresses costs.
    """

    def __init__(
        self, burst: float, per_second: float, now: Callable[[], int], most: int = 10_000
    ) -> None:
        self._burst = float(burst)
        self._per_ns = per_second / 1e9
        self._now = now
        self._most = most
        self._left: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()
        """The allowance left and the time at which that was so; the least recently used first."""

    def __len__(self) -> int:
        return len(self._left)

    def left(self, key: Hashable) -> float:
        """Return how many actions are left for a key."""
        found = self._left.get(key)
        if found is None:
            return self._burst
        left, since = found
        return min(self._burst, left + (self._now() - since) * self._per_ns)

    def wait(self, key: Hashable, cost: float = 1.0) -> float:
        """Return the seconds until `take` with this cost succeeds; 0 if it succeeds now."""
        missing = min(cost, self._burst) - self.left(key)
        return max(0.0, missing / self._per_ns / 1e9)

    def take(self, key: Hashable, cost: float = 1.0) -> bool:
        """Use up an action of this cost; return whether enough was left.

        If too little is left, nothing is used.

        An action that costs more than the burst needs, and takes, the whole burst.
        """
        left, cost = self.left(key), min(cost, self._burst)
        if left < cost:
            return False
        self._put(key, left - cost)
        return True

    def give_back(self, key: Hashable) -> None:
        """Undo `take`, because the action turned out to do no harm."""
        self._put(key, min(self._burst, self.left(key) + 1.0))

    def _put(self, key: Hashable, left: float) -> None:
        self._left.pop(key, None)
        if left >= self._burst:
            return
        self._left[key] = left, self._now()
        while len(self._left) > self._most:
            self._left.popitem(last=False)


resource: Any
try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None


class SlowReader(Protocol):
    """A connection for which bytes may wait."""

    def unread(self) -> int:
        """Return how many bytes wait for it now."""

    def cut_off(self) -> None:
        """Drop the connection with everything that waits for it."""


class Full(Exception):  # noqa: N818 (a condition)
    """A lack of places; the message says of which kind."""


class Door:
    """Counts sockets.

    Those of ``trusted`` addresses (proxies) count only in the total.

    ``pause`` takes an address that opens a socket, and returns the seconds that it has to wait; 0
    admits the socket.
    """

    def __init__(
        self,
        most: int = 1 << 30,
        per_address: int = 1 << 30,
        trusted: Iterable[str] = (),
        pause: Callable[[str], float] | None = None,
    ) -> None:
        self.most = most
        self.per_address = per_address
        self._trusted = frozenset(trusted)
        self._pause = pause
        self._inside: Counter[str] = Counter()
        self.inside = 0
        """Number of open sockets."""
        self.refused = 0
        """Number of sockets refused since the start."""

    def trust(self, address: str) -> None:
        """Count the sockets of an address only in the total: another server opens them.

        It passes on the requests of all its visitors, and limits each of these itself.
        """
        if address not in self._trusted:
            self._trusted |= {address}

    def knock(self, address: str) -> float:
        """Return how many seconds this address must wait; 0 if its socket is admitted."""
        if self._pause is None or address in self._trusted:
            return 0.0
        pause = self._pause(address)
        if pause:
            self._refuse(address, "its address opens too many in a short time")
        return pause

    def _refuse(self, address: str, why: str) -> None:
        if self.refused & (self.refused + 1) == 0:  # 1st, 2nd, 4th, 8th ...: no flood of lines
            log.warning("a socket of %s is refused: %s", address or "unknown", why)
        self.refused += 1

    def enter(self, address: str) -> bool:
        """Admit a socket if there is room for it; return whether it was admitted."""
        client = client_of(address)
        crowded = self._inside[client] >= self.per_address and address not in self._trusted
        if crowded or self.inside >= self.most:
            self._refuse(address, "its address has too many" if crowded else "there are too many")
            return False
        self._inside[client] += 1
        self.inside += 1
        return True

    def leave(self, address: str) -> None:
        """Release the place of an admitted socket."""
        self.inside -= 1
        client = client_of(address)
        self._inside[client] -= 1
        if not self._inside[client]:
            del self._inside[client]


class Places:
    """The places of connections: those not logged in, spectators, and bots.

    A newcomer always gets a place if a connection without login occupies one.  The one that is
    closed for it belongs to the address with the most of them, and has waited longest.
    """

    def __init__(
        self, most: int, *, spectators: int, per_address: int, strangers_per_address: int
    ) -> None:
        self.most = most
        self.spectators = min(spectators, most // 2)
        self.per_address = per_address
        self.strangers_per_address = strangers_per_address
        self._addresses: dict[object, str] = {}
        self._of_address: Counter[str] = Counter()
        self._strangers: dict[str, dict[object, None]] = {}
        self._watching: set[object] = set()

    def __len__(self) -> int:
        return len(self._addresses)

    def enter(self, who: object, address: str) -> object | None:
        """Take a place, before logging in; return the connection to close for it, if any.

        Connections without an address (in this process) only count in the total.  Raises `Full`.
        """
        gone = None
        address = client_of(address)
        mine = self._strangers.get(address, {})
        crowded = bool(address) and self._of_address[address] >= self.per_address
        if address and (crowded or len(mine) >= self.strangers_per_address):
            gone = next(iter(mine), None)
            if gone is None:
                raise Full("Your address has too many connections.")
        elif len(self._addresses) >= self.most:
            most = max(self._strangers.values(), key=len, default={})
            gone = next(iter(most), None)
            if gone is None:
                raise Full("The server is full.")
        if gone is not None:
            self.leave(gone)
        self._addresses[who] = address
        self._of_address[address] += 1
        self._strangers.setdefault(address, {})[who] = None
        return gone

    def watch(self, who: object) -> None:
        """Make a connection a spectator; raises `Full`."""
        if who in self._watching:
            return
        if len(self._watching) >= self.spectators:
            raise Full("There are too many spectators now.")
        self._known(who)
        self._watching.add(who)

    def play(self, who: object) -> None:
        """Make a connection that of a bot, or of a person who plays."""
        self._known(who)
        self._watching.discard(who)

    def leave(self, who: object) -> None:
        """Release a place; nothing happens if the connection had none."""
        address = self._addresses.get(who)
        if address is None:
            return
        self._known(who)
        self._watching.discard(who)
        del self._addresses[who]
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]

    def _known(self, who: object) -> None:
        address = self._addresses[who]
        strangers = self._strangers.get(address)
        if strangers is not None and strangers.pop(who, self) is None and not strangers:
            del self._strangers[address]


class Backlog:
    """The bytes that wait for slow readers, of all connections together.

    One connection may be slow for a while.  Above ``most`` bytes, the address with the most of them
    loses its connection with the most.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.size = 0
        """Bytes that wait for all connections."""
        self._waiting: dict[str, dict[SlowReader, int]] = {}
        self._of_address: Counter[str] = Counter()

    def note(self, who: SlowReader, address: str, size: int) -> None:
        """Note how many bytes wait for a connection now, and cut off others if need be."""
        client = client_of(address)
        self._set(who, client, size)
        while self.size > self.most:
            client, _ = self._of_address.most_common(1)[0]
            waiting = self._waiting[client]
            stale = [each for each, size in waiting.items() if each.unread() < size]
            if stale:  # they have read since, which nobody notes
                for each in stale:
                    self._set(each, client, each.unread())
                continue
            slowest = max(waiting, key=waiting.__getitem__)
            log.warning("%r is cut off: %d bytes wait for slow readers", slowest, self.size)
            self._set(slowest, client, 0)
            slowest.cut_off()

    def _set(self, who: SlowReader, client: str, size: int) -> None:
        waiting = self._waiting.setdefault(client, {})
        more = size - waiting.pop(who, 0)
        self.size += more
        self._of_address[client] += more
        if size:
            waiting[who] = size
        if not waiting:
            del self._waiting[client], self._of_address[client]


def raise_file_limit(wanted: int = 65_536) -> int:
    """Raise this process's limit of open files up to ``wanted``; return the limit."""
    if resource is None:
        return wanted
    limits: tuple[int, int] = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = limits
    unlimited = resource.RLIM_INFINITY
    most = wanted if hard == unlimited else min(wanted, hard)
    if soft != unlimited and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (OSError, ValueError):  # some systems do not report their lower limit
            return soft
        return most
    return most if soft == unlimited else soft
