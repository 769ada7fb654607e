"""What scores the matches of a final: as it was stored when the final began.

Changing a game's default, or the competition file, leaves finished matches as they were scored,
and a rerun scores new matches as the first run did.
"""

from __future__ import annotations

from plyhouse.games.base import Scoring
from plyhouse.games.registry import get_game
from plyhouse.server.competition.file import CompetitionFile
from plyhouse.server.results.scoring import default_scoring
from plyhouse.storage.class_rows import ClassCompetition
from plyhouse.storage.competitions import settings
from plyhouse.storage.errors import Unknown
from plyhouse.storage.rows import CompetitionRow
from plyhouse.storage.store import Store

__all__ = ["scoring_by_game", "scoring_of"]


def scoring_of(row: CompetitionRow) -> Scoring:
    """Return what scores the matches of one game of a final, or of a round robin for everybody.

    Rows from before competitions could choose have nothing stored: they go by the game's default.
    Raises `plyhouse.games.errors.GameError` for such a row if its game is not installed.
    """
    kept = settings(row).get("scoring")
    if kept in [each.value for each in Scoring]:
        return Scoring(kept)
    return default_scoring(get_game(row.game))


async def scoring_by_game(
    store: Store, row: ClassCompetition, file: CompetitionFile
) -> dict[str, Scoring]:
    """Return what scores each game of a competition: by its final, or by its file before that."""
    found = {}
    for game in row.games:
        found[game.game] = file.scored_by(game.game)
        if game.competition_id is not None:
            try:
                found[game.game] = scoring_of(await store.competition(game.competition_id))
            except Unknown:  # that game was deleted by itself
                continue
    return found
