"""Frames at the edge of what is read, and the words of each refusal."""

from __future__ import annotations

import json
from typing import Any

import msgpack  # type: ignore[import-untyped]
import msgspec
import pytest

from plyhouse.protocol.codec import JSON, MSGPACK, Codec, Frame, codec_for
from plyhouse.protocol.errors import LocalProtocolError, RemoteProtocolError
from plyhouse.protocol.messages import Accepted, Act, Bye, Ok, Ping, Turn, Update

BOTH = pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=lambda codec: codec.name)


def written(codec: Codec, fields: Any) -> Frame:
    frame: Frame = msgpack.packb(fields) if codec.binary else json.dumps(fields)
    return frame


def refusal(codec: Codec, frame: Frame, *, server: bool = False) -> RemoteProtocolError:
    with pytest.raises(RemoteProtocolError) as caught:
        (codec.decode_server if server else codec.decode_client)(frame)
    return caught.value


def padded(codec: Codec, fields: dict[str, Any], size: int) -> Frame:
    """A frame of exactly ``size`` bytes, filled up in fields that nobody knows."""
    fields = {**fields, "more": "x" * 5}
    head = len(written(codec, {**fields, "pad": "x" * (size // 2)})) - size // 2
    frame = written(codec, {**fields, "pad": "x" * (size - head)})
    if len(frame) > size:  # a longer text has a longer head
        frame = written(codec, {**fields, "pad": "x" * (2 * size - head - len(frame))})
    assert len(frame) == size
    return frame


# -------------------------------------------------------------------------------- lengths


@BOTH
def test_clients_frame_may_have_64_kib(codec: Codec) -> None:
    fields = {"type": "bye", "id": 1}
    assert codec.decode_client(padded(codec, fields, 65_536)) == Bye(1)
    error = refusal(codec, padded(codec, fields, 65_537))
    assert (error.code, error.fatal) == ("protocol/oversized", True)
    assert error.message == "The frame is longer than the 65536 bytes that are read here."


@BOTH
def test_servers_frame_may_have_8_mib(codec: Codec) -> None:
    fields = {"type": "ok", "re": 1}
    assert codec.decode_server(padded(codec, fields, 8 * 1024 * 1024)) == Ok(1)
    error = refusal(codec, padded(codec, fields, 8 * 1024 * 1024 + 1), server=True)
    assert error.message == "The frame is longer than the 8388608 bytes that are read here."


@BOTH
def test_action_longer_than_the_limit_is_refused(codec: Codec) -> None:
    frame = codec.encode(Act(1, "m1", 0, "b2"))
    assert codec.decode_client(frame, limit=len(frame)) == Act(1, "m1", 0, "b2")
    with pytest.raises(RemoteProtocolError, match="longer than"):
        codec.decode_client(frame, limit=len(frame) - 1)


def test_characters_of_four_bytes_count_as_four() -> None:
    text = json.dumps({"type": "bye", "id": 1, "pad": "\N{GRINNING FACE}" * 99}, ensure_ascii=False)
    size = len(text.encode())
    assert 3 * len(text) < size - 1
    assert JSON.decode_client(text, limit=size) == Bye(1)
    with pytest.raises(RemoteProtocolError, match="longer than"):
        JSON.decode_client(text, limit=size - 1)


def test_half_a_character_counts_in_a_frame_of_just_the_limit() -> None:
    text = '{"type": "bye", "id": 1, "pad": "\ud800"}'
    with pytest.raises(RemoteProtocolError) as caught:
        JSON.decode_client(text, limit=len(text) + 2)
    assert caught.value.code == "protocol/malformed"
    with pytest.raises(RemoteProtocolError, match="longer than"):
        JSON.decode_client(text, limit=len(text) + 1)


def test_lengths_of_clients_arrays_and_maps_are_limited() -> None:
    for value in ([0] * 512, {str(key): 0 for key in range(64)}):
        assert MSGPACK.decode_client(written(MSGPACK, {"type": "bye", "id": 1, "x": value}))
    for value in ([0] * 513, {str(key): 0 for key in range(65)}):
        error = refusal(MSGPACK, written(MSGPACK, {"type": "bye", "id": 1, "x": value}))
        assert error.code == "protocol/malformed"


def test_lengths_of_servers_arrays_and_maps_are_limited() -> None:
    for value in ([0] * 65_536, {str(key): 0 for key in range(65_536)}):
        assert MSGPACK.decode_server(written(MSGPACK, {"type": "ok", "re": 1, "x": value}))
    for value in ([0] * 65_537, {str(key): 0 for key in range(65_537)}):
        error = refusal(MSGPACK, written(MSGPACK, {"type": "ok", "re": 1, "x": value}), server=True)
        assert error.code == "protocol/malformed"


def act_with_info(codec: Codec, size: int) -> Frame:
    """An action whose info is a text of ``size`` bytes as it is written."""
    return written(codec, fields_of("x" * (size - (3 if codec.binary else 2))))


def fields_of(info: Any) -> dict[str, Any]:
    return {"type": "act", "id": 1, "match": "m", "ply": 0, "action": "b", "info": info}


@BOTH
def test_info_of_16_kib_is_read_and_a_longer_one_is_kept_as_it_came(codec: Codec) -> None:
    read = codec.decode_client(act_with_info(codec, 16_384))
    assert isinstance(read, Act)
    assert set(read.info) == {"x"}
    kept = codec.decode_client(act_with_info(codec, 16_385))
    assert isinstance(kept, Act)
    assert isinstance(kept.info, msgspec.Raw)
    assert len(bytes(kept.info)) == 16_385
    assert (kept.id, kept.match, kept.ply, kept.action) == (1, "m", 0, "b")


@BOTH
def test_long_frame_that_is_no_action_is_read_as_what_it_is(codec: Codec) -> None:
    assert codec.decode_client(padded(codec, {"type": "ping", "id": 3}, 20_000)) == Ping(3)
    error = refusal(codec, padded(codec, {"type": "act", "id": 3}, 20_000))
    assert (error.message, error.re) == ("'act': field 'match' is missing.", 3)


@BOTH
def test_action_with_a_wrong_field_is_explained(codec: Codec) -> None:
    error = refusal(codec, written(codec, {**fields_of(None), "ply": "0"}))
    assert error.message == "'act': field 'ply': expected `int`, got `str`."
    assert error.re == 1


def nested(codec: Codec, levels: int) -> Frame:
    """An action with so many levels of arrays in its info."""
    if codec.binary:
        plain = MSGPACK.encode(Act(1, "m1", 0, "b2"))
        assert isinstance(plain, bytes)
        return bytes([plain[0] + 1]) + plain[1:] + b"\xa4info" + b"\x91" * levels + b"\xc0"
    text = JSON.encode(Act(1, "m1", 0, "b2"))
    assert isinstance(text, str)
    return f'{text[:-1]},"info":{"[" * levels}{"]" * levels}}}'


@BOTH
@pytest.mark.parametrize("levels", [11_000, 30_000])
def test_action_that_is_nested_too_deeply_is_malformed(codec: Codec, levels: int) -> None:
    error = refusal(codec, nested(codec, levels))
    assert error.code == "protocol/malformed"
    assert error.message == "The frame could not be read: it is nested too deeply."


# --------------------------------------------------------------------- what is not msgpack

BYE = b"\x83\xa4type\xa3bye\xa2id\x01\xa1x"


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (BYE + b"\xc0\xc0", "something follows the message"),
        (BYE + b"\xc1", "it is not msgpack"),
        (BYE, "unpack failed: incomplete input"),
        (b"", "unpack failed: incomplete input"),
        (b"\x93\x01\x02\x03", "one frame holds one map"),
        (BYE + b"\xc7\x00\x05", "extension types are not used here, not even 5"),
        (BYE + b"\xd4\x05\x00", "2 exceeds max_ext_len(0)"),
        (BYE + b"\xc4\x01x", "1 exceeds max_bin_len(0)"),
        (BYE + b"\x81\x01\x02", "int is not allowed for map key when strict_map_key=True"),
        (
            BYE + b"\xa1\xff",
            "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        ),
    ],
)
def test_frame_that_is_no_message_is_refused_with_the_reason(frame: bytes, reason: str) -> None:
    for server in (False, True):
        error = refusal(MSGPACK, frame, server=server)
        assert (error.code, error.re) == ("protocol/malformed", None)
        assert error.message == f"The frame could not be read: {reason}."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "input data was truncated"),
        ('{"type"', "input data was truncated"),
        ("{type}", "JSON is malformed: object keys must be strings (byte 1)"),
        ("[1]", "one frame holds one map"),
        ("7", "one frame holds one map"),
    ],
)
def test_text_that_is_no_message_is_refused_with_the_reason(text: str, reason: str) -> None:
    for server in (False, True):
        error = refusal(JSON, text, server=server)
        assert (error.code, error.re) == ("protocol/malformed", None)
        assert error.message == f"The frame could not be read: {reason}."


