"""Pairings still to start: their interface for all formats, and those of a round robin.

Pairings played earlier with the same versions, seats and rules need not be played again.  A pairing
that becomes ready takes over the outcome of an earlier one in the *pool*.
"""

from __future__ import annotations

import heapq
import itertools
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic

from plyhouse.server.competition_rules.formats import EntryT, Pairing, PairingOutcome
from plyhouse.server.competition_rules.schedule import Schedule

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


MANY: Final = 2_000
"""With more groups than this to examine, `take` reads the schedule from its beginning instead.
Where so many entries have room, a pairing near the beginning can begin."""


class RoundRobinQueue(PairingQueue[EntryT]):
    """The pairings of a schedule that have not begun.

    Pairings begin in the order of the schedule, as far as their entries have room.  After a
    complete call of `RoundRobinQueue.take`, nothing can begin until some entry gets room.  A caller
    that names these entries saves a look at all the others.
    """

    def __init__(
        self,
        schedule: Schedule[EntryT],
        begun: Iterable[int] = (),
        pool: Pool[EntryT] | None = None,
    ) -> None:
        """Take a schedule, the numbers of its pairings that have begun, and reusable pairings."""
        super().__init__()
        self.schedule = schedule
        self._begun = bytearray(len(schedule))
        """1 for each pairing that has begun, else 0."""
        for number in begun:
            if number < len(schedule):
                self._begun[number] = 1
        used: set[str] = set()
        for pairing in schedule if pool else ():
            before = None
            if pool and not self._begun[int(pairing.key)]:
                before = pool.find(pairing.matches, used)
            if before is not None:
                used.add(before.id)
                self.reused[pairing.key] = before.id
                self._begun[int(pairing.key)] = 1
        self._dropped = 0
        self._left = self._begun.count(0)
        self._next = list(range(len(schedule.groups)))
        """The first pairing of each group that has not begun."""
        self._of: dict[EntryT, set[int]] = {}
        """The groups of each entry that have such a pairing."""
        for group, entries in enumerate(schedule.groups):
            for entry in entries:
                self._of.setdefault(entry, set()).add(group)
        for group in range(len(schedule.groups)):
            self._skip(group)

    @property
    def at_once(self) -> int:
        """The number of matches of a pairing."""
        return self.schedule.at_once

    @property
    def planned(self) -> int:
        """The number of matches of the schedule, without dropped ones."""
        return self.schedule.matches - self._dropped * self.at_once

    @property
    def over(self) -> bool:
        """True if no pairing is left to begin."""
        return not self._left

    def __len__(self) -> int:
        return self._left

    def entries(self) -> list[EntryT]:
        """Return the entries that have pairings left."""
        return [entry for entry, groups in self._of.items() if groups]

    def upcoming(self, limit: int, of: Collection[EntryT] | None = None) -> list[Pairing[EntryT]]:
        """Return the first pairings that have not begun.

        There are at most ``limit``.  With ``of``, each pairing has one of these entries, and each
        group has only its first one.
        """
        if of is None:
            numbers = self._from_the_beginning()
        else:
            groups = set[int]().union(*(self._of.get(entry, ()) for entry in of))
            numbers = iter(sorted(self._next[group] for group in groups))
        return [self.schedule[number] for number in itertools.islice(numbers, limit)]

    def take(
        self,
        room: Callable[[EntryT], int],
        freed: Iterable[EntryT] | None = None,
        *,
        limit: int,
    ) -> list[Pairing[EntryT]]:
        """Remove and return up to ``limit`` pairings that can begin.

        ``room`` returns how many more matches an entry can play.  ``freed`` are the entries that
        may have got room since the last call; None means any entry.
        """
        at_once = self.at_once
        groups = self.schedule.groups
        left: dict[EntryT, int] = {}

        def has_room(entry: EntryT) -> bool:
            places = left.get(entry)
            if places is None:
                places = left[entry] = room(entry)
            return places >= at_once

        ready = [
            entry
            for entry in (self._of if freed is None else set(freed))
            if self._of.get(entry) and has_room(entry)
        ]
        if not ready:
            return []
        look = sum([len(self._of[entry]) for entry in ready])
        taken: list[Pairing[EntryT]] = []
        for number in self._from_the_beginning() if look > MANY else self._of_entries(ready):
            group = number % len(groups)
            if all(map(has_room, groups[group])):
                for entry in groups[group]:
                    left[entry] -= at_once
                taken.append(self.schedule[number])
                self._begun[number] = 1
                self._left -= 1
                self._skip(group)
                if len(taken) == limit:
                    break
        return taken

    def ended(self, outcome: PairingOutcome[EntryT]) -> None:
        """Do nothing: a result changes nothing for the other pairings."""

    def withdraw(self, entry: EntryT) -> None:
        """Drop the remaining pairings of an entry."""
        before = self._left
        for group in tuple(self._of.get(entry, ())):
            for number in range(self._next[group], len(self._begun), len(self._next)):
                self._left -= not self._begun[number]
                self._begun[number] = 1
            self._skip(group)
        self._dropped += before - self._left

    def _from_the_beginning(self) -> Iterator[int]:
        """Yield all pairings that have not begun, in order."""
        number = self._begun.find(0)
        while number >= 0:
            yield number
            number = self._begun.find(0, number + 1)

    def _of_entries(self, entries: Iterable[EntryT]) -> Iterator[int]:
        """Yield pairings of these entries that have not begun, in order.

        Each group yields its first one, and the next one once that was taken.
        """
        waiting = [self._next[group] for group in set().union(*(self._of[e] for e in entries))]
        heapq.heapify(waiting)
        while waiting:
            number = heapq.heappop(waiting)
            yield number
            later = self._next[number % len(self._next)]
            if number < later < len(self._begun):
                heapq.heappush(waiting, later)

    def _skip(self, group: int) -> None:
        """Skip the pairings of a group that have begun; drop the group at its end."""
        number = self._next[group]
        while number < len(self._begun) and self._begun[number]:
            number += len(self._next)
        self._next[group] = number
        if number >= len(self._begun):
            for entry in self.schedule.groups[group]:
                self._of[entry].discard(group)
