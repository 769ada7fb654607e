"""The interface of the pairings still to start, in any format.

Pairings played earlier with the same versions, seats and rules need not be played again.  A pairing
that becomes ready takes over the outcome of an earlier one in the *pool*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from plyhouse.server.competition_rules.format_types import EntryT, Pairing, PairingOutcome

__all__ = ["PairingQueue", "Pool", "Reusable", "signature"]

Orders = tuple[tuple[EntryT, ...], ...]


def signature(orders: Iterable[tuple[EntryT, ...]]) -> Orders[EntryT]:
    """Return the seat orders of a pairing's matches in a canonical order."""
    return tuple(sorted(orders))


@dataclass(frozen=True, slots=True)
class Reusable(Generic[EntryT]):
    """A pairing played earlier under the conditions that hold now."""

    id: str
    orders: Orders[EntryT]
    outcome: PairingOutcome[EntryT]


class Pool(Generic[EntryT]):
    """Reusable pairings; each can replace one pairing only."""

    def __init__(self, played: Iterable[Reusable[EntryT]] = ()) -> None:
        self._by: dict[Orders[EntryT], list[Reusable[EntryT]]] = defaultdict(list)
        for each in sorted(played, key=lambda each: each.id):
            self._by[signature(each.orders)].append(each)

    def __bool__(self) -> bool:
        return bool(self._by)

    def all(self, orders: Orders[EntryT]) -> Sequence[Reusable[EntryT]]:
        """Return all pairings played in these seat orders."""
        return self._by.get(signature(orders), ())

    def find(
        self, orders: Orders[EntryT], used: set[str], key: str | None = None
    ) -> Reusable[EntryT] | None:
        """Return a pairing with these seat orders, and with this key if given.

        It is not among the ``used``.
        """
        fitting = self._by.get(signature(orders), ())
        return next((e for e in fitting if e.id not in used and key in (None, e.outcome.key)), None)


class PairingQueue(ABC, Generic[EntryT]):
    """The pairings of a tournament still to start; ``len`` counts those ready."""

    def __init__(self) -> None:
        self.reused: dict[str, str] = {}
        """Ids of reused pairings, by the keys of the pairings that they replace."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of known pairings that may begin."""

    @property
    @abstractmethod
    def at_once(self) -> int:
        """The number of matches of a pairing."""

    @property
    def stale(self) -> bool:
        """True if the format must answer before another pairing begins."""
        return False

    @property
    @abstractmethod
    def over(self) -> bool:
        """True if no pairing will begin any more."""

    @property
    @abstractmethod
    def planned(self) -> int:
        """The number of all known matches."""

    @property
    def reused_matches(self) -> int:
        """The number of those matches reused from earlier runs."""
        return len(self.reused) * self.at_once

    @abstractmethod
    def entries(self) -> list[EntryT]:
        """Return the entries that have pairings left."""

    @abstractmethod
    def upcoming(self, limit: int, of: Collection[EntryT] | None = None) -> list[Pairing[EntryT]]:
        """Return the next known pairings; ``of`` keeps only those of its entries."""

    @abstractmethod
    def take(
        self, room: Callable[[EntryT], int], freed: Iterable[EntryT] | None = None, *, limit: int
    ) -> list[Pairing[EntryT]]:
        """Remove and return up to ``limit`` pairings that begin now.

        ``room`` returns how many more matches an entry can play.  ``freed`` are the entries that
        may have got room since the last call; None means any entry.
        """

    @abstractmethod
    def ended(self, outcome: PairingOutcome[EntryT]) -> None:
        """Record a finished pairing."""

    @abstractmethod
    def withdraw(self, entry: EntryT) -> None:
        """Begin no more pairings of an entry."""
