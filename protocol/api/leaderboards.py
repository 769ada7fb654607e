"""Leaderboards, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.rows import NOTEBOOK, Row

__all__ = ["Leaderboard", "Standing"]


class Standing(Row, frozen=True):
    """The place of a bot on a leaderboard; only rated matches that are not void count."""

    rank: int
    player: str
    bot: str
    bot_id: int
    score: float
    """Sum over its matches: 1 for a win, 0.5 for a draw, in games for two."""
    games: int
    wins: int
    draws: int
    losses: int
    rating: float | None
    """Elo; null until the first fit."""
    low: float | None
    high: float | None
    """The bounds of the rating's 95 % interval."""
    returns: float
    """Sum of the utilities of all matches (chips, cents)."""
    return_squares: float
    """Sum of the squares of these utilities."""
    version_id: int = 0
    version: str = ""
    """Label of the version with these results."""
    latest: bool = True
    """True if the bot used this version in its last rated match of this game."""
    display: str = ""
    """The player's display name; empty if it has none."""
    mean_return: float | None = None
    """Utility per match; null in games where only winning counts."""
    mean_low: float | None = None
    mean_high: float | None = None
    """Bounds of its 95 % interval, within the bounds of the game's returns."""


class Leaderboard(Row, frozen=True):
    """The standings of a game, best first; ratings go by ``scoring``: wins or returns."""

    game: str
    scoring: str
    standings: list[Standing]

    def _repr_html_(self) -> str:
        return NOTEBOOK.table(self.standings)
