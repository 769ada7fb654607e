"""A copy of the source tree, without anything built and without git, to build from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MADE = shutil.ignore_patterns(
    "__pycache__", "node_modules", "*.so", "*.pyd", "_build.json", "*.egg-info", ".*_cache", "*.db*"
)
MADE_AT_ROOT = shutil.ignore_patterns(
    *(".git", ".venv*", ".hypothesis", "build", "dist", "site"),
    "plyhouse-[0-9]*",  # CI makes an sdist in this tree beside the tests, in such a folder
)

Hook = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def compiling() -> None:
    """Tests that compile need mypyc and a C compiler."""
    try:
        import mypyc.build
    except ImportError:
        missing = "mypyc"
    else:
        assert mypyc.build
        found = shutil.which(os.environ.get("CC", "cc").split()[0])
        missing = "" if found else "a C compiler"
    if missing and os.environ.get("PLYHOUSE_REQUIRE_COMPILED") == "1":
        pytest.fail(f"PLYHOUSE_REQUIRE_COMPILED=1, but there is no {missing}")
    if missing:
        pytest.skip(f"there is no {missing} here")


def copy_tree(target: Path, root: Path = ROOT) -> Path:
    if not (root / "games" / "__init__.py").is_file():
        pytest.skip("the sources are not here: these are the tests of an installed wheel")

    def left_out(folder: str, names: list[str]) -> set[str]:
        at_root = MADE_AT_ROOT(folder, names) if Path(folder) == root else set()
        return at_root | MADE(folder, names)

    shutil.copytree(root, target, ignore=left_out, symlinks=True)
    return target


def reuse_machine_code(tree: Path) -> None:
    """Copy this tree's machine code to another, so that only differences are compiled again.

    Compiling everything takes minutes, and every installation tests it: `make` before these
    tests, and the check of the wheel.
    """
    made = ROOT / "build" / "native"
    if made.is_dir():
        shutil.copytree(made, tree / "build" / "native")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A fresh copy of the sources."""
    return copy_tree(tmp_path / "tree")


@pytest.fixture(scope="session")
def hook() -> Hook:
    """Call a hook of the build backend as pip does, without a separate environment."""

    def call(
        name: str, tree: Path, out: Path, *, check: bool = True, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        out.mkdir(exist_ok=True)
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("PLYHOUSE_") and key != "PYTHONPATH"
        }
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys, setuptools.build_meta as backend;"
                "getattr(backend, sys.argv[1])(sys.argv[2])",
                name,
                str(out),
            ],
            cwd=tree,
            env={**kept, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        if check:
            assert done.returncode == 0, done.stdout[-4000:]
        return done

    return call


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory, hook: Hook) -> Path:
    """The source distribution, built once."""
    folder = tmp_path_factory.mktemp("sdist")
    tree = copy_tree(folder / "tree")
    hook("build_sdist", tree, folder / "dist")
    (made,) = (folder / "dist").glob("*.tar.gz")
    return made
