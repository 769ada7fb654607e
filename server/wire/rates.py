"""Rate limits: token buckets by address, account or pair."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from collections.abc import Callable, Hashable


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
