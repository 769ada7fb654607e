"""Participants: bots that are connected, or that still hold a seat.

A `Participant` outlives its connections.  A bot that comes back finds its matches here: with its
session key at any time, without it after the old connection has ended.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from plyhouse.protocol.codec import Codec, Frame
from plyhouse.protocol.messages import SeatInfo, ServerMessage
from plyhouse.storage.rows import SeatRow

__all__ = ["Line", "Participant"]


class Line(Protocol):
    """An open connection, as far as matches need it (`plyhouse.server.wire.session`)."""

    codec: Codec
    remote: bool
    """True for a connection over the network: its peer may remember and pass on what it learns."""
    scenes: bool
    """True if its spectator wants drawings."""
    watching: set[str]
    """Matches that it follows as a spectator."""

    @property
    def lag_ns(self) -> int:
        """The measured round trip time to the client, in nanoseconds."""

    @property
    def floor_ns(self) -> int:
        """The part of the round trip that the kernel vouches for, in nanoseconds."""

    @property
    def holding(self) -> bool:
        """True while messages are kept back until the welcome has been written."""

    def after(self, call: Callable[[], None]) -> None:
        """Run ``call`` when everything that was sent or kept back so far has been written."""

    def send(self, message: ServerMessage) -> None:
        """Send a message; never raises."""

    def send_together(self, messages: Iterable[ServerMessage]) -> None:
        """Send messages in one piece; never raises."""

    def send_frame(self, frame: Frame) -> None:
        """Send a frame that was encoded with `codec`."""

    def fail(self, code: str, text: str = "") -> None:
        """End the connection with a fatal error."""


@dataclass(eq=False, slots=True)
class Participant:
    """One bot (or a person playing in person), connected or not."""

    player_id: int
    player: str
    bot_id: int
    bot: str
    """The bot's name, without the player's; empty for the player in person."""
    version_id: int = 0
    version: str = ""
    kind: str = "bot"
    token_id: int = 0
    """The token of its last login; 0 if that was before the server's start."""
    session_id: int = 0
    """The browser session of its last login; 0 for a login by token."""
    hosted: str = ""
    """The runner machine that hosts it; empty if its author runs it."""
    ticket: str = ""
    """The secret ticket of its last login by a runner; empty if its author runs it."""
    casual: bool = False
    """True for guests and built-in bots, whose only rated matches are those of competitions."""
    scopes: frozenset[str] = frozenset()
    suspended: str = ""
    """The reason why its version is not paired; empty if it may play."""
    looked_at: int = 0
    """Number of its forfeits under review, each of which may suspend it."""
    games: frozenset[str] = frozenset()
    """Games in which it accepts matches of organisers and challengers (names or specs)."""
    max_matches: int = 1
    updates: bool = False
    scenes: bool = False
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """Session key: a client that knows it may replace the connection."""
    line: Line | None = None
    """Its connection; None while it is offline."""
    since: float = field(default_factory=time.time)
    """When the current connection logged in, in seconds since 1970."""
    matches: dict[str, int] = field(default_factory=dict)
    """The seat in each of its matches, by match id; includes matches that are being set up."""

    @property
    def name(self) -> str:
        """``player/bot``, or the player's name alone for a person."""
        return f"{self.player}/{self.bot}" if self.bot else self.player

    @property
    def online(self) -> bool:
        """True if a connection is open."""
        return self.line is not None

    @property
    def guest(self) -> bool:
        """True for a person without an account."""
        return self.kind == "guest"

    @property
    def free(self) -> int:
        """How many more matches it can take now.

        0 while it is offline, suspended, or under review.
        """
        if self.line is None or self.suspended or self.looked_at:
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
