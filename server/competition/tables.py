"""Orders, places and tie-breaks that several formats use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from plyhouse.server.competition.facts import EntryT, Field, Outcome, Row

__all__ = ["direct_encounters", "placed", "places_without", "sonneborn_berger", "standings"]

DIGITS = 9
"""Decimals to which scores are compared, so that the order of summation does not matter."""


def standings(
    field: Field[EntryT], outcomes: Iterable[Outcome[EntryT]]
) -> dict[EntryT, list[Outcome[EntryT]]]:
    """Return the outcomes that count for each entry of a field."""
    own: dict[EntryT, list[Outcome[EntryT]]] = {each.entry: [] for each in field.entrants}
    for outcome in outcomes:
        if not outcome.void:
            for entry in outcome.entries:
                if entry in own:
                    own[entry].append(outcome)
    return own


def sonneborn_berger(
    entry: EntryT, own: Iterable[Outcome[EntryT]], points: Mapping[EntryT, float]
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
    own: Mapping[EntryT, Sequence[Outcome[EntryT]]],
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
    rows: Iterable[Row[EntryT]],
    field: Field[EntryT],
    key: Callable[[Row[EntryT]], tuple[float, ...]] | None = None,
) -> list[Row[EntryT]]:
    """Order rows by points and tie-breaks (or ``key``), and number the places.

    More is better.  Equal rows share a place, in the order of the seeding.
    """
    by = key or (lambda row: (row.points, *row.tie_breaks))

    def rounded(row: Row[EntryT]) -> tuple[float, ...]:
        return tuple([-round(value, DIGITS) for value in by(row)])

    ordered = sorted(rows, key=lambda row: (rounded(row), field.order[row.entry]))
    result: list[Row[EntryT]] = []
    for _, equal in groupby(ordered, key=rounded):
        place = len(result) + 1
        result += [
            Row(r.entry, place, r.points, r.played, r.tie_breaks, r.withdrawn, r.baseline)
            for r in equal
        ]
    return result


def places_without(rows: Sequence[Row[EntryT]], out: Collection[EntryT]) -> list[Row[EntryT]]:
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
