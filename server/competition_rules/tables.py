"""Tables: a few rounds, in each of which entries play in groups.

A group has one entry for each seat of the game.  The rounds are drawn so that entries meet as
many different opponents as possible; results do not matter.  Finding the best groups is the social
golfer problem, which is hard.  So each round is the best of several greedy drawings (Triska and
Musliu, "An effective greedy heuristic for the social golfer problem", Annals of Operations Research
194 (2012)).

If the number of entries is no multiple of the seats, some sit out a round: those with most games.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Final

from plyhouse.server.competition_rules.formats import (
    EntryT,
    Facts,
    Format,
    LineState,
    Plan,
    Round,
    RoundLine,
    TableLine,
    checked,
)
from plyhouse.server.competition_rules.tie_breaks import (
    GROUPS_WON,
    OPPONENTS_POINTS,
    names_of,
    placed,
    score_sums,
    standings,
    table_lines,
)

TIE_BREAKS: Final = OPPONENTS_POINTS, GROUPS_WON

DRAWINGS: Final = 2000
"""Drawings of a round, divided by the number of entries."""


@dataclass(frozen=True, kw_only=True)
class Tables(Format):
    """``number`` rounds of groups, for any number of seats.

    The order is by the mean score of an entry's groups, because not all play equally often.  An
    entry that leaves keeps its results; its groups that have not begun are dropped, and later
    rounds are drawn without it.
    """

    name = "tables"
    many_seats = True
    by_score = True
    adaptive = False
    tie_breaks = names_of(TIE_BREAKS)
    rule_of_places = f"the mean score, then the {' and '.join(tie_breaks)}"
    column = "mean score"

    number: int = 6
    """The number of rounds."""

    def __post_init__(self) -> None:
        checked("number", self.number, 1)
        checked("seats", self.seats, 2)

    def plan(self, facts: Facts[EntryT]) -> Plan[EntryT]:
        """Return all rounds; groups not begun by a withdrawn entry are dropped."""
        entrants = facts.field.entrants
        there = tuple(
            tuple(place for place, each in enumerate(entrants) if each.plays_in(number))
            for number in range(self.number)
        )
        rounds = []
        for number, groups in enumerate(_drawn(there, self.seats)):
            lines: list[RoundLine[EntryT]] = []
            for table, group in enumerate(groups, start=1):
                key = f"r{number + 1}-{table:02}"
                seated = facts.who.get(key) or tuple([entrants[place].entry for place in group])
                lines.append(facts.planned_line(key, number, seated))
            busy = {entry for line in lines for entry in line.players}
            for place in there[number]:
                entry = entrants[place].entry
                if entry not in busy:
                    key = f"r{number + 1}-bye{place + 1}"
                    lines.append(RoundLine(key, number, (entry, None), LineState.BYE))
            if lines:
                rounds.append(Round(number, f"Round {number + 1}", tuple(lines)))
        return Plan(rounds)

    def table(self, facts: Facts[EntryT]) -> list[TableLine[EntryT]]:
        """Return the table by mean score, then by the mean points of the opponents."""
        own = standings(facts)
        points = {
            entry: total / max(1, len(own[entry])) for entry, total in score_sums(own).items()
        }
        return placed(table_lines(facts, own, points, TIE_BREAKS), facts.field)

    def count(self, entries: int, baselines: int = 0) -> int:
        """Return the number of matches; see `Format.count`."""
        self._at_least(entries, self.seats)
        return self.number * (entries // self.seats) * self.at_once


@lru_cache(maxsize=32)
def _drawn(
    there: tuple[tuple[int, ...], ...], seats: int
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the groups of each round in seat order; ``there`` has the numbers of its entries.

    A round depends on the rounds before it only, so that the same entries give the same groups
    after somebody has left or come.
    """
    most = max((number for each in there for number in each), default=-1) + 1
    met = [[0] * most for _ in range(most)]
    games = [0] * most
    sat = [[0] * seats for _ in range(most)]
    rounds = []
    for number, entries in enumerate(there):
        groups = _round(number, entries, seats, met, games)
        rounds.append(tuple([_seated(group, sat) for group in groups]))
        for group in rounds[-1]:
            for seat, one in enumerate(group):
                games[one] += 1
                sat[one][seat] += 1
                for other in group:
                    met[one][other] += one != other
    return tuple(rounds)


def _round(
    number: int, entries: tuple[int, ...], seats: int, met: list[list[int]], games: list[int]
) -> list[list[int]]:
    """Return the groups of the drawing in which the fewest entries meet again."""
    best: list[list[int]] = []
    fewest = math.inf
    for attempt in range(max(1, DRAWINGS // max(1, len(entries)))):
        left = list(entries)
        Random(f"{number} {attempt}").shuffle(left)
        left.sort(key=lambda each: games[each])
        del left[len(left) // seats * seats :]
        groups: list[list[int]] = []
        again = 0
        while left:
            group = [left.pop(0)]
            row = list(met[group[0]])
            while len(group) < seats:
                one = min(left, key=row.__getitem__)
                left.remove(one)
                again += row[one]
                row = [old + new for old, new in zip(row, met[one], strict=True)]
                group.append(one)
            groups.append(group)
        if again < fewest:
            best, fewest = groups, again
        if again == 0:
            break
    return best


def _seated(group: list[int], sat: list[list[int]]) -> tuple[int, ...]:
    """Return a group in seat order: each seat goes to an entry that has had it least."""
    left = list(group)
    order = []
    for seat in range(len(group)):
        one = min(left, key=lambda each: sat[each][seat] - min(sat[each]))
        left.remove(one)
        order.append(one)
    return tuple(order)
