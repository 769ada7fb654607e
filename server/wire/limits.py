"""Limits on sockets and sessions, and rates by address, account or pair.

Three things are scarce.  `Door` limits file descriptors and the time to accept sockets, and
`Places` limits the sessions.  One address gets at most a share of each, spectators get at most
half of the places, and a few accounts a quarter, or half of their address.  So neither strangers
nor spectators nor the bots of others can shut out a bot.

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

    def spend(self, key: Hashable, cost: float) -> None:
        """Use up an action that has happened; what is left may be less than nothing then."""
        self._put(key, self.left(key) - cost)

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
            log.warning("socket refused", extra={"address": address or "unknown", "why": why})
        self.refused += 1

    def admits(self, address: str, waiting: int = 0) -> bool:
        """Return whether there is room for one more socket, with those of its client that wait."""
        there = self._inside[client_of(address)] + waiting
        crowded = there >= self.per_address and address not in self._trusted
        if crowded or self.inside + waiting >= self.most:
            self._refuse(address, "its address has too many" if crowded else "there are too many")
            return False
        return True

    def enter(self, address: str) -> bool:
        """Admit a socket if there is room for it; return whether it was admitted."""
        if not self.admits(address):
            return False
        self._inside[client_of(address)] += 1
        self.inside += 1
        return True

    def leave(self, address: str) -> None:
        """Release the place of an admitted socket."""
        self.inside -= 1
        client = client_of(address)
        self._inside[client] -= 1
        if not self._inside[client]:
            del self._inside[client]


class Shares:
    """Counts what each account holds of something limited, and keeps most of it for the many.

    An account that holds a tenth of ``most`` gets no more once ``free`` are held.  So a few
    accounts cannot use up everything, and one account may have so many while nobody else comes.
    """

    def __init__(self, most: int, free: int) -> None:
        self._few = max(1, most // 10)
        self._free = free
        self._held: Counter[Hashable] = Counter()
        self.total = 0

    def admits(self, account: Hashable) -> bool:
        """Return whether an account may hold one more."""
        return self._held[account] < self._few or self.total < self._free

    def add(self, account: Hashable) -> None:
        """Note that an account holds one more."""
        self._held[account] += 1
        self.total += 1

    def remove(self, account: Hashable) -> None:
        """Note that an account holds one less."""
        self.total -= 1
        self._held[account] -= 1
        if not self._held[account]:
            del self._held[account]


class Places:
    """The places of connections: those not logged in, spectators, and bots.

    A newcomer always gets a place if a connection without login occupies one.  The one that is
    closed for it belongs to the address with the most of them, and has waited longest.  At an
    address with too many connections, a spectator gives way to a newcomer, too.  Accounts share
    the places of bots, in all and at each address (`Shares`); addresses share those of spectators.
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
        self._watching: dict[str, dict[object, None]] = {}
        self._playing: dict[object, Hashable] = {}
        """The account of each connection of a bot or person."""
        self._shares = Shares(most, most // 4)
        self._shares_at: dict[str, Shares] = {}

    def __len__(self) -> int:
        return len(self._addresses)

    def enter(self, who: object, address: str) -> object | None:
        """Take a place, before logging in; return the connection to close for it, if any.

        Connections without an address (in this process) only count in the total.  Raises `Full`.
        """
        gone = None
        address = client_of(address)
        mine = self._strangers.get(address, {})
        crowded = self._crowded(address)
        if address and (crowded or len(mine) >= self.strangers_per_address):
            gone = _first(mine or self._watching.get(address, {}))
            if gone is None:
                raise Full("Your address has too many connections.")
        elif len(self._addresses) >= self.most:
            gone = _first(max(self._strangers.values(), key=len, default={}))
            if gone is None:
                raise Full("The server is full.")
        if gone is not None:
            self.leave(gone)
        self._addresses[who] = address
        self._of_address[address] += 1
        self._strangers.setdefault(address, {})[who] = None
        return gone

    def _crowded(self, address: str) -> bool:
        return bool(address) and self._of_address[address] >= self.per_address

    def watch(self, who: object) -> object | None:
        """Make a connection a spectator; return the spectator to close for it, if any.

        That one belongs to the address with the most of them.  Raises `Full`.
        """
        address = self._addresses[who]
        mine = self._watching.get(address, {})
        if who in mine:
            return None
        if self._crowded(address):  # it came in for another spectator, and would again
            raise Full("Your address has too many connections.")
        gone = None
        if sum(map(len, self._watching.values())) >= self.spectators:
            most = max(self._watching.values(), key=len, default={})
            if len(most) <= len(mine) + 1:
                raise Full("There are too many spectators now.")
            gone = _first(most)
            self.leave(gone)
        self._known(who)
        self._watching.setdefault(address, {})[who] = None
        return gone

    def check(self, who: object, account: Hashable) -> None:
        """Raise `Full` if an account may have no more connections now, from this address."""
        address = self._addresses.get(who, "")
        shares = [self._shares, *filter(None, [self._shares_at.get(address)])]
        if not all(each.admits(account) for each in shares):
            raise Full("Your account has many connections, and others need the rest: close some.")

    def play(self, who: object, account: Hashable = None) -> None:
        """Make a connection that of a bot, or of a person who plays, of this account."""
        self._known(who)
        address = self._addresses[who]
        self._playing[who] = account
        self._shares.add(account)
        if address:
            # Spectators there give way to bots, so that half of the places may go to few accounts.
            own = Shares(self.per_address, self.per_address // 2)
            self._shares_at.setdefault(address, own).add(account)

    def leave(self, who: object) -> None:
        """Release a place; nothing happens if the connection had none."""
        address = self._addresses.get(who)
        if address is None:
            return
        self._known(who)
        del self._addresses[who]
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]

    def _known(self, who: object) -> None:
        """Forget what a connection was so far."""
        address = self._addresses[who]
        for kind in (self._strangers, self._watching):
            there = kind.get(address)
            if there is not None and there.pop(who, self) is None and not there:
                del kind[address]
        if who in self._playing:
            account = self._playing.pop(who)
            self._shares.remove(account)
            if address:
                self._shares_at[address].remove(account)
                if not self._shares_at[address].total:
                    del self._shares_at[address]


def _first(connections: dict[object, None]) -> object | None:
    return next(iter(connections), None)


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
            log.warning("slow client chosen", extra={"client": slowest, "waiting_bytes": self.size})
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
