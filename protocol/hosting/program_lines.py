"""Messages of protocol v1 as lines of JSON, which programs read and write on standard streams."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec

from plyhouse.protocol.codec import JSON
from plyhouse.protocol.messages import ClientMessage, Error

__all__ = ["read_line", "refusal"]


def read_line(line: str) -> ClientMessage:
    """Return the message of a line; raises `ProtocolError`.

    A ``hello`` needs no token, because the program knows none.
    """
    return JSON.decode_client(_with_token(line))


def refusal(message: ClientMessage, code: str, text: str) -> Error:
    """Return the answer to a request that goes no further."""
    return Error(code, text, getattr(message, "id", None))


def _with_token(line: str) -> str:
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        fields: Any = msgspec.json.decode(line)
        if isinstance(fields, dict) and fields.get("type") == "hello":
            return msgspec.json.encode({"token": "", **fields}).decode()
    return line
