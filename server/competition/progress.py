"""The progress of a competition: pairings ready, begun and finished.

`Progress` holds the facts of one competition for its `Format` and asks the format again when they
have changed.  An answer may take seconds (a Swiss round of 200 is drawn in two or three), so it
takes three steps.  `Progress.facts` copies the facts, `look` works on that copy in any thread, and
`Progress.accept` takes over the answer.

Results that come meanwhile are not lost: the answer leaves out what has begun since, and the caller
looks again until `Progress.stale` is false.  `Progress.accept` rejects an answer if an entry has
left since.

`Robin` has the same interface for a plain round robin, whose schedule needs no `look`: it begins
tens of thousands of pairings from an `Agenda`.

Pairings played earlier under the same conditions (the same versions, seats and rules) need not be
played again: a pairing that becomes ready takes over the outcome of an earlier one in the *pool*.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from plyhouse.server.competition.agenda import Agenda
from plyhouse.server.competition.facts import Entrant, EntryT, Field, Line, Outcome, Pairing, State
from plyhouse.server.competition.formats import Format
from plyhouse.server.competition.schedule import Schedule

__all__ = [
    "Answer",
    "Facts",
    "Pool",
    "Progress",
    "Reusable",
    "Robin",
    "field_of",
    "look",
    "signature",
]

Orders = tuple[tuple[EntryT, ...], ...]


def signature(orders: Iterable[tuple[EntryT, ...]]) -> Orders[EntryT]:
    """Return the seat orders of a pairing's matches in a canonical order."""
    return tuple(sorted(orders))


@dataclass(frozen=True, slots=True)
class Reusable(Generic[EntryT]):
    """A pairing played earlier under the conditions that hold now."""

    id: str
    orders: Orders[EntryT]
    outcome: Outcome[EntryT]


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


@dataclass(frozen=True, slots=True)
class Facts(Generic[EntryT]):
    """A copy of the facts of a competition."""

    field: Field[EntryT]
    finished: Mapping[str, Outcome[EntryT]]
    begun: Mapping[str, tuple[EntryT, ...]]
    reused: Mapping[str, str]
    """Ids of reused pairings, by the keys of the pairings that they replace."""
    leaving: frozenset[EntryT] = frozenset()
    """Entries that have left since the format was last asked."""
    changes: int = 0
    field_changes: int = 0


@dataclass(frozen=True, slots=True)
class Answer(Generic[EntryT]):
    """A format's answer to some facts."""

    ready: tuple[Pairing[EntryT], ...]
    done: bool
    left: Mapping[EntryT, int]
    """For each leaving entry, the first round without it."""
    reused: Mapping[str, Reusable[EntryT]]
    """Reused pairings by the keys of the pairings that they replace."""
    facts: Facts[EntryT]


def look(form: Format, facts: Facts[EntryT], pool: Pool[EntryT]) -> Answer[EntryT]:
    """Ask a format; changes nothing, and may take seconds."""
    left: dict[EntryT, int] = {}
    field, finished, begun = facts.field, dict(facts.finished), dict(facts.begun)
    if facts.leaving:
        gone = form.next_round(field, finished, begun)
        left = dict.fromkeys(facts.leaving, gone)
        field = _without(field, left)
    used = set(facts.reused.values())
    reused: dict[str, Reusable[EntryT]] = {}
    # Reuse is not stored.  Once the next round of a bracket has begun, a reused pairing of the
    # round before looks like a walkover for the entry that advanced; the pool still has it.
    wanted = [State.READY, State.WALKOVER] if form.adaptive else [State.READY, State.DROPPED]

    def stood(line: Line[EntryT]) -> bool:
        return line.state is not State.WALKOVER or all(
            field.by_entry[entry].plays_in(line.round) for entry in line.players
        )

    while True:
        plan = form.plan(field, finished, begun)
        found = 0
        for line in plan.lines() if pool else ():
            full = len(line.players) == len(line.entries)
            if line.state in wanted and full and stood(line):
                before = pool.find(
                    form.orders(line.players), used, line.key if form.reuses_by_key else None
                )
                if before is not None:
                    found += 1
                    used.add(before.id)
                    reused[line.key] = before
                    finished[line.key] = replace(before.outcome, key=line.key)
        if not found:
            break
    ready = tuple(
        Pairing(line.key, line.round, form.orders(line.players))
        for line in plan.lines()
        if line.state is State.READY
    )
    return Answer(ready, not plan.more and plan.settled, left, reused, facts)


def _without(field: Field[EntryT], left: Mapping[EntryT, int]) -> Field[EntryT]:
    return Field(
        tuple(
            replace(each, withdrawn=left[each.entry]) if each.entry in left else each
            for each in field.entrants
        )
    )


