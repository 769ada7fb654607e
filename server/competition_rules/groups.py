"""A group stage, followed by a knockout of the best of each group.

The entries are dealt to the groups by their seeds, to and fro (1 to A, 2 to B, 3 to B, 4 to A).
Each group plays a round robin: ``g1-0``, ``g1-1`` and so on are the pairings of the first group.
When all groups are settled, the knockout is seeded: first the group winners by points, then the
second of each group by points, and so on.  Its first round avoids meetings within a group where
possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plyhouse.server.competition_rules import schedule
from plyhouse.server.competition_rules.formats import (
    EntryT,
    Facts,
    Field,
    Format,
    FormatError,
    Plan,
    Round,
    RoundLine,
    TableLine,
    checked,
)
from plyhouse.server.competition_rules.knockout import (
    Bracket,
    Series,
    bracket,
    bracket_matches,
    knockout_table,
    seeding,
)
from plyhouse.server.competition_rules.round_robin import RoundRobin, by_rounds, league_table


@dataclass(frozen=True, kw_only=True)
class GroupsKnockout(Format):
    """Groups of ``size`` (one or more smaller); the best ``advance`` advance.

    Entries that leave during the groups do not advance.  Entries cannot come late.
    """

    name = "groups_knockout"
    adaptive = True
    tie_breaks = RoundRobin.tie_breaks
    rule_of_places = "the round of the knockout in which an entry was beaten, then the groups"
    column = "last round"

    size: int = 4
    advance: int = 2
    laps: int = 1
    """How often the entries of a group meet each other."""
    best_of: int = 1
    extra: int = 2
    third_place: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("size", self.size, 2)
        checked("advance", self.advance, 1)
        checked("laps", self.laps, 1)
        checked("best_of", self.best_of, 1)
        checked("extra", self.extra, 0)

    def plan(self, facts: Facts[EntryT]) -> Plan[EntryT]:
        """Return the groups at once, and the knockout when they are settled."""
        rounds, found = self._play(facts)
        return Plan([*rounds, *found.rounds] if found else rounds, more=found is None)

    def table(self, facts: Facts[EntryT]) -> list[TableLine[EntryT]]:
        """Return the knockout's entries by progress, then the others by group.

        Points, pairings and tie-breaks are those of the groups.
        """
        _, found = self._play(facts)
        groups = self._tables(facts, self._groups(facts))
        rows = {row.entry: row for group in groups for row in group}
        first: list[TableLine[EntryT]] = []
        if found is not None:
            first = [
                replace(rows[row.entry], place=row.place)
                for row in knockout_table(facts, found)
                if row.entry in found.reached
            ]
        listed = {row.entry for row in first}
        rest = [row for group in groups for row in group if row.entry not in listed]
        rest.sort(key=lambda row: (row.place or 0, -_mean(row), facts.field.order[row.entry]))
        last: list[TableLine[EntryT]] = []
        for row in rest:
            rank = (row.place, round(_mean(row), 9))
            place = len(first) + len(last) + 1
            if last and (rows[last[-1].entry].place, round(_mean(last[-1]), 9)) == rank:
                place = last[-1].place or place
            last.append(replace(row, place=place))
        return [*first, *last]

    def count(self, entries: int, baselines: int = 0) -> int:
        """Return the number of matches of the groups and a full-length knockout.

        See `Format.count`.
        """
        sizes = self._sizes(entries)
        pairings = sum([size * (size - 1) // 2 for size in sizes]) * self.laps
        return pairings * self.at_once + bracket_matches(
            self.advance * len(sizes), self._series(), third_place=self.third_place
        )

    # ------------------------------------------------------------------------------- parts

    def _series(self) -> Series:
        return Series(self.best_of, self.extra, self.at_once)

    def _sizes(self, entries: int) -> list[int]:
        """Return the number of entries of each group."""
        self._at_least(entries, 2)
        groups = -(-entries // self.size)
        sizes = [entries // groups + (group < entries % groups) for group in range(groups)]
        if min(sizes) < max(2, self.advance) or self.advance * groups < 2:
            raise FormatError(
                f"{entries} entries make groups of {min(sizes)} to {max(sizes)}, of which "
                f"{self.advance} cannot go on to a knockout: take another size, or fewer to go on"
            )
        return sizes

    def _groups(self, facts: Facts[EntryT]) -> list[list[EntryT]]:
        """Return the entries of each group, the strongest first."""
        starters = facts.starters
        try:
            count = len(self._sizes(len(starters)))
        except FormatError:  # Too many entries have left before the start.
            count = 1
        groups: list[list[EntryT]] = [[] for _ in range(count)]
        for number, entry in enumerate(starters):
            turn, place = divmod(number, len(groups))
            groups[len(groups) - 1 - place if turn % 2 else place].append(entry)
        return groups

    def _play(self, facts: Facts[EntryT]) -> tuple[list[Round[EntryT]], Bracket[EntryT] | None]:
        """Return the rounds of the groups, and the knockout once they are settled."""
        groups = self._groups(facts)
        lines: list[RoundLine[EntryT]] = []
        for group, entries in enumerate(groups):
            if len(entries) < 2:
                continue
            planned = schedule.round_robin(entries, self.laps, mirrored=self.mirrored)
            lines += [
                facts.planned_line(f"g{group + 1}-{number}", pairing.round, pairing.entries)
                for number, pairing in enumerate(planned)
            ]
        rounds = by_rounds(lines, "Groups, round {}")
        if not all(line.state.settled for line in lines):
            return rounds, None
        seeds = self._seeds(facts, groups, len(rounds))
        series = self._series()
        found = bracket(seeds, series, facts, third_place=self.third_place, first_round=len(rounds))
        return rounds, found

    def _tables(
        self, facts: Facts[EntryT], groups: Sequence[Sequence[EntryT]]
    ) -> list[list[TableLine[EntryT]]]:
        tables = []
        for number, entries in enumerate(groups):
            inside = set(entries)
            own = Field(tuple([each for each in facts.field.entrants if each.entry in inside]))
            tables.append(league_table(replace(facts, field=own), f"g{number + 1}-"))
        return tables

    def _seeds(
        self, facts: Facts[EntryT], groups: Sequence[Sequence[EntryT]], rounds: int
    ) -> list[EntryT]:
        """Return the entries that advance, in the order of the knockout's seeding."""
        group_of = {entry: number for number, each in enumerate(groups) for entry in each}
        tiers: list[list[TableLine[EntryT]]] = [[] for _ in range(self.advance)]
        for table in self._tables(facts, groups):
            fit = [row for row in table if facts.field.by_entry[row.entry].plays_in(rounds)]
            for tier, row in zip(tiers, fit, strict=False):
                tier.append(row)
        seeds: list[EntryT] = []
        spans: list[range] = []
        for tier in tiers:
            tier.sort(key=lambda row: (-_mean(row), facts.field.order[row.entry]))
            spans.append(range(len(seeds), len(seeds) + len(tier)))
            seeds += [row.entry for row in tier]
        _keep_apart(seeds, spans, group_of)
        return seeds


def _mean(row: TableLine[EntryT]) -> float:
    """Return points per pairing, comparable between groups of any size."""
    return row.points / row.played if row.played else 0.0


def _keep_apart(
    seeds: list[EntryT], spans: Sequence[range], group_of: Mapping[EntryT, int]
) -> None:
    """Exchange seeds within a tier so that no group meets itself in round one.

    The weaker seeds are exchanged first.
    """
    size = 1
    while size < len(seeds):
        size *= 2
    if size < 2:
        return
    order = seeding(size)
    opponent = dict(zip(order[::2], order[1::2], strict=True))
    opponent |= {b: a for a, b in opponent.items()}

    def meets_own(seed: int) -> bool:
        other = opponent.get(seed, size)
        return other < len(seeds) and group_of[seeds[seed]] == group_of[seeds[other]]

    for span in reversed(spans):
        for seed in reversed(span):
            if not meets_own(seed):
                continue
            for other in sorted(span, key=lambda each: (abs(each - seed), each)):
                seeds[seed], seeds[other] = seeds[other], seeds[seed]
                if not meets_own(seed) and not meets_own(other):
                    break
                seeds[seed], seeds[other] = seeds[other], seeds[seed]
