"""The progress of a competition: pairings ready, begun and finished.

`Progress` holds the facts of one competition for its `Format` and asks the format again when they
have changed.  An answer may take seconds (a Swiss round of 200 is drawn in two or three), so it
takes three steps.  `Progress.facts` copies the facts, `look` works on that copy in any thread, and
`Progress.accept` takes over the answer.

Results that come meanwhile are not lost: the answer leaves out what has begun since, and the caller
looks again until `Progress.stale` is false.  `Progress.accept` rejects an answer if an entry has
left since.

"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from plyhouse.server.competition_rules.formats import (
    EntryT,
    Facts,
    Field,
    FieldEntry,
    Format,
    LineState,
    Pairing,
    PairingOutcome,
    RoundLine,
)
from plyhouse.server.competition_rules.pairing_queue import PairingQueue, Pool, Reusable


@dataclass(frozen=True)
class FormatQuery(Facts[EntryT]):
    """A copy of the facts of a competition, to ask its format with."""

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
    facts: FormatQuery[EntryT]


def look(form: Format, facts: FormatQuery[EntryT], pool: Pool[EntryT]) -> Answer[EntryT]:
    """Ask a format; changes nothing, and may take seconds."""
    left: dict[EntryT, int] = {}
    known = Facts(facts.field, facts.finished, facts.begun)
    if facts.leaving:
        left = dict.fromkeys(facts.leaving, form.plan(known).next_round)
        known = replace(known, field=_without(facts.field, left))
    used = set(facts.reused.values())
    reused: dict[str, Reusable[EntryT]] = {}
    # Reuse is not stored.  Once the next round of a bracket has begun, a reused pairing of the
    # round before looks like a walkover for the entry that advanced; the pool still has it.
    wanted = (
        [LineState.READY, LineState.WALKOVER]
        if form.adaptive
        else [LineState.READY, LineState.DROPPED]
    )

    def stood(line: RoundLine[EntryT]) -> bool:
        return line.state is not LineState.WALKOVER or all(
            known.field.by_entry[entry].plays_in(line.round) for entry in line.players
        )

    while True:
        plan = form.plan(known)
        found: dict[str, PairingOutcome[EntryT]] = {}
        for line in plan.lines() if pool else ():
            full = len(line.players) == len(line.entries)
            if line.state in wanted and full and stood(line):
                before = pool.find(
                    form.orders(line.players), used, line.key if form.reuses_by_key else None
                )
                if before is not None:
                    used.add(before.id)
                    reused[line.key] = before
                    found[line.key] = replace(before.outcome, key=line.key)
        if not found:
            break
        known = replace(known, finished={**known.finished, **found})
    return Answer(tuple(form.ready(plan)), plan.done, left, reused, facts)


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


class Progress(PairingQueue[EntryT]):
    """A competition of any format.

    Nothing begins before the first answer is accepted.
    """

    def __init__(
        self,
        form: Format,
        field: Field[EntryT],
        finished: Mapping[str, PairingOutcome[EntryT]] | None = None,
        begun: Mapping[str, tuple[EntryT, ...]] | None = None,
        pool: Pool[EntryT] | None = None,
    ) -> None:
        super().__init__()
        self.format = form
        self.field = field
        self.finished = dict(finished or {})
        self.begun = dict(begun or {})
        self.pool: Pool[EntryT] = pool or Pool()
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

    def facts(self) -> FormatQuery[EntryT]:
        """Return a copy of the facts."""
        return FormatQuery(
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

        The arguments are those of `PairingQueue.take`.  Nothing begins while an entry is
        leaving, because the round may have to be drawn without it.
        """
        if self._leaving:
            return []
        taken = self._queue.take(room, freed, self.at_once, limit)
        for pairing in taken:
            self.begun[pairing.key] = pairing.entries
        return taken

    def ended(self, outcome: PairingOutcome[EntryT]) -> None:
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
        complete = self._seen > 0 and not self.format.adaptive
        if complete or self.over:
            return known
        there = [each for each in self.field.entrants if each.withdrawn != 0]
        try:
            return max(known, self.format.count(len(there), sum(e.baseline for e in there)))
        except ValueError:  # Too many entries have left.
            return known


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
            FieldEntry(entry, ranks.get(entry), 0, gone.get(entry), entry in staff)
            for entry in entries
        )
    )
