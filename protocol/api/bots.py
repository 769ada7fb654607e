"""A bot, its versions, ratings and results, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.reports import Summary
from plyhouse.protocol.api.rows import Row


class Bot(Row, frozen=True):
    """A named program (or the person itself: kind ``human``) of a player."""

    id: int
    player_id: int
    player: str
    name: str
    kind: str
    created_ms: int
    disabled_ms: int | None = None
    """When an organiser disabled its login; null if it may log in."""
    open_ms: int | None = None
    """When its author opened its submissions for play; null if they are closed."""


class Holder(Row, frozen=True):
    """The holder of a seat."""

    player: str
    bot: str


class BotMatch(Row, frozen=True):
    """A finished match from the view of one bot."""

    match: str
    game: str
    seat: int
    version: str
    result: str
    """``W``, ``D`` or ``L``; empty in a match that does not count."""
    returned: float | None
    termination: str
    forfeit: bool
    """True if the bot lost by flag fall, illegal action, crash or absence."""
    reason: str
    rated: bool
    ply: int
    created_ms: int
    void_reason: str | None
    others: list[Holder]
    """The holders of the other seats, in seat order."""
    pairing: str = ""
    """Id shared by the matches of a mirrored pairing."""


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
    score: float = 0.0
    """Mean of 1 for a win, 0.5 for a draw and 0 for a loss."""
    low: float = 0.0
    """The 95 % interval of the mean, over mirrored pairings."""
    high: float = 1.0


class InSeat(Row, frozen=True):
    """Results in one seat of a game."""

    game: str
    seat: int
    matches: int
    wins: int
    draws: int
    losses: int


class ForfeitKind(Row, frozen=True):
    """Number of losses by one kind of forfeit."""

    termination: str
    words: str
    matches: int


class Pace(Row, frozen=True):
    """Thinking times of a bot in a game, in milliseconds, from some of its latest matches."""

    game: str
    plies: int
    median_ms: float
    """Median of the time charged to the clock."""
    slow_ms: float
    """The 95th percentile."""
    longest_ms: float
    lag_ms: float
    """Median network delay, which the server refunded."""


class Career(Row, frozen=True):
    """Statistics over the latest matches of a bot."""

    matches: int
    """Number of matches counted."""
    more: bool
    """True if older matches exist that are not counted."""
    void: int
    wins: int
    draws: int
    losses: int
    against: list[Against]
    """The most frequent opponents first."""
    seats: list[InSeat]
    forfeits: list[ForfeitKind]
    """The most frequent first."""
    score: float | None = None
    """Mean of 1 for a win, 0.5 for a draw and 0 for a loss; None without a match that counts."""
    low: float | None = None
    """The 95 % interval of the mean, over mirrored pairings."""
    high: float | None = None


class BotPage(Row, frozen=True):
    """A bot: its versions, standings, ratings over time, and statistics of its latest matches."""

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
    summary: Summary = Summary("", "")


class Suspension(Row, frozen=True):
    """A suspended version, with the reason."""

    player: str
    bot: str
    version: str
    digest: str
    version_id: int
    since_ms: int
    reason: str
    bot_id: int = 0
