"""The table of error codes."""

from __future__ import annotations

import re

import pytest

from plyhouse.protocol.errors import (
    ERRORS,
    LocalProtocolError,
    ProtocolError,
    RemoteProtocolError,
    close_code,
    error_code,
)
from plyhouse.protocol.messages import Error


@pytest.mark.parametrize("code", ERRORS)
def test_every_code_has_a_meaning_and_a_sentence(code: str) -> None:
    row = ERRORS[code]
    assert re.fullmatch(r"[a-z_]+/[a-z_]+", code)
    assert row.code == code
    for text in (row.meaning, row.message):
        assert text[0].isupper() or text[0] == "`"
        assert text.endswith(".")
        assert "|" not in text, "the tables of the documentation would break"


@pytest.mark.parametrize("row", [row for row in ERRORS.values() if row.fatal], ids=lambda r: r.code)
def test_close_codes_are_allowed_by_the_websocket_protocol(row: object) -> None:
    code = row.close  # type: ignore[attr-defined]
    assert code in {1001, 1003, 1009, 1011, 1013} or 4000 <= code < 5000


def test_defaults_come_from_the_table() -> None:
    error = ProtocolError("auth/bad_token")
    assert error.message == ERRORS["auth/bad_token"].message
    assert error.fatal
    assert error.close == 4401
    assert str(error) == error.message


def test_what_is_known_better_overrides_the_table() -> None:
    error = RemoteProtocolError("server/fault", "That match is void.", fatal=False, re=4)
    assert error.to_message(match="m", legal=("a", "b")) == Error(
        "server/fault", "That match is void.", 4, "m", ["a", "b"], fatal=False
    )
    assert "server/fault" in repr(error)


def test_unknown_codes() -> None:
    with pytest.raises(ValueError, match="no error code 'server/tired'"):
        error_code("server/tired")
    # A newer server may have codes that we do not know.
    assert close_code("server/tired") == 4400


def test_whose_mistake_it_was_can_be_told_apart() -> None:
    assert issubclass(LocalProtocolError, ProtocolError)
    assert issubclass(RemoteProtocolError, ProtocolError)
    assert not issubclass(LocalProtocolError, RemoteProtocolError)
