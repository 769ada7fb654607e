"""The scoring and grading of a final, as stored when the final began.

After an update of Plyhouse, or of a game's default, the results of a finished final stay as they
are.  A rerun scores new matches as the first run did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.games.base import Scoring
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.results.scoring import default_scoring
from plyhouse.storage.competition_rows import CompetitionEntry
from plyhouse.storage.rows import TournamentRow
from plyhouse.storage.tournament_settings import GradingRules, settings

LEDUC: Final = "leduc_poker"
"""A game whose unrated finals without stored scoring are scored by wins; rated ones use its
default."""


@dataclass(frozen=True, slots=True)
class FinalRules:
    """The scoring and grading of a competition."""

    scoring: Mapping[str, Scoring]
    """The scoring of each game."""
    every_lower: bool
    """True if a grade needs every lower threshold, too."""
    missing_lowest: bool
    """True if a game that an entry left out counts as the lowest result.

    A final keeps the rule with which it began."""
    by_opponent: bool
    """True if all opponents have the same weight in a score, however often they were met."""


def scoring_of(row: TournamentRow) -> Scoring:
    """Return the scoring of one game of a final, or of a public round robin.

    Rows without a stored scoring use the default that their game had when they were written.
    Raises `plyhouse.games.errors.GameError` for such a row if its game is not installed.
    """
    kept = settings(row).scoring
    if kept is not None:
        return kept
    if row.game == LEDUC and not row.rated:
        return Scoring.WINS
    return default_scoring(get_game(row.game))


def grading_rules(file: CompetitionFile, entries: Sequence[CompetitionEntry]) -> GradingRules:
    """Return the rules of grading that a final stores when it begins."""
    ids = {each.name.lower(): each.bot_id for each in entries if each.baseline}
    graded = [each.bot.lower() for each in file.baselines if each.grade]
    order = tuple([ids[name] for name in graded if name in ids])
    return GradingRules(order, file.every_lower, missing_lowest=True)


def grade_thresholds(
    file: CompetitionFile, entries: Sequence[CompetitionEntry]
) -> dict[int, float]:
    """Return the mean score that the grade of each baseline needs, by bot id."""
    needed = {each.bot.lower(): each.at_least for each in file.baselines if each.grade}
    return {
        each.bot_id: needed[each.name.lower()]
        for each in entries
        if each.baseline and each.name.lower() in needed
    }
