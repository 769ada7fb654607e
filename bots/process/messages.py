"""Messages between the runner and a bot's process, and their frames.

A frame has four bytes of length (big-endian) and one msgpack map whose ``type`` names the message.
The pipe is a separate socket pair, so that the bot's standard output does not disturb it.
Durations are integer nanoseconds.  ``turn`` is the number of a `Think` request, never reused.
"""

from __future__ import annotations

import struct
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec

from plyhouse.protocol.messages import ClockState, Event, MatchSnapshot, Outcome
from plyhouse.protocol.parts import Info

__all__ = [
    "HEADER",
    "MAX_FROM_CHILD",
    "MAX_TEXT",
    "Begin",
    "Best",
    "Chosen",
    "Doing",
    "End",
    "Failed",
    "FromChild",
    "LoadFailed",
    "Loaded",
    "Prepared",
    "Quit",
    "Resigned",
    "Stage",
    "Stop",
    "Stopped",
    "Think",
    "ToChild",
    "UnreadableMessage",
    "cut",
    "decode_from_child",
    "decode_to_child",
    "frame",
    "shortened",
]

HEADER: Final = struct.Struct(">I")
MAX_FROM_CHILD: Final = 128 * 1024
"""Longest frame that a bot's process may send, in bytes."""

MAX_TEXT: Final = 8000
"""Longest text in a message of a bot's process, in characters.  The longest message, `Failed`, has
three texts, which always fit into `MAX_FROM_CHILD`."""

Stage: TypeAlias = Literal["__init__", "start", "choose"]
"""Stages of a bot's first turn in a match."""

CUT: Final = "\n[...]\n"
"""Replaces the middle of a shortened text."""


class UnreadableMessage(Exception):  # noqa: N818 - a state of affairs
    """A frame of a bot's process does not decode to a message; the text says why."""


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
    """Begin a match, or restore it in a new process, with everything known about it."""

    snapshot: MatchSnapshot
    seed: str
    """The seed of ``turn.rng``."""
    files: bool = False
    """True if the game may come from a file, because the user asked for it."""
    file: str = ""
    """The file of a game that the user named."""


class Think(_Said, frozen=True):
    """Choose an action: ``soft`` and ``hard`` are the times as in `time_management`."""

    match: str
    turn: int
    ply: int
    soft: int
    hard: int
    left: int
    """Time until flag fall by the server's clock, from the arrival of the turn."""
    events: list[Event] = []
    """Events since ``Begin`` or the last message of this match."""
    observation: dict[str, Any] = {}
    clocks: list[ClockState] = []
    retry: bool = False
    depth: int | None = None
    nodes: int | None = None
    """Further bounds of a search, for a bot that serves as an engine."""


class Stop(_Said, frozen=True):
    """Stop thinking about this request; its answer is no longer wanted."""

    match: str
    turn: int


class End(_Said, frozen=True):
    """End a match."""

    match: str
    outcome: Outcome | None = None
    events: list[Event] = []


class Quit(_Said, frozen=True):
    """End the process, because no more matches follow."""


# ------------------------------------------------------------------------ bot to runner


class Loaded(_Said, frozen=True):
    """The bot was imported and can play."""

    name: str
    games: list[str]
    concurrent: bool
    """True if ``choose`` is async, so that the bot can think about many matches at once."""
    best_at_deadline: bool
    options: list[tuple[str, str, str]] = []
    """Name, kind (``int``, ``float``, ``bool`` or ``str``) and default of each option."""
    label: str = ""
    """Label of the version; that of the run comes before it."""
    prepares: bool = False
    """True if the bot prepares for a match before its clock runs; then `Prepared` follows."""


class LoadFailed(_Said, frozen=True):
    """The bot could not be loaded: a sentence, and the traceback if its code raised."""

    message: str
    traceback: str = ""


class Prepared(_Said, frozen=True):
    """The bot has prepared for a match, or failed to; its first turn tells which."""

    match: str


class Best(_Said, frozen=True):
    """The best action so far of a search that continues."""

    match: str
    turn: int
    action: str


class Doing(_Said, frozen=True):
    """The stage of the bot in its first turn of a match: ``__init__``, ``start``, ``choose``."""

    match: str
    turn: int
    what: Stage


class Chosen(_Said, frozen=True):
    """The chosen action; ``warning`` says why the referee will probably refuse it."""

    match: str
    turn: int
    action: str
    warning: str = ""
    info: Info | None = None
    """The bot's thoughts (`plyhouse.bots.api.Turn.info`)."""


class Stopped(_Said, frozen=True):
    """``choose`` ended for a request that `Stop` had cancelled."""

    match: str
    turn: int


class Resigned(_Said, frozen=True):
    """The bot resigns."""

    match: str
    turn: int
    no_answer: str = ""
    """Why a language model has no action to play; empty for any other resignation."""


class Failed(_Said, frozen=True):
    """The bot's code raised; ``turn`` is 0 outside of a turn (in ``finish``)."""

    match: str
    turn: int
    error: str
    """The exception in one line."""
    traceback: str
    position: str
    """The position of the failure, as text."""


ToChild: TypeAlias = Begin | Think | Stop | End | Quit
FromChild: TypeAlias = (
    Loaded | LoadFailed | Prepared | Best | Doing | Chosen | Stopped | Resigned | Failed
)

_encoder = msgspec.msgpack.Encoder()
_to_child: msgspec.msgpack.Decoder[ToChild] = msgspec.msgpack.Decoder(ToChild)
_from_child: msgspec.msgpack.Decoder[FromChild] = msgspec.msgpack.Decoder(FromChild)


_Any = TypeVar("_Any", bound=_Said)


def cut(text: str, most: int = MAX_TEXT) -> str:
    r"""Shorten the middle of ``text`` to at most ``most`` characters, encodable as UTF-8.

    >>> cut("abcdefghijklmnopqrstuvwxyz", 16)
    'abc\n[...]\nuvwxyz'
    >>> cut("\ud800")
    '?'
    """
    if len(text) > most:
        rest = max(0, most - len(CUT))
        # The end of a traceback is the most informative part.
        text = text[: rest * 3 // 8] + CUT + text[len(text) - (rest - rest * 3 // 8) :]
    return text.encode("utf-8", "replace").decode()


def shortened(message: _Any) -> _Any:
    """Return ``message`` with no text longer than `MAX_TEXT` characters."""
    texts = {
        name: cut(text)
        for name in message.__struct_fields__
        if isinstance(text := getattr(message, name), str)
    }
    return msgspec.structs.replace(message, **texts)


def frame(message: ToChild | FromChild) -> bytes:
    """Return the bytes that carry ``message``."""
    body = _encoder.encode(message)
    return HEADER.pack(len(body)) + body


def decode_to_child(body: bytes) -> ToChild:
    """Decode a message of the runner; raise `msgspec.MsgspecError` if it is not one."""
    return _to_child.decode(body)


def decode_from_child(body: bytes) -> FromChild:
    """Decode a message of the bot's process and shorten its texts.

    Decoding takes at most nine times the memory of ``body``, because all fields are typed and
    unknown fields are skipped.  Raises `UnreadableMessage`.
    """
    try:
        message = _from_child.decode(body)
        return shortened(message) if len(body) > MAX_TEXT else message
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UnreadableMessage(cut(str(error), 200)) from error
