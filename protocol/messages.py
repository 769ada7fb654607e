"""The messages of protocol v1, as typed structs.

A frame holds one message: a map whose field ``type`` names it. A sender may omit a field that has
its default value; a receiver must ignore fields that it does not know. Every request of a client
carries an ``id`` that the client chooses, from 1 to 2^53 - 1 and not used by another open request.
Exactly one answer repeats that number in ``re``: the success named below, or an ``error``.

Conventions:

- Fields ending in ``_ms`` are integer milliseconds.
- ``seat`` counts from 0. ``ply`` counts the actions of seats in a match from 0, so "ply 3" is the
  fourth action.
- Ids of matches, pairings, seeks and challenges are strings of 1 to 64 letters, digits, ``-`` and
  ``_``. Repeat them unchanged.
- A game is its name with the parameters that differ from the defaults, such as ``pig`` or
  ``connect_four(columns=5,rows=4)``.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, get_args

from plyhouse.protocol.parts import (
    CHANCE_SEAT,
    PROTOCOL_VERSION,
    VOID,
    ClockState,
    Event,
    GiveUp,
    IllegalRule,
    LedgerEntry,
    Limits,
    MatchSnapshot,
    MatchStatus,
    Message,
    Outcome,
    Phrase,
    Ping,
    Pong,
    SeatInfo,
    Termination,
    wire_name,
)
from plyhouse.protocol.replies import (
    Accepted,
    ChallengeClosed,
    Challenged,
    DrawDeclined,
    DrawOffered,
    Error,
    Finished,
    MatchMessage,
    Notice,
    Ok,
    Registered,
    Revealed,
    Said,
    Turn,
    Update,
    Welcome,
)
from plyhouse.protocol.requests import (
    AcceptDraw,
    Act,
    Answer,
    Bye,
    Challenge,
    DeclineDraw,
    Hello,
    OfferDraw,
    Ready,
    Register,
    Resign,
    Say,
    Seek,
    Sync,
    Unseek,
    Unwatch,
    Watch,
)

__all__ = [
    "CHANCE_SEAT",
    "CLIENT_TYPES",
    "PROTOCOL_VERSION",
    "SERVER_TYPES",
    "VOID",
    "AcceptDraw",
    "Accepted",
    "Act",
    "Answer",
    "Bye",
    "Challenge",
    "ChallengeClosed",
    "Challenged",
    "ClientMessage",
    "ClockState",
    "DeclineDraw",
    "DrawDeclined",
    "DrawOffered",
    "Error",
    "Event",
    "Finished",
    "GiveUp",
    "Hello",
    "IllegalRule",
    "LedgerEntry",
    "Limits",
    "MatchMessage",
    "MatchSnapshot",
    "MatchStatus",
    "Message",
    "Notice",
    "OfferDraw",
    "Ok",
    "Outcome",
    "Phrase",
    "Ping",
    "Pong",
    "Ready",
    "Register",
    "Registered",
    "Resign",
    "Revealed",
    "Said",
    "Say",
    "SeatInfo",
    "Seek",
    "ServerMessage",
    "Sync",
    "Termination",
    "Turn",
    "Unseek",
    "Unwatch",
    "Update",
    "Watch",
    "Welcome",
    "wire_name",
]

ClientMessage: TypeAlias = (
    Hello
    | Register
    | Seek
    | Unseek
    | Challenge
    | Answer
    | Ready
    | Act
    | Resign
    | OfferDraw
    | AcceptDraw
    | DeclineDraw
    | Say
    | Sync
    | Watch
    | Unwatch
    | Ping
    | Pong
    | Bye
)
"""Everything a client may send."""

ServerMessage: TypeAlias = (
    Welcome
    | Registered
    | Ok
    | Error
    | MatchMessage
    | Turn
    | Accepted
    | Update
    | DrawOffered
    | DrawDeclined
    | Said
    | Finished
    | Revealed
    | Challenged
    | ChallengeClosed
    | Ping
    | Pong
    | Notice
)
"""Everything a server may send."""


def _by_wire_name(union: Any) -> dict[str, Any]:
    return {member.__struct_config__.tag: member for member in get_args(union)}


CLIENT_TYPES: Final[dict[str, type[ClientMessage]]] = _by_wire_name(ClientMessage)
"""``type`` on the wire to class, in the order of the documentation."""
SERVER_TYPES: Final[dict[str, type[ServerMessage]]] = _by_wire_name(ServerMessage)
"""``type`` on the wire to class, in the order of the documentation."""
