"""Kernels get their typed copys, and compiled modules hold nothing that mypyc translates badly."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "search" / "kernels"
OF_ONE_GAME = {"checkers_endgames", "features"}
"""They name the classes of their states, so that one form of them is enough."""

if not KERNELS.is_dir():
    pytest.skip("the sources are not here: an installed wheel", allow_module_level=True)


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """setup.py as a module: only pip runs it as a script."""
    spec = importlib.util.spec_from_file_location("plyhouse_setup", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "imported",
    [
        "from plyhouse.search.kernels.node_state import NodeState",
        "from plyhouse.search.kernels.node_state import NodeState  # the type of nodes",
        "from plyhouse.search.kernels.node_state import (NodeState,)",
        "from plyhouse.search.kernels.node_state import (\n    NodeState,\n)",
        "from plyhouse.search.kernels.node_state import \\\n    NodeState",
    ],
)
def test_the_import_is_found_however_it_is_formatted(build: ModuleType, imported: str) -> None:
    made = build.typed_copy("kernel.py", f'"""A kernel."""\n\n{imported}\n\nLAST = NodeState\n')
    assert "node_state" not in made
    before, last = made.splitlines(), 4 + imported.count("\n")
    assert before[2] == "from plyhouse.games.native import NativeState as NodeState"
    assert before[last] == "LAST = NodeState"  # errors of the compiler name the kernel's lines
    ast.parse(made)


@pytest.mark.parametrize(
    "imported",
    [
        "from plyhouse.search.kernels.node_state import NodeState as Node",
        "from plyhouse.search.kernels import node_state",
        "import plyhouse.search.kernels.node_state",
        "from plyhouse.search.kernels.node_state import *",
        "if True:\n    from plyhouse.search.kernels.node_state import NodeState",
        "from plyhouse.search.kernels.node_state import NodeState\n"
        "from plyhouse.search.kernels.node_state import NodeState",
    ],
)
def test_an_import_that_has_no_typed_copy_ends_the_build(build: ModuleType, imported: str) -> None:
    with pytest.raises(
        build.SetupError, match=r"kernel\.py, line .*: to get a typed copy, write once"
    ):
        build.typed_copy("kernel.py", imported + "\n")


def test_a_kernel_without_nodes_needs_none(build: ModuleType) -> None:
    text = (
        "from plyhouse.search.kernels.leaf_evaluation import Leaves\n"
        "from plyhouse.search.kernels import X\n"
    )
    assert build.typed_copy("kernel.py", text) is None


def test_every_kernel_that_plays_actions_has_its_typed_copy(build: ModuleType) -> None:
    texts = {path.stem: path.read_text("utf-8") for path in KERNELS.glob("*.py")}
    playing = {name for name, text in texts.items() if ".after(" in text} - OF_ONE_GAME
    assert len(playing) > 10
    assert [name for name in sorted(playing) if build.typed_copy(name, texts[name]) is None] == []


def test_every_kernel_that_searches_ask_for_by_type_has_its_typed_copy(build: ModuleType) -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "search").rglob("*.py")]
    asked = {
        module
        for text in texts
        if "kernel_for(" in text or "tree_search(" in text
        for module in re.findall(r"search\.kernels\.(\w+) import \w*Kernel\b", text)
    }
    assert len(asked) > 8
    for name in asked:
        text = (KERNELS / f"{name}.py").read_text("utf-8")
        assert build.typed_copy(name, text) is not None, name


def test_machine_code_of_another_tree_is_taken_only_if_made_from_the_same(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, own = tmp_path / "theirs", tmp_path / "own"
    (theirs / "lib" / "plyhouse").mkdir(parents=True)
    (theirs / "lib" / "plyhouse" / "pig.so").write_bytes(b"code")
    (own / "lib").mkdir(parents=True)
    (own / "lib" / "old.so").write_bytes(b"old")
    monkeypatch.setattr(build, "NATIVE", own)
    monkeypatch.delenv("PLYHOUSE_NATIVE", raising=False)
    assert not build.take_over("same")
    monkeypatch.setenv("PLYHOUSE_NATIVE", str(theirs))
    assert not build.take_over("same"), "it is not finished"
    (theirs / "stamp.txt").write_text("other")
    assert not build.take_over("same")
    assert (own / "lib" / "old.so").is_file()
    (theirs / "stamp.txt").write_text("same")
    assert build.take_over("same")
    assert [path.name for path in own.rglob("*.so")] == ["pig.so"]


def test_missing_headers_of_python_are_named_with_their_package(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "true")  # a program that every machine has
    monkeypatch.setattr(build.sysconfig, "get_path", lambda name: str(tmp_path))
    assert build.missing_tool() == (
        f"{tmp_path / 'Python.h'} is missing; on Debian and Ubuntu: apt install python3-dev"
    )
    (tmp_path / "Python.h").touch()
    assert build.missing_tool() == ""


def test_compiled_modules_await_nothing(build: ModuleType) -> None:
    # mypyc passes an exception on with throw(type, value, traceback), deprecated by Python 3.12.
    waits = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.YieldFrom)
    found = [
        f"{path}:{node.lineno}"
        for path in build.sources()
        for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8")))
        if isinstance(node, waits)
    ]
    assert found == []
