"""The course's worked examples: their values, and that the pictures in docs are theirs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from plyhouse.search.teaching.drawable_tree import Explanation, Node

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "course_trees.py"
PICTURES = ROOT / "docs" / "pictures" / "course"

if not SCRIPT.is_file():
    pytest.skip("the examples are not here", allow_module_level=True)


def loaded() -> Any:
    spec = importlib.util.spec_from_file_location("course_trees", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = loaded().EXAMPLES


def tree(name: str) -> Explanation:
    found: Explanation = EXAMPLES[name][1]()
    return found


def values(nodes: list[Node]) -> list[float]:
    return [node.value for node in nodes]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_pictures_in_docs_are_what_the_script_makes(name: str) -> None:
    heading, _ = EXAMPLES[name]
    drawn = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == tree(name).svg(heading), (
        "run: python examples/course_trees.py docs/pictures/course"
    )


def test_there_is_no_picture_without_an_example() -> None:
    assert {path.stem for path in PICTURES.glob("*.svg")} == set(EXAMPLES)


def test_minimax() -> None:
    root = tree("minimax").root
    assert [values(child.children) for child in root.children] == [[7, 3], [8, 9, 6], [2, 5]]
    assert values(root.children) == [3, 6, 2]
    assert root.value == 6


def test_alpha_beta_comes_to_the_same_with_fewer_nodes() -> None:
    plain, pruned = tree("minimax"), tree("alpha-beta")
    assert (pruned.root.value, pruned.best) == (plain.root.value, plain.best)
    assert (plain.nodes, pruned.nodes) == (26, 23)


def test_a_tree_of_two_plies() -> None:
    """The example of Russell and Norvig: 3, and two leaves less."""
    found = tree("two-ply")
    assert (found.root.value, found.best, found.nodes) == (3, "a1", 11)
    assert [child.pruned for child in found.root.children] == [(), ("c2", "c3"), ()]


def test_who_begins_with_four_coins_loses() -> None:
    found = tree("coins")
    assert (found.root.value, found.nodes) == (-1, 12)


def test_a_chance_node() -> None:
    assert tree("chance").root.value == pytest.approx(10)


def test_leaves_have_to_be_utilities_where_chance_plays_along() -> None:
    """The example of Russell and Norvig: a change of leaves that keeps their order."""
    plain, scaled = tree("dice"), tree("dice-scaled")
    assert values(plain.root.children) == [pytest.approx(2.1), pytest.approx(1.3)]
    assert values(scaled.root.children) == [pytest.approx(21), pytest.approx(40.9)]
    assert (plain.best, scaled.best) == ("a1", "a2")


def test_star1_cuts_outcomes() -> None:
    found = tree("star1")
    assert (found.root.value, found.best) == (4, "safe")
    gamble = found.root.children[1]
    assert found.value_text(gamble) == "≤ 4"
    assert list(gamble.pruned) == ["1/4", "1/4'"]


def test_three_players() -> None:
    root = tree("three-players").root
    assert list(root.values) == [5, 2, 5]
    assert [child.values for child in root.children] == [(1, 6, 6), (5, 2, 5)]
    assert tree("paranoid").root.value == 1


def test_a_model_of_the_opponent_changes_the_choice() -> None:
    assert (tree("careful").root.value, tree("careful").best) == (10, "safe")
    found = tree("careless")
    assert values(found.root.children) == [
        pytest.approx(0.8 * 10 + 0.2 * (10 + 11) / 2),
        pytest.approx(0.8 * 8 + 0.2 * (8 + 60 + 60) / 3),
    ]
    assert found.best == "bold"


def test_tic_tac_toe_ends_in_a_draw() -> None:
    assert (tree("tic-tac-toe").root.value, tree("tic-tac-toe").best) == (0, "c1")
