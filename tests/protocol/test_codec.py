"""Frames: what goes in comes out, nothing but protocol errors comes of bad ones, limits hold."""

from __future__ import annotations

import contextlib
import json
import string
import tracemalloc
from typing import Any

import msgpack  # type: ignore[import-untyped]
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec import inspect

from plyhouse.protocol.codec import (
    JSON,
    MAX_CLIENT_ARRAY,
    MAX_CLIENT_FRAME,
    MAX_SERVER_FRAME,
    MSGPACK,
    SUBPROTOCOLS,
    Codec,
    Frame,
    codec_for,
    read_line,
)
from plyhouse.protocol.errors import LocalProtocolError, RemoteProtocolError
from plyhouse.protocol.messages import (
    CLIENT_TYPES,
    SERVER_TYPES,
    Accepted,
    Act,
    Bye,
    Event,
    Hello,
    Ok,
    Ping,
    Resign,
    Turn,
)

CODECS = [MSGPACK, JSON]
BOTH = pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


def values(shape: inspect.Type) -> SearchStrategy[Any]:
    """A strategy for every value that a field of this type allows."""
    match shape:
        case inspect.IntType():
            low = max(
                -(2**63) if shape.ge is None else shape.ge,
                -(2**63) if shape.gt is None else shape.gt + 1,
            )
            high = min(
                2**63 - 1 if shape.le is None else shape.le,
                2**63 - 1 if shape.lt is None else shape.lt - 1,
            )
            return st.integers(low, high)
        case inspect.Metadata(type=inner):
            return values(inner)
        case inspect.StrType(pattern=str()):
            return st.binary(max_size=(shape.max_length or 64) // 2).map(bytes.hex)
        case inspect.StrType():
            most = 20 if shape.max_length is None else min(20, shape.max_length)
            return st.text(min_size=shape.min_length or 0, max_size=most)
        case inspect.BoolType():
            return st.booleans()
        case inspect.FloatType():
            return st.floats(allow_nan=False, allow_infinity=False)
        case inspect.NoneType():
            return st.none()
        case inspect.AnyType():
            return PLAIN
        case inspect.LiteralType():
            return st.sampled_from(shape.values)
        case inspect.ListType():
            return st.lists(values(shape.item_type), max_size=3)
        case inspect.DictType():
            return st.dictionaries(st.text(max_size=8), PLAIN, max_size=4)
        case inspect.UnionType():
            return st.one_of([values(member) for member in shape.types])
        case inspect.StructType():
            return messages(shape.cls)
    raise AssertionError(f"no strategy for {shape}")


def messages(cls: Any) -> SearchStrategy[Any]:
    """A strategy for every message of a type; optional fields are sometimes left out."""
    shape = inspect.type_info(cls)
    assert isinstance(shape, inspect.StructType)
    required = {field.name: values(field.type) for field in shape.fields if field.required}
    optional = {field.name: values(field.type) for field in shape.fields if not field.required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda fields: cls(**fields))


@BOTH
@pytest.mark.parametrize("name", CLIENT_TYPES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_client_message_survives_the_way(codec: Codec, name: str, data: Any) -> None:
    message = data.draw(messages(CLIENT_TYPES[name]))
    assert codec.decode_client(codec.encode(message)) == message


@BOTH
@pytest.mark.parametrize("name", SERVER_TYPES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_server_message_survives_the_way(codec: Codec, name: str, data: Any) -> None:
    message = data.draw(messages(SERVER_TYPES[name]))
    assert codec.decode_server(codec.encode(message)) == message


def decode_both_ways(codec: Codec, frame: Frame) -> None:
    for decode in (codec.decode_client, codec.decode_server):
        with contextlib.suppress(RemoteProtocolError):
            decode(frame)


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=200))
def test_random_bytes_raise_nothing_but_protocol_errors(frame: bytes) -> None:
    decode_both_ways(MSGPACK, frame)
    decode_both_ways(JSON, frame)


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=200) | st.text(alphabet='{}[]":,\\u0123dD-.eE truefalsn', max_size=60))
def test_random_text_raises_nothing_but_protocol_errors(frame: str) -> None:
    decode_both_ways(JSON, frame)
    decode_both_ways(MSGPACK, frame)


