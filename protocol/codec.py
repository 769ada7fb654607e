"""Convert frames to messages and back, for the two subprotocols of v1.

`MSGPACK` uses the ``msgpack`` package with all of its limits set, so it checks sizes before it
allocates memory. Actions and their answers, most of the traffic, take a faster path through
``msgspec``. `JSON` carries the same messages as text, through ``msgspec``. Both check every field
against the message types. For any input, the only exception they raise is `RemoteProtocolError`.
"""

from __future__ import annotations

import contextlib
import re as regex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, NoReturn, TypeAlias, cast, get_args, get_type_hints

import msgpack  # type: ignore[import-untyped]
import msgspec

from plyhouse.protocol.errors import LocalProtocolError, RemoteProtocolError
from plyhouse.protocol.messages import (
    CLIENT_TYPES,
    PROTOCOL_VERSION,
    SERVER_TYPES,
    Accepted,
    Act,
    ClientMessage,
    Error,
    MatchMessage,
    MatchSnapshot,
    Message,
    ServerMessage,
    Turn,
    Welcome,
)

MAX_CLIENT_FRAME: Final = 64 * 1024
"""Longest frame a client may send, in bytes."""
MAX_SERVER_FRAME: Final = 8 * 1024 * 1024
"""Longest frame a server may send, in bytes: ``welcome`` can carry many long matches."""

# Longest array and map in a msgpack frame. The unpacker allocates an array from its announced
# length, and arrays nest (1,024 deep), so a hostile frame costs a server at most 4 MB.
MAX_CLIENT_ARRAY: Final = 512
MAX_CLIENT_MAP: Final = 64
MAX_INFO: Final = 16 * 1024
"""Longest ``act.info`` that is decoded, in bytes. A longer one stays a `msgspec.Raw`: 64 KiB of
empty maps would take 5 MB and 10 ms, and the server stores nothing of that length."""
MAX_SERVER_ARRAY: Final = 65_536
MAX_SERVER_MAP: Final = 65_536

Frame: TypeAlias = bytes | str

_ACT: Final = b"\xa4type\xa3act"
"""The bytes after the first byte of a map whose first entry is ``"type": "act"``."""
_JSON_FIELDS: Final = msgspec.json.Decoder()
_PATH: Final = regex.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", regex.DOTALL)
_MISSING: Final = regex.compile(r"Object missing required field `(?P<field>[^`]*)`")


class _LongAct(Act, frozen=True, tag="act"):
    """An `Act` whose info is not decoded yet."""

    info: msgspec.Raw = msgspec.Raw()


class Codec(ABC):
    """Encodes and decodes the frames of one subprotocol; stateless, so you can share it."""

    name: ClassVar[str]
    """``msgpack`` or ``json``."""
    subprotocol: ClassVar[str]
    """Name for the ``Sec-WebSocket-Protocol`` header."""
    binary: ClassVar[bool]
    """True if frames are binary (bytes) or text (str)."""

    @abstractmethod
    def encode(self, message: Message) -> Frame:
        """Return the frame of `message`; raise `LocalProtocolError` if it cannot be encoded."""

    @abstractmethod
    def decode_client(self, data: Frame, limit: int = MAX_CLIENT_FRAME) -> ClientMessage:
        """Read a frame sent by a client, of at most `limit` bytes, or raise
        `RemoteProtocolError`.
        """

    @abstractmethod
    def decode_server(self, data: Frame, limit: int = MAX_SERVER_FRAME) -> ServerMessage:
        """Read a frame sent by a server, of at most `limit` bytes, or raise
        `RemoteProtocolError`.
        """

    def __repr__(self) -> str:
        return f"<codec {self.subprotocol}>"


