"""Compiled templates are kept for the next server, while they are what it would make itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2 import Environment, FileSystemLoader

from plyhouse.server.web.pages.template_cache import KeptTemplates


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Names of the templates that are compiled."""
    made: list[str | None] = []
    whole: Any = jinja2.environment.Environment.compile

    def compile_(self: Environment, source: str, name: str | None = None, *rest: str) -> object:
        made.append(name)
        return whole(self, source, name, *rest)

    monkeypatch.setattr("jinja2.environment.Environment.compile", compile_)
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.pycache_prefix", None)
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "hello.html").write_text("Hello, {{ name }}!")
    (tmp_path / "settings.py").write_text("one")
    return folder


def rendered(folder: Path) -> str:
    """What a new server makes of the template."""
    kept = KeptTemplates(folder, [str(folder.parent / "settings.py")])
    environment = Environment(loader=FileSystemLoader(folder), bytecode_cache=kept, autoescape=True)
    return environment.get_template("hello.html").render(name="<Ada>")


def test_a_template_is_compiled_once(folder: Path, compiled: list[str | None]) -> None:
    assert [rendered(folder), rendered(folder)] == ["Hello, &lt;Ada&gt;!"] * 2
    assert compiled == ["hello.html"]
    assert [path.suffix for path in (folder / "__pycache__").iterdir()] == [".jinja"]


def test_a_template_that_has_changed_is_compiled_anew(
    folder: Path, compiled: list[str | None]
) -> None:
    rendered(folder)
    (folder / "hello.html").write_text("Bye, {{ name }}!")
    assert rendered(folder) == "Bye, &lt;Ada&gt;!"
    assert compiled == ["hello.html"] * 2


def test_what_other_settings_made_is_not_used(folder: Path, compiled: list[str | None]) -> None:
    rendered(folder)
    (folder.parent / "settings.py").write_text("two: escape nothing")
    rendered(folder)
    assert compiled == ["hello.html"] * 2


@pytest.mark.parametrize("damage", [b"", b"nothing of ours", None])
def test_what_is_damaged_is_made_anew(
    folder: Path, compiled: list[str | None], damage: bytes | None
) -> None:
    rendered(folder)
    (kept,) = (folder / "__pycache__").iterdir()
    kept.write_bytes(kept.read_bytes()[:-20] if damage is None else damage)
    assert rendered(folder) == "Hello, &lt;Ada&gt;!"
    assert compiled == ["hello.html"] * 2


def test_where_nothing_can_be_written_pages_are_made_all_the_same(
    folder: Path, compiled: list[str | None]
) -> None:
    (folder / "__pycache__").write_text("a file is in the way")  # root may write everywhere else
    assert [rendered(folder), rendered(folder)] == ["Hello, &lt;Ada&gt;!"] * 2
    assert compiled == ["hello.html"] * 2


def test_python_may_be_told_to_keep_nothing(
    folder: Path, compiled: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    rendered(folder)
    assert os.listdir(folder) == ["hello.html"]
