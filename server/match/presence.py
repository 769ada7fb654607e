"""Records of bots, matches and pairings, exchanged by packages and by the servers of a cluster.

The lobby, the competitions and the hosting of bots know connections and running matches by these
records and by ids only.  They ask `plyhouse.server.table.directory.Directory` for the latest ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from plyhouse.protocol.messages import MatchStatus, Outcome, SeatInfo
from plyhouse.storage.rows import SeatRow

PRIVATE: Final = "(another entry)"
"""The name that everyone sees instead of one that stays private."""


class Presence(Struct, frozen=True):
    """A bot (or a person playing in person) that is connected or holds a seat.

    The record describes one moment.  Each change makes another record.
    """

    bot_id: int
    player_id: int
    player: str
    bot: str
    """The bot's name, without the player's; empty for the player in person."""
    version_id: int = 0
    version: str = ""
    kind: str = "bot"
    connection: int = 0
    """Number of the login; a later login has a higher number.  0 while the bot is offline."""
    since: float = 0.0
    """When the current connection logged in, in seconds since 1970."""
    hosted: str = ""
    """The runner machine that hosts it; empty if its author runs it."""
    ticket: str = ""
    """The secret ticket of its last login by a runner; empty if its author runs it."""
    casual: bool = False
    """True for guests and built-in bots, whose only rated matches are those of competitions."""
    suspended: str = ""
    """The reason why its version is not paired; empty if it may play."""
    under_review: int = 0
    """Number of its forfeits under review, each of which may suspend it."""
    games: frozenset[str] = frozenset()
    """Games in which it accepts matches of organisers and challengers (names or specs)."""
    max_matches: int = 1
    updates: bool = False
    """True if it wants to hear of plies of its opponents."""
    scenes: bool = False
    """True if it wants drawings."""
    token_id: int = 0
    """The token of its last login; 0 if that was before the server's start."""
    session_id: int = 0
    """The browser session of its last login; 0 for a login by token."""
    scopes: frozenset[str] = frozenset()
    """The scopes of its last login."""
    socket: tuple[int, int] = (0, 0)
    """The server that holds its socket, and the number of the connection there.

    Known in messages between servers only.
    """
    matches: Mapping[str, int] = field(default_factory=dict)
    """The seat in each of its matches, by match id; includes matches that are being set up."""

    @property
    def name(self) -> str:
        """``player/bot``, or the player's name alone for a person."""
        return f"{self.player}/{self.bot}" if self.bot else self.player

    @property
    def online(self) -> bool:
        """True if a connection is open."""
        return self.connection > 0

    @property
    def guest(self) -> bool:
        """True for a person without an account."""
        return self.kind == "guest"

    @property
    def free(self) -> int:
        """How many more matches it can take now.

        0 while it is offline, suspended, or under review.
        """
        if not self.connection or self.suspended or self.under_review:
            return 0
        return max(0, self.max_matches - len(self.matches))

    def accepts(self, name: str, spec: str) -> bool:
        """Return whether it accepts this game when others ask for it."""
        return spec in self.games or name in self.games

    def seat_info(self, rating: float | None) -> SeatInfo:
        """Return its description for opponents and spectators."""
        return SeatInfo(self.player, self.bot, self.version, rating, self.kind)

    def seat_row(self, seat: int) -> SeatRow:
        """Return its row as the holder of a seat for the database."""
        return SeatRow(
            seat, self.player, self.bot, self.version, self.player_id, self.bot_id, self.version_id
        )


class MatchSummary(Struct, frozen=True):
    """A running or finished match, as it was at one moment."""

    id: str
    pairing: str
    tournament: str | None
    game: str
    """The spec of the game."""
    family: str
    """The name of the game, without parameters."""
    simultaneous: bool
    """True if all seats of the game think at the same time."""
    time_control: str
    rated: bool
    players: Sequence[SeatInfo]
    """The public facts about the holder of each seat."""
    seats: tuple[Presence, ...]
    """The bot on each seat."""
    status: MatchStatus
    ply: int
    began: bool
    """True once every bot was ready."""
    outcome: Outcome | None
    """None while the match runs, and for one that the server could not go on with."""
    stored: int = 0
    """Its events in the database, and the characters of their texts in hundreds."""
    challenge: bool = False
    """True if it began by a challenge; False after a restart."""

    @property
    def bots(self) -> tuple[int, ...]:
        """The id of the bot on each seat."""
        return tuple([each.bot_id for each in self.seats])


class MatchPlan(Struct, frozen=True):
    """One match of a pairing."""

    id: str
    bots: tuple[int, ...]
    """The id of the bot on each seat."""
    players: tuple[SeatInfo, ...]
    """The public facts about the holder of each seat."""


class PairingPlan(Struct, frozen=True):
    """A pairing to begin, with everything that the server needs that will own it."""

    id: str
    game: str
    """The spec of the game."""
    family: str
    """The name of the game, without parameters."""
    simultaneous: bool
    time_control: str
    rated: bool
    tournament: str | None
    round: int
    scoring: str
    """The scoring of its tournament; empty for that of the game."""
    matches: tuple[MatchPlan, ...]
    holders: tuple[Presence, ...]
    challenge: bool = False
