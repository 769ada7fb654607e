"""Limits of wrong passwords: from one address, of one player, and of one player at one address.

A class shares an address, and everybody knows the names of others.  So a person who has signed in
from an address before may do so again, also when others there have tried too many wrong ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from cachetools import LRUCache

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.registration import too_many
from plyhouse.server.wire.limits import Rate

WRONG_PASSWORDS: Final = 10, 1 / 30
"""Wrong passwords from one address: at once, and per second after that."""
WRONG_OF_PLAYER: Final = 20, 1 / 60
"""Wrong passwords of one player from all addresses.  The limit is higher than that of an address,
because it locks the player out, too.
"""
USUAL: Final = 10_000
"""Players and addresses that are remembered together."""


class Guess:
    """A try whose answer is not known yet."""

    def __init__(
        self,
        taken: list[tuple[Rate, Hashable]],
        refusal: ProtocolError | None,
        note: Callable[[], None],
    ) -> None:
        self.refusal = refusal
        """The answer to a wrong password beyond the limits of strangers; None within them."""
        self._taken = taken
        self._note = note

    def right(self) -> None:
        """Undo the count, because the password was right."""
        for rate, key in self._taken:
            rate.give_back(key)
        self._note()


class Guesses:
    """The wrong passwords of a server."""

    def __init__(self, now: Callable[[], int]) -> None:
        self.from_address = Rate(*WRONG_PASSWORDS, now)
        self._of_player = Rate(*WRONG_OF_PLAYER, now)
        self._here = Rate(*WRONG_PASSWORDS, now)
        self._usual: LRUCache[tuple[str, str], None] = LRUCache(USUAL)
        """Addresses from which players have signed in with their passwords."""

    def begin(self, address: str, player: str) -> Guess:
        """Count a try before its answer is known, so that tries at the same time count, too.

        ``player`` is the key of the name.  Raises `ProtocolError` after too many wrong ones.
        """
        here = address, player
        limits: list[tuple[Rate, Hashable, str]] = [
            (self._of_player, player, "wrong passwords of this player"),
            (self.from_address, address, "wrong passwords from your address"),
        ]
        refusal = None
        for rate, key, what in limits:
            if refusal is None and rate.left(key) < 1.0:
                refusal = too_many(what, rate, key)
        if refusal is not None and (here not in self._usual or self._here.left(here) < 1.0):
            raise refusal
        counts = [*((rate, key) for rate, key, _ in limits), (self._here, here)]
        taken = [(rate, key) for rate, key in counts if rate.take(key)]
        return Guess(taken, refusal, lambda: self._usual.update({here: None}))
