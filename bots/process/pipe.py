"""What runner and bot process say to each other, and how it is framed.

Each frame is four bytes of length (big-endian) and one msgpack map whose ``type`` names the
message.  The pipe is a socket pair of its own, so whatever a bot prints cannot disturb it.
Durations are integer nanoseconds; ``turn`` numbers one request to think and is never reused.
"""

from __future__ import annotations

import struct
from typing import Any, Final, TypeAlias

import msgspec

from plyhouse.protocol.messages import ClockState, Event, MatchSnapshot, Outcome

__all__ = [
    "HEADER",
    "MAX_FRAME",
    "Begin",
    "Best",
    "Chosen",
    "Doing",
    "End",
    "Failed",
    "FromChild",
    "LoadFailed",
    "Loaded",
    "Quit",
    "Resigned",
    "Stop",
    "Stopped",
    "Think",
    "ToChild",
    "decode_from_child",
    "decode_to_child",
    "frame",
]

HEADER: Final = struct.Struct(">I")
MAX_FRAME: Final = 64 * 1024 * 1024
"""Longer frames are a broken pipe, not a message."""


class _Said(
    msgspec.Struct,
    frozen=True,
    tag=True,
    tag_field="type",
    omit_defaults=True,
):
    """Base of all messages of the pipe."""


# ------------------------------------------------------------------------ runner to bot


class Begin(_Said, frozen=True):
    """Set a match up, or set it up again in a new process: everything known of it."""

    snapshot: MatchSnapshot
    seed: str
    """Makes ``turn.rng`` repeatable."""
    files: bool = False
    """Whether the game may be one that lies in a file: only if the user asked for it."""
    file: str = ""
    """The file of a game that goes by its own name: one that the user asked for."""


class Think(_Said, frozen=True):
    """Choose an action."""

    match: str
    turn: int
    ply: int
    soft: int
    hard: int
    left: int
    """Time to flag fall by the server's clock, counted from the arrival of the turn."""
    events: list[Event] = []
    """What happened since ``Begin`` or the last message of this match."""
    observation: dict[str, Any] = {}
    clocks: list[ClockState] = []
    retry: bool = False


class Stop(_Said, frozen=True):
    """The answer to this request is no longer wanted."""

    match: str
    turn: int


class End(_Said, frozen=True):
    """A match is over."""

    match: str
    outcome: Outcome | None = None
    events: list[Event] = []


class Quit(_Said, frozen=True):
    """No more matches: leave."""


# ------------------------------------------------------------------------ bot to runner


class Loaded(_Said, frozen=True):
    """The bot was imported and can play."""

    name: str
    games: list[str]
    concurrent: bool
    """``choose`` is async: any number of matches may be thought about at once."""
    best_at_deadline: bool


class LoadFailed(_Said, frozen=True):
    """The bot cannot be used; one sentence, and a traceback where its code failed."""

    message: str
    traceback: str = ""


class Best(_Said, frozen=True):
    """Best action so far."""

    match: str
    turn: int
    action: str


class Doing(_Said, frozen=True):
    """What the bot is at in its first turn of a match: ``__init__``, ``start``, ``choose``."""

    match: str
    turn: int
    what: str


class Chosen(_Said, frozen=True):
    """The answer; ``warning`` says why the referee will probably refuse it."""

    match: str
    turn: int
    action: str
    warning: str = ""
    info: dict[str, Any] | None = None
    """What the bot said of its thoughts (`plyhouse.bots.api.Turn.info`)."""


class Stopped(_Said, frozen=True):
    """A request that was stopped has come to its end."""

    match: str
    turn: int


class Resigned(_Said, frozen=True):
    """The bot gives the match up of its own will."""

    match: str
    turn: int


class Failed(_Said, frozen=True):
    """The bot's code raised; ``turn`` is 0 outside of a turn (in ``finish``)."""

    match: str
    turn: int
    error: str
    """The exception in one line."""
    traceback: str
    position: str
    """The position it happened in, as text."""


ToChild: TypeAlias = Begin | Think | Stop | End | Quit
FromChild: TypeAlias = Loaded | LoadFailed | Best | Doing | Chosen | Stopped | Resigned | Failed

_encoder = msgspec.msgpack.Encoder()
_to_child: msgspec.msgpack.Decoder[ToChild] = msgspec.msgpack.Decoder(ToChild)
_from_child: msgspec.msgpack.Decoder[FromChild] = msgspec.msgpack.Decoder(FromChild)


def frame(message: ToChild | FromChild) -> bytes:
    """Return the bytes that carry ``message``."""
    body = _encoder.encode(message)
    return HEADER.pack(len(body)) + body


def decode_to_child(body: bytes) -> ToChild:
    """Read what the runner said; `msgspec.MsgspecError` if it is no such message."""
    return _to_child.decode(body)


def decode_from_child(body: bytes) -> FromChild:
    """Read what the bot's process said; `msgspec.MsgspecError` if it is no such message."""
    return _from_child.decode(body)