def test_wrong_kind_of_frame_is_named() -> None:
    assert refusal(MSGPACK, "{}").message == (
        "The subprotocol plyhouse.v1+msgpack uses binary frames, not text."
    )
    assert refusal(JSON, b"\x80").message == (
        "The subprotocol plyhouse.v1+json uses text frames, not binary."
    )


# ------------------------------------------------------------------------------- numbers


@BOTH
@pytest.mark.parametrize(
    ("given", "re"),
    [
        (1, 1),
        (2**53 - 1, 2**53 - 1),
        (2**53, None),
        (0, None),
        (-1, None),
        (True, None),
        ("1", None),
    ],
)
def test_error_refers_to_a_request_with_a_valid_id(
    codec: Codec, given: Any, re: int | None
) -> None:
    for kind in ("ready", "no such type"):
        assert refusal(codec, written(codec, {"type": kind, "id": given})).re == re


@BOTH
def test_error_of_a_servers_message_refers_to_what_it_answers(codec: Codec) -> None:
    error = refusal(codec, written(codec, {"type": "accepted", "re": 4, "id": 5}), server=True)
    assert error.re == 4
    assert error.message == "'accepted': field 'match' is missing."


@BOTH
def test_whole_numbers_are_exact_below_two_to_the_53(codec: Codec) -> None:
    def turn(left: float) -> Any:
        return {"type": "turn", "match": "m", "ply": 0.0, "deadline_ms": left}

    for left in (2.0**53 - 1, 1.0, 0.0):
        read = codec.decode_server(written(codec, turn(left)))
        assert read == Turn("m", 0, deadline_ms=int(left))
        assert type(read.deadline_ms) is int
    if codec.binary:
        for left in (2.0**53, 2.0**53 + 2):
            assert (
                "'deadline_ms'" in refusal(codec, written(codec, turn(left)), server=True).message
            )


