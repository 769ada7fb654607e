"""Gauntlet: every entry meets the baselines and no other entries.

The cost grows with the number of entries, not with its square.  The result of an entry depends on
itself alone: marks do not change when classmates come, leave or improve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from plyhouse.server.competition_rules.format_types import (
    EntryT,
    Facts,
    FormatError,
    RoundLine,
    TableLine,
)
from plyhouse.server.competition_rules.formats import Format, Plan, checked
from plyhouse.server.competition_rules.round_robin import by_rounds
from plyhouse.server.competition_rules.tie_breaks import placed, standings

__all__ = ["Gauntlet"]


def _begun_lines(facts: Facts[EntryT]) -> list[RoundLine[EntryT]]:
    """Return the pairings begun; their rounds are their numbers in a series."""
    lines = [
        facts.planned_line(key, int(key.rpartition("-")[2]) - 1, pair)
        for key, pair in facts.who.items()
    ]
    return sorted(lines, key=lambda line: (line.round, line.key))


@dataclass(frozen=True, kw_only=True)
class Gauntlet(Format):
    """Every entry meets every baseline ``times`` times.

    The pairing of entry number 12 with the baseline at number 3 of the field has the key
    ``e12-b3-1``, so late entries simply add theirs.  In a round an entry has one pairing.  A
    baseline has one for each entry that meets it in that round.
    """

    name = "gauntlet"
    adaptive = False
    admits_late = True
    tie_breaks = ("mean score",)
    decided_by = "the mean score against the baselines"

    times: int = 1
    until_certain: bool = False
    """True if graded baselines are met until the grade is certain
    (`plyhouse.server.competition_rules.graded_progress`); ``times`` then applies to the others."""
    error: float = 0.05
    """The probability that an entry's grade is wrong then, over all of its thresholds together."""
    most: int = 100
    """The largest number of pairings with a graded baseline then."""

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("times", self.times, 1)
        checked("most", self.most, 1)
        if self.until_certain and not self.mirrored:
            raise FormatError(
                "until_certain needs mirrored = true: scores from one seat and from the other "
                "have different means"
            )

    def plan(self, facts: Facts[EntryT]) -> Plan[EntryT]:
        """Return all pairings; those not begun by a withdrawn entry are dropped.

        With ``until_certain`` it returns only those begun: `GradedProgress` decides which may
        begin.
        """
        if self.until_certain:
            return Plan(by_rounds(_begun_lines(facts)))
        numbered = list(enumerate(facts.field.entrants, start=1))
        baselines = [each for each in numbered if each[1].baseline]
        entries = [each for each in numbered if not each[1].baseline]
        lines = []
        for time in range(self.times):
            for step in range(len(baselines)):
                number = time * len(baselines) + step
                for place, (here, entrant) in enumerate(entries):
                    # Each entry begins with another baseline, so that all baselines have work at
                    # once.
                    there, baseline = baselines[(place + step) % len(baselines)]
                    key = f"e{here}-b{there}-{time + 1}"
                    pair = (entrant.entry, baseline.entry)
                    # Without mirroring, the seats alternate from time to time and from board to
                    # board.
                    if not self.mirrored and (time + step) % 2:
                        pair = pair[::-1]
                    lines.append(facts.planned_line(key, number, pair))
        return Plan(by_rounds(lines))

    def table(self, facts: Facts[EntryT]) -> list[TableLine[EntryT]]:
        """Return the entries by mean score, then the baselines without a place."""
        rows = []
        for entry, own in standings(facts).items():
            points = math.fsum([outcome.share(entry) for outcome in own])
            mean = points / len(own) if own else 0.0
            rows.append(facts.field.by_entry[entry].table_line(points, len(own), (mean,)))

        def ordered(baseline: bool) -> list[TableLine[EntryT]]:
            return placed(
                [row for row in rows if row.baseline == baseline],
                facts.field,
                lambda row: row.tie_breaks,
            )

        return [*ordered(False), *(replace(row, place=None) for row in ordered(True))]

    def count(self, entries: int, baselines: int = 0) -> int:
        """Return the number of matches of all entries against all baselines.

        See `Format.count`.
        """
        if not 0 < baselines < entries:
            raise FormatError(
                "a gauntlet has at least one baseline and one other entry, not "
                f"{baselines} baselines among {entries} entries"
            )
        each = max(self.most, self.times) if self.until_certain else self.times
        return (entries - baselines) * baselines * each * self.at_once
