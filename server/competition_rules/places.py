"""Places in a competition by the rules of its format.

The final of one game has the places of its format's table.  With several games, round robins and
gauntlets are ordered by the mean score over the games.  In other formats the mean of the places in
the games decides, because scores of different brackets say little about each other.

Equal entries share a place, and the next place is skipped (1, 2, 2, 4).  Disqualified entries and
twins have no place; entries below them move up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from plyhouse.server.competition_rules.format_types import TableLine
from plyhouse.server.competition_rules.standings import Standing
from plyhouse.server.competition_rules.tie_breaks import places_without

__all__ = ["BY_SCORE", "with_places"]

BY_SCORE: Final = ("round_robin", "double_round_robin", "gauntlet", "tables")
"""Formats with comparable scores: opponents are the same, or drawn without regard to results."""


def with_places(
    standings: Sequence[Standing], tables: Sequence[Sequence[TableLine[int]]], form: str
) -> list[Standing]:
    """Return standings with the places of a format, in the order of places.

    ``standings`` has the entries that a viewer sees; others take up no place.  ``tables`` has those
    of the games that have begun; ``form`` is the name of the format.
    """
    counted = {
        line.entrant.bot_id
        for line in standings
        if line.entrant.status != "disqualified" and not line.entrant.twin_of
    }
    closed = [
        places_without(table, {row.entry for row in table} - counted) for table in tables if table
    ]
    if not closed:
        return list(standings)
    if len(closed) == 1:
        [table] = closed
        places = {row.entry: row.place for row in table}
        order = {row.entry: float(number) for number, row in enumerate(table)}
    else:
        order = _over_games(standings, closed, by_score=form in BY_SCORE)
        ranked = {row.entry for table in closed for row in table if row.place is not None}
        values = sorted(order[bot] for bot in ranked if bot in order)
        places = {bot: values.index(order[bot]) + 1 for bot in ranked if bot in order}
    made = [replace(line, place=places.get(line.entrant.bot_id)) for line in standings]
    return sorted(
        made,
        key=lambda line: (
            line.entrant.status == "disqualified",
            order.get(line.entrant.bot_id, math.inf),
        ),
    )


def _over_games(
    standings: Sequence[Standing], tables: Sequence[Sequence[TableLine[int]]], *, by_score: bool
) -> dict[int, float]:
    """Return a sort key for entries over several games; better ones are lower."""
    if by_score:
        scores = {line.entrant.bot_id: line.score for line in standings}
        return {bot: 1.0 if score is None else -score for bot, score in scores.items()}
    places: dict[int, list[int]] = {}
    for table in tables:
        last = 1
        for row in table:
            last = row.place or last  # A twin has the place of the entry above it.
            places.setdefault(row.entry, []).append(last)
    return {bot: round(sum(each) / len(each), 9) for bot, each in places.items()}
