"""Alpha-beta's leaves on uniform trees: exactly the number in theory and in the docs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from plyhouse.search import alpha_beta, minimax

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "node_counts.py"
PICTURE = ROOT / "docs" / "pictures" / "node-counts.svg"

if not SCRIPT.is_file():
    pytest.skip("the examples are not here", allow_module_level=True)


def loaded() -> Any:
    spec = importlib.util.spec_from_file_location("node_counts", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["node_counts"] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


counts = loaded()
SHAPES = [(1, 5), (2, 1), (2, 2), (2, 9), (3, 3), (3, 6), (4, 5), (5, 4), (7, 3), (30, 2)]


@pytest.mark.parametrize(("branches", "depth"), SHAPES)
def test_in_the_best_order_it_is_knuth_and_moores_minimum(branches: int, depth: int) -> None:
    values = counts.ordered(branches, depth, best_first=True)
    found = counts.leaves(branches, depth, values)
    assert found == branches ** ((depth + 1) // 2) + branches ** (depth // 2) - 1


@pytest.mark.parametrize(("branches", "depth"), SHAPES)
def test_in_the_worst_order_it_is_every_leaf(branches: int, depth: int) -> None:
    values = counts.ordered(branches, depth, best_first=False)
    assert counts.leaves(branches, depth, values) == branches**depth


@pytest.mark.parametrize(("branches", "depth"), [(2, 8), (3, 6), (6, 4)])
def test_in_random_order_it_is_between_and_the_value_is_minimaxs(branches: int, depth: int) -> None:
    for seed in range(5):
        values = counts.shuffled(branches, depth, seed)
        seen: list[int] = []
        state = counts.UniformState(branches, depth, values, seen)
        found = alpha_beta(counts.GAME, state, deepen=False)
        assert len(seen) == len(set(seen)), "no leaf twice"
        assert counts.knuth_moore(branches, depth) < len(seen) < branches**depth
        seen.clear()
        assert minimax(counts.GAME, state).value == found.value
        assert len(seen) == branches**depth


def test_random_trees_grow_at_pearls_rate() -> None:
    assert counts.pearl(2) == pytest.approx((1 + 5**0.5) / 2), "the golden ratio"
    few, many = counts.measure(3, 5), counts.measure(3, 9)
    assert (many.mean / few.mean) ** 0.25 == pytest.approx(counts.pearl(3), rel=0.1)
    few, many = counts.measure(8, 3, 10), counts.measure(8, 5, 10)
    assert (many.mean / few.mean) ** 0.5 == pytest.approx(counts.pearl(8), rel=0.15)


def test_the_drawing_has_every_measurement() -> None:
    rows = [counts.measure(2, depth, 3) for depth in range(1, 5)]
    svg = counts.drawing(rows)
    assert svg.count("<circle") == 3 * len(rows) + 3, "three more in the key"
    table = counts.table(rows).splitlines()
    assert len(table) == 1 + len(rows)
    assert table[-1].split()[:4] == ["2", "4", "7", "7"]


def test_the_picture_in_docs_is_what_the_script_makes() -> None:
    assert PICTURE.read_text(encoding="utf-8") == counts.drawing(counts.measurements()), (
        "run: python examples/node_counts.py docs/pictures/node-counts.svg"
    )