class _Msgpack(Codec):
    name = "msgpack"
    subprotocol = f"plyhouse.v{PROTOCOL_VERSION}+msgpack"
    binary = True

    def __init__(self) -> None:
        # Share one packer: creating one costs more than packing a frame. It resets itself after
        # every call, even one that raised.
        self._pack: Any = msgpack.Packer().pack
        self._encode = msgspec.msgpack.Encoder().encode
        self._act = msgspec.msgpack.Decoder(Act).decode
        self._long_act = msgspec.msgpack.Decoder(_LongAct).decode

    def encode(self, message: Message) -> bytes:
        try:
            # In most frames all keys are text, so that msgspec can encode them directly.
            if type(message) is Accepted or (type(message) is Turn and _is_plain(message)):
                return self._encode(message)
            # Most of these is a history, which may be long.
            if type(message) is MatchMessage:
                snapshot = _with_text_keys(message.snapshot)
                return self._encode(msgspec.structs.replace(message, snapshot=snapshot))
            if type(message) is Welcome:
                matches = [_with_text_keys(each) for each in message.matches]
                return self._encode(msgspec.structs.replace(message, matches=matches))
            return cast(bytes, self._pack(msgspec.to_builtins(message, str_keys=True)))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise _unsendable(message, error) from error

    def decode_client(self, data: Frame, limit: int = MAX_CLIENT_FRAME) -> ClientMessage:
        # Most frames are actions: decode them with msgspec. A test checks that its decoder never
        # allocates memory from an announced length. If it refuses a frame, use the slow path.
        if data[1:10] == _ACT and len(data) <= limit and type(data) is bytes:
            try:
                if len(data) > MAX_INFO:
                    return _with_info(self._long_act(data), msgspec.msgpack.decode)
                return self._act(data)
            except (ValueError, RecursionError):
                pass
        fields = _unpack(data, limit, MAX_CLIENT_ARRAY, MAX_CLIENT_MAP)
        return cast(ClientMessage, _message(fields, CLIENT_TYPES, "id"))

    def decode_server(self, data: Frame, limit: int = MAX_SERVER_FRAME) -> ServerMessage:
        fields = _unpack(data, limit, MAX_SERVER_ARRAY, MAX_SERVER_MAP)
        return cast(ServerMessage, _message(fields, SERVER_TYPES, "re"))


class _Json(Codec):
    name = "json"
    subprotocol = f"plyhouse.v{PROTOCOL_VERSION}+json"
    binary = False

    def __init__(self) -> None:
        self._encode = msgspec.json.Encoder().encode
        self._client = msgspec.json.Decoder(ClientMessage)
        self._long_act = msgspec.json.Decoder(_LongAct)
        self._server = msgspec.json.Decoder(ServerMessage)

    def encode(self, message: Message) -> str:
        try:
            return self._encode(message).decode()
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise _unsendable(message, error) from error

    def decode_client(self, data: Frame, limit: int = MAX_CLIENT_FRAME) -> ClientMessage:
        text = _text(data, limit)
        if len(text) > MAX_INFO:
            with contextlib.suppress(ValueError, RecursionError):  # another kind of message
                return _with_info(self._long_act.decode(text), msgspec.json.decode)
        try:
            read: ClientMessage = self._client.decode(text)  # a type with msgspec 0.23, else Any
        except (ValueError, RecursionError):
            return cast(ClientMessage, _message(_parse(text), CLIENT_TYPES, "id"))
        return read

    def decode_server(self, data: Frame, limit: int = MAX_SERVER_FRAME) -> ServerMessage:
        text = _text(data, limit)
        try:
            read: ServerMessage = self._server.decode(text)
        except (ValueError, RecursionError):
            return cast(ServerMessage, _message(_parse(text), SERVER_TYPES, "re"))
        return read


def _with_info(act: _LongAct, read: Callable[[bytes], Any]) -> Act:
    """Return the action with its info decoded, unless the info is too long to store."""
    data = bytes(act.info)
    info = msgspec.Raw(data) if len(data) > MAX_INFO else read(data) if data else None
    return Act(act.id, act.match, act.ply, act.action, info)


