"""A bot, its versions, ratings and results, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.rows import Row

__all__ = [
    "Against",
    "Bot",
    "BotMatch",
    "BotPage",
    "BotRating",
    "BotResult",
    "BotVersion",
    "Career",
    "ForfeitKind",
    "Holder",
    "InSeat",
    "Pace",
    "Suspension",
]


class Bot(Row, frozen=True):
    """A named program (or the person itself: kind ``human``) of a player."""

    id: int
    player_id: int
    player: str
    name: str
    kind: str
    created_ms: int
    disabled_ms: int | None = None
    """Since when it may not log in; null if it may."""
    open_ms: int | None = None
    """Since when people may play against its submissions; null if they may not."""


class Holder(Row, frozen=True):
    """The holder of a seat."""

    player: str
    bot: str


class BotMatch(Row, frozen=True):
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
    others: list[Holder]
    """The holders of the other seats, in their order."""


class BotVersion(Row, frozen=True):
    """A version of a bot."""

    version: str
    created_ms: int


class BotResult(Row, frozen=True):
    """The result of a version of a bot on the leaderboard of a game."""

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


class BotRating(Row, frozen=True):
    """A rating at the time it was fitted."""

    game: str
    version: str
    taken_ms: int
    rating: float
    low: float
    high: float
    games: int


class Against(Row, frozen=True):
    """Results in matches with one opponent in one game; with several, each is counted."""

    game: str
    player: str
    bot: str
    matches: int
    wins: int
    draws: int
    losses: int


class InSeat(Row, frozen=True):
    """Results in one seat of a game."""

    game: str
    seat: int
    matches: int
    wins: int
    draws: int
    losses: int


class ForfeitKind(Row, frozen=True):
    """How often the bot lost otherwise than by play."""

    termination: str
    words: str
    matches: int


class Pace(Row, frozen=True):
    """How long the bot's plies took in a game, in milliseconds; of some of its latest matches."""

    game: str
    plies: int
    median_ms: float
    """Of the time on the clock."""
    slow_ms: float
    """Nineteen of twenty plies took less."""
    longest_ms: float
    lag_ms: float
    """Median of what the network took, which was given back."""


class Career(Row, frozen=True):
    """What came of some matches of a bot."""

    matches: int
    """Matches that were counted."""
    more: bool
    """Whether there are older ones that were not."""
    void: int
    wins: int
    draws: int
    losses: int
    against: list[Against]
    """Those it met most first."""
    seats: list[InSeat]
    forfeits: list[ForfeitKind]
    """The most frequent first."""


class BotPage(Row, frozen=True):
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


class Suspension(Row, frozen=True):
    """A version that is suspended, and why."""

    player: str
    bot: str
    version: str
    digest: str
    version_id: int
    since_ms: int
    reason: str
    bot_id: int = 0
