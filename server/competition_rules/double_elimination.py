"""Double elimination: a second lost series eliminates an entry.

The winners' bracket is that of a knockout.  Its losers continue in the losers' bracket, which
admits the losers of a winners' round before every second round of its own.  In some rounds they
change sides, so that entries that have met do not meet again soon.  The winners of both brackets
play the grand final.  If the winner of the winners' bracket loses it, that is its first loss, and a
second grand final decides.

``w1-3-g2`` is the key of the second pairing of the third meeting of the first winners' round.  Keys
of the losers' bracket begin with ``l``; ``f1-1`` and ``f2-1`` are the grand finals.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Generic

from plyhouse.server.competition_rules.formats import (
    EntryT,
    Facts,
    Format,
    Plan,
    Round,
    RoundLine,
    TableLine,
)
from plyhouse.server.competition_rules.knockout import (
    Bracket,
    Knockout,
    Meeting,
    Series,
    check_series,
    knockout_table,
    meetings,
    seeding,
    stands,
)

LETTERS = "wlf"


@dataclass(frozen=True, kw_only=True)
class DoubleElimination(Format):
    """Series of pairings; two lost ones eliminate.  Entries cannot come late."""

    name = "double_elimination"
    adaptive = True
    reuses_by_key = True
    tie_breaks = Knockout.tie_breaks
    rule_of_places = "the round in which an entry was beaten for the second time"
    column = "last round"

    best_of: int = 1
    extra: int = 2
    """Largest number of extra pairings while a series is level; then the better seed advances."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_series(self.best_of, self.extra)

    def plan(self, facts: Facts[EntryT]) -> Plan[EntryT]:
        """Return all rounds, with the entries that are known so far."""
        return Plan(self._brackets(facts).rounds)

    def table(self, facts: Facts[EntryT]) -> list[TableLine[EntryT]]:
        """Return entries by the round of the second loss; ties share a place."""
        return knockout_table(facts, self._brackets(facts))

    def count(self, entries: int, baselines: int = 0) -> int:
        """Return the largest number of matches.

        The winner has one loss and each other entry two; every series has its full length.
        """
        self._at_least(entries, 2)
        series = self._series()
        return (2 * entries - 1) * series.most * series.at_once

    def _series(self) -> Series:
        return Series(self.best_of, self.extra, self.at_once)

    def _brackets(self, facts: Facts[EntryT]) -> Bracket[EntryT]:
        return _Brackets(facts, self._series()).played()


@dataclass(slots=True)
class _Slots(Generic[EntryT]):
    """The slots of a round, in the order of its bracket."""

    entries: list[EntryT | None]
    """The entry of each slot; None: no entry, or not known yet."""
    known: list[bool]


