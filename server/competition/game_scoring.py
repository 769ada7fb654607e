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
from plyhouse.server.competition.file import CompetitionFile
from plyhouse.server.results.scoring import default_scoring
from plyhouse.storage.class_rows import ClassCompetition, ClassEntry
from plyhouse.storage.competitions import settings
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import CompetitionRow
from plyhouse.storage.store import Store

__all__ = [
    "FinalRules",
    "GradingRules",
    "final_rules",
    "grading_of",
    "grading_settings",
    "scoring_of",
]


LEDUC: Final = "leduc_poker"
"""A game whose unrated finals without stored scoring are scored by wins; rated ones use its
default."""


@dataclass(frozen=True, slots=True)
class GradingRules:
    """The rules that turn results into grades."""

    order: tuple[int, ...]
    """The bots of the graded baselines, from the easiest to the hardest."""
    every_lower: bool
    """True if a grade needs every lower threshold, too."""


@dataclass(frozen=True, slots=True)
class FinalRules:
    """The scoring and grading of a competition."""

    scoring: Mapping[str, Scoring]
    """The scoring of each game."""
    every_lower: bool
    """True if a grade needs every lower threshold, too."""
    by_opponent: bool
    """True if all opponents have the same weight in a score, however often they were met."""


def grading_of(row: CompetitionRow) -> GradingRules | None:
    """Return the grading rules of one game of a final.

    Returns None for finals without stored rules.  For these the last threshold reached counts, and
    scores are means over all matches.
    """
    kept = settings(row).get("grading")
    if not isinstance(kept, dict) or not isinstance(kept.get("order"), list):
        return None
    return GradingRules(tuple(map(int, kept["order"])), kept.get("every_lower") is True)


def scoring_of(row: CompetitionRow) -> Scoring:
    """Return the scoring of one game of a final, or of a public round robin.

    Rows without a stored scoring use the default that their game had when they were written.
    Raises `plyhouse.games.errors.GameError` for such a row if its game is not installed.
    """
    kept = settings(row).get("scoring")
    if kept in [each.value for each in Scoring]:
        return Scoring(kept)
    if row.game == LEDUC and not row.rated:
        return Scoring.WINS
    return default_scoring(get_game(row.game))


def grading_settings(file: CompetitionFile, entries: Sequence[ClassEntry]) -> dict[str, object]:
    """Return the settings of a game of a final that `grading_of` reads."""
    ids = {each.name.lower(): each.bot_id for each in entries if each.baseline}
    graded = [each.bot.lower() for each in file.baselines if each.grade]
    order = [ids[name] for name in graded if name in ids]
    return {"order": order, "every_lower": file.every_lower}


async def final_rules(store: Store, row: ClassCompetition, file: CompetitionFile) -> FinalRules:
    """Return the rules of a final; before it begins, those of the file."""
    scoring = {}
    grading: list[GradingRules | None] = []
    for game in row.games:
        scoring[game.game] = file.scored_by(game.game)
        if game.competition_id is not None:
            try:
                part = await store.competition(game.competition_id)
            except Unknown:  # Only this game of the final was deleted.
                continue
            scoring[game.game] = scoring_of(part)
            grading.append(grading_of(part))
    if None in grading:
        return FinalRules(scoring, every_lower=False, by_opponent=False)
    every_lower = all(each.every_lower for each in grading if each) if grading else file.every_lower
    return FinalRules(scoring, every_lower, file.until_certain)
