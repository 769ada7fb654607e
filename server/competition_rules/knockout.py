"""Knockout: a lost series eliminates an entry.

The bracket has the usual order: with eight entries 1 meets 8, 4 meets 5, 2 meets 7 and 3 meets 6,
so that the strongest meet last.  If the number of entries is no power of two, the strongest have
byes in the first round.  A meeting is a series of up to ``best_of`` pairings, one after the other,
and ends when it is decided.  The second pairing of the third meeting of the first round has the key
``k1-3-g2``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic

from plyhouse.server.competition_rules.formats import (
    EntryT,
    Facts,
    Field,
    Format,
    LineState,
    Plan,
    Round,
    RoundLine,
    TableLine,
    checked,
)
from plyhouse.server.competition_rules.tie_breaks import (
    MEAN_SCORE,
    names_of,
    placed,
    score_sums,
    standings,
    table_lines,
)

SLACK: Final = 1e-9
"""Scores that differ by less count as equal."""


@dataclass(frozen=True, slots=True)
class Series:
    """The length of a series between two entries."""

    best_of: int
    extra: int
    """Extra pairings while it is level after those; then the better seed advances."""
    at_once: int
    """The number of matches of a pairing."""

    @property
    def most(self) -> int:
        """The largest number of pairings."""
        return self.best_of + self.extra


@dataclass(frozen=True, slots=True)
class Bracket(Generic[EntryT]):
    """A knockout as far as it has been played."""

    rounds: list[Round[EntryT]]
    reached: dict[EntryT, int]
    """The progress of each entry; more is further.  In a knockout it is 2 for every meeting won,
    byes included, and 1 for the third place."""
    settled: bool


@dataclass(frozen=True, kw_only=True)
class Knockout(Format):
    """Series of pairings; a lost one eliminates.  Entries cannot come late."""

    name = "knockout"
    adaptive = True
    tie_breaks = names_of([MEAN_SCORE])
    rule_of_places = "the round in which an entry was beaten"
    column = "last round"

    best_of: int = 1
    extra: int = 2
    """Largest number of extra pairings while a series is level; then the better seed advances."""
    third_place: bool = False
    """True if the losers of the semifinals meet."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_series(self.best_of, self.extra)

    @property
    def series(self) -> Series:
        """The length of each meeting."""
        return Series(self.best_of, self.extra, self.at_once)

    def plan(self, facts: Facts[EntryT]) -> Plan[EntryT]:
        """Return all rounds, with the entries that are known so far."""
        return Plan(self._bracket(facts).rounds)

    def table(self, facts: Facts[EntryT]) -> list[TableLine[EntryT]]:
        """Return entries by progress; losers of the same round share a place."""
        found = self._bracket(facts)
        return knockout_table(facts, found)

    def count(self, entries: int, baselines: int = 0) -> int:
        """Return the number of matches if every series has its full length.

        See `Format.count`.
        """
        self._at_least(entries, 2)
        return bracket_matches(entries, self.series, third_place=self.third_place)

    def _bracket(self, facts: Facts[EntryT]) -> Bracket[EntryT]:
        return bracket(facts.starters, self.series, facts, third_place=self.third_place)


def check_series(best_of: int, extra: int) -> None:
    """Raise `FormatError` if a series would have too few pairings."""
    checked("best_of", best_of, 1)
    checked("extra", extra, 0)


def bracket_matches(entries: int, series: Series, *, third_place: bool = False) -> int:
    """Return the largest number of matches of a bracket."""
    meetings = entries - 1 + (third_place and entries > 3)
    return meetings * series.most * series.at_once


def seeding(size: int) -> list[int]:
    """Return the seeds (from 0) in the order of a bracket, from top to bottom.

    >>> [seed + 1 for seed in seeding(8)]
    [1, 8, 4, 5, 2, 7, 3, 6]
    """
    order = [0]
    while len(order) < size:
        order = [each for seed in order for each in (seed, 2 * len(order) - 1 - seed)]
    return order


