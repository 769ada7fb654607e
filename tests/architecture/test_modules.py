"""A module has one subject and fewer than 500 lines; the docstring of its package names it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.harness.source_tree import TOP, folder_of, modules

LINES = 500
LONG = {
    "bots/process/supervisor.py": "one state machine: the life of a bot's process",
    "bots/running/python_session.py": "one object: a bot's connection with all its matches",
    "clients/cli/play.py": "one command, with its conversation",
    "clients/runner/machine.py": "one loop that repairs a runner's differences from its plan",
    "games/base.py": "the interface of games, which authors read in one piece",
    "games/deterministic/checkers/rules.py": "the rules of one game",
    "games/deterministic/chess/rules.py": "the rules of one game",
    "games/hidden/leduc_poker.py": "the rules of one game",
    "games/stochastic/pacman/rules.py": "the rules of one game",
    "search/kernels/alpha_beta_full.py": "one recursion, whose parts call each other in C",
    "server/match/engine.py": "one state machine: a match",
    "server/table/live.py": "one queue: the effects of a match in order",
    "storage/competition_entries.py": "one subject: who may enter, and which version",
    "storage/models.py": "all tables, which are read side by side",
}
"""The modules that are longer, each with the reason."""

SMALL = 60
FEW = 27
"""Modules of fewer than `SMALL` lines are rare: at most this number."""

FUNCTION = 60
LONG_FUNCTIONS = 28
"""At most so many functions have more lines than `FUNCTION`, without their docstrings."""

UNLISTED = {
    "bots/reference": "a module for each bot",
    "clients/cli": "a module for each command",
    "games/deterministic": "a module or a package for each game",
    "games/hidden": "a module or a package for each game",
    "games/stochastic": "a module or a package for each game",
    "search/kernels": "a module for each search",
    "storage/migrations": "a module for each schema",
}
"""Packages, with those inside, whose modules need no list."""

PACKAGES = {
    Path(top) / init.parent.relative_to(folder_of(top)): init.parent
    for top in TOP
    for init in folder_of(top).rglob("__init__.py")
}
"""The folder of each package, by its name in the repository."""


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_module_stays_below_500_lines() -> None:
    found = {
        f"{top}/{path.relative_to(folder_of(top)).as_posix()}": lines_of(path)
        for top in TOP
        for path in modules(top)
    }
    long = {name: lines for name, lines in found.items() if lines > LINES}
    grown = {name: lines for name, lines in long.items() if name not in LONG}
    assert not grown, f"split these by subject, or state in {Path(__file__).name} why not: {grown}"
    assert long.keys() == LONG.keys(), f"short now: {LONG.keys() - long.keys()}"


def test_small_modules_stay_few() -> None:
    small = [
        f"{top}/{path.relative_to(folder_of(top)).as_posix()}"
        for top in TOP
        for path in modules(top)
        if not path.name.startswith("_") and lines_of(path) < SMALL
    ]
    apart = tuple(f"{name}/" for name in UNLISTED)
    counted = [name for name in small if not name.startswith(apart)]
    assert len(counted) <= FEW, f"merge the new ones into modules of their subject: {counted}"
    assert len(counted) == FEW, f"set FEW to {len(counted)}"


def length_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Its lines, without those of its docstring."""
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    docstring = ast.get_docstring(function, clean=False)
    described = docstring.count("\n") + 1 if docstring else 0
    return (function.end_lineno or first) - first + 1 - described


def test_long_functions_stay_few() -> None:
    long = [
        f"{top}/{path.relative_to(folder_of(top)).as_posix()}: {each.name}"
        for top in TOP
        for path in modules(top)
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        if length_of(each) > FUNCTION
    ]
    assert len(long) <= LONG_FUNCTIONS, f"look for a subject of its own in the new ones: {long}"
    assert len(long) == LONG_FUNCTIONS, f"set LONG_FUNCTIONS to {len(long)}"


def listed(docstring: str) -> set[str]:
    """The names in the first columns of the tables of a docstring."""
    columns = re.findall(r"^ *((?:[a-z_/]+, )*[a-z_/]+) {2,}\S", docstring, re.MULTILINE)
    return {name.rstrip("/") for column in columns for name in column.split(", ")}


@pytest.mark.parametrize("package", sorted(PACKAGES), ids=str)
def test_docstring_of_package_names_its_modules(package: Path) -> None:
    if any(package.is_relative_to(each) for each in UNLISTED):
        return
    folder = PACKAGES[package]
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    inside = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    missing = {name for name in inside if not re.search(rf"\b{name}\b", docstring)}
    assert not missing, f"{package}/__init__.py does not name {missing}"
    known = {path.stem for path in folder.iterdir()}
    assert listed(docstring) <= known, f"{package} has no {listed(docstring) - known}"
