"""How often somebody may do something: token buckets by address, account or pair."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from collections.abc import Callable, Hashable

__all__ = ["Rate", "client_of"]


def client_of(address: str) -> str:
    """Return what one client's addresses share: an IPv4 address, or the /64 of an IPv6 one.

    Anything else is returned as it is.

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
    """Allows ``burst`` actions at once and then ``per_second``, for each key apart.

    Keys that have their whole allowance again are forgotten, and beyond ``most`` keys those that
    were used least recently: an attacker with many addresses costs memory up to that.
    """

    def __init__(
        self, burst: float, per_second: float, now: Callable[[], int], most: int = 10_000
    ) -> None:
        self._burst = float(burst)
        self._per_ns = per_second / 1e9
        self._now = now
        self._most = most
        self._left: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()
        """What is left, and at what time it was; the least recently used first."""

    def __len__(self) -> int:
        return len(self._left)

    def left(self, key: Hashable) -> float:
        """How many actions are left for a key."""
        found = self._left.get(key)
        if found is None:
            return self._burst
        left, since = found
        return min(self._burst, left + (self._now() - since) * self._per_ns)

    def wait(self, key: Hashable, cost: float = 1.0) -> float:
        """Seconds until `take` with this cost succeeds; 0 if it does so at once."""
        missing = min(cost, self._burst) - self.left(key)
        return max(0.0, missing / self._per_ns / 1e9)

    def take(self, key: Hashable, cost: float = 1.0) -> bool:
        """Use up an action of this cost; False, and nothing used, if too little is left.

        An action that costs more than the burst needs, and takes, the whole burst.
        """
        left, cost = self.left(key), min(cost, self._burst)
        if left < cost:
            return False
        self._put(key, left - cost)
        return True

    def give_back(self, key: Hashable) -> None:
        """Undo `take`: the action turned out to do no harm."""
        self._put(key, min(self._burst, self.left(key) + 1.0))

    def _put(self, key: Hashable, left: float) -> None:
        self._left.pop(key, None)
        if left >= self._burst:
            return
        self._left[key] = left, self._now()
        while len(self._left) > self._most:
            self._left.popitem(last=False)