def bracket(
    seeds: Sequence[EntryT],
    series: Series,
    facts: Facts[EntryT],
    *,
    third_place: bool = False,
    first_round: int = 0,
) -> Bracket[EntryT]:
    """Play a bracket as far as facts go; ``seeds`` has the strongest first.

    ``first_round`` is the number of its first round within the competition.
    """
    who = meetings(facts.who, "k")
    size = 1
    while size < len(seeds):
        size *= 2
    order = seeding(size)
    slots: list[EntryT | None] = [seeds[seed] if seed < len(seeds) else None for seed in order]
    known = [True] * size
    strength = {entry: number for number, entry in enumerate(seeds)}
    reached = dict.fromkeys(seeds, 0)
    rounds: list[Round[EntryT]] = []
    depth = size.bit_length() - 1
    losers: list[EntryT | None] = []
    losers_known = True
    third = who.get((depth - 1, 1), ()) if third_place and depth > 1 else ()
    for number in range(depth):
        lines: list[RoundLine[EntryT]] = []
        after: list[EntryT | None] = []
        after_known: list[bool] = []
        stands(slots, known, number, who)
        for slot in range(len(slots) // 2):
            pair = slots[2 * slot], slots[2 * slot + 1]
            # A pairing begun in the next round shows who advanced, even after a correction.
            onward: Collection[EntryT] = who.get((number + 1, slot // 2), ())
            if third and not onward and number == depth - 2:
                onward = [entry for entry in pair if entry is not None and entry not in third]
            fixed, key = known[2 * slot] and known[2 * slot + 1], f"k{number + 1}-{slot + 1}"
            meeting = Meeting(pair, fixed, key, first_round + number, onward)
            more, winner, over = meeting.play(series, facts, strength)
            lines += more
            after.append(winner)
            after_known.append(over)
            if winner is not None:
                reached[winner] = 2 * (number + 1)
            if number == depth - 2:
                losers.append(meeting.loser(winner) if over else None)
                losers_known = losers_known and over
        if third_place and number == depth - 1 and depth > 1:
            pair = (third[0], third[1]) if third else (losers[0], losers[1])
            fixed = bool(third) or losers_known
            meeting = Meeting(pair, fixed, f"k{depth}-2", first_round + number, ())
            more, winner, _ = meeting.play(series, facts, strength)
            rounds.append(Round(first_round + number, "Third place", tuple(more)))
            if winner is not None:
                reached[winner] = reached.get(winner, 0) + 1
        rounds.append(Round(first_round + number, _round_name(depth - number), tuple(lines)))
        slots, known = after, after_known
    settled = all(line.state.settled for each in rounds for line in each.lines)
    return Bracket(rounds, reached, settled)


def _round_name(left: int) -> str:
    names = {1: "Final", 2: "Semifinals", 3: "Quarterfinals"}
    return names.get(left, f"Round of {2**left}")


def meetings(
    who: Mapping[str, tuple[EntryT, ...]], letter: str
) -> dict[tuple[int, int], tuple[EntryT, ...]]:
    """Return the entries of begun meetings by round and place, both from 0.

    ``letter`` begins the keys of the bracket.  The entries are in the order of the first game of
    their meeting, for any order of the facts.
    """
    firsts: dict[tuple[int, int], tuple[int, tuple[EntryT, ...]]] = {}
    for key, entries in who.items():
        if key.startswith(letter):
            number, slot, played = key[1:].split("-")
            game = int(played[1:])
            place = int(number) - 1, int(slot) - 1
            if place not in firsts or game < firsts[place][0]:
                firsts[place] = game, entries
    return {place: entries for place, (_, entries) in firsts.items()}


def stands(
    slots: list[EntryT | None],
    known: list[bool],
    number: int,
    who: Mapping[tuple[int, int], tuple[EntryT, ...]],
) -> None:
    """Move entries that have begun round ``number`` into the slots where they play.

    ``who`` has the two entries that play, by round and slot.
    """
    for slot in range(len(slots) // 2):
        entries = who.get((number, slot), ())
        here = slice(2 * slot, 2 * slot + 2)
        if len(entries) == 2 and set(slots[here]) != set(entries):
            for place, entry in enumerate(slots):
                if entry in entries:
                    slots[place] = None
            slots[here] = entries
            known[here] = [True, True]


@dataclass(frozen=True, slots=True)
class Meeting(Generic[EntryT]):
    """A meeting of two places of a bracket."""

    pair: tuple[EntryT | None, EntryT | None]
    known: bool
    """True if the entries of both places are certain."""
    key: str
    round: int
    onward: Collection[EntryT]
    """The entries that have begun the next meeting of the winner.

    A begun pairing shows who won, even after a correction.  If both entries have begun it, it shows
    nothing."""

    def play(
        self,
        series: Series,
        facts: Facts[EntryT],
        strength: Mapping[EntryT, int],
    ) -> tuple[list[RoundLine[EntryT]], EntryT | None, bool]:
        """Return the meeting's lines, its winner, and whether that is certain."""
        first = f"{self.key}-g1"
        one, other = self.pair
        if not self.known:
            return [RoundLine(first, self.round, self.pair, LineState.WAITING)], None, False
        if one is None or other is None:
            alone = one if one is not None else other
            if alone is None:
                return [RoundLine(first, self.round, self.pair, LineState.DROPPED)], None, True
            line = RoundLine(first, self.round, (alone, None), LineState.BYE, winner=alone)
            return [line], alone, True
        lines: list[RoundLine[EntryT]] = []
        lead = 0.0
        better = min(one, other, key=lambda entry: strength.get(entry, len(strength)))
        worse = other if better == one else one
        for game in range(1, series.most + 1):
            # The better seed sits first in the first game; with one match per pairing, seats
            # alternate.
            order = (better, worse) if game % 2 else (worse, better)
            key = f"{self.key}-g{game}"
            found = facts.played_line(key, self.round, order)
            if found is None:
                # The rest of the series cannot make up for such a lead.
                if abs(lead) > max(series.best_of - game + 1, 0) + SLACK:
                    break
                unplayed, winner = self._not_begun(key, order, facts.field)
                return [*lines, unplayed], winner, unplayed.state.settled
            lines.append(found)
            if found.state is LineState.PLAYING:
                return lines, None, False
            if found.outcome is not None and not found.outcome.void:
                lead += found.outcome.share(better) - found.outcome.share(worse)
        winner = worse if lead < -SLACK else better
        onward = set(self.onward).intersection((one, other))
        if len(onward) == 1:
            [winner] = onward
        last = lines[-1]
        lines[-1] = RoundLine(last.key, last.round, last.entries, last.state, last.outcome, winner)
        return lines, winner, True

    def loser(self, winner: EntryT | None) -> EntryT | None:
        """Return the loser to a winner; None if nobody lost or both have left."""
        if winner is None or winner not in self.pair:
            return None
        return self.pair[1 - self.pair.index(winner)]

    def _not_begun(
        self, key: str, order: tuple[EntryT, EntryT], field: Field[EntryT]
    ) -> tuple[RoundLine[EntryT], EntryT | None]:
        onward = set(self.onward).intersection(order)
        stay = [entry for entry in order if field.by_entry[entry].withdrawn is None]
        if len(onward) == 1:
            [winner] = onward
            return RoundLine(key, self.round, order, LineState.WALKOVER, winner=winner), winner
        if len(stay) == 2:
            return RoundLine(key, self.round, order, LineState.READY), None
        if not stay:
            return RoundLine(key, self.round, order, LineState.DROPPED), None
        return RoundLine(key, self.round, order, LineState.WALKOVER, winner=stay[0]), stay[0]


def knockout_table(facts: Facts[EntryT], found: Bracket[EntryT]) -> list[TableLine[EntryT]]:
    """Return entries ordered by progress; points are shown but do not count."""
    own = standings(facts)
    rows = table_lines(facts, own, score_sums(own), [MEAN_SCORE])
    # An entry still in the bracket precedes those who lost in the same round; equal ones share a
    # place.
    still = {
        entry
        for each in found.rounds
        for line in each.lines
        if not line.state.settled
        for entry in line.players
    }
    return placed(
        rows,
        facts.field,
        lambda row: (float(found.reached.get(row.entry, -1)), float(row.entry in still)),
    )
