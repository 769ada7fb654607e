"""A match that runs on this server, or on another one of the cluster.

`plyhouse.server.table.live.LiveMatch` runs here.
`plyhouse.server.cluster.remote_matches.RemoteMatch` passes everything on to its owner.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Protocol

from plyhouse.protocol.messages import Act, ClientMessage, MatchSnapshot, ServerMessage
from plyhouse.server.match.presence import MatchSummary, Presence
from plyhouse.server.table.participants import Line, Participant


class PairingFacts(Protocol):
    """The facts about the pairing of a match that every server may know."""

    @property
    def id(self) -> str:
        """The id of the pairing."""

    @property
    def tournament(self) -> str | None:
        """The id of its tournament; None for a match of the lobby."""


class RunningMatch(Protocol):
    """The interface of a match for the gateway and for the directory."""

    id: str
    holders: tuple[Participant, ...]
    """The holder of each seat."""
    over: bool

    @property
    def pairing(self) -> PairingFacts:
        """The facts about its pairing."""

    @property
    def ply(self) -> int:
        """The number of plies so far; a little old for a match on another server."""

    @property
    def seats(self) -> Sequence[Presence]:
        """The bot on each seat."""

    def summary(self) -> MatchSummary:
        """Return the record of the match."""

    def act(self, seat: int, message: Act, stamp: int, lag_ns: int) -> None:
        """Play an action of a seat."""

    def request(self, seat: int, message: ClientMessage, stamp: int) -> None:
        """Carry out any other request of a seat about this match."""

    def disconnected(self, seat: int) -> None:
        """Note that a seat has lost its connection."""

    def turn_written(self, seat: int, ply: int, line: Line) -> None:
        """Start the clock of a seat that has learned of its turn."""

    def send_absences(self, line: Line, seat: int) -> None:
        """Tell a seat that has come which others are away."""

    def let_in(self, seat: int, span: int) -> None:
        """Give a seat back nanoseconds, in which the server let it in."""

    def stand_still(self, lost: Mapping[int, int], now: int) -> None:
        """Give back to seats the nanoseconds that they lost until now."""

    def watch(self, line: Line, re: int | None, *, scenes: bool) -> None:
        """Let a spectator follow the match, from a snapshot on."""

    def unwatch(self, line: Line) -> None:
        """Stop following."""

    def public_snapshot(self) -> Awaitable[MatchSnapshot | None]:
        """Return what a spectator may know now; None if its server does not answer."""

    def seats_with_public_thoughts(self) -> frozenset[int]:
        """Return the seats whose thoughts spectators may see now."""

    def send_to_all(self, message: ServerMessage) -> None:
        """Send a message to the seats and the spectators."""