def _is_plain(turn: Turn) -> bool:
    """Return whether all keys of the maps in a turn are text."""
    return turn.scene is None and dict not in map(type, turn.observation.values())


def _with_text_keys(snapshot: MatchSnapshot) -> MatchSnapshot:
    """Return a snapshot in which all keys of maps are text."""
    return msgspec.structs.replace(
        snapshot,
        observation=msgspec.to_builtins(snapshot.observation, str_keys=True),
        scene=msgspec.to_builtins(snapshot.scene, str_keys=True),
    )


def _unsendable(message: Message, error: Exception) -> LocalProtocolError:
    kind = message.__struct_config__.tag
    return LocalProtocolError("protocol/bad_field", f"'{kind}' cannot be sent: {error}")


def _oversized(limit: int) -> RemoteProtocolError:
    return RemoteProtocolError(
        "protocol/oversized", f"The frame is longer than the {limit} bytes that are read here."
    )


def _malformed(reason: str) -> RemoteProtocolError:
    return RemoteProtocolError("protocol/malformed", f"The frame could not be read: {reason}.")


def _refuse_extension(code: int, _data: bytes) -> NoReturn:
    raise ValueError(f"extension types are not used here, not even {code}")


def _unpack(data: Frame, limit: int, max_array: int, max_map: int) -> Any:
    """Decode one msgpack value; check the limits before allocating memory."""
    if isinstance(data, str):
        raise RemoteProtocolError(
            "protocol/wrong_frame",
            f"The subprotocol {_Msgpack.subprotocol} uses binary frames, not text.",
        )
    if len(data) > limit:
        raise _oversized(limit)
    try:
        return msgpack.unpackb(
            data,
            raw=False,
            strict_map_key=True,
            use_list=True,
            ext_hook=_refuse_extension,
            max_str_len=limit,
            max_bin_len=0,
            max_array_len=max_array,
            max_map_len=max_map,
            max_ext_len=0,
        )
    except msgpack.ExtraData:
        raise _malformed("something follows the message") from None
    except msgpack.StackError:
        raise _malformed("it is nested too deeply") from None
    except msgpack.FormatError:
        raise _malformed("it is not msgpack") from None
    except Exception as error:
        # msgpack documents that "most" errors are ValueErrors, so catch the others, too.
        raise _malformed(_reason(error)) from None


def _text(data: Frame, limit: int) -> str:
    """Check that a frame is text of at most `limit` bytes as UTF-8."""
    if not isinstance(data, str):
        raise RemoteProtocolError(
            "protocol/wrong_frame",
            f"The subprotocol {_Json.subprotocol} uses text frames, not binary.",
        )
    # A character has at most four bytes, so count the bytes of long frames only.
    if 4 * len(data) > limit and len(data.encode(errors="surrogatepass")) > limit:
        raise _oversized(limit)
    return data


def _parse(text: str) -> Any:
    """Decode the JSON value of a frame that is no valid message."""
    try:
        return _JSON_FIELDS.decode(text)
    except RecursionError:
        raise _malformed("it is nested too deeply") from None
    except ValueError as error:
        raise _malformed(_reason(error)) from None


def _reason(error: Exception) -> str:
    text = str(error).strip().rstrip(".").replace("\n", " ")
    return lowered(text[:200]) if text else type(error).__name__


def lowered(sentence: str) -> str:
    """Lower the first letter of a sentence, except of names such as JSON, to append it."""
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def _message(fields: Any, types: Mapping[str, Any], id_field: str) -> Message:
    """Convert a decoded map to its message, or raise an error that names the wrong field."""
    if not isinstance(fields, dict):
        raise _malformed("one frame holds one map")
    kind: Any = fields.get("type")
    try:
        cls = types[kind]
    except (KeyError, TypeError):
        raise _unknown(fields, kind, types, _request_id(fields, id_field)) from None
    try:
        return cast(Message, msgspec.convert(fields, cls))
    except (ValueError, RecursionError) as error:
        if whole := _whole(fields):
            return _message({**fields, **whole}, types, id_field)
        raise _bad_field(kind, cls, error, _request_id(fields, id_field)) from None


