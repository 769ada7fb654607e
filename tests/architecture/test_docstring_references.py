"""References to modules, classes and functions in docstrings and pages name what exists."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("bots", "clients", "games", "protocol", "search", "server", "storage")
REFERENCE = re.compile(rf"`(plyhouse\.(?:{'|'.join(PACKAGES)})(?:\.\w+)+)`")


def references() -> dict[str, str]:
    """Return a file for each reference."""
    return {
        found: str(path.relative_to(ROOT))
        for package in (*PACKAGES, "docs", "tests")
        for path in sorted((ROOT / package).rglob("*"))
        if path.suffix in (".py", ".md")
        for found in REFERENCE.findall(path.read_text("utf-8"))
    }


def is_module(name: str) -> bool:
    """Return whether a module exists, in the sources or installed from a wheel."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


@pytest.mark.parametrize(("reference", "file"), references().items())
def test_docstring_reference_exists(reference: str, file: str) -> None:
    parts = reference.split(".")
    prefixes = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    module = next(filter(is_module, prefixes))
    target: object = importlib.import_module(module)
    for name in parts[module.count(".") + 1 :]:
        annotated = name in getattr(target, "__annotations__", {})
        assert annotated or hasattr(target, name), f"{file} refers to {reference}"
        target = getattr(target, name, None)
