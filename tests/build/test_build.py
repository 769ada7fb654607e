"""The build: the sdist, the wheel made from it, and the fallback without a compiler."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.build.conftest import copy_tree, reuse_machine_code

Hook = Callable[..., subprocess.CompletedProcess[str]]

NO_COMPILER = "/nonexistent/cc"
HOT = (
    "games/native",
    "games/deterministic/connect_four/rules",
    "search/kernels/alpha_beta",
    "server/match/engine",
)


def the_wheel(folder: Path) -> Path:
    (wheel,) = folder.glob("*.whl")
    return wheel


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def note_in(wheel: Path) -> dict[str, Any]:
    with zipfile.ZipFile(wheel) as archive:
        note: dict[str, Any] = json.loads(archive.read("plyhouse/search/_build.json"))
    return note


def ask(wheel: Path, folder: Path, **environ: str) -> dict[str, Any]:
    """Unpack a wheel and run one of its searches in another process."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    script = """if True:
        import json
        import plyhouse.search as search
        from plyhouse.games.registry import get_game
        info = search.build_info()
        game = get_game("tic_tac_toe")
        result = search.alpha_beta(game, game.initial_state())
        print(json.dumps([search.__file__, info.variant, info.reason, info.stale, result.value]))
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PLYHOUSE_")}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(folder), **environ},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer[0].startswith(str(folder))
    return dict(zip(("file", "variant", "reason", "stale", "value"), answer, strict=True))


