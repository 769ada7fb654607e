"""Build the sdist, a wheel from that sdist, and run tests of the sdist on the wheel.

The script compares the files of sdist and wheel.  It deletes the packages from the unpacked sdist,
so that its tests import the installed wheel, and runs `TESTS`: they fail if a package lacks a
module, machine code, data files, migrations, pages or the command, or if another Python breaks it.
Then it installs the wheel for machines without a compiler and plays a match.
The other tests test the sources, and tests/build the build itself.

    python .ci/wheel_check.py             TESTS
    python .ci/wheel_check.py tests       all tests; arguments are passed on to pytest
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("games", "search", "learning", "protocol", "storage", "server", "bots", "clients")
TESTS = (
    "tests/docs/test_doctests.py",
    "tests/games/test_golden.py",
    "tests/games/test_registry.py",
    "tests/search/test_exports.py",
    "tests/search/test_build_report.py",
    "--deselect=tests/search/test_build_report.py::test_pure_and_compiled_agree_bit_for_bit",
    "tests/protocol/test_codec.py",
    "tests/protocol/test_schema.py",
    "tests/protocol/test_vectors.py",
    "tests/storage/test_schema.py",
    "tests/bots/test_loading.py",
    "tests/bots/test_runner.py",
    "tests/bots/test_supervisor.py",
    "tests/server/test_matches.py",
    "tests/server/test_serve.py",
    "tests/server_core/test_match.py",
    "tests/server_core/test_record.py",
    "tests/cli/test_command_tree.py",
    "tests/cli/test_games_command.py",
    "tests/cli/test_match.py::test_a_series_is_repeatable_and_its_records_hold",
    "tests/web/test_pages.py",
    # Which database there is has nothing to do with packaging.
    "-m",
    "not postgresql",
)
"""Tests of every package, of how things are installed, and of what depends on the Python: the event
loop, processes, system calls, messages."""


def run(*command: str | Path, cwd: Path) -> None:
    """Run a command, echo it, and stop at the first failure."""
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def packed_as(path: str) -> str:
    """Return the name in the wheel of a file of the sdist; setup.py has the same rule."""
    return "plyhouse/" + path.removeprefix("clients/program/")


def compare(wheel: Path, tree: Path) -> None:
    """Stop unless the wheel has every file of the packages, as it is in the sdist."""
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
        wrong = [
            path.relative_to(tree).as_posix()
            for package in PACKAGES
            for path in sorted((tree / package).rglob("*"))
            if path.is_file()
            and (
                (name := packed_as(path.relative_to(tree).as_posix())) not in packed
                or archive.read(name) != path.read_bytes()
            )
        ]
    if wrong:
        raise SystemExit(f"not in the wheel, or other than in the sdist: {', '.join(wrong)}")
    print(f"all files of the packages are in the wheel, among {len(packed)}", flush=True)


def build_pure(python: Path, tree: Path, folder: Path) -> Path:
    """Return the wheel that an unpacked sdist gives without compiling, built in seconds."""
    os.environ["PLYHOUSE_COMPILE"] = "0"
    run(python, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, cwd=tree)
    del os.environ["PLYHOUSE_COMPILE"]
    (wheel,) = folder.glob("*-py3-none-any.whl")
    return wheel


def play_pure(python: Path, wheel: Path, folder: Path) -> None:
    """Replace the compiled wheel by the pure one, and play a match with it."""
    run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--force-reinstall",
        wheel,
        cwd=folder,
    )
    plyhouse = python.with_name("plyhouse")
    report = subprocess.run(
        [plyhouse, "doctor"], cwd=folder, check=True, capture_output=True, text=True
    )
    if "pure. PLYHOUSE_COMPILE=0 was set for the build" not in report.stdout:
        raise SystemExit(f"doctor does not call this wheel pure:\n{report.stdout}")
    run(plyhouse, "match", "easy", "random", "--game", "tic_tac_toe", "--games", "2", cwd=folder)


def main() -> int:
    """Do the whole check."""
    with tempfile.TemporaryDirectory(prefix="plyhouse-wheel-") as scratch_name:
        scratch = Path(scratch_name)
        # Reuse the machine code of this tree. The build compiles again, or fails, if the sources
        # in the sdist differ or one is missing.
        os.environ["PLYHOUSE_NATIVE"] = str(ROOT / "build" / "native")
        # `python -m build` without options makes the wheel from the sdist it just made.
        run(sys.executable, "-m", "build", "--outdir", scratch / "dist", cwd=ROOT)
        (sdist,) = (scratch / "dist").glob("*.tar.gz")
        (wheel,) = (scratch / "dist").glob("*.whl")
        with tarfile.open(sdist) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since 3.11.4
            archive.extractall(scratch / "unpacked")
        (tree,) = (scratch / "unpacked").iterdir()
        compare(wheel, tree)
        environment = scratch / "venv"
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        run(python, ROOT / ".ci" / "install.py", f"{wheel}[dev]", cwd=scratch)
        run(environment / "bin" / "plyhouse", "doctor", cwd=scratch)
        pure = build_pure(python, tree, scratch / "pure")
        for package in PACKAGES:
            shutil.rmtree(tree / package)
        jobs = os.environ.get("JOBS", "auto")
        run(environment / "bin" / "pytest", "-q", "-n", jobs, *(sys.argv[1:] or TESTS), cwd=tree)
        play_pure(python, pure, scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
