"""Websocket frames of clients, parsed in linear time: pure, no I/O.

This is the server's half of RFC 6455, section 5, without extensions.  Every frame is masked.  A
message may come in several frames with control frames in between.  Control frames are short and
whole.

The cost of a frame does not depend on how it arrives.  Bytes are appended to one buffer, which is
not examined again before the frame can be complete.  The pieces of a message are kept in a list and
joined once.  The reader never keeps more than ``limit`` bytes of a message, the header of one
frame, and the bytes of one read.
"""

from __future__ import annotations

from typing import Final, NoReturn

try:
    from websockets.speedups import apply_mask
except ImportError:  # no compiler where websockets was installed
    from websockets.utils import apply_mask

__all__ = [
    "BINARY",
    "CLOSE",
    "PART",
    "PING",
    "PONG",
    "TEXT",
    "FrameReader",
    "InvalidFrame",
    "apply_mask",
    "close_code_of",
    "close_frame",
    "frame_header",
]

PART: Final = 0
"""A frame that does not end its message, so there is nothing to act on yet."""
TEXT: Final = 1
BINARY: Final = 2
CLOSE: Final = 8
PING: Final = 9
PONG: Final = 10

FINAL: Final = 0x80
"""The bit of a frame that ends its message."""
LONGEST_CONTROL: Final = 125

PROTOCOL_ERROR: Final = 1002
BAD_TEXT: Final = 1007
TOO_BIG: Final = 1009


class InvalidFrame(Exception):  # noqa: N818 (named like InvalidAction)
    """A violation of the websocket rules, after which nothing can be read.

    ``code`` is the close code of the violation, ``reason`` a sentence for people.
    """

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class FrameReader:
    """A parser of frames.

    Feed it with the bytes read, then call `next` until it returns None.

    ``limit`` is the most bytes that one message may have; it may be changed between messages.
    """

    __slots__ = ("_at", "_buffer", "_kind", "_need", "_parts", "_size", "idle", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.idle = True
        """True if nothing is kept: the next byte begins a frame that begins a message."""
        self._buffer = bytearray()
        self._at = 0
        self._need = 2
        """Bytes needed from ``_at`` on before examining the buffer again is useful."""
        self._kind = PART
        """Kind of the message whose pieces are being collected; `PART` for none."""
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Append the bytes of one read."""
        self.idle = False
        self._buffer += data

    @property
    def ready(self) -> bool:
        """True if `next` may have a frame."""
        return len(self._buffer) - self._at >= self._need

    def next(self) -> tuple[int, bytes] | None:
        """Return kind and payload of the next frame.

        For the last piece of a message, these are the kind and payload of the message.

        None if the frame has not arrived completely.  Raises `InvalidFrame` if it breaks the rules;
        then the reader must not be used again.
        """
        buffer, at = self._buffer, self._at
        have = len(buffer) - at
        if have < self._need:
            self._compact()
            return None
        first, second = buffer[at], buffer[at + 1]
        length, head = second & 0x7F, 6
        if length == 126:
            head = 8
        elif length == 127:
            head = 14
        if not second & 0x80:
            _broken("frames of clients are masked")
        self._check(first, length)
        if have < head:
            self._wait(head)
            return None
        if length == 126:
            length = int.from_bytes(buffer[at + 2 : at + 4], "big")
        elif length == 127:
            length = int.from_bytes(buffer[at + 2 : at + 10], "big")
        if first & 0x08 == 0 and self._size + length > self.limit:
            raise InvalidFrame(TOO_BIG, f"no message may be longer than {self.limit} bytes")
        end = at + head + length
        if have < head + length:
            self._wait(head + length)
            return None
        payload = apply_mask(buffer[end - length : end], buffer[at + head - 4 : at + head])
        self._at = end
        self._need = 2
        return self._take(first, payload)

    def _check(self, first: int, length: int) -> None:
        """Refuse a frame by its first two bytes, whether or not the others have arrived."""
        kind = first & 0x0F
        if first & 0x70:
            _broken("reserved bits are set")
        if kind & 0x08:
            if kind > PONG:
                _broken("the opcode is reserved")
            if not first & FINAL or length > LONGEST_CONTROL:
                _broken("a control frame is in pieces or too long")
        elif kind > BINARY:
            _broken("the opcode is reserved")
        elif kind == PART and self._kind == PART:
            _broken("there is no message to continue")
        elif kind != PART and self._kind != PART:
            _broken("a message began before the last one ended")

    def _take(self, first: int, payload: bytes) -> tuple[int, bytes]:
        kind = first & 0x0F
        if kind & 0x08:
            return kind, payload
        if first & FINAL and kind != PART:
            return kind, payload
        if payload:  # keep no empty pieces
            self._parts.append(payload)
            self._size += len(payload)
        if kind != PART:
            self._kind = kind
        if not first & FINAL:
            return PART, b""
        kind, whole = self._kind, b"".join(self._parts)
        self._kind, self._size = PART, 0
        self._parts.clear()
        return kind, whole

    def _wait(self, need: int) -> None:
        self._need = need
        self._compact()

    def _compact(self) -> None:
        """Remove parsed bytes; a bytearray loses its front without moving the rest."""
        if self._at:
            del self._buffer[: self._at]
            self._at = 0
        self.idle = not self._buffer and self._kind == PART


def close_code_of(payload: bytes) -> int:
    """Return the code of a close frame, or 1005 if it has none.

    Raises `InvalidFrame` for a code that must not be sent.
    """
    if not payload:
        return 1005
    code = int.from_bytes(payload[:2], "big")
    known = 1000 <= code <= 1003 or 1007 <= code <= 1014 or 3000 <= code <= 4999
    if len(payload) == 1 or not known:
        _broken("the close code cannot be sent")
    try:
        payload[2:].decode()
    except UnicodeDecodeError:
        raise InvalidFrame(BAD_TEXT, "the close reason is not UTF-8") from None
    return code


def frame_header(first: int, length: int) -> bytes:
    """Return the header of an unmasked frame; ``first`` is its first byte."""
    if length < 126:
        return SHORT_BINARY[length] if first == FINAL | BINARY else bytes((first, length))
    if length < 65536:
        return bytes((first, 126)) + length.to_bytes(2, "big")
    return bytes((first, 127)) + length.to_bytes(8, "big")


def close_frame(code: int, reason: str) -> bytes:
    """Return a close frame of the server; a long reason is shortened."""
    text = reason.encode(errors="replace")[: LONGEST_CONTROL - 2].decode(errors="ignore").encode()
    payload = code.to_bytes(2, "big") + text
    return frame_header(FINAL | CLOSE, len(payload)) + payload


def _broken(reason: str) -> NoReturn:
    raise InvalidFrame(PROTOCOL_ERROR, reason)


SHORT_BINARY: Final = tuple(bytes((FINAL | BINARY, length)) for length in range(126))