class _Queue(Generic[EntryT]):
    """The ready pairings in order, found by the room of their entries."""

    def __init__(self, pairings: Iterable[Pairing[EntryT]] = ()) -> None:
        self._pairings = dict(enumerate(pairings))
        self._of: dict[EntryT, dict[int, None]] = defaultdict(dict)
        for number, pairing in self._pairings.items():
            for entry in pairing.entries:
                self._of[entry][number] = None

    def __len__(self) -> int:
        return len(self._pairings)

    def entries(self) -> list[EntryT]:
        return [entry for entry, own in self._of.items() if own]

    def upcoming(self, limit: int, of: Collection[EntryT] | None) -> list[Pairing[EntryT]]:
        ready = iter(self._pairings.values())
        if of is not None:
            ready = (each for each in ready if any(entry in of for entry in each.entries))
        return list(itertools.islice(ready, limit))

    def take(
        self,
        room: Callable[[EntryT], int],
        freed: Iterable[EntryT] | None,
        at_once: int,
        limit: int,
    ) -> list[Pairing[EntryT]]:
        left: dict[EntryT, int] = {}

        def has_room(entry: EntryT) -> bool:
            if entry not in left:
                left[entry] = room(entry)
            return left[entry] >= at_once

        taken: list[Pairing[EntryT]] = []
        for number in list(self._pairings) if freed is None else self._near(freed, has_room):
            pairing = self._pairings[number]
            if len(taken) < limit and all(map(has_room, pairing.entries)):
                for entry in pairing.entries:
                    left[entry] -= at_once
                    del self._of[entry][number]
                del self._pairings[number]
                taken.append(pairing)
            if len(taken) == limit:
                break
        return taken

    def _near(self, freed: Iterable[EntryT], has_room: Callable[[EntryT], bool]) -> Iterator[int]:
        """Yield the pairings of entries that have room again, in order."""
        own = [list(self._of[each]) for each in set(freed) if each in self._of and has_room(each)]
        last = -1
        for number in heapq.merge(*own):
            if number != last and number in self._pairings:
                last = number
                yield number

    def drop(self, entry: EntryT) -> None:
        for number in list(self._of.pop(entry, ())):
            pairing = self._pairings.pop(number)
            for other in pairing.entries:
                if other != entry:
                    del self._of[other][number]


class Progress(Generic[EntryT]):
    """A competition of any format.

    Nothing begins before the first answer is accepted.
    """

    def __init__(
        self,
        form: Format,
        field: Field[EntryT],
        finished: Mapping[str, Outcome[EntryT]] | None = None,
        begun: Mapping[str, tuple[EntryT, ...]] | None = None,
        pool: Pool[EntryT] | None = None,
    ) -> None:
        self.format = form
        self.field = field
        self.finished = dict(finished or {})
        self.begun = dict(begun or {})
        self.pool: Pool[EntryT] = pool or Pool()
        self.reused: dict[str, str] = {}
        self._leaving: set[EntryT] = set()
        self._queue: _Queue[EntryT] = _Queue()
        self._changes, self._seen = 1, 0
        self._field_changes = 0
        self._done = False

    # ------------------------------------------------------------------- asking the format

    @property
    def stale(self) -> bool:
        """True if the format must be asked again."""
        return self._seen != self._changes

    def facts(self) -> Facts[EntryT]:
        """Return a copy of the facts."""
        return Facts(
            self.field,
            dict(self.finished),
            dict(self.begun),
            dict(self.reused),
            frozenset(self._leaving),
            self._changes,
            self._field_changes,
        )

    def accept(self, answer: Answer[EntryT]) -> bool:
        """Take over an answer; return False if an entry has left since then."""
        if answer.facts.field_changes != self._field_changes:
            return False
        if answer.left:
            self.field = _without(self.field, answer.left)
            self._leaving.clear()
        for key, before in answer.reused.items():
            self.reused[key] = before.id
            self.finished[key] = replace(before.outcome, key=key)
            self.begun[key] = before.outcome.entries
        self._queue = _Queue(each for each in answer.ready if each.key not in self.begun)
        self._done = answer.done
        self._seen = answer.facts.changes
        return True

    # ----------------------------------------------------------------------------- playing

    @property
    def at_once(self) -> int:
        """The number of matches of a pairing."""
        return self.format.at_once

    @property
    def over(self) -> bool:
        """True if nothing is left to begin and all that began is finished."""
        if self.stale or self._leaving or self._queue:
            return False
        return self._done if self.format.adaptive else self.begun.keys() <= self.finished.keys()

    def __len__(self) -> int:
        return len(self._queue)

    def entries(self) -> list[EntryT]:
        """Return the entries that have pairings that may begin."""
        return self._queue.entries()

    def upcoming(self, limit: int, of: Collection[EntryT] | None = None) -> list[Pairing[EntryT]]:
        """Return the next ready pairings in order; ``of`` selects entries."""
        return self._queue.upcoming(limit, of)

    def take(
        self,
        room: Callable[[EntryT], int],
        freed: Iterable[EntryT] | None = None,
        *,
        limit: int,
    ) -> list[Pairing[EntryT]]:
        """Remove and return the pairings that can begin now; they count as begun.

        The arguments are those of `Agenda.take`.  Nothing begins while an entry is leaving, because
        the round may have to be drawn without it.
        """
        if self._leaving:
            return []
        taken = self._queue.take(room, freed, self.at_once, limit)
        for pairing in taken:
            self.begun[pairing.key] = pairing.entries
        return taken

    def ended(self, outcome: Outcome[EntryT]) -> None:
        """Record a finished pairing."""
        self.finished[outcome.key] = outcome
        self.begun.setdefault(outcome.key, outcome.entries)
        if not self.format.adaptive:
            return
        if self.format.round_by_round and (self._queue or self.begun.keys() > self.finished.keys()):
            return  # The answer would be the same, and asking takes time.
        self._changes += 1

    def withdraw(self, entry: EntryT) -> None:
        """Withdraw an entry: it begins no more pairings."""
        entrant = self.field.by_entry.get(entry)
        if entrant is None or entrant.withdrawn is not None or entry in self._leaving:
            return
        self._leaving.add(entry)
        self._queue.drop(entry)
        self._changes += 1
        self._field_changes += 1

    @property
    def planned(self) -> int:
        """The number of matches of the whole competition, as an upper bound."""
        known = (len(self.begun) + len(self._queue)) * self.at_once
        if not self.format.adaptive or self.over:
            return known
        there = [each for each in self.field.entrants if each.withdrawn != 0]
        try:
            return max(known, self.format.count(len(there), sum(e.baseline for e in there)))
        except ValueError:  # Too many entries have left.
            return known

    @property
    def reused_matches(self) -> int:
        """The number of matches reused from earlier runs."""
        return len(self.reused) * self.at_once


