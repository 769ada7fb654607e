"""Servers of two successive versions in one cluster."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cluster.example_messages import FOLDER, KINDS, NEXT, example, examples_text

from plyhouse.server.cluster import member_messages as mm
from plyhouse.server.cluster.switchboard import Switchboard
from plyhouse.server.table.directory import Directory

LATER = "of a later version"


class Receiver:
    """A server, and the messages that reached its handlers."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.board = Switchboard(1, Directory())
        for kind in KINDS:
            self.board.handle(kind, lambda _, message: self.got.append(message))

    def take(self, parts: list[Any]) -> list[Any]:
        """Take a message in; return what was handled since the last call."""
        self.board.received(2, msgspec.msgpack.encode(parts))
        got, self.got = self.got, []
        return got


def parts_of(message: Any) -> list[Any]:
    parts: list[Any] = msgspec.msgpack.decode(mm.encode(message), strict=False)
    return parts


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_fields_of_a_later_version_are_ignored(kind: type) -> None:
    message = example(kind)
    assert Receiver().take([*parts_of(message), LATER, {LATER: [1]}]) == [message]


def test_nested_fields_of_a_later_version_are_ignored() -> None:
    message = example(mm.Report)
    parts = parts_of(message)
    bots, _, matches = parts[1:]
    for each in (bots[0], matches[0], matches[0]["players"][0]):
        each[LATER] = {LATER: 1}
    assert Receiver().take(parts) == [message]


def test_unknown_message_is_ignored_and_the_next_one_handled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    receiver = Receiver()
    with caplog.at_level(logging.WARNING):
        assert receiver.take(["Reconsider", "m1", 7]) == []
    assert "message ignored" in caplog.messages
    gone = mm.Gone("m1")
    assert receiver.take(parts_of(gone)) == [gone]


@pytest.mark.parametrize("payload", [b"", b"\xc1", b"\x93\xa4Gone", b"\xff" * 100])
def test_bytes_that_are_no_message_are_ignored(
    payload: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    receiver = Receiver()
    receiver.board.received(2, payload)
    assert not receiver.got
    assert "message ignored" in caplog.messages


def test_unknown_message_for_a_client_is_ignored() -> None:
    receiver = Receiver()
    assert receiver.take(["ToLine", 3, {"type": "of_a_later_version", "re": 1}]) == []
    known = example(mm.ToLine)
    assert receiver.take(parts_of(known)) == [known]


def test_examples_of_this_version_are_written() -> None:
    assert NEXT.read_text(encoding="utf-8") == examples_text(), (
        "python -m tests.cluster.example_messages"
    )


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_messages_of_each_version_are_read(path: Path) -> None:
    receiver = Receiver()
    for name, digits in json.loads(path.read_text(encoding="utf-8")).items():
        (message,) = receiver.take(msgspec.msgpack.decode(bytes.fromhex(digits), strict=False))
        assert type(message).__name__ == name
