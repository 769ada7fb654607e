"""Compiled templates are cached on disk for the next server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, FileSystemLoader

from plyhouse.server.web.pages.rendering import bytecode_cache


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Names of the templates that are compiled."""
    made: list[str | None] = []
    whole: Any = Environment.compile

    def compile_(self: Environment, source: str, name: str | None = None, *rest: str) -> object:
        made.append(name)
        return whole(self, source, name, *rest)

    monkeypatch.setattr("jinja2.environment.Environment.compile", compile_)
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setattr("sys.pycache_prefix", None)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "hello.html").write_text("Hello, {{ name }}!")
    return folder


def rendered(folder: Path) -> str:
    """Render the template as a new server does."""
    cache = bytecode_cache(folder)
    loader = FileSystemLoader(folder)
    environment = Environment(loader=loader, bytecode_cache=cache, autoescape=True)
    return environment.get_template("hello.html").render(name="<Ada>")


def test_template_is_compiled_once_until_it_changes(
    folder: Path, compiled: list[str | None]
) -> None:
    assert [rendered(folder), rendered(folder)] == ["Hello, &lt;Ada&gt;!"] * 2
    assert compiled == ["hello.html"]
    (folder / "hello.html").write_text("Bye, {{ name }}!")
    assert rendered(folder) == "Bye, &lt;Ada&gt;!"
    assert compiled == ["hello.html"] * 2


@pytest.mark.parametrize("damage", [b"", b"nothing of ours", None])
def test_corrupt_cache_is_rebuilt(
    folder: Path, compiled: list[str | None], damage: bytes | None
) -> None:
    rendered(folder)
    (cached,) = (folder / "__pycache__").iterdir()
    cached.write_bytes(cached.read_bytes()[:-20] if damage is None else damage)
    assert rendered(folder) == "Hello, &lt;Ada&gt;!"
    assert compiled == ["hello.html"] * 2


def test_unwritable_folder_disables_the_cache(folder: Path, compiled: list[str | None]) -> None:
    (folder / "__pycache__").write_text("a file blocks the folder, even for root")
    assert [rendered(folder), rendered(folder)] == ["Hello, &lt;Ada&gt;!"] * 2
    assert compiled == ["hello.html"] * 2


def test_dont_write_bytecode_disables_the_cache(
    folder: Path, compiled: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    rendered(folder)
    assert os.listdir(folder) == ["hello.html"]
