"""Messages to and from the fork server: one JSON object per packet.

A `Launch` carries three descriptors.  For a Python bot: its pipe, the pipe on which it reports its
position, and its output.  For a program: standard input, output and error.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from plyhouse.bots.sandbox.box import Box, Ending

__all__ = [
    "PACKET",
    "Ended",
    "FromForkServer",
    "Kill",
    "Launch",
    "Refused",
    "Started",
    "ToForkServer",
    "decode_from_fork_server",
    "decode_to_fork_server",
    "packet",
]

PACKET: Final = 64 * 1024
"""Bytes of the longest packet."""


class _Said(msgspec.Struct, frozen=True, tag=True, tag_field="type"):
    id: int
    """Number of the box, given by the client."""


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


ToForkServer: TypeAlias = Launch | Kill
FromForkServer: TypeAlias = Started | Refused | Ended

_encoder = msgspec.json.Encoder()
_to_fork_server: msgspec.json.Decoder[ToForkServer] = msgspec.json.Decoder(ToForkServer)
_from_fork_server: msgspec.json.Decoder[FromForkServer] = msgspec.json.Decoder(FromForkServer)


def packet(message: ToForkServer | FromForkServer) -> bytes:
    """Return the bytes of a message."""
    return _encoder.encode(message)


def decode_to_fork_server(data: bytes) -> ToForkServer:
    """Read what the fork server is asked."""
    return _to_fork_server.decode(data)


def decode_from_fork_server(data: bytes) -> FromForkServer:
    """Read what the fork server says."""
    return _from_fork_server.decode(data)
