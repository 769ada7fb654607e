"""Positions that pages and docstrings print are positions that the games take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plyhouse.games import get_game

ROOT = Path(__file__).parents[2]
FORMS = {
    "chess": (r"(?:[rnbqkpRNBQKP1-8]+/){7}[rnbqkpRNBQKP1-8]+ [wb] \S+ \S+ \d+ \d+", "fen"),
    "checkers": (r"\b[BW]:[BW][K0-9,-]*\d:[BW][K0-9,-]*\d", "position"),
    "go": (r"\b[BW]:B[A-T0-9,]*:W[A-T0-9,]*", "position"),
}


def printed(form: str) -> set[str]:
    """All texts of this form in the documentation and the rules of the games."""
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", *ROOT.glob("games/**/*.py")]
    return {text for page in pages for text in re.findall(form, page.read_text("utf-8"))}


@pytest.mark.parametrize("game", FORMS)
def test_printed_positions_are_accepted(game: str) -> None:
    form, parameter = FORMS[game]
    texts = printed(form)
    assert texts
    for text in texts:
        get_game(f'{game}({parameter}="{text}")')
