"""Causes: their sentences for different readers, and their stored form."""

from __future__ import annotations

import string

import msgspec
import pytest

from plyhouse.protocol.api.bots import Holder
from plyhouse.storage import causes
from plyhouse.storage.causes import NO_CAUSE, Cause, decoded, written

ALICE, BOB, NOBODY = Holder("alice", "deep"), Holder("Bob", "bob"), Holder("(another entry)", "")


@pytest.mark.parametrize("code", [code for code in causes._SENTENCES if code])
def test_stored_cause_names_nobody_and_reads_as_one_sentence(code: str) -> None:
    cause = Cause(code, (0, 1), (3, 20, 50, 40, 90, 4), ("lab", "Error"))
    text = cause.encoded()
    assert decoded(text) == cause
    assert "alice" not in text.lower()
    sentence = cause.sentence([ALICE, BOB])
    assert sentence.endswith(".")
    fields = [name for _, name, _, _ in string.Formatter().parse(causes._SENTENCES[code]) if name]
    assert ("alice/deep" in sentence) is any(
        each.startswith(("seats", "names", "all_seats")) for each in fields
    )
    hidden = cause.sentence([NOBODY, NOBODY])
    assert hidden == sentence.replace("alice/deep", NOBODY.player).replace("Bob", NOBODY.player)
    assert "alice" not in cause.sentence()


def test_person_is_named_once() -> None:
    assert Cause("late", (0, 1), (2.5,)).sentence([ALICE, BOB]) == (
        "seat 1 (alice/deep) and seat 2 (Bob) were not ready within 2.5 s."
    )


def test_match_that_came_to_its_end_has_no_cause() -> None:
    assert (NO_CAUSE.encoded(), decoded(""), NO_CAUSE.sentence([ALICE])) == ("", NO_CAUSE, "")


def test_code_of_a_newer_version_has_no_sentence() -> None:
    assert Cause("from the future", (0,)).sentence([ALICE]) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{seats[0]} {",
        "no name",
        "alice/deep",
        "ALICE/Deep, alice/deep-2 and alice/deep.",
        "a//b",
    ],
)
def test_written_text_changes_names_of_the_seats_only(text: str) -> None:
    cause = written(text, [ALICE, BOB])
    assert cause.sentence([ALICE, BOB]).lower() == text.lower()
    hidden = cause.sentence([NOBODY, BOB])
    assert (
        hidden.count(NOBODY.player)
        == len(cause.seats)
        == text.lower().replace("alice/deep-2", "").count("alice/deep")
    )
    assert decoded(cause.encoded()) == cause


def test_damaged_cause_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        decoded("because")
