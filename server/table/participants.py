"""Who plays on this server: bots that are connected, or that still hold a seat.

A `Participant` outlives its connections.  When the bot comes back, with the session key it was
given or after its old connection died, it finds its matches here.
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
    """An open connection, as far as the house needs it (`plyhouse.server.wire.session`)."""

    codec: Codec
    remote: bool
    """Whether it comes over the network: then whoever is there may remember, and talk."""
    scenes: bool
    """Whether its spectator wants drawings."""
    watching: set[str]
    """Matches that it follows as a spectator."""

    @property
    def lag_ns(self) -> int:
        """Round trip to the client as measured so far."""

    @property
    def floor_ns(self) -> int:
        """The part of it that the kernel vouches for."""

    @property
    def holding(self) -> bool:
        """Whether what is sent is kept back, until the welcome has been written."""

    def after(self, call: Callable[[], None]) -> None:
        """Call this when what was sent and kept back so far has been written."""

    def send(self, message: ServerMessage) -> None:
        """Send a message; never raises."""

    def send_together(self, messages: Iterable[ServerMessage]) -> None:
        """Send messages in one piece; never raises."""

    def send_frame(self, frame: Frame) -> None:
        """Send a frame that was made with `codec` before."""

    def fail(self, code: str, text: str = "") -> None:
        """End the connection with a fatal error."""


@dataclass(eq=False, slots=True)
class Participant:
    """One bot (or a person playing in person), connected or not."""

    player_id: int
    player: str
    bot_id: int
    bot: str
    """Name under its player; empty for the player in person."""
    version_id: int = 0
    version: str = ""
    kind: str = "bot"
    token_id: int = 0
    """The token of its last login; 0 if that was before the server's start."""
    session_id: int = 0
    """The session of a browser by which it logged in last; 0 for a token."""
    hosted: str = ""
    """The runner machine that runs it for its author; empty if its author does."""
    ticket: str = ""
    """The secret ticket by which the runner logged it in; empty if its author runs it."""
    casual: bool = False
    """Whether it plays no rated matches but those of competitions: a guest, or the house's own."""
    scopes: frozenset[str] = frozenset()
    suspended: str = ""
    """Why its version is not paired; empty if it may play."""
    looked_at: int = 0
    """Forfeits of it that are being looked at, of which each may suspend it."""
    games: frozenset[str] = frozenset()
    """Games in which it accepts matches of organisers and challengers (names or specs)."""
    max_matches: int = 1
    updates: bool = False
    scenes: bool = False
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """Session key: whoever knows it may replace the connection."""
    line: Line | None = None
    """Its connection; None while it is away."""
    since: float = field(default_factory=time.time)
    """When the present connection logged in, in seconds since 1970."""
    matches: dict[str, int] = field(default_factory=dict)
    """The matches in which it holds a seat, and which one; also those being set up."""

    @property
    def name(self) -> str:
        """``player/bot``, or the player's name alone for a person."""
        return f"{self.player}/{self.bot}" if self.bot else self.player

    @property
    def online(self) -> bool:
        """Whether a connection is open."""
        return self.line is not None

    @property
    def guest(self) -> bool:
        """Whether it is a person without an account."""
        return self.kind == "guest"

    @property
    def free(self) -> int:
        """How many more matches it may be given now; 0 while it is away or (perhaps) suspended."""
        if self.line is None or self.suspended or self.looked_at:
            return 0
        return max(0, self.max_matches - len(self.matches))

    def accepts(self, name: str, spec: str) -> bool:
        """Whether it said that it plays this game when others ask for it."""
        return spec in self.games or name in self.games

    def seat_info(self, rating: float | None) -> SeatInfo:
        """How opponents and spectators are told about it."""
        return SeatInfo(self.player, self.bot, self.version, rating, self.kind)

    def seat_row(self, seat: int) -> SeatRow:
        """How the database notes that it holds a seat."""
        return SeatRow(
            seat, self.player, self.bot, self.version, self.player_id, self.bot_id, self.version_id
        )
