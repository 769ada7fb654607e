"""Messages between the servers of a cluster.

A server that holds a socket is a *gateway*, one that runs a match is its *owner*, and one server
is the *leader*.  Every server can be all three.  A connection is named by its number on its
gateway.  Instants never cross machines; durations are in nanoseconds.

An owner sends a gateway only what passed `plyhouse.server.match.views` for a seat there.  Messages
to the leader include session keys, so links between servers must be protected as the connections to
the database are.

A server ignores fields and messages that it does not know, so versions N and N-1 can talk.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from plyhouse.protocol.messages import (
    Act,
    ClientMessage,
    MatchSnapshot,
    MatchStatus,
    Seek,
    ServerMessage,
)
from plyhouse.server.accounts.tickets import Ticket
from plyhouse.server.match.presence import MatchSummary, PairingPlan, Presence


class _Message(Struct, frozen=True, tag=True, array_like=True):
    pass


# ------------------------------------------------------------------ to the gateway of a socket


class ToLine(_Message, frozen=True):
    """Send a message on a connection."""

    connection: int
    message: ServerMessage


class ToLines(_Message, frozen=True):
    """Send the same message on several connections: spectators of one match."""

    connections: list[int]
    message: ServerMessage


class TurnSent(_Message, frozen=True):
    """The last message on this connection has a turn; report `Written` when it is out."""

    connection: int
    match: str
    seat: int
    ply: int


class Expel(_Message, frozen=True):
    """End a connection with a fatal error."""

    connection: int
    code: str
    text: str = ""


class SeatTaken(_Message, frozen=True):
    """The sender owns this match, in which bots of the receiver's sockets have seats."""

    match: MatchSummary
    connections: dict[int, int]
    """The receiver's connections, by seat."""


class Gone(_Message, frozen=True):
    """A match of the sender is over; its last messages were sent before."""

    match: str


class Entered(_Message, frozen=True):
    """The answer to `Enter` or `ShowPublic`; None if the match is not here any more."""

    call: int
    snapshot: MatchSnapshot | None = None


# ------------------------------------------------------------------ to the owner of a match


class Acted(_Message, frozen=True):
    """An action of a seat."""

    match: str
    seat: int
    connection: int
    message: Act
    lag_ns: int
    thought_ns: int | None = None
    """From the write of the turn to the read of the action; None if the turn was never written."""


class Asked(_Message, frozen=True):
    """Any other request of a seat about the match."""

    match: str
    seat: int
    connection: int
    message: ClientMessage


class Written(_Message, frozen=True):
    """The turn at a ply has been written to the seat's socket."""

    match: str
    seat: int
    connection: int
    ply: int
    lag_ns: int
    floor_ns: int


class Enter(_Message, frozen=True):
    """A bot that holds a seat has logged in; `Entered` answers."""

    call: int
    match: str
    seat: int
    bot: Presence
    waited_ns: int = 0
    """For how long the login waited because the servers had no leader."""


class Away(_Message, frozen=True):
    """A seat's connection has ended."""

    match: str
    seat: int
    connection: int
    excused: bool = False
    """True if the server with the socket stops, so that the seat is not charged."""


class LetIn(_Message, frozen=True):
    """Give a seat back the time of its login."""

    match: str
    seat: int
    span_ns: int


class TellAbsences(_Message, frozen=True):
    """Tell a seat that has come which others are away."""

    match: str
    seat: int
    connection: int


class Watched(_Message, frozen=True):
    """A spectator wants to follow the match."""

    match: str
    connection: int
    re: int | None
    scenes: bool


class Unwatched(_Message, frozen=True):
    """A spectator has stopped following the match, or has left."""

    match: str
    connection: int


class ShowPublic(_Message, frozen=True):
    """Return what a spectator may know now, as `Entered`."""

    call: int
    match: str


class StandStill(_Message, frozen=True):
    """Give back to seats the nanoseconds in which no runner had their bots."""

    match: str
    lost: dict[int, int]


class Begin(_Message, frozen=True):
    """Make a pairing and run its matches."""

    plan: PairingPlan


class Adopt(_Message, frozen=True):
    """Take over the pairings of a server that has stopped; the database names the receiver."""

    pairings: list[str]


