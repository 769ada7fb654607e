"""The overview of the search library names exactly its public functions."""

from __future__ import annotations

import re
from pathlib import Path

import plyhouse.search
from plyhouse.search.game_requirements import ALGORITHMS, EQUILIBRIUM_SOLVERS, SOLVERS

ROOT = Path(__file__).resolve().parents[2]
OVERVIEW = (ROOT / "docs" / "search" / "index.md").read_text(encoding="utf-8")
NAMED = re.findall(r"^\| `(\w+)` \|", OVERVIEW, re.M)


def test_every_algorithm_has_its_row() -> None:
    missing = {*ALGORITHMS, *SOLVERS, *EQUILIBRIUM_SOLVERS} - set(NAMED)
    assert not missing, f"add a row to docs/search/index.md for {', '.join(sorted(missing))}"


def test_every_row_is_an_algorithm_that_there_is() -> None:
    assert len(set(NAMED)) == len(NAMED)
    for name in NAMED:
        assert name in plyhouse.search.__all__, f"{name} is no algorithm of the library"
