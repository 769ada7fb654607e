"""No answer of the HTTP API has a field that only the server needs."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from plyhouse.protocol.api import administration_calls, calls, competition_calls
from plyhouse.protocol.api.routes import Route

SECRET = {
    "commitment", "data", "email_hash", "hash", "ip", "lease", "nonces", "owner", "password",
    "salt", "secret", "seed", "session", "session_id", "stream", "token_id",
}  # fmt: skip
"""Columns of the database that nobody is sent."""
TOKENS = {"Account", "Joining", "MadeToken"}
"""Answers that show a new token once."""
IDS = {
    ("AuditEntry", "subject_id"), ("Bot", "player_id"), ("Member", "institution_id"),
    ("Standing", "bot_id"), ("Standing", "version_id"), ("Suspension", "bot_id"),
    ("Suspension", "version_id"), ("Token", "player_id"),
}  # fmt: skip
"""Numbers of the database by which calls and programs name something."""


def parts(kind: Any) -> Iterator[type]:
    """Yield the structs that a type consists of."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
        for hint in typing.get_type_hints(kind).values():
            if hint is not kind and kind.__name__ not in str(hint):
                yield from parts(hint)
    for each in typing.get_args(kind):
        yield from parts(each)


def answers() -> list[type]:
    """Return all structs of answers of the API."""
    found = {
        part
        for module in (calls, competition_calls, administration_calls)
        for route in vars(module).values()
        if isinstance(route, Route)
        for part in parts(route.answer)
        if part.__module__.startswith("plyhouse.protocol.api.")
    }
    return sorted(found, key=lambda each: each.__name__)


@pytest.mark.parametrize("kind", answers(), ids=lambda kind: kind.__name__)
def test_answer_has_no_field_that_only_the_server_needs(kind: type[msgspec.Struct]) -> None:
    fields = set(kind.__struct_fields__)
    assert not fields & SECRET
    assert "token" not in fields or kind.__name__ in TOKENS
    ids = {(kind.__name__, name) for name in fields if name.endswith("_id")}
    assert ids <= IDS, "an id of the database is new to clients"


def test_answers_are_found_in_lists_and_in_other_answers() -> None:
    names = {each.__name__ for each in answers()}
    assert {"Bot", "BotMatch", "BotPage", "Member", "Standing"} <= names
    assert len(names) > 80
