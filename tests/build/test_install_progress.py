"""What `make demo` and `make test` show while they install."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = """
import pathlib, time
folder, looks = pathlib.Path({folder!r}), pathlib.Path({looks!r})
def shown():
    least = looks.stat().st_size + 2  # the next look may have begun before the last file came
    while looks.stat().st_size < least:
        time.sleep(0.01)
shown()
for name in ("modules.txt", "c/a.c", "c/b.c", "o/c/a.o", "stamp.txt"):
    folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
    folder.joinpath(name).write_text("")
    if name != "c/a.c":
        shown()
raise SystemExit(3)
"""
"""What pip writes, step by step; each step waits until the watcher has looked at the last."""


@pytest.fixture
def install() -> ModuleType:
    spec = importlib.util.spec_from_file_location("install", ROOT / ".ci" / "install.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("compiling", "time"), [(True, "one to three"), (False, "less than a")])
def test_announcement_names_packages_and_time(
    install: ModuleType, compiling: bool, time: str
) -> None:
    told = " ".join(install.announcement(ROOT / "pyproject.toml", compiling).split())
    assert "sqlalchemy" in told
    assert f"takes {time} minute" in told


def test_each_stage_of_an_installation_is_shown_once(
    install: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    native, looks, stage = tmp_path / "native", tmp_path / "looks", install.stage
    looks.touch()

    def look(folder: Path, began: float) -> str:
        found: str = stage(folder, began)
        with looks.open("a") as file:
            file.write(".")
        return found

    monkeypatch.setattr(install, "stage", look)
    old = native / "o" / "c" / "old.o"
    old.parent.mkdir(parents=True)
    old.touch()
    os.utime(old, (0, 0))
    build = BUILD.format(folder=str(native), looks=str(looks))
    code = install.watch([sys.executable, "-c", build], native)
    assert code == 3, "the exit code is pip's"
    lines = [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "downloading what the installation needs",
        "translating games and searches to C",
        "compiling: 0 of 2 C files",
        "installing packages",
    ]


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment that counts as installed, whose `plyhouse` says how it was called."""
    program = tmp_path / "bin" / "plyhouse"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "called: $*"\n')
    program.chmod(0o755)
    (tmp_path / "bin" / "python").touch()
    (tmp_path / ".run").touch()
    return tmp_path


@pytest.mark.parametrize(("terminal", "called"), [(True, "demo --keep"), (False, "demo")])
def test_make_demo_keeps_the_server_in_a_terminal_only(
    environment: Path, terminal: bool, called: str
) -> None:
    read, write = os.openpty() if terminal else os.pipe()
    command = ["make", "demo", f"VENV={environment}"]
    # `make test-all` runs this test, too, and make within make says which folder it enters.
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    subprocess.run(command, cwd=ROOT, stdout=write, env=env, check=True)
    said = os.read(read, 1000).decode()
    os.close(read)
    os.close(write)
    assert said.strip() == f"called: {called}"