FIELD_NAMES = sorted(
    {"type", *(name for cls in CLIENT_TYPES.values() for name in cls.__struct_fields__)}
)


@settings(max_examples=400, deadline=None)
@given(
    kind=st.sampled_from([*CLIENT_TYPES, *SERVER_TYPES]) | PLAIN,
    fields=st.dictionaries(st.sampled_from(FIELD_NAMES), PLAIN, max_size=6),
)
def test_wrong_fields_raise_nothing_but_protocol_errors(kind: Any, fields: dict[str, Any]) -> None:
    everything = {**fields, "type": kind}
    decode_both_ways(MSGPACK, msgpack.packb(everything))
    decode_both_ways(JSON, json.dumps(everything))


@settings(max_examples=200, deadline=None)
@given(
    position=st.integers(0, 80),
    byte=st.integers(0, 255),
    name=st.sampled_from(sorted(CLIENT_TYPES)),
    data=st.data(),
)
def test_damaged_frames_raise_nothing_but_protocol_errors(
    position: int, byte: int, name: str, data: Any
) -> None:
    frame = MSGPACK.encode(data.draw(messages(CLIENT_TYPES[name])))
    assert isinstance(frame, bytes)
    position %= len(frame)
    decode_both_ways(MSGPACK, frame[:position] + bytes([byte]) + frame[position + 1 :])


@BOTH
def test_unknown_fields_are_ignored(codec: Codec) -> None:
    fields = {"type": "bye", "id": 3, "mood": {"good": [1, 2]}}
    frame = msgpack.packb(fields) if codec.binary else json.dumps(fields)
    assert codec.decode_client(frame) == Bye(3)


@BOTH
def test_defaults_are_left_out(codec: Codec) -> None:
    fields = {"type": "hello", "id": 1, "token": "t"}
    frame = codec.encode(Hello(1, "t"))
    decoded = msgpack.unpackb(frame) if codec.binary else json.loads(frame)
    assert decoded == fields


@BOTH
def test_every_instance_has_its_own_empty_lists(codec: Codec) -> None:
    first, second = Turn("m", 0), Turn("m", 1)
    first.events.append(Event(0, 0, "a"))
    assert second.events == []
    assert codec.decode_server(codec.encode(first)) == first


def frame_of(codec: Codec, size: int) -> Frame:
    """A valid frame of exactly `size` bytes, padded in a field that nobody knows."""
    empty = {"type": "bye", "id": 1, "padding": ""}
    pad = size - (len(msgpack.packb({**empty, "padding": "x" * 50_000})) - 50_000)
    if codec.binary:
        frame: Frame = msgpack.packb({**empty, "padding": "x" * pad})
    else:
        frame = json.dumps({**empty, "padding": "x" * (size - len(json.dumps(empty)))})
    assert len(frame) == size
    return frame


@BOTH
def test_a_frame_may_be_exactly_as_long_as_the_limit(codec: Codec) -> None:
    # A text field this long is within the limit on strings too: nothing but the frame counts.
    assert codec.decode_client(frame_of(codec, 60_000), limit=60_000) == Bye(1)
    with pytest.raises(RemoteProtocolError) as caught:
        codec.decode_client(frame_of(codec, 60_000), limit=59_999)
    assert caught.value.code == "protocol/oversized"
    assert caught.value.fatal
    assert "59999" in caught.value.message


def test_the_limit_on_text_counts_bytes_not_characters() -> None:
    text = json.dumps({"type": "bye", "id": 1, "padding": "é" * 100}, ensure_ascii=False)
    size = len(text.encode())
    assert JSON.decode_client(text, limit=size) == Bye(1)
    with pytest.raises(RemoteProtocolError, match="longer"):
        JSON.decode_client(text, limit=size - 1)


def test_default_limits_of_the_two_directions() -> None:
    long = json.dumps({"type": "ok", "re": 1, "padding": "x" * MAX_CLIENT_FRAME})
    assert JSON.decode_server(long) == Ok(1)
    with pytest.raises(RemoteProtocolError, match="longer"):
        JSON.decode_client(long)
    with pytest.raises(RemoteProtocolError, match="longer"):
        MSGPACK.decode_server(b"\x00" * (MAX_SERVER_FRAME + 1))


