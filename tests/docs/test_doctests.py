"""Every example in a docstring is true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

PACKAGES = ("games", "search", "protocol", "storage", "server", "bots", "clients")


def with_examples() -> list[str]:
    """The modules that have examples, by their full names."""
    found = []
    for top in PACKAGES:
        package = importlib.import_module(f"plyhouse.{top}")
        assert package.__file__ is not None
        folder = Path(package.__file__).parent
        for path in sorted(folder.rglob("*.py")):
            if "\n>>> " in (text := path.read_text(encoding="utf-8")) or "    >>> " in text:
                inside = path.relative_to(folder).with_suffix("").parts
                parts = [part for part in inside if part != "__init__"]
                found.append(".".join(["plyhouse", top, *parts]))
    return found


@pytest.mark.parametrize("name", with_examples())
def test_examples_in_docstrings_are_true(name: str) -> None:
    tried = doctest.testmod(importlib.import_module(name))
    assert tried.attempted > 0
    assert tried.failed == 0