def compile_only(tree: Path, module: str) -> None:
    """Limit what a tree compiles: mypyc reads all modules for ten seconds, and one for a second."""
    script = tree / "setup.py"
    text, found = re.subn(
        r"^COMPILED = \(.*?^\)",
        f'COMPILED = ("{module}",)',
        script.read_text("utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    assert found == 1
    script.write_text(text, "utf-8")


def compiled_names(names: set[str]) -> set[str]:
    return {name for name in names if name.endswith((".so", ".pyd"))}


def test_the_sdist_has_all_that_building_and_testing_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in (
        "setup.py",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "Makefile",
        "MANIFEST.in",
        "games/py.typed",
        "games/deterministic/connect_four/rules.py",
        "search/kernels/node_state.py",
        "server/web/templates/layout.html",
        "tests/build/test_build.py",
        "tests/search/workload.py",
        "tests/games/golden/tic_tac_toe.txt",
    ):
        assert needed in names
    made = [
        name
        for name in names
        if name.endswith((".so", ".c", ".o", ".pyc", "_build.json"))
        and not name.startswith("examples/")  # a bot in C is source
        and not name.startswith("benchmarks/")  # rivals and trainers are written in C
    ]
    assert not made
    assert not [name for name in names if name.startswith(("tests/typing", "build/"))]


def test_copy_of_the_sources_leaves_out_an_sdist_that_is_made_beside_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for path in ("games/__init__.py", "tests/plyhouse-1.txt", "plyhouse-0.0.1/games/__init__.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    copy_tree(tmp_path / "copy", root)
    copied = {path.relative_to(tmp_path / "copy").as_posix() for path in tmp_path.glob("copy/**/*")}
    assert copied == {"games", "games/__init__.py", "tests", "tests/plyhouse-1.txt"}


def test_a_wheel_from_the_sdist_is_compiled_and_keeps_the_sources(
    sdist: Path, hook: Hook, tmp_path: Path, compiling: None
) -> None:
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since 3.11.4
        archive.extractall(tmp_path / "unpacked")
    (tree,) = (tmp_path / "unpacked").iterdir()
    reuse_machine_code(tree)
    hook("build_wheel", tree, tmp_path / "dist", PLYHOUSE_COMPILE="1")
    wheel = the_wheel(tmp_path / "dist")
    assert not wheel.name.endswith("none-any.whl")
    names = names_in(wheel)
    for module in HOT:
        assert f"plyhouse/{module}.py" in names
        assert [name for name in compiled_names(names) if name.startswith(f"plyhouse/{module}.")]
    assert any(name.startswith("plyhouse/games/_native_chess__mypyc.") for name in names)
    assert any(name.startswith("plyhouse/search/kernels/alpha_beta_native.") for name in names)
    assert all(name.startswith(("plyhouse/", "plyhouse-")) for name in names)
    assert note_in(wheel)["compiled"]
    answer = ask(wheel, tmp_path / "site")
    assert (answer["variant"], answer["stale"], answer["value"]) == ("compiled", [], 0.0)
    pure = ask(wheel, tmp_path / "site", PLYHOUSE_PURE="1")
    assert (pure["variant"], pure["value"]) == ("pure", 0.0)


def test_without_a_compiler_the_wheel_is_pure_and_says_so(
    tree: Path, hook: Hook, tmp_path: Path
) -> None:
    done = hook("build_wheel", tree, tmp_path / "dist", CC=NO_COMPILER)
    assert "could not be compiled and is installed as pure Python" in done.stdout
    wheel = the_wheel(tmp_path / "dist")
    assert wheel.name.endswith("py3-none-any.whl")
    assert not compiled_names(names_in(wheel))
    note = note_in(wheel)
    assert not note["compiled"]
    assert note["reason"] == (
        f"Compiling failed at installation: the C compiler {NO_COMPILER} is not installed; "
        "on Debian and Ubuntu: apt install gcc"
    )
    assert not (tree / "build" / "native" / "log.txt").exists(), "mypyc ran in vain"
    answer = ask(wheel, tmp_path / "site")
    assert (answer["variant"], answer["reason"]) == ("pure", note["reason"] + ".")
    assert answer["value"] == 0.0


def test_a_failure_to_compile_is_fatal_when_compiling_is_demanded(
    tree: Path, hook: Hook, tmp_path: Path
) -> None:
    dist = tmp_path / "dist"
    done = hook("build_wheel", tree, dist, check=False, CC=NO_COMPILER, PLYHOUSE_COMPILE="1")
    assert done.returncode != 0
    assert "PLYHOUSE_COMPILE=1, but compiling failed: " in done.stdout
    assert not list(dist.glob("*.whl"))


def test_compiling_can_be_declined(tree: Path, hook: Hook, tmp_path: Path) -> None:
    hook("build_wheel", tree, tmp_path / "dist", PLYHOUSE_COMPILE="0")
    wheel = the_wheel(tmp_path / "dist")
    assert wheel.name.endswith("py3-none-any.whl")
    names = names_in(wheel)
    assert not compiled_names(names)
    for data in ("server/web/templates/layout.html", "clients/web/style.css"):
        assert f"plyhouse/{data}" in names
    assert note_in(wheel)["reason"] == "PLYHOUSE_COMPILE=0 was set for the build"


def test_a_wish_that_cannot_be_read_is_an_error(tree: Path, hook: Hook, tmp_path: Path) -> None:
    done = hook("build_wheel", tree, tmp_path / "dist", check=False, PLYHOUSE_COMPILE="yes")
    assert done.returncode != 0
    assert "PLYHOUSE_COMPILE='yes': expected 0, 1 or nothing" in done.stdout


def test_an_editable_build_puts_machine_code_beside_the_sources_and_takes_it_away(
    tree: Path, hook: Hook, tmp_path: Path, compiling: None
) -> None:
    reuse_machine_code(tree)
    hook("build_editable", tree, tmp_path / "dist", PLYHOUSE_COMPILE="1")
    for module in HOT:
        folder, _, stem = module.rpartition("/")
        assert list((tree / folder).glob(f"{stem}.*.so"))
    assert list((tree / "games").glob("_native_chess__mypyc.*"))
    assert json.loads((tree / "search" / "_build.json").read_text())["compiled"]
    hook("build_editable", tree, tmp_path / "dist", PLYHOUSE_COMPILE="0")
    assert not list((tree / "games").rglob("*.so"))
    assert not list((tree / "search").rglob("*.so"))
    assert not json.loads((tree / "search" / "_build.json").read_text())["compiled"]


def test_a_source_that_mypyc_rejects_leaves_everything_pure(
    tree: Path, hook: Hook, tmp_path: Path, compiling: None
) -> None:
    module = "games/stochastic/pig.py"
    with (tree / module).open("a") as source:
        source.write('\n\nBROKEN: int = "no number"\n')
    compile_only(tree, module)
    done = hook("build_wheel", tree, tmp_path / "dist")
    assert "installed as pure Python" in done.stdout
    note = note_in(the_wheel(tmp_path / "dist"))
    assert "plyhouse/games/stochastic/pig.py" in note["reason"]
    assert not compiled_names(names_in(the_wheel(tmp_path / "dist")))