def test_arrays_and_maps_are_limited_before_they_are_read() -> None:
    longest = msgpack.packb({"type": "bye", "id": 1, "x": [0] * MAX_CLIENT_ARRAY})
    assert MSGPACK.decode_client(longest) == Bye(1)
    for value in ([0] * (MAX_CLIENT_ARRAY + 1), {str(key): 0 for key in range(65)}):
        with pytest.raises(RemoteProtocolError) as caught:
            MSGPACK.decode_client(msgpack.packb({"type": "bye", "id": 1, "x": value}))
        assert caught.value.code == "protocol/malformed"


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_binary_frames_may_be_any_buffer(kind: Any) -> None:
    assert MSGPACK.decode_client(kind(MSGPACK.encode(Bye(1)))) == Bye(1)


def test_a_frame_of_the_wrong_kind_is_fatal() -> None:
    for codec, frame in ((MSGPACK, '{"type":"bye","id":1}'), (JSON, MSGPACK.encode(Bye(1)))):
        with pytest.raises(RemoteProtocolError) as caught:
            codec.decode_client(frame)
        assert caught.value.code == "protocol/wrong_frame"
        assert caught.value.fatal
        assert codec.subprotocol in caught.value.message


def complaint(fields: dict[str, Any]) -> RemoteProtocolError:
    """Return what both codecs make of a message."""
    found = []
    for codec, frame in ((MSGPACK, msgpack.packb(fields)), (JSON, json.dumps(fields))):
        with pytest.raises(RemoteProtocolError) as caught:
            codec.decode_client(frame)
        found.append(caught.value)
    first, second = found
    assert (first.code, first.message, first.re) == (second.code, second.message, second.re)
    return first


@pytest.mark.parametrize(
    ("fields", "message", "re"),
    [
        ({"type": "act", "id": 3}, "'act': field 'match' is missing.", 3),
        (
            {"type": "act", "id": 3, "match": "m", "ply": "2", "action": ""},
            "'act': field 'ply': expected `int`, got `str`.",
            3,
        ),
        (
            {"type": "hello", "id": 3, "token": "t", "games": ["pig", 5]},
            "'hello': field 'games[1]': expected `str`, got `int`.",
            3,
        ),
        (
            {"type": "resign", "id": 3, "match": "m", "reason": "bored"},
            "'resign': field 'reason': invalid enum value 'bored'; "
            "expected one of: resignation, bot_crash, no_answer.",
            3,
        ),
        ({"type": "bye", "id": "7"}, "'bye': field 'id': expected `int`, got `str`.", None),
        ({"id": 3}, "Field 'type' is missing.", 3),
        ({"type": None, "id": 3}, "Field 'type' must be a string.", 3),
        ({"type": ["act"], "id": 3}, "Field 'type' must be a string.", 3),
    ],
)
def test_bad_fields_are_named_with_what_is_expected(
    fields: dict[str, Any], message: str, re: int | None
) -> None:
    error = complaint(fields)
    assert (error.code, error.message, error.re) == ("protocol/bad_field", message, re)
    assert not error.fatal


def test_unknown_types_are_told_the_known_ones() -> None:
    error = complaint({"type": "move" * 50, "id": 9})
    assert error.code == "protocol/unknown_type"
    assert error.re == 9
    assert len(error.message) < 300
    assert all(name in error.message for name in CLIENT_TYPES)


DEEP = 30_000
"""More levels than any Python decodes; 3.13 decodes 10,000."""


def test_field_that_is_nested_too_deeply_is_malformed() -> None:
    text = f'{{"type":"bye","id":1,"x":{"[" * DEEP}{"]" * DEEP}}}'
    packed = b"\x83\xa4type\xa3bye\xa2id\x01\xa1x" + b"\x91" * DEEP + b"\xc0"
    for codec, frame in ((JSON, text), (MSGPACK, packed)):
        for decode in (codec.decode_client, codec.decode_server):
            with pytest.raises(RemoteProtocolError, match="nested too deeply") as refused:
                decode(frame)
            assert refused.value.code == "protocol/malformed"


class Unencodable:
    pass


