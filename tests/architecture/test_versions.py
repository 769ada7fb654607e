"""pyproject.toml, the pages and the tools agree on which Pythons are supported."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CLASSIFIER = re.compile(r"Programming Language :: Python :: (3\.\d+)")
SUPPORTED = [
    found[1] for line in PROJECT["project"]["classifiers"] if (found := CLASSIFIER.fullmatch(line))
]


def test_tools_use_the_oldest_supported_python() -> None:
    oldest = SUPPORTED[0]
    assert PROJECT["project"]["requires-python"] == f">={oldest}"
    assert PROJECT["tool"]["mypy"]["python_version"] == oldest
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + oldest.replace(".", "")
    wanted = f"sys.version_info < ({oldest.replace('.', ', ')})"
    assert wanted in (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_page_names_every_supported_python(page: str) -> None:
    sentence = f"You need Python {', '.join(SUPPORTED[:-1])} or {SUPPORTED[-1]}"
    assert sentence in (ROOT / page).read_text("utf-8")


def _command(place: Path, status: int = 0) -> Path:
    """Make a command that does nothing but end with ``status``."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\nexit {status}\n")
    place.chmod(0o755)
    return place


def test_ci_finds_the_supported_pythons_of_a_machine(tmp_path: Path) -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    function = re.search(r"^pythons\(\) \{\n.*?^\}\n", script, re.M | re.S)
    sed = shutil.which("sed")
    assert function is not None
    assert sed is not None
    commands, pyenv = tmp_path / "bin", tmp_path / "pyenv"
    _command(commands / "python3.9")  # too old
    _command(commands / f"python{SUPPORTED[0]}")
    _command(commands / f"python{SUPPORTED[1]}", status=1)  # cannot make environments
    newest = _command(pyenv / "versions" / f"{SUPPORTED[-1]}.4" / "bin" / "python3")
    (commands / "sed").symlink_to(sed)
    done = subprocess.run(
        ["/bin/bash", "-c", f"set -euo pipefail\n{function[0]}pythons"],
        cwd=ROOT,
        env={"PATH": str(commands), "PYENV_ROOT": str(pyenv)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [f"python{SUPPORTED[0]}", str(newest)]
    assert done.stderr == ""