class Robin(Generic[EntryT]):
    """A plain round robin with the interface of `Progress`.

    Its keys are the numbers of the schedule.
    """

    stale = False

    def __init__(
        self,
        schedule: Schedule[EntryT],
        begun: Iterable[int] = (),
        pool: Pool[EntryT] | None = None,
    ) -> None:
        numbers = set(begun)
        self.reused: dict[str, str] = {}
        if pool:
            used: set[str] = set()
            for number, pairing in enumerate(schedule):
                before = None if number in numbers else pool.find(pairing.matches, used)
                if before is not None:
                    used.add(before.id)
                    self.reused[str(number)] = before.id
        self._agenda = Agenda(schedule, numbers.union(map(int, self.reused)))
        self._dropped = 0

    @property
    def at_once(self) -> int:
        """The number of matches of a pairing."""
        return self._agenda.schedule.at_once

    @property
    def over(self) -> bool:
        """True if no pairing is left to begin."""
        return not self._agenda

    def __len__(self) -> int:
        return len(self._agenda)

    def entries(self) -> list[EntryT]:
        """Return the entries that have pairings left."""
        return self._agenda.entries()

    def upcoming(self, limit: int, of: Collection[EntryT] | None = None) -> list[Pairing[EntryT]]:
        """Return the next pairings in order.

        With ``of``, each group of these entries has only its first pairing.
        """
        return [
            Pairing(str(number), pairing.round, pairing.matches)
            for number, pairing in self._agenda.upcoming(limit, of)
        ]

    def take(
        self,
        room: Callable[[EntryT], int],
        freed: Iterable[EntryT] | None = None,
        *,
        limit: int,
    ) -> list[Pairing[EntryT]]:
        """Remove and return the pairings that can begin now."""
        return [
            Pairing(str(number), pairing.round, pairing.matches)
            for number, pairing in self._agenda.take(room, freed, limit=limit)
        ]

    def ended(self, outcome: Outcome[EntryT]) -> None:
        """Do nothing: a result changes nothing for the other pairings."""

    def withdraw(self, entry: EntryT) -> None:
        """Drop the remaining pairings of an entry."""
        self._dropped += self._agenda.drop(entry)

    @property
    def planned(self) -> int:
        """The number of matches of the schedule, without dropped ones."""
        return self._agenda.schedule.matches - self._dropped * self.at_once

    @property
    def reused_matches(self) -> int:
        """The number of matches reused from earlier runs."""
        return len(self.reused) * self.at_once


def field_of(
    entries: Sequence[EntryT],
    *,
    seeds: Sequence[EntryT] = (),
    baselines: Iterable[EntryT] = (),
    left: Mapping[EntryT, int] | None = None,
) -> Field[EntryT]:
    """Return the field of a competition; ``seeds`` has the strongest first.

    ``entries`` are in the order of entering.  ``left`` has the first round without each entry that
    left.
    """
    ranks = {entry: number for number, entry in enumerate(seeds, start=1)}
    staff, gone = set(baselines), left or {}
    return Field(
        tuple(
            Entrant(entry, ranks.get(entry), 0, gone.get(entry), entry in staff)
            for entry in entries
        )
    )