class _Brackets(Generic[EntryT]):
    """Both brackets, played as far as the facts go."""

    def __init__(self, facts: Facts[EntryT], series: Series) -> None:
        self._seeds = seeds = facts.starters
        self._facts = series, facts
        self._who = {letter: meetings(facts.who, letter) for letter in LETTERS}
        self._strength = {entry: number for number, entry in enumerate(seeds)}
        self._rounds: list[Round[EntryT]] = []
        self._reached = dict.fromkeys(seeds, 0)
        self._last: dict[str, dict[EntryT, int]] = {letter: {} for letter in LETTERS}
        """The last round of each bracket that an entry has begun."""
        self._entered: dict[EntryT, int] = {}
        """The first round of the losers' bracket that an entry has begun."""
        for letter, begun_ones in self._who.items():
            for (number, _), entries in begun_ones.items():
                for entry in entries:
                    last = self._last[letter]
                    last[entry] = max(number, last.get(entry, 0))
                    if letter == "l":
                        self._entered[entry] = min(number, self._entered.get(entry, number))

    def played(self) -> Bracket[EntryT]:
        """Play winners' and losers' rounds alternately, then the grand final."""
        size = 1
        while size < len(self._seeds):
            size *= 2
        self._depth = size.bit_length() - 1
        winners = _Slots(
            [self._seeds[seed] if seed < len(self._seeds) else None for seed in seeding(size)],
            [True] * size,
        )
        losers: _Slots[EntryT] = _Slots([], [])
        for number in range(self._depth):
            winners, beaten = self._round("w", number, winners)
            if self._depth == 1:
                losers = beaten
            elif number == 0:
                losers, _ = self._round("l", 0, beaten)
            else:
                if number > 1:
                    losers, _ = self._round("l", 2 * number - 2, losers)
                both = _merged(losers, _crossed(beaten, number))
                losers, _ = self._round("l", 2 * number - 1, both)
        if self._depth:
            self._grand_final(winners, losers)
        self._rounds.sort(key=lambda each: each.number)
        settled = all(line.state.settled for each in self._rounds for line in each.lines)
        return Bracket(self._rounds, self._reached, settled)

    def _round(
        self, letter: str, number: int, slots: _Slots[EntryT]
    ) -> tuple[_Slots[EntryT], _Slots[EntryT]]:
        """Play a round; return the slots of its winners and its losers."""
        stands(slots.entries, slots.known, number, self._who[letter])
        lines: list[RoundLine[EntryT]] = []
        on: _Slots[EntryT] = _Slots([], [])
        beaten: _Slots[EntryT] = _Slots([], [])
        level = _drops_to(number) if letter == "w" else number
        for slot in range(len(slots.entries) // 2):
            one, other = slots.entries[2 * slot : 2 * slot + 2]
            meeting = Meeting(
                (one, other),
                all(slots.known[2 * slot : 2 * slot + 2]),
                f"{letter}{number + 1}-{slot + 1}",
                self._number(letter, number),
                self._went_on(letter, number, [e for e in (one, other) if e is not None]),
            )
            more, winner, over = meeting.play(*self._facts, self._strength)
            if not (meeting.known and one is None and other is None):
                lines += more
            for entry in (one, other):
                if entry is not None:
                    self._reached[entry] = max(self._reached.get(entry, 0), level)
            on.entries.append(winner)
            on.known.append(over)
            beaten.entries.append(meeting.loser(winner))
            beaten.known.append(over)
        if lines:
            name = self._name(letter, number)
            self._rounds.append(Round(self._number(letter, number), name, tuple(lines)))
        return on, beaten

    def _went_on(self, letter: str, number: int, pair: Sequence[EntryT]) -> Collection[EntryT]:
        """Return the winner of a pair if later meetings that have begun reveal it."""
        further, final = self._last[letter], self._last["f"]
        up = {each for each in pair if further.get(each, -1) > number}
        if letter == "l":
            return up | {each for each in pair if each in final}
        if number == self._depth - 1:
            up = {each for each in pair if each in final and each not in self._entered}
        if len(up) == 1:
            return up
        # Losers of the next round begin later in the losers' bracket than those of this one.
        later = _drops_to(number + 1)
        down = {each for each in pair if self._entered.get(each, later) < later}
        return set(pair) - down if len(down) == 1 else ()

    def _grand_final(self, winners: _Slots[EntryT], losers: _Slots[EntryT]) -> None:
        begun = self._who["f"]
        [first], [second] = winners.entries, losers.entries
        known = winners.known[0] and losers.known[0]
        facts = begun.get((0, 0)) or begun.get((1, 0))
        if facts is not None and {first, second} != set(facts):
            first, second = facts[::-1] if second == facts[0] or first == facts[1] else facts
            known = True
        top = 2 * self._depth
        for entry in (first, second):
            if entry is not None:
                self._reached[entry] = max(self._reached.get(entry, 0), top)
        # Until its first loss, the winner of the winners' bracket counts as the better seed.
        unbeaten = {entry: n for n, entry in enumerate((first, second)) if entry is not None}
        for number, strength in enumerate((unbeaten, self._strength)):
            again = number == 0 and (1, 0) in begun
            meeting = Meeting(
                (first, second),
                known,
                f"f{number + 1}-1",
                self._number("f", number),
                (second,) if again and second is not None else (),
            )
            lines, winner, over = meeting.play(*self._facts, strength)
            name = "Grand final, again" if number else "Grand final"
            self._rounds.append(Round(self._number("f", number), name, tuple(lines)))
            if not over or winner is None:
                return
            if number or winner == first or first is None:
                self._reached[winner] = top + 1
                return

    def _number(self, letter: str, number: int) -> int:
        """Return a round's number in the competition; the brackets alternate."""
        if letter == "w":
            return max(0, 3 * number - 2)
        if letter == "l":
            return 3 * (number // 2) + 2 + number % 2
        return 3 * self._depth - 2 + number

    def _name(self, letter: str, number: int) -> str:
        last = self._depth - 1 if letter == "w" else 2 * self._depth - 3
        who = "Winners" if letter == "w" else "Losers"
        return f"{who}, final" if number == last else f"{who}, round {number + 1}"


def _drops_to(number: int) -> int:
    """Return the losers' round that the losers of a winners' round enter."""
    return max(0, 2 * number - 1)


def _crossed(beaten: _Slots[EntryT], number: int) -> _Slots[EntryT]:
    """Move the losers of a winners' round away from opponents they have met.

    Odd rounds reverse their order, even rounds keep it.  Among the orders that reversing and
    exchanging halves can make, this gives the fewest repeated meetings with 8, 16 and 128 entries.
    With 32 and 64 it gives as few if the better seed always wins.
    """
    step = -1 if number % 2 else 1
    return _Slots(beaten.entries[::step], beaten.known[::step])


def _merged(one: _Slots[EntryT], other: _Slots[EntryT]) -> _Slots[EntryT]:
    """Interleave the slots of two rounds, so that these meet each other."""
    return _Slots(
        [entry for pair in zip(one.entries, other.entries, strict=True) for entry in pair],
        [known for pair in zip(one.known, other.known, strict=True) for known in pair],
    )
