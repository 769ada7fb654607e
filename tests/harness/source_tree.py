"""The modules of the source tree and what they import."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from importlib import util
from pathlib import Path

TOP = ("games", "search", "learning", "protocol", "storage", "server", "bots", "clients")


def folder_of(package: str) -> Path:
    """Where an installed package of ours lies: the repository or a wheel's site-packages."""
    spec = util.find_spec(f"plyhouse.{package}")
    assert spec is not None, package
    assert spec.origin is not None, package
    return Path(spec.origin).parent


@functools.cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """Every absolute import in a file, also those inside functions and ``TYPE_CHECKING``."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            assert node.module is not None
            if node.module in {"plyhouse", "plyhouse.clients"}:
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module


def modules(top: str) -> list[Path]:
    return sorted(folder_of(top).rglob("*.py"))
