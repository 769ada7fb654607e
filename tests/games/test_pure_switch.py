from __future__ import annotations

import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES, SourceFileLoader
from pathlib import Path

import pytest

from plyhouse.games import _pure, native

PRINT_VARIANT = (
    "from plyhouse.games import native; "
    "from plyhouse.games.deterministic import tic_tac_toe; "
    "print(native.COMPILED, native.__file__.endswith('.py'), tic_tac_toe.__file__.endswith('.py'))"
)


def test_the_switch_loads_source_files() -> None:
    environment = {**os.environ, "PLYHOUSE_PURE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PRINT_VARIANT],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", "True", "True"]


@pytest.mark.parametrize(
    ("value", "interpreted"), [("1", "True True"), ("server", "{} True"), ("0", "{} {}")]
)
def test_the_server_can_be_interpreted_alone(value: str, interpreted: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import plyhouse.server.match.clock as clock; from plyhouse.games import native;"
            "print(native.__file__.endswith('.py'), clock.__file__.endswith('.py'))",
        ],
        env={**os.environ, "PLYHOUSE_PURE": value},
        capture_output=True,
        text=True,
        check=True,
    )
    # A tree may hold the machine code of another Python only.
    built = any(Path(native.__file__).parent.glob(f"*{EXTENSION_SUFFIXES[0]}"))
    assert done.stdout.strip() == interpreted.format(not built, not built)


def test_the_loaded_variant_is_told_truly() -> None:
    assert native.COMPILED is not native.__file__.endswith(".py")


def test_source_is_found_although_a_compiled_module_lies_beside(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text("x = 1")
    (tmp_path / f"rules{EXTENSION_SUFFIXES[0]}").write_bytes(b"not really compiled")
    finder = _pure.PureFinder()
    for package in ("plyhouse.games", "plyhouse.search", "plyhouse.server"):
        spec = finder.find_spec(f"{package}.rules", [str(tmp_path)])
        assert spec is not None
        assert isinstance(spec.loader, SourceFileLoader)
        assert spec.origin == str(tmp_path / "rules.py")


@pytest.mark.parametrize("name", ["plyhouse.protocol.rules", "other.rules", "rules"])
def test_other_modules_are_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / "rules.py").write_text("x = 1")
    assert _pure.PureFinder().find_spec(name, [str(tmp_path)]) is None


def test_missing_modules_are_left_to_the_usual_finders(tmp_path: Path) -> None:
    assert _pure.PureFinder().find_spec("plyhouse.games.rules", [str(tmp_path)]) is None
    assert _pure.PureFinder().find_spec("plyhouse.games.rules", None) is None


@pytest.mark.parametrize(
    ("value", "pure"),
    [("1", True), ("yes", True), ("0", False), ("", False), ("false", False), ("Off", False)],
)
def test_values_of_the_switch(value: str, pure: bool) -> None:
    assert _pure.wanted({"PLYHOUSE_PURE": value}) is pure
    assert _pure.wanted({}) is False


def test_the_finder_is_installed_once_and_first(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = [f for f in sys.meta_path if not isinstance(f, _pure.PureFinder)]
    monkeypatch.setattr(sys, "meta_path", plain)
    assert _pure.install({}) is False
    assert _pure.install({"PLYHOUSE_PURE": "1"}) is True
    assert _pure.install({"PLYHOUSE_PURE": "1"}) is True
    assert isinstance(sys.meta_path[0], _pure.PureFinder)
    assert sum(isinstance(finder, _pure.PureFinder) for finder in sys.meta_path) == 1