def _whole(fields: dict[str, Any]) -> dict[str, int]:
    """Return as integers the fields that hold whole numbers written as 101.0 or 1e3.

    In JSON, and so in the schema, these are the same numbers, and some languages write them so.
    """
    return {
        name: int(value)
        for name, value in fields.items()
        if type(value) is float and value.is_integer() and abs(value) < 2**53
    }


def _request_id(fields: dict[str, Any], id_field: str) -> int | None:
    value = fields.get(id_field)
    return value if type(value) is int and 0 < value < 2**53 else None


def _unknown(
    fields: dict[str, Any], kind: Any, types: Iterable[str], re: int | None
) -> RemoteProtocolError:
    if not isinstance(kind, str):
        what = "is missing" if "type" not in fields else "must be a string"
        return RemoteProtocolError("protocol/bad_field", f"Field 'type' {what}.", re=re)
    known = ", ".join(types)
    return RemoteProtocolError(
        "protocol/unknown_type",
        f"Messages of type {kind[:40]!r} are not known here; known are: {known}.",
        re=re,
    )


def _bad_field(kind: str, cls: Any, error: Exception, re: int | None) -> RemoteProtocolError:
    """Reword msgspec's error: name the message, the field and the expected value."""
    match = _PATH.match(str(error))
    what, path = (match["what"], match["path"] or "") if match else (str(error), "")
    if isinstance(error, RecursionError):
        complaint = " is nested too deeply"
    elif missing := _MISSING.match(what):
        path = f"{path}.{missing['field']}" if path else missing["field"]
        complaint = " is missing"
    elif what.startswith("Invalid enum value"):
        choices = get_args(get_type_hints(cls).get(path))
        expected = f"; expected one of: {', '.join(choices)}" if choices else ""
        complaint = f": {lowered(what[:80])}{expected}"
    elif path == "nonce" and "regex" in what:
        complaint = ": expected an even number of hex digits"
    else:
        complaint = f": {lowered(what[:200])}"
    subject = f"field '{path[:100]}'" if path else "a field"
    return RemoteProtocolError("protocol/bad_field", f"'{kind}': {subject}{complaint}.", re=re)


MSGPACK: Final[Codec] = _Msgpack()
"""``plyhouse.v1+msgpack``: binary frames, smaller; the default."""
JSON: Final[Codec] = _Json()
"""``plyhouse.v1+json``: text frames, for clients without a msgpack library."""

_CODECS: Final = {codec.subprotocol: codec for codec in (MSGPACK, JSON)}
SUBPROTOCOLS: Final[tuple[str, ...]] = tuple(_CODECS)
"""The subprotocols that a server offers, the preferred one first."""


def codec_for(subprotocol: str) -> Codec:
    """Return the codec of a subprotocol; raise ``protocol/version`` for an unknown one."""
    try:
        return _CODECS[subprotocol]
    except KeyError:
        raise RemoteProtocolError(
            "protocol/version",
            f"The subprotocol {subprotocol[:60]!r} is not known here: "
            f"use {' or '.join(SUBPROTOCOLS)}.",
        ) from None


def read_line(line: str) -> ClientMessage:
    """Return the message of a line; raises `ProtocolError`.

    A ``hello`` needs no token, because the program knows none.  The byte-order mark that some
    languages write first is left out.
    """
    return JSON.decode_client(_with_token(line.removeprefix("\ufeff")))


def refusal(message: ClientMessage, code: str, text: str) -> Error:
    """Return the answer to a request that goes no further."""
    return Error(code, text, getattr(message, "id", None))


def _with_token(line: str) -> str:
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        fields: Any = msgspec.json.decode(line)
        if isinstance(fields, dict) and fields.get("type") == "hello":
            return msgspec.json.encode({"token": "", **fields}).decode()
    return line
