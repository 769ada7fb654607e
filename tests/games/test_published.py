"""The published numbers on the games' pages, counted again to depths that are quick."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.harness.counting import divide

from plyhouse.games import get_game
from plyhouse.games.counting import perft
from plyhouse.games.native import COMPILED
from plyhouse.games.registry import BUILT_IN

FILE = Path(__file__).resolve().parents[2] / "docs" / "games" / "published.toml"
if not FILE.is_file():
    pytest.skip("the documentation is not here", allow_module_level=True)
PUBLISHED: dict[str, Any] = tomllib.loads(FILE.read_text(encoding="utf-8"))
AFFORDABLE = 200_000 if COMPILED else 10_000
"""So many sequences are counted here; the tests of each game go deeper."""
PERFTS = [(name, each) for name, entry in PUBLISHED.items() for each in entry.get("perft", [])]


def test_every_game_has_numbers_that_prove_it() -> None:
    assert set(PUBLISHED) == set(BUILT_IN)
    for name, entry in PUBLISHED.items():
        assert entry.get("perft") or entry.get("facts"), name


@pytest.mark.parametrize(
    ("name", "entry"), PERFTS, ids=[f"{name}-{each.get('name', 'start')}" for name, each in PERFTS]
)
def test_published_counts_come_out(name: str, entry: dict[str, Any]) -> None:
    state = get_game(entry.get("spec", name)).initial_state()
    leaf = entry.get("finished_as_leaf", False)
    for depth, count in enumerate(entry["counts"], 1):
        if count > AFFORDABLE:
            break
        assert perft(state, depth, finished_as_leaf=leaf) == count, divide(state, depth)