@BOTH
@pytest.mark.parametrize("value", [Unencodable(), "\ud800", {(1, 2): 3}])
def test_what_cannot_be_sent_is_our_own_mistake(codec: Codec, value: Any) -> None:
    with pytest.raises(LocalProtocolError, match="'turn' cannot be sent"):
        codec.encode(Turn("m", 0, observation={"x": value}))
    # The codec is as good as new afterwards.
    assert codec.decode_server(codec.encode(Ok(1))) == Ok(1)


def test_msgpack_has_no_integers_beyond_64_bits() -> None:
    with pytest.raises(LocalProtocolError, match="'turn' cannot be sent"):
        MSGPACK.encode(Turn("m", 0, observation={"x": 2**64}))


@BOTH
def test_tuples_and_number_keys_in_observations_become_plain(codec: Codec) -> None:
    sent = Turn("m", 0, observation={"board": ((0, 1), (2, 3)), "names": {4: "four"}})
    received = codec.decode_server(codec.encode(sent))
    assert isinstance(received, Turn)
    assert received.observation == {"board": [[0, 1], [2, 3]], "names": {"4": "four"}}


def test_both_codecs_agree_on_what_a_message_is() -> None:
    message = Accepted(1, "m", 2, [Event(2, 0, "é" + string.ascii_letters, 5)])
    assert json.loads(JSON.encode(message)) == msgpack.unpackb(MSGPACK.encode(message))


def test_longest_values_fit_into_a_frame() -> None:
    longest = [
        Resign(1, "m", "bot_crash", "x" * 16384),
        Act(1, "m" * 64, 2**31 - 1, "\u20ac" * 4096),
    ]
    for codec in CODECS:
        for message in longest:
            assert codec.decode_client(codec.encode(message)) == message


def test_subprotocols() -> None:
    assert SUBPROTOCOLS == ("plyhouse.v1+msgpack", "plyhouse.v1+json")
    assert [codec_for(name) for name in SUBPROTOCOLS] == CODECS
    with pytest.raises(RemoteProtocolError, match=r"'plyhouse\.v2\+json' is not known") as caught:
        codec_for("plyhouse.v2+json")
    assert caught.value.code == "protocol/version"


def test_messages_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Ping(1).id = 2  # type: ignore[misc]
    assert msgspec.structs.replace(Ping(1), id=2) == Ping(2)


@pytest.mark.parametrize("nonce", ["xyz", "abc", "ab\n"])
def test_a_bad_nonce_is_explained_without_a_regular_expression(nonce: str) -> None:
    frame = json.dumps({"type": "ready", "id": 1, "match": "0a", "nonce": nonce})
    with pytest.raises(RemoteProtocolError) as caught:
        JSON.decode_client(frame)
    assert str(caught.value) == "'ready': field 'nonce': expected an even number of hex digits."


@BOTH
def test_whole_numbers_may_be_written_as_other_languages_do(codec: Codec) -> None:
    def read(fields: dict[str, Any]) -> Any:
        return codec.decode_client(msgpack.packb(fields) if codec.binary else json.dumps(fields))

    act = {"type": "act", "id": 101.0, "match": "m", "ply": 1e3, "action": "x"}
    assert read(act) == Act(101, "m", 1000, "x")
    assert type(read(act).ply) is int
    for wrong in (1.5, -1.0, 2.0**53, 1e300, 0.0):
        with pytest.raises(RemoteProtocolError, match="'id'") as caught:
            read({**act, "id": wrong})
        assert (caught.value.code, caught.value.re) == ("protocol/bad_field", None)
    with pytest.raises(RemoteProtocolError, match="'action'") as caught:
        read({**act, "action": 3.0})
    assert caught.value.re == 101


def test_json_numbers_with_an_exponent_are_whole_too() -> None:
    assert JSON.decode_client('{"type": "ping", "id": 1e3}') == Ping(1000)


@pytest.mark.parametrize("half", ['"\\ud800"', '"\\udc00x"', '"\\ud800\\ud800"', '"\ud800"'])
def test_half_surrogates_are_malformed(half: str) -> None:
    for frame in (
        f'{{"type": "act", "id": 1, "match": "m", "ply": 0, "action": {half}}}',
        f'{{"type": "ping", "id": 1, "unknown": {half}}}',
    ):
        with pytest.raises(RemoteProtocolError) as caught:
            JSON.decode_client(frame)
        assert caught.value.code == "protocol/malformed"
    assert isinstance(JSON.decode_client('{"type": "ping", "id": 1, "x": "\\ud83d\\ude00"}'), Ping)


