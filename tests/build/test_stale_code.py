"""Importing machine code older than its source warns, and the tests refuse it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plyhouse.games import _build, native
from plyhouse.games._build import changed, noted, stale_sentence

ROOT = Path(__file__).resolve().parents[2]
EDITED = "games/deterministic/nim.py"


def linked(source: str, target: str) -> None:
    """Like copying, where nobody writes: the machine code is large."""
    if source.endswith((".so", ".pyd")):
        os.symlink(source, target)
    else:
        Path(target).write_bytes(Path(source).read_bytes())


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """A source tree, compiled, in which a game has been edited since; its parent to import from."""
    if not native.COMPILED:
        pytest.skip("nothing is compiled here, so nothing can be too old")
    house = tmp_path / "plyhouse"
    for top in sorted({Path(name).parts[0] for name in noted()["sources"]}):
        copy_of(_build.ROOT / top, house / top)
    (house / "setup.py").touch()
    note = house / "search" / "_build.json"
    later = note.stat().st_mtime_ns + 1_000_000_000
    os.utime(note, ns=(later, later))
    with (house / EDITED).open("a") as source:
        source.write("\n# a rule that the machine code does not know\n")
    os.utime(house / EDITED, ns=(later + 1, later + 1))
    return tmp_path


def copy_of(source: Path, target: Path) -> None:
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name != "__pycache__"]
        here = target / Path(folder).relative_to(source)
        here.mkdir(parents=True)
        for name in files:
            linked(os.path.join(folder, name), str(here / name))


def python(*arguments: str, at: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "PLYHOUSE_PURE"}
    return subprocess.run(
        [sys.executable, *arguments],
        env={**kept, "PYTHONPATH": str(at), **environ},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_importing_warns_once_with_the_command_that_builds_again(edited: Path) -> None:
    done = python("-c", "import plyhouse.games, plyhouse.search.kernels", at=edited)
    assert done.returncode == 0
    assert done.stderr.count("StaleBuild: ") == 1
    assert f"older than its source ({EDITED})" in done.stderr
    assert f"-m pip install --no-deps --editable {edited / 'plyhouse'}" in done.stderr


def test_interpreted_modules_are_never_too_old(edited: Path) -> None:
    done = python("-c", "import plyhouse.games", at=edited, PLYHOUSE_PURE="1")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_was_only_touched_is_fine(edited: Path) -> None:
    file = edited / "plyhouse" / EDITED
    file.write_bytes((_build.ROOT / EDITED).read_bytes())
    done = python("-c", "import plyhouse.games", at=edited)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_installation_is_not_looked_through(edited: Path) -> None:
    (edited / "plyhouse" / "setup.py").unlink()
    done = python("-c", "import plyhouse.games", at=edited)
    assert (done.returncode, done.stderr) == (0, "")


def test_code_built_for_another_python_is_no_concern(edited: Path) -> None:
    note = edited / "plyhouse" / "search" / "_build.json"
    note.write_text(json.dumps({**noted(note), "python": "cpython-399"}))
    done = python("-c", "import plyhouse.games", at=edited)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_tests_refuse_to_run_on_old_code(edited: Path) -> None:
    here = str(Path(__file__).parent)
    done = python("-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", here, at=edited)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"older than its source ({EDITED})" in done.stderr
    assert f"-m pip install --no-deps --editable {edited / 'plyhouse'}" in done.stderr


def test_changed_sources_are_named(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    for name in ("same", "other"):
        (tmp_path / "games" / f"{name}.py").write_text("A = 1\n")
    digest = hashlib.sha256(b"A = 1\n").hexdigest()
    digests = {f"games/{name}.py": digest for name in ("same", "other", "gone")}
    assert changed(digests, tmp_path) == ("games/gone.py",)
    other = tmp_path / "games" / "other.py"
    other.write_text("A = 2\n")
    assert changed(digests, tmp_path) == ("games/other.py", "games/gone.py")
    written = other.stat().st_mtime_ns
    assert changed(digests, tmp_path, since=written) == ("games/other.py", "games/gone.py")
    assert changed(digests, tmp_path, since=written + 1) == ("games/gone.py",)


def test_many_changed_sources_are_counted() -> None:
    sentence = stale_sentence(f"games/{letter}.py" for letter in "abcde")
    assert "(games/a.py, games/b.py, games/c.py and 2 more)" in sentence


def test_a_note_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    note = tmp_path / "_build.json"
    assert noted(note) == {}
    note.write_text("not json")
    assert noted(note) == {}
