"""The guide for other languages shows real messages, in an order that a connection allows."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.harness.guide_examples import GUIDE, examples

from plyhouse.protocol.codec import JSON, SUBPROTOCOLS
from plyhouse.protocol.errors import ERRORS, ProtocolError
from plyhouse.protocol.messages import CLIENT_TYPES, SERVER_TYPES


@pytest.mark.parametrize("message", list(examples()), ids=lambda message: str(message["type"]))
def test_examples_are_messages(message: dict[str, Any]) -> None:
    complaints = []
    for decode in (JSON.decode_client, JSON.decode_server):
        try:
            decode(json.dumps(message))
        except ProtocolError as error:
            complaints.append(error.message)
    assert len(complaints) < 2, complaints


def test_examples_name_only_fields_that_exist() -> None:
    for message in examples():
        cls = {**SERVER_TYPES, **CLIENT_TYPES}[message["type"]]
        assert set(message) <= {"type", *cls.__struct_fields__}


def test_the_whole_way_is_shown() -> None:
    shown = {message["type"] for message in examples()}
    assert shown >= {"hello", "welcome", "seek", "match", "ready", "turn", "act", "finished", "bye"}


def test_codes_and_subprotocols_exist() -> None:
    areas = {code.split("/")[0] for code in ERRORS}
    named = {
        code for code in re.findall(r"`([a-z_]+/[a-z_]+)`", GUIDE) if code.split("/")[0] in areas
    }
    assert named
    assert named <= set(ERRORS)
    assert all(f"`{name}`" in GUIDE for name in SUBPROTOCOLS)
