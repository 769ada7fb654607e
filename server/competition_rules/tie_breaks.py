"""Orders, places and tie-breaks that several formats use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

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


def sonneborn_berger(
    entry: EntryT, own: Iterable[PairingOutcome[EntryT]], points: Mapping[EntryT, float]
) -> float:
    """Return the opponents' points, each weighted with the score against them."""
    total = 0.0
    for outcome in own:
        others = [points.get(other, 0.0) for other in outcome.entries if other != entry]
        if others:
            total += outcome.share(entry) * sum(others) / len(others)
    return total


def direct_encounters(
    entries: Sequence[EntryT],
    own: Mapping[EntryT, Sequence[PairingOutcome[EntryT]]],
    points: Mapping[EntryT, float],
) -> dict[EntryT, float]:
    """Return each entry's score against those with the same points."""
    return {
        entry: sum(
            outcome.share(entry)
            for outcome in own[entry]
            if all(round(points[o] - points[entry], DIGITS) == 0 for o in outcome.entries)
        )
        for entry in entries
    }


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