# ---------------------------------------------------------------------------- to the leader


class Admit(_Message, frozen=True):
    """Log in a bot; `Admitted` answers."""

    call: int
    bot: Presence
    """The bot as it will be."""
    key: str = ""
    """The session key that the client sent."""
    takeover: bool = False
    early: bool = False
    """Set by a new leader: it was not ready when the message came."""


class Admitted(_Message, frozen=True):
    """The answer to `Admit`: an error, or the session key and the matches of the bot."""

    call: int
    code: str = ""
    text: str = ""
    key: str = ""
    login: int = 0
    """The number of the login; a later one in the cluster has a higher number."""
    was_hosted: bool = False
    """True if it was away, and hosting refunds have covered that time."""
    matches: list[Owned] = []
    early: bool = False
    """True if the login waited until the sender was ready to lead."""


class Owned(Struct, frozen=True):
    """A running match and the server that owns it."""

    match: MatchSummary
    owner: int


class FindTicket(_Message, frozen=True):
    """Look up the ticket of a hosted bot; `Found` answers."""

    call: int
    secret: str


class Found(_Message, frozen=True):
    """The answer to `FindTicket`: the ticket; None if it is not valid."""

    call: int
    ticket: Ticket | None = None


class FindBots(_Message, frozen=True):
    """Say where bots are connected; `FoundBots` answers."""

    call: int
    bots: list[int]


class FoundBots(_Message, frozen=True):
    """The answer to `FindBots`: the bots that are connected."""

    call: int
    found: list[Presence]


class Left(_Message, frozen=True):
    """The connection of a bot has ended."""

    bot: int
    connection: int


class LobbyAsked(_Message, frozen=True):
    """A request about seeks or challenges."""

    bot: int
    connection: int
    message: ClientMessage


class SeekAgain(_Message, frozen=True):
    """Open a seek again, because the receiver is the new leader."""

    bot: int
    connection: int
    seek: str
    message: Seek


class SeekLeft(_Message, frozen=True):
    """To the gateway: what is left of a seek after matches began."""

    connection: int
    seek: str
    count: int
    """The matches still to begin; 0 for a seek without a limit."""
    open: bool


class Adopted(_Message, frozen=True):
    """The matches of these pairings run on the sender now, as far as they are not over."""

    pairings: list[str]


class Over(_Message, frozen=True):
    """A match of the sender has ended and is stored."""

    match: MatchSummary


class Progress(_Message, frozen=True):
    """The status and ply of the sender's running matches, as far as they have changed."""

    matches: dict[str, tuple[MatchStatus, int, bool]]
    """Status, ply, and whether every bot was ready, by match id."""


class Leaving(_Message, frozen=True):
    """The sender has ended its lease; its matches and sockets are free."""


class LeadershipBegan(_Message, frozen=True):
    """The sender is the new leader; `Report` answers."""


class Report(_Message, frozen=True):
    """All connections and matches of the sender, for a new leader."""

    bots: list[Presence]
    keys: list[str]
    """The session key of each bot; a link between servers is as secret as the database."""
    matches: list[MatchSummary]


MemberMessage: TypeAlias = (
    ToLine
    | ToLines
    | TurnSent
    | Expel
    | SeatTaken
    | Gone
    | Entered
    | Acted
    | Asked
    | Written
    | Enter
    | Away
    | LetIn
    | TellAbsences
    | Watched
    | Unwatched
    | ShowPublic
    | StandStill
    | Begin
    | Adopt
    | Adopted
    | Admit
    | Admitted
    | FindTicket
    | Found
    | FindBots
    | FoundBots
    | Leaving
    | Left
    | LobbyAsked
    | SeekAgain
    | SeekLeft
    | Over
    | Progress
    | LeadershipBegan
    | Report
)

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(MemberMessage)


def encode(message: MemberMessage) -> bytes:
    """Return a message as bytes."""
    return _ENCODER.encode(message)


def decode(payload: bytes) -> MemberMessage:
    """Return the message of some bytes; raises `msgspec.DecodeError` for an unknown one."""
    message: MemberMessage = _DECODER.decode(payload)
    return message
