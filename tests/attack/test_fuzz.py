"""Random bytes: frames are cut as the general parser cuts them, messages read or refused.

A few hundred inputs in the suite. The long run is asked for by the environment::

    PLYHOUSE_FUZZ=200000 python -m pytest tests/attack/test_fuzz.py
"""

from __future__ import annotations

import contextlib
import itertools
import os
from typing import Any

import msgpack  # type: ignore[import-untyped]
import msgspec
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.attack.conftest import masked
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from plyhouse.protocol.codec import JSON, MSGPACK
from plyhouse.protocol.connection import ServerConnection, State
from plyhouse.protocol.errors import RemoteProtocolError
from plyhouse.protocol.liveness import ConnectionLimits
from plyhouse.protocol.messages import CLIENT_TYPES
from plyhouse.server.wire.frames import (
    CLOSE,
    PART,
    FrameReader,
    InvalidFrame,
    close_code_of,
)

LIMIT = 300
"""Longest message of the frames made here, so that the limit is met often."""

fuzzed = settings(
    max_examples=int(os.environ.get("PLYHOUSE_FUZZ", "300")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    database=None,
)

firsts = st.one_of(
    st.sampled_from([0x82, 0x81, 0x01, 0x02, 0x00, 0x80, 0x88, 0x89, 0x8A]),
    st.integers(0, 255),
)
payloads = st.one_of(
    st.binary(max_size=20),
    st.builds(bytes, st.integers(100, 310)),
    st.builds(lambda code: code.to_bytes(2, "big"), st.integers(990, 5010)),
)
frames = st.one_of(
    st.builds(masked, firsts, payloads),
    st.builds(lambda first, data: bytes((first, len(data))) + data, firsts, st.binary(max_size=9)),
    st.binary(max_size=8),
)


def by_the_general_parser(data: bytes) -> tuple[list[tuple[int, bytes]], bool]:
    """Messages and control frames as ``websockets`` reads them; and whether it gave up."""
    protocol = ServerProtocol(max_size=LIMIT)
    protocol.state = OPEN
    protocol.parser = ServerProtocol.__mro__[1].parse(protocol)  # type: ignore[attr-defined]
    next(protocol.parser)
    with contextlib.suppress(EOFError):
        protocol.receive_data(data)
    found: list[tuple[int, bytes]] = []
    kind, parts = 0, b""
    for frame in protocol.events_received():
        assert isinstance(frame, Frame)
        payload = bytes(frame.data)
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            kind, parts = int(frame.opcode), b""
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            parts += payload
            found.append((kind, parts) if frame.fin else (PART, b""))
        else:
            found.append((int(frame.opcode), payload))
    return found, protocol.parser_exc is not None


def by_ours(data: bytes, cuts: list[int]) -> tuple[list[tuple[int, bytes]], bool]:
    """The same by our reader, fed in pieces."""
    reader = FrameReader(LIMIT)
    found: list[tuple[int, bytes]] = []
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    try:
        for begin, end in itertools.pairwise(edges):
            reader.feed(data[begin:end])
            while (frame := reader.next()) is not None:
                kind, payload = frame
                if kind == CLOSE:
                    close_code_of(payload)
                    return [*found, frame], False
                found.append(frame)
            assert not reader.ready
    except InvalidFrame as broken:
        if broken.code not in (1002, 1007, 1009):
            raise
        return found, True
    return found, False


CLOSE_INSIDE_A_MESSAGE = b"\x01\x80\x11\x22\x33\x44\x88\x80\x11\x22\x33\x44"


@fuzzed
@given(st.lists(frames, max_size=8).map(b"".join), st.lists(st.integers(0, 3000), max_size=6))
@example(CLOSE_INSIDE_A_MESSAGE, [])
def test_frames_are_cut_as_the_general_parser_cuts_them(data: bytes, cuts: list[int]) -> None:
    theirs, ours = by_the_general_parser(data), by_ours(data, cuts)
    # RFC 6455, section 5.4, allows a close frame between the fragments of a message.  Our reader
    # accepts it; websockets refuses it.
    if theirs[1] and ours[0][-2:-1] == [(PART, b"")] and ours[0][-1][0] == CLOSE:
        ours = ours[0][:-1], True
        assert theirs == ours
        return
    # A frame that cannot become right may be refused earlier than its last byte.
    shorter = ours[0] if ours[1] else theirs[0]
    assert ours[0] == theirs[0][: len(shorter)]
    assert ours[1] or not theirs[1]
    assert by_ours(data, []) == ours


@fuzzed
@given(st.lists(frames, max_size=4).map(b"".join))
def test_how_bytes_arrive_makes_no_difference(data: bytes) -> None:
    assert by_ours(data, list(range(len(data)))) == by_ours(data, [])


def test_what_is_kept_of_a_message_is_bounded() -> None:
    reader = FrameReader(LIMIT)
    reader.feed(masked(0x02, b"x"))
    for _ in range(5000):
        reader.feed(masked(0x00))
        assert reader.next() is not None
    assert reader.next() == (PART, b"")
    assert len(reader._parts) == 1
    reader.feed(masked(0x80, b"y"))
    assert reader.next() == (2, b"xy")
    assert reader.next() is None
    assert reader.idle


def test_a_frame_in_pieces_is_put_together_in_linear_time() -> None:
    """Counted in looks at the buffer, not in seconds."""
    looks = 0

    class Counting(FrameReader):
        __slots__ = ()

        def _check(self, first: int, length: int) -> None:
            nonlocal looks
            looks += 1
            super()._check(first, length)

    reader = Counting(70_000)
    data = masked(0x82, 65_000 * b"x")
    for at in range(0, len(data), 100):
        assert looks <= 3
        reader.feed(data[at : at + 100])
        frame = reader.next()
    assert frame == (2, 65_000 * b"x")
    assert looks <= 3


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(),
        st.text(max_size=20),
        st.binary(max_size=10),
        st.sampled_from(sorted(CLIENT_TYPES)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
names = sorted({name for kind in CLIENT_TYPES.values() for name in kind.__struct_fields__})
maps = st.builds(
    lambda kind, number, rest: {"type": kind, "id": number, **rest},
    st.sampled_from(sorted(CLIENT_TYPES)),
    st.integers(0, 2**53),
    st.dictionaries(st.sampled_from(names), values, max_size=6),
)
binary_frames = st.one_of(
    st.binary(max_size=200), st.one_of(maps, values).map(lambda value: _packed(value))
)
text_frames = st.one_of(
    st.text(max_size=200),
    maps.map(lambda value: msgspec.json.encode(value, enc_hook=str).decode()),
)


def _packed(value: Any) -> bytes:
    packed = msgpack.packb(value, unicode_errors="surrogatepass")
    assert isinstance(packed, bytes)
    return packed


@fuzzed
@given(st.one_of(binary_frames, text_frames))
def test_frames_are_read_or_refused_and_nothing_else(frame: bytes | str) -> None:
    for codec in (MSGPACK, JSON):
        try:
            message = codec.decode_client(frame, 2000)
        except RemoteProtocolError as refusal:
            codec.decode_server(codec.encode(refusal.to_message()))
        else:
            assert codec.decode_client(codec.encode(message), 1 << 20) == message
        with contextlib.suppress(RemoteProtocolError):
            codec.decode_server(frame, 2000)


@fuzzed
@given(st.lists(st.one_of(binary_frames, text_frames), max_size=8), st.booleans())
def test_a_connection_survives_any_frames(frames: list[bytes | str], json: bool) -> None:
    codec = JSON if json else MSGPACK
    connection = ServerConnection(codec, 0, ConnectionLimits(mistake_burst=5))
    for at, frame in enumerate(frames):
        connection.count(at)
        connection.receive(frame, at)
        for out in connection.outgoing():
            codec.decode_server(out)
    assert (connection.closing is not None) == (connection.state is State.CLOSED)
