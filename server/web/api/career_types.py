"""What the web API says of a bot; its reference page is made from this module."""

from __future__ import annotations

from msgspec import Struct

from plyhouse.server.house.careers import BotCareer
from plyhouse.server.results.careers import Career, Pace, forfeited
from plyhouse.storage.careers import CareerMatch

__all__ = [
    "BotMatch",
    "BotRating",
    "BotResult",
    "BotVersion",
    "BotView",
    "HolderView",
    "bot_match",
    "bot_view",
]


class HolderView(Struct):
    """Who held a seat."""

    player: str
    bot: str


class BotMatch(Struct):
    """A finished match as it went for one bot."""

    match: str
    game: str
    seat: int
    version: str
    result: str
    """``W``, ``D`` or ``L``; empty in a match that does not count."""
    returned: float | None
    termination: str
    forfeit: bool
    """Whether the bot lost otherwise than by play."""
    reason: str
    rated: bool
    ply: int
    created_ms: int
    void_reason: str | None
    others: list[HolderView]
    """Who held the other seats, in their order."""


class BotVersion(Struct):
    """A version of a bot."""

    version: str
    created_ms: int


class BotResult(Struct):
    """A bot's line on the leaderboard of a game, with one version."""

    game: str
    version: str
    latest: bool
    score: float
    games: int
    wins: int
    draws: int
    losses: int
    rating: float | None
    """Elo; null until the first fit."""
    low: float | None
    high: float | None
    """The bounds of the rating's 95 % interval."""


class BotRating(Struct):
    """A rating at the time it was fitted."""

    game: str
    version: str
    taken_ms: int
    rating: float
    low: float
    high: float
    games: int


class BotView(Struct):
    """A bot: its versions, standings, ratings over time, and what came of its latest matches."""

    player: str
    display: str
    bot: str
    kind: str
    """``bot``, or ``human`` for a person."""
    created_ms: int
    disabled: bool
    online: bool
    versions: list[BotVersion]
    standings: list[BotResult]
    ratings: list[BotRating]
    career: Career
    paces: list[Pace]


def bot_view(found: BotCareer) -> BotView:
    """Show a bot."""
    row = found.row
    return BotView(
        *(row.player, found.display, row.name, row.kind, row.created_ms),
        row.disabled_ms is not None,
        found.online,
        [BotVersion(each.version, each.created_ms) for each in found.versions],
        [
            BotResult(
                *(each.game, each.version, each.latest, each.score, each.games),
                *(each.wins, each.draws, each.losses),
                *(each.rating, each.low, each.high),
            )
            for each in found.standings
        ],
        [BotRating(*each) for each in found.ratings],
        found.career,
        found.paces,
    )


def bot_match(match: CareerMatch) -> BotMatch:
    """Show a match of a bot."""
    return BotMatch(
        *(match.match, match.game, match.seat, match.version, match.result or ""),
        *(match.returned, match.termination, forfeited(match), match.reason, match.rated),
        *(match.ply, match.created_ms, match.void_reason),
        [HolderView(*each) for each in match.others],
    )
