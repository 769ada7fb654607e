"""Round robin: every entry meets every other entry.

Pairings of the entries there at the beginning have the numbers of their `Schedule` as keys (``0``,
``1``, ...).  A late entry meets all entries before it, in pairings that are appended: ``late7-3``
is the third one of the seventh entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from plyhouse.server.competition_rules import schedule
from plyhouse.server.competition_rules.formats import (
    EntryT,
    Facts,
    Field,
    Format,
    Plan,
    Round,
    RoundLine,
    TableLine,
    checked,
    points_then,
)
from plyhouse.server.competition_rules.tie_breaks import (
    DIRECT_ENCOUNTER,
    PAIRINGS_WON,
    SONNEBORN_BERGER,
    names_of,
    placed,
    score_sums,
    standings,
    table_lines,
)

TIE_BREAKS = DIRECT_ENCOUNTER, SONNEBORN_BERGER, PAIRINGS_WON


@dataclass(frozen=True, kw_only=True)
class RoundRobin(Format):
    """Every entry meets every other ``laps`` times; any number of seats.

    An entry that leaves keeps its results; its pairings that have not begun are dropped.
    """

    name = "round_robin"
    adaptive = False
    many_seats = True
    by_score = True
    repeats = True
    tie_breaks = names_of(TIE_BREAKS)
    rule_of_places = points_then(tie_breaks)

    laps: int = 1

    def __post_init__(self) -> None:
        checked("laps", self.laps, 1)
        checked("seats", self.seats, 1)

    def plan(self, facts: Facts[EntryT]) -> Plan[EntryT]:
        """Return all pairings; those not begun by a withdrawn entry are dropped."""
        lines = [facts.planned_line(*each) for each in self._pairings(facts.field)]
        return Plan(by_rounds(lines))

    def table(self, facts: Facts[EntryT]) -> list[TableLine[EntryT]]:
        """Return the table by the sum of the mean scores of pairings."""
        return league_table(facts)

    def count(self, entries: int, baselines: int = 0) -> int:
        """Return the number of matches of all groups of as many entries as seats.

        See `Format.count`.
        """
        self._at_least(entries, max(2, self.seats))
        return schedule.count(entries, self.laps, seats=self.seats, mirrored=self.mirrored)

    def _pairings(self, field: Field[EntryT]) -> Iterator[tuple[str, int, tuple[EntryT, ...]]]:
        """Yield key, round and entries of all pairings, in any state."""
        entries = [each.entry for each in field.entrants]
        starters = sum(each.since == 0 for each in field.entrants)
        rounds = 0
        if starters >= self.seats:
            planned = schedule.round_robin(
                entries[:starters], self.laps, seats=self.seats, mirrored=self.mirrored
            )
            for number, pairing in enumerate(planned):
                rounds = pairing.round + 1
                yield str(number), pairing.round, pairing.entries
        busy = [0] * len(entries)
        """The rounds in which each entry plays, as bits; bit 0 is the first round after the
        schedule."""
        for late in range(starters, len(entries)):
            number = 0
            for _ in range(self.laps):
                for others in combinations(range(late), self.seats - 1):
                    group = (late, *others)
                    taken = 0
                    for each in group:
                        taken |= busy[each]
                    free = ~taken & (taken + 1)  # the lowest bit that is not set
                    for each in group:
                        busy[each] |= free
                    turn = number % self.seats
                    order = group[turn:] + group[:turn]
                    number += 1
                    yield (
                        f"late{late + 1}-{number}",
                        rounds + free.bit_length() - 1,
                        tuple([entries[each] for each in order]),
                    )


def by_rounds(lines: Sequence[RoundLine[EntryT]], name: str = "Round {}") -> list[Round[EntryT]]:
    """Return lines grouped by round, in the order of the rounds."""
    rounds: dict[int, list[RoundLine[EntryT]]] = {}
    for line in lines:
        rounds.setdefault(line.round, []).append(line)
    return [
        Round(number, name.format(number + 1), tuple(rounds[number])) for number in sorted(rounds)
    ]


def league_table(facts: Facts[EntryT], beginning: str = "") -> list[TableLine[EntryT]]:
    """Return a table by the sum of the mean scores of pairings.

    ``beginning`` selects pairings by the beginning of their keys.
    """
    own = standings(facts, beginning)
    return placed(table_lines(facts, own, score_sums(own), TIE_BREAKS), facts.field)
