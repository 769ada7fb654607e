"""The table of each game of a final, and the column that decides the places."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from plyhouse.server.competition_rules.format_registry import BY_SCORE
from plyhouse.server.competition_rules.formats import Round, TableLine
from plyhouse.server.competition_rules.tie_breaks import DIGITS
from plyhouse.server.grades.standings import Standing, closed_tables, over_games
from plyhouse.server.results.sequential import BandDecision

GRADE: Final = "grade"
"""The column of a gauntlet until grades are certain; only some viewers see its values."""
TIED: Final = ("points", "mean score")
"""The columns whose equal values tie-breaks separate."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """The certainty that an entry reaches, or misses, a baseline's grade."""

    entry: int
    baseline: int
    decision: BandDecision
    """The decision between two bands; band 1 has the grade."""

    @property
    def reached(self) -> bool | None:
        """True if the threshold is reached, False if not, None while undecided."""
        return None if self.decision.band is None else bool(self.decision.band)


@dataclass(frozen=True, slots=True)
class GameFinal:
    """A game of a final: the table and the rounds of its format."""

    game: str
    tournament_id: str
    format: str
    tie_breaks: tuple[str, ...]
    """The tie-breaks of equal points, in the order of `TableLine.tie_breaks`."""
    table: tuple[TableLine[int], ...]
    rounds: tuple[Round[int], ...]
    names: dict[int, str]
    """The names of the bots, as far as the viewer may know them."""
    pairings: dict[str, str]
    """Ids of the pairings that have begun, by the keys of the lines."""
    certainty: tuple[Certainty, ...] = ()
    """The certainties of a gauntlet that continues until grades are certain."""
    decided_by: str = ""
    """The rule that decides the places, in words."""
    column: str = "points"
    """The column of the standings that decides the places."""
    lot: str = ""
    """The seed of the lot that ordered entries without a rating; empty if no lot was drawn."""
    seeds: tuple[int, ...] = ()
    """The entries from the strongest to the weakest, if the format uses this order."""


class Decider(NamedTuple):
    """The values that give an entry its place, as people read them."""

    value: str = ""
    tie_break: str = ""
    """The tie-breaks that separate it from the entries beside it: ``Buchholz 12.5``."""


class Deciding(NamedTuple):
    """The deciding column of a board."""

    name: str = ""
    """Empty before the final."""
    values: Mapping[int, Decider] = {}
    """By bot id."""


def deciding(finals: Sequence[GameFinal], shown: Sequence[Standing]) -> Deciding:
    """Return the column that decides the places of these standings."""
    closed = closed_tables(shown, [each.table for each in finals])
    if not closed:
        return Deciding()
    if len(closed) == 1:
        [final] = [each for each in finals if each.table]
        return Deciding(final.column, _in_one_game(final, closed[0]))
    by_score = finals[0].format in BY_SCORE
    ranked = {line.entrant.bot_id for line in shown if line.place is not None}
    order = over_games(shown, closed, by_score=by_score)
    values = {bot: value for bot, value in order.items() if bot in ranked}
    if by_score:
        return Deciding(
            "mean score over the games",
            {bot: Decider(f"{-value:.3f}") for bot, value in values.items() if value <= 0},
        )
    return Deciding("mean place", {bot: Decider(f"{value:.2f}") for bot, value in values.items()})


def _in_one_game(final: GameFinal, rows: Sequence[TableLine[int]]) -> dict[int, Decider]:
    values = {row.entry: _value(final, row) for row in rows if row.place is not None}
    placed = [row for row in rows if row.entry in values]
    between: dict[int, dict[int, float]] = {row.entry: {} for row in placed}
    for one, other in itertools.pairwise(placed):
        if values[one.entry] != values[other.entry] or one.place == other.place:
            continue
        pairs = enumerate(zip(one.tie_breaks, other.tie_breaks, strict=True))
        at = next((at for at, (a, b) in pairs if round(a, DIGITS) != round(b, DIGITS)), None)
        if at is not None and at < len(final.tie_breaks) and final.column in TIED:
            for row in (one, other):
                between[row.entry][at] = row.tie_breaks[at]
    return {
        entry: Decider(
            value,
            ", ".join(
                f"{final.tie_breaks[at]} {_number(found)}"
                for at, found in sorted(between[entry].items())
            ),
        )
        for entry, value in values.items()
    }


def _value(final: GameFinal, row: TableLine[int]) -> str:
    """Return the value of a row in the deciding column."""
    match final.column:
        case "last round":
            return _last_round(final, row.entry)
        case "rating":
            return f"{row.points:.0f}" if row.played else ""
        case "mean score against baselines":
            return f"{row.tie_breaks[0]:.3f}" if row.played else ""
        case "mean score":
            return f"{row.points:.3f}" if row.played else ""
        case "points":
            return _number(row.points)
    return ""


def _last_round(final: GameFinal, entry: int) -> str:
    """Return the name of the last round that an entry played, and whether it won there."""
    said = ""
    for each in final.rounds:
        for line in each.lines:
            if entry in line.players and line.outcome is not None:
                said = f"{each.name}, won" if line.winner == entry else each.name
    return said


def _number(value: float) -> str:
    return f"{round(value, 3) + 0.0:g}"
