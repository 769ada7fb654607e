"""The published test vectors are what the codecs really do."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from plyhouse.protocol.codec import JSON, MSGPACK, codec_for
from plyhouse.protocol.errors import RemoteProtocolError
from plyhouse.protocol.messages import CLIENT_TYPES, SERVER_TYPES, Message

HERE = Path(__file__).parent
VECTORS: list[dict[str, Any]] = json.loads((HERE / "vectors.json").read_text(encoding="utf-8"))
GOOD = [vector for vector in VECTORS if "json" in vector]
BAD = [vector for vector in VECTORS if "error" in vector]


def title(vector: dict[str, Any]) -> str:
    return f"{vector['direction']}-{vector['name']}"


def make_vectors() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_vectors", HERE / "make_vectors.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_is_up_to_date() -> None:
    fresh: str = make_vectors().text()
    assert (HERE / "vectors.json").read_text(encoding="utf-8") == fresh, (
        "run: python tests/protocol/make_vectors.py"
    )


def test_every_type_has_a_vector() -> None:
    seen = {(vector["direction"], vector["json"]["type"]) for vector in GOOD}
    assert seen == {("client", name) for name in CLIENT_TYPES} | {
        ("server", name) for name in SERVER_TYPES
    }


def test_every_vector_has_a_name_of_its_own() -> None:
    titles = [title(vector) for vector in VECTORS]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("vector", GOOD, ids=title)
def test_both_forms_of_a_good_frame_are_the_same_message(vector: dict[str, Any]) -> None:
    packed, text = bytes.fromhex(vector["msgpack"]), json.dumps(vector["json"])
    if vector["direction"] == "client":
        message: Message = MSGPACK.decode_client(packed)
        same: Message = JSON.decode_client(text)
    else:
        message, same = MSGPACK.decode_server(packed), JSON.decode_server(text)
    assert message == same
    assert MSGPACK.encode(message) == packed
    assert json.loads(JSON.encode(message)) == vector["json"]


@pytest.mark.parametrize("vector", BAD, ids=title)
def test_a_bad_frame_gets_its_error(vector: dict[str, Any]) -> None:
    codec = codec_for(vector["subprotocol"])
    if "text_repeat" in vector:
        text, times = vector["text_repeat"]
        frame: bytes | str = text * times
    else:
        frame = vector["text"] if "text" in vector else bytes.fromhex(vector["msgpack"])
    with pytest.raises(RemoteProtocolError) as caught:
        codec.decode_client(frame)
    error = caught.value
    assert (error.code, error.fatal, error.re) == (vector["error"], vector["fatal"], vector["re"])
    assert error.message.endswith(".")
