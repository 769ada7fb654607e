"""Tournaments, the schedules of single games of competitions, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.rows import NOTEBOOK, Row

__all__ = [
    "Tournament",
    "TournamentDetail",
    "TournamentStanding",
]


class TournamentStanding(Row, frozen=True):
    """The place of a bot in a tournament; fields as in `leaderboards.Standing`."""

    rank: int
    player: str
    bot: str
    bot_id: int
    score: float
    games: int
    wins: int
    draws: int
    losses: int
    returns: float


class Tournament(Row, frozen=True):
    """A tournament in the list of all."""

    tournament: str
    name: str
    game: str
    time_control: str
    rounds: int
    mirrored: bool
    rated: bool
    status: str
    created_ms: int
    finished_ms: int | None


class TournamentDetail(Tournament, frozen=True, kw_only=True):
    """A tournament with its table; matches are counted in the whole schedule."""

    entries: list[str]
    planned: int
    created: int
    finished: int
    waiting_for: list[str]
    """Bots that keep pairings from being played, and why."""
    table: list[TournamentStanding]

    def _repr_html_(self) -> str:
        return NOTEBOOK.table(self.table)
