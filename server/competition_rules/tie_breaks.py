"""Orders, places and tie-breaks that several formats use."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, NamedTuple

from plyhouse.server.competition_rules.formats import (
    EntryT,
    Facts,
    Field,
    PairingOutcome,
    TableLine,
)

DIGITS = 9
"""Decimals to which scores are compared, so that the order of summation does not matter."""


def standings(
    facts: Facts[EntryT], beginning: str = ""
) -> dict[EntryT, list[PairingOutcome[EntryT]]]:
    """Return the outcomes that count for each entry of the field.

    ``beginning`` selects pairings by the beginning of their keys.
    """
    own: dict[EntryT, list[PairingOutcome[EntryT]]] = {
        each.entry: [] for each in facts.field.entrants
    }
    for key, outcome in facts.finished.items():
        if not key.startswith(beginning):
            continue
        if not outcome.void:
            for entry in outcome.entries:
                if entry in own:
                    own[entry].append(outcome)
    return own


class TieBreak(NamedTuple):
    """A value that orders entries of equal points, and its name in tables."""

    name: str
    value: Callable[[Any, Sequence[PairingOutcome[Any]], Mapping[Any, float]], float]
    """The value by the entry, its outcomes and the points of all entries; more is better."""


def _direct_encounter(
    entry: EntryT, own: Iterable[PairingOutcome[EntryT]], points: Mapping[EntryT, float]
) -> float:
    return sum(
        outcome.share(entry)
        for outcome in own
        if all(round(points[o] - points[entry], DIGITS) == 0 for o in outcome.entries)
    )


def _sonneborn_berger(
    entry: EntryT, own: Iterable[PairingOutcome[EntryT]], points: Mapping[EntryT, float]
) -> float:
    total = 0.0
    for outcome in own:
        others = [points.get(other, 0.0) for other in outcome.entries if other != entry]
        if others:
            total += outcome.share(entry) * sum(others) / len(others)
    return total


def _opponents_points(
    entry: EntryT, own: Iterable[PairingOutcome[EntryT]], points: Mapping[EntryT, float]
) -> float:
    others = [points.get(o, 0.0) for each in own for o in each.entries if o != entry]
    return math.fsum(others) / max(1, len(others))


DIRECT_ENCOUNTER: Final = TieBreak("direct encounter", _direct_encounter)
"""The score against those with the same points."""
SONNEBORN_BERGER: Final = TieBreak("Sonneborn-Berger", _sonneborn_berger)
"""The opponents' points, each weighted with the score against them."""
PAIRINGS_WON: Final = TieBreak(
    "pairings won", lambda entry, own, points: sum([each.share(entry) > 0.5 for each in own])
)
MEAN_SCORE: Final = TieBreak(
    "mean score", lambda entry, own, points: points[entry] / max(1, len(own))
)
"""The mean score of all pairings, where points are the sum of their scores."""
OPPONENTS_POINTS: Final = TieBreak("opponents' points", _opponents_points)
"""The mean of the opponents' points."""
GROUPS_WON: Final = TieBreak(
    "groups won",
    lambda entry, own, points: sum(
        [each.share(entry) >= max(map(each.share, each.entries)) for each in own]
    ),
)


def names_of(tie_breaks: Iterable[TieBreak]) -> tuple[str, ...]:
    """Return the names of tie-breaks, as `Format.tie_breaks` has them."""
    return tuple([each.name for each in tie_breaks])


def score_sums(
    own: Mapping[EntryT, Sequence[PairingOutcome[EntryT]]],
) -> dict[EntryT, float]:
    """Return the sum of each entry's mean scores of pairings."""
    return {
        entry: math.fsum([outcome.share(entry) for outcome in mine]) for entry, mine in own.items()
    }


def table_lines(
    facts: Facts[EntryT],
    own: Mapping[EntryT, Sequence[PairingOutcome[EntryT]]],
    points: Mapping[EntryT, float],
    tie_breaks: Sequence[TieBreak],
) -> list[TableLine[EntryT]]:
    """Return the line of each entry with these outcomes and points, without places."""
    return [
        facts.field.by_entry[entry].table_line(
            points[entry],
            len(mine),
            tuple([float(each.value(entry, mine, points)) for each in tie_breaks]),
        )
        for entry, mine in own.items()
    ]


def placed(
    rows: Iterable[TableLine[EntryT]],
    field: Field[EntryT],
    key: Callable[[TableLine[EntryT]], tuple[float, ...]] | None = None,
) -> list[TableLine[EntryT]]:
    """Order rows by points and tie-breaks (or ``key``), and number the places.

    More is better.  Equal rows share a place, in the order of the seeding.
    """
    by = key or (lambda row: (row.points, *row.tie_breaks))

    def rounded(row: TableLine[EntryT]) -> tuple[float, ...]:
        return tuple([-round(value, DIGITS) for value in by(row)])

    ordered = sorted(rows, key=lambda row: (rounded(row), field.order[row.entry]))
    result: list[TableLine[EntryT]] = []
    for _, equal in groupby(ordered, key=rounded):
        place = len(result) + 1
        result += [
            TableLine(r.entry, place, r.points, r.played, r.tie_breaks, r.withdrawn, r.baseline)
            for r in equal
        ]
    return result


def places_without(
    rows: Sequence[TableLine[EntryT]], out: Collection[EntryT]
) -> list[TableLine[EntryT]]:
    """Remove the places of some entries; those below move up.

    The rows keep their order.
    """
    above = [row.place for row in rows if row.entry in out and row.place is not None]
    return [
        replace(row, place=None)
        if row.place is None or row.entry in out
        else replace(row, place=row.place - sum(each < row.place for each in above))
        for row in rows
    ]
