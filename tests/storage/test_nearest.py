"""The hint at a name that resembles a wrong one takes bounded work."""

from __future__ import annotations

import difflib
from typing import Any

import pytest

from plyhouse.protocol.parts import LONGEST_NAME
from plyhouse.storage import names


def test_nearest_name_compares_few_of_many_letter_by_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[tuple[str, list[str]]] = []
    real = difflib.get_close_matches

    def counted(word: str, known: list[str], **more: Any) -> list[str]:
        compared.append((word, known))
        return real(word, known, **more)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    known = [f"player{number}/bot{number % 7}" for number in range(5000)]
    for wrong, right in (
        ("playr1234/bot2", "player1234/bot2"),
        ("player1234/bto2", "player1234/bot2"),
        ("xplayer1234/bot2", "player1234/bot2"),
    ):
        assert names.nearest(wrong, known) in known
        assert right in compared[-1][1], wrong
    assert names.nearest("x" * 100_000, known) is None
    assert {len(each) for _, each in compared} == {names.COMPARED}
    assert max(len(word) for word, _ in compared) <= 2 * LONGEST_NAME + 1
    assert names.nearest("ann", []) is None