@BOTH
def test_fraction_beside_a_whole_number_is_named(codec: Codec) -> None:
    error = refusal(codec, written(codec, {**fields_of(None), "id": 2.0, "ply": 1.5}))
    assert error.message == "'act': field 'ply': expected `int`, got `float`."
    assert error.re == 2


# -------------------------------------------------------------------------- words, and cuts


@BOTH
def test_long_names_are_cut_in_messages(codec: Codec) -> None:
    assert refusal(codec, written(codec, {"type": "y" * 99})).message.startswith(
        f"Messages of type '{'y' * 40}' are not known here; known are: "
    )
    field = refusal(
        codec, written(codec, {"type": "resign", "id": 1, "match": "m", "reason": "z" * 99})
    )
    shown = "z" * (80 - len("Invalid enum value '"))
    assert field.message == (
        f"'resign': field 'reason': invalid enum value '{shown}; "
        "expected one of: resignation, bot_crash, no_answer."
    )


def test_unknown_subprotocol_is_cut_in_the_message() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        codec_for("y" * 99)
    assert caught.value.message == (
        f"The subprotocol '{'y' * 60}' is not known here: "
        "use plyhouse.v1+msgpack or plyhouse.v1+json."
    )


def test_nonce_is_explained_where_it_is_wrong_and_not_elsewhere() -> None:
    def complaint(**fields: Any) -> str:
        return refusal(JSON, json.dumps({"type": "ready", "id": 1, **fields})).message

    assert complaint(match="m", nonce="xyz") == (
        "'ready': field 'nonce': expected an even number of hex digits."
    )
    assert complaint(match="m", nonce=5) == "'ready': field 'nonce': expected `str`, got `int`."


def test_codecs_name_themselves() -> None:
    assert [repr(codec) for codec in (MSGPACK, JSON)] == [
        "<codec plyhouse.v1+msgpack>",
        "<codec plyhouse.v1+json>",
    ]
    assert [(codec.name, codec.binary) for codec in (MSGPACK, JSON)] == [
        ("msgpack", True),
        ("json", False),
    ]


# --------------------------------------------------------------------------------- encoding


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@BOTH
@pytest.mark.parametrize("kind", ["turn", "update"])
@pytest.mark.parametrize("value", [object(), "\ud800", endless()], ids=["type", "text", "depth"])
def test_value_that_cannot_be_written_is_our_own_mistake(
    codec: Codec, kind: str, value: Any
) -> None:
    make: Any = {"turn": Turn, "update": Update}[kind]
    with pytest.raises(LocalProtocolError, match=f"'{kind}' cannot be sent: ") as caught:
        codec.encode(make("m", 0, observation={"x": value}))
    assert caught.value.code == "protocol/bad_field"


@pytest.mark.parametrize("make", [Turn, Update])
def test_integer_beyond_64_bits_is_our_own_mistake(make: Any) -> None:
    with pytest.raises(LocalProtocolError, match="cannot be sent"):
        MSGPACK.encode(make("m", 0, observation={"x": 2**64}))


@BOTH
@pytest.mark.parametrize("make", [Turn, Update])
@pytest.mark.parametrize("place", ["observation", "scene"])
def test_keys_that_are_numbers_become_text(codec: Codec, make: Any, place: str) -> None:
    fields: dict[str, Any] = {"observation": {"a": 1}, place: {"names": {4: "four"}}}
    read: Any = codec.decode_server(codec.encode(make("m", 0, **fields)))
    assert getattr(read, place) == {"names": {"4": "four"}}


def test_accepted_action_survives_the_way() -> None:
    message = Accepted(1, "m", 2, info_refused="why")
    for codec in (MSGPACK, JSON):
        assert codec.decode_server(codec.encode(message)) == message
