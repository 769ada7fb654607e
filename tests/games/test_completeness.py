"""The parts that every registered game must have in addition to its rules."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from plyhouse.games import game_class, get_game
from plyhouse.games.playthrough import golden_files
from plyhouse.games.registry import BUILT_IN

TESTS = Path(__file__).parent


def listed_for_check_game() -> list[str]:
    """The specs for which test_check_game.py looks at every law."""
    tree = ast.parse((TESTS / "test_check_game.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SPECS":
            return [str(spec) for spec in ast.literal_eval(node.value)]
    raise AssertionError("test_check_game.py has no list SPECS")


def test_every_game_is_checked_against_the_laws() -> None:
    assert {get_game(spec).info.name for spec in listed_for_check_game()} == set(BUILT_IN)


def test_every_game_has_tests_of_its_own() -> None:
    texts = [
        path.read_text(encoding="utf-8")
        for path in TESTS.glob("test_*.py")
        if path.stem not in ("test_check_game", "test_registry", "test_completeness")
    ]
    for name in BUILT_IN:
        assert any(re.search(rf"\b{name}\b", text) for text in texts), name


def test_every_game_has_a_golden_playthrough() -> None:
    assert {f"{name}.txt" for name in BUILT_IN} <= set(golden_files())


def test_every_game_is_registered_under_its_own_name() -> None:
    for name in BUILT_IN:
        assert game_class(name).info.name == name
