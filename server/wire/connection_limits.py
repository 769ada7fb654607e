"""Who gets in: sockets in all and per address, and the places of sessions.

Three things are scarce: file descriptors and the time to accept sockets (`Door`), and connections
that the house looks after (`Places`).  Of each one address gets a share at most, and of the places
spectators get half at most, so that neither strangers nor spectators can shut out bots.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from plyhouse.server.wire.rates import client_of

__all__ = ["Door", "Full", "Places", "raise_file_limit"]

log = logging.getLogger("plyhouse.server.wire")

resource: Any
try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None


class Full(Exception):  # noqa: N818 (a condition)
    """There is no place; the message says of which kind."""


class Door:
    """Counts sockets; those of ``trusted`` addresses (proxies) only in all.

    ``pause`` takes an address that opens a socket, and returns the seconds that it has to wait; 0
    lets it in.
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
        """Sockets now."""
        self.refused = 0
        """Sockets refused since the start."""

    def knock(self, address: str) -> float:
        """Seconds for which this address may open no more sockets; 0 if this one may come in."""
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
        """Let a socket in, if there is room for it."""
        client = client_of(address)
        crowded = self._inside[client] >= self.per_address and address not in self._trusted
        if crowded or self.inside >= self.most:
            self._refuse(address, "its address has too many" if crowded else "there are too many")
            return False
        self._inside[client] += 1
        self.inside += 1
        return True

    def leave(self, address: str) -> None:
        """A socket that was let in is gone."""
        self.inside -= 1
        client = client_of(address)
        self._inside[client] -= 1
        if not self._inside[client]:
            del self._inside[client]


class Places:
    """The places of a house's connections: those not logged in, spectators, and bots.

    A newcomer always finds room where strangers are in the way: of the address that has the most
    of them, the one that has waited longest gives way.
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
        """Take a place, before logging in; returns who has to go for it.

        Connections without an address (in this process) only count in all.  Raises `Full`.
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
        """It is a spectator.  Raises `Full`."""
        if who in self._watching:
            return
        if len(self._watching) >= self.spectators:
            raise Full("There are too many spectators now.")
        self._known(who)
        self._watching.add(who)

    def play(self, who: object) -> None:
        """It is a bot, or a person who plays."""
        self._known(who)
        self._watching.discard(who)

    def leave(self, who: object) -> None:
        """It is gone; nothing happens if it had no place."""
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


def raise_file_limit(wanted: int = 65_536) -> int:
    """Let this process open as many files as it may, up to ``wanted``; return how many."""
    if resource is None:
        return wanted
    limits: tuple[int, int] = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = limits
    unlimited = resource.RLIM_INFINITY
    most = wanted if hard == unlimited else min(wanted, hard)
    if soft != unlimited and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (OSError, ValueError):  # some systems have a lower limit that they do not tell
            return soft
        return most
    return most if soft == unlimited else soft
