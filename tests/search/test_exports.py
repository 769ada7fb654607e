"""The names that `plyhouse.search` exports: all exist, and none is loaded before its first use."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import plyhouse.search as search

ROOT = Path(__file__).resolve().parents[2]
WRITTEN_FOR_USERS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*.py")),
]


def promised() -> dict[str, str]:
    """Return the module of each name, as type checkers see it."""
    assert search.__file__ is not None
    tree = ast.parse(Path(search.__file__).read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: (node.module or "").removeprefix("plyhouse.search").lstrip(".")
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_type_checkers_are_told_what_is_loaded() -> None:
    told = promised()
    assert told.pop("policies") == ""
    assert told == search._HOME
    assert set(search.__all__) == {*told, "policies"}


def test_every_public_name_can_be_imported() -> None:
    for name in search.__all__:
        assert getattr(search, name) is getattr(search, name), name
    assert set(search.__all__) <= set(dir(search))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"'plyhouse\.search' has no attribute 'alpha_betta'"):
        getattr(search, "alpha_betta")  # noqa: B009 - a checker knows that there is none


def test_a_search_loads_only_what_it_needs() -> None:
    script = (
        "import sys; from plyhouse.search import Limit, alpha_beta; "
        "print([name for name in ('numpy', 'msgspec', 'plyhouse.search.monte_carlo.mcts') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_what_users_read_imports_from_the_top() -> None:
    assert len(WRITTEN_FOR_USERS) > 50
    for path in WRITTEN_FOR_USERS:
        deep = re.findall(r"(?:from|import) (plyhouse\.search\.\w+\S*)", path.read_text("utf-8"))
        assert set(deep) <= {"plyhouse.search.policies"}, path