@pytest.mark.parametrize(
    "claim", [b"\xdd", b"\xdf", b"\xc6", b"\xdb"], ids=["list", "map", "bytes", "text"]
)
def test_what_a_bot_thought_takes_no_memory_on_its_word(claim: bytes) -> None:
    plain = MSGPACK.encode(Act(7, "m1", 2, "c3"))
    assert isinstance(plain, bytes)
    said = b"\xa4info" + claim + b"\x7f\xff\xff\xff" + 100 * b"\xc0"
    for frame in (bytes([plain[0] + 1]) + plain[1:] + said, plain[:1] + plain[1:10] + said):
        tracemalloc.start()
        try:
            with pytest.raises(RemoteProtocolError):
                MSGPACK.decode_client(frame)
            assert tracemalloc.get_traced_memory()[1] < 1_000_000
        finally:
            tracemalloc.stop()


@BOTH
def test_an_action_gets_through_with_more_thoughts_than_can_be_kept(codec: Codec) -> None:
    said = {"pv": ["c3"] * 1000, "deep": [[[[[]]]]], "text": "x" * 5000}
    assert codec.decode_client(codec.encode(Act(7, "m1", 2, "c3", said))) == Act(
        7, "m1", 2, "c3", said
    )


def long_act(codec: Codec, info: bytes) -> bytes | str:
    """An action with an info that is written already."""
    frame = codec.encode(Act(1, "m1", 0, "b2"))
    if isinstance(frame, str):
        return f'{frame[:-1]},"info":{info.decode()}}}'
    return bytes([frame[0] + 1]) + frame[1:] + b"\xa4info" + info


@pytest.mark.parametrize(
    ("codec", "info"),
    [
        (MSGPACK, b"\xdc\xfa\x00" + b"\x80" * 64_000),
        (MSGPACK, b"\x81\xa1x\xdc\xfa\x00" + b"\x80" * 64_000),
        (JSON, b"[" + b",".join([b"{}"] * 21_000) + b"]"),
    ],
    ids=["msgpack array", "msgpack map", "json"],
)
def test_info_of_empty_maps_takes_no_more_memory_than_its_frame(codec: Codec, info: bytes) -> None:
    frame = long_act(codec, info)
    codec.decode_client(frame)
    tracemalloc.start()
    try:
        message = codec.decode_client(frame)
        assert tracemalloc.get_traced_memory()[1] < 3 * len(frame)
    finally:
        tracemalloc.stop()
    assert isinstance(message, Act)
    assert isinstance(message.info, msgspec.Raw)
    assert bytes(message.info) == info


@pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=["msgpack", "json"])
def test_info_of_a_long_action_is_read(codec: Codec) -> None:
    """Three bytes a character: the frame is long, its info is not."""
    said = {"text": "\N{SNOWMAN}" * 2000, "pv": ["b2"] * 900, "more": ["x" * 100] * 40}
    act = Act(1, "m1", 0, "\N{SNOWMAN}" * 4000, said)
    assert codec.decode_client(codec.encode(act)) == act
    bare = Act(1, "m1", 0, "\N{SNOWMAN}" * 4000)
    assert codec.decode_client(codec.encode(bare)) == bare


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"type": "hello", "id": 1}', Hello(1, "")),
        ('\ufeff{"type": "hello", "id": 1, "bot": "deep"}', Hello(1, "", "deep")),
        ('{"type": "hello", "id": 1, "token": "t"}', Hello(1, "t")),
        ('{"type": "ping", "id": 2}', Ping(2)),
    ],
)
def test_line_of_a_program_needs_no_token(line: str, message: Any) -> None:
    assert read_line(line) == message


@pytest.mark.parametrize("line", ["", "7", "[1]", '"hello"', "{", "[" * 5000, '{"type": "act"}'])
def test_line_without_a_message_is_refused(line: str) -> None:
    with pytest.raises(RemoteProtocolError):
        read_line(line)
