"""Gauntlet: every entry meets the baselines and no other entries.

The cost grows with the number of entries, not with its square.  The result of an entry depends on
itself alone: marks do not change when classmates come, leave or improve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations

from plyhouse.server.competition_rules.formats import (
    EntryT,
    Facts,
    Format,
    FormatError,
    Plan,
    RoundLine,
    TableLine,
    checked,
)
from plyhouse.server.competition_rules.round_robin import by_rounds
from plyhouse.server.competition_rules.tie_breaks import (
    MEAN_SCORE,
    names_of,
    placed,
    score_sums,
    standings,
    table_lines,
)


def _begun_lines(facts: Facts[EntryT]) -> list[RoundLine[EntryT]]:
    """Return the pairings begun; their rounds are their numbers in a series."""
    lines = [
        facts.planned_line(key, int(key.rpartition("-")[2]) - 1, pair)
        for key, pair in facts.who.items()
    ]
    return sorted(lines, key=lambda line: (line.round, line.key))


@dataclass(frozen=True, kw_only=True)
class Gauntlet(Format):
    """Every entry meets every baseline ``times`` times; any number of seats.

    In a game of more than two seats it meets every group of baselines that fills the other seats.

    The pairing of entry number 12 with the baseline at number 3 of the field has the key
    ``e12-b3-1``, so late entries simply add theirs.  With the baselines at 3 and 5 it is
    ``e12-b3-b5-1``.  In a round an entry has one pairing.  A baseline has one for each entry that
    meets it in that round.
    """

    name = "gauntlet"
    adaptive = False
    many_seats = True
    by_score = True
    repeats = True
    tie_breaks = names_of([MEAN_SCORE])
    rule_of_places = "the mean score against the baselines"
    column = "mean score against baselines"

    times: int = 1
    until_certain: bool = False
    """True if graded baselines are met until the grade is certain
    (`plyhouse.server.grades.pairings_until_certain`); ``times`` then applies to the others."""
    error: float = 0.05
    """The probability that an entry's grade is wrong then, over all of its thresholds together."""
    most: int = 100
    """The largest number of pairings with a graded baseline then."""

    def __post_init__(self) -> None:
        checked("seats", self.seats, 2)
        checked("times", self.times, 1)
        checked("most", self.most, 1)
        if self.until_certain and not self.mirrored:
            raise FormatError(
                "until_certain needs mirrored = true: scores from one seat and from the other "
                "have different means"
            )
        if self.until_certain and self.seats != 2:
            raise FormatError(
                f"until_certain is for games of two seats, and the game has {self.seats}: leave "
                "it out and set times"
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
        groups = list(combinations(baselines, self.seats - 1))
        lines = []
        for time in range(self.times):
            for step in range(len(groups)):
                number = time * len(groups) + step
                for place, (here, entrant) in enumerate(entries):
                    # Each entry begins with other baselines, so that all baselines have work at
                    # once.
                    group = groups[(place + step) % len(groups)]
                    met = "-".join([f"b{there}" for there, _ in group])
                    key = f"e{here}-{met}-{time + 1}"
                    order = (entrant.entry, *[baseline.entry for _, baseline in group])
                    # Without mirroring, the seats alternate from time to time and from board to
                    # board.
                    turn = 0 if self.mirrored else (time + step) % self.seats
                    lines.append(facts.planned_line(key, number, order[turn:] + order[:turn]))
        return Plan(by_rounds(lines))

    def table(self, facts: Facts[EntryT]) -> list[TableLine[EntryT]]:
        """Return the entries by mean score, then the baselines without a place."""
        own = standings(facts)
        rows = table_lines(facts, own, score_sums(own), [MEAN_SCORE])

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
        if baselines < self.seats - 1:
            raise FormatError(
                f"a gauntlet of a game of {self.seats} seats has at least {self.seats - 1} "
                f"baselines, which fill the other seats, not {baselines}"
            )
        each = max(self.most, self.times) if self.until_certain else self.times
        groups = math.comb(baselines, self.seats - 1)
        return (entries - baselines) * groups * each * self.at_once
