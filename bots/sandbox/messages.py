"""What is said to the keeper and by it: one JSON object per packet.

A `Launch` carries three descriptors.  For a bot by our API: its pipe, the pipe on which it tells
where it stands, and what it prints to.  For a program: standard input, output and error.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from plyhouse.bots.sandbox.box import Box, Ending

__all__ = [
    "PACKET",
    "Ended",
    "FromKeeper",
    "Kill",
    "Launch",
    "Refused",
    "Started",
    "ToKeeper",
    "decode_from_keeper",
    "decode_to_keeper",
    "packet",
]

PACKET: Final = 64 * 1024
"""Bytes of the longest packet."""


class _Said(msgspec.Struct, frozen=True, tag=True, tag_field="type"):
    id: int
    """Of the box; the client counts."""


class Launch(_Said, frozen=True):
    """Put a program into a box."""

    box: Box


class Kill(_Said, frozen=True):
    """End it with all it has started; `Ended` follows."""


class Started(_Said, frozen=True):
    """The process that is the bot."""

    pid: int


class Refused(_Said, frozen=True):
    """It could not be confined, and was not run."""

    why: str


class Ended(_Said, frozen=True):
    """It is gone, with all its processes."""

    ending: Ending


ToKeeper: TypeAlias = Launch | Kill
FromKeeper: TypeAlias = Started | Refused | Ended

_encoder = msgspec.json.Encoder()
_to_keeper: msgspec.json.Decoder[ToKeeper] = msgspec.json.Decoder(ToKeeper)
_from_keeper: msgspec.json.Decoder[FromKeeper] = msgspec.json.Decoder(FromKeeper)


def packet(message: ToKeeper | FromKeeper) -> bytes:
    """The bytes of a message."""
    return _encoder.encode(message)


def decode_to_keeper(data: bytes) -> ToKeeper:
    """Read what the keeper is asked."""
    return _to_keeper.decode(data)


def decode_from_keeper(data: bytes) -> FromKeeper:
    """Read what the keeper says."""
    return _from_keeper.decode(data)
