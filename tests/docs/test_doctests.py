"""Every example in a docstring is true."""

from __future__ import annotations

import ast
import doctest
import importlib
from pathlib import Path

import pytest

PACKAGES = ("games", "search", "learning", "protocol", "storage", "server", "bots", "clients")


def with_examples() -> list[tuple[str, Path]]:
    """The modules that have examples, by their full names, with their sources."""
    found = []
    for top in PACKAGES:
        package = importlib.import_module(f"plyhouse.{top}")
        assert package.__file__ is not None
        folder = Path(package.__file__).parent
        for path in sorted(folder.rglob("*.py")):
            if ">>> " in path.read_text(encoding="utf-8"):
                inside = path.relative_to(folder).with_suffix("").parts
                parts = [part for part in inside if part != "__init__"]
                found.append((".".join(["plyhouse", top, *parts]), path))
    return found


def examples(name: str, source: Path) -> list[doctest.DocTest]:
    """The examples of a module, one test for each docstring.

    They are read from the source, as compiled modules have no docstrings, and run with what
    the module holds: so those of compiled modules show what the machine code does.
    """
    module = importlib.import_module(name)
    parser = doctest.DocTestParser()
    found = []
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        text = ast.get_docstring(node)
        if text and ">>> " in text:
            place = name if isinstance(node, ast.Module) else f"{name}.{node.name}"
            line = node.body[0].lineno - 1
            found.append(parser.get_doctest(text, dict(vars(module)), place, str(source), line))
    return found


FOUND = dict(with_examples())


@pytest.mark.parametrize("name", FOUND)
def test_examples_in_docstrings_are_true(name: str) -> None:
    runner = doctest.DocTestRunner()
    for test in examples(name, FOUND[name]):
        runner.run(test)
    assert runner.tries > 0
    assert runner.failures == 0


def test_examples_of_compiled_modules_are_found() -> None:
    for name in ("plyhouse.games.deterministic.chess.rules", "plyhouse.games.counting"):
        assert examples(name, FOUND[name])
