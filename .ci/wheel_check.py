"""Build the sdist, a wheel from that sdist, and run tests of the sdist on the wheel.

The tests run from the unpacked sdist with the packages themselves moved out of the way, so that
they import only the installed wheel.  The other tests test the sources.
This script compares the lists of files, and runs `TESTS`, which need what a package can lack
(modules, machine code, data files, migrations, pages, the command) and what another Python can
break.  tests/build tests the build itself, without a wheel.

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
PACKAGES = ("games", "search", "protocol", "storage", "server", "bots", "clients")
TESTS = (
    "tests/architecture",
    "tests/docs/test_doctests.py",
    "tests/games/test_completeness.py",
    "tests/games/test_golden.py",
    "tests/games/test_registry.py",
    "tests/search/test_exports.py",
    "tests/search/test_tree_search.py",
    "tests/search/test_build_report.py",
    "--deselect=tests/search/test_build_report.py::test_pure_and_compiled_agree_bit_for_bit",
    "tests/protocol",
    "tests/storage/test_schema.py",
    "tests/bots/test_loading.py",
    "tests/bots/test_runner.py",
    "tests/bots/test_supervisor.py",
    "tests/sandbox/test_escapes.py",
    "tests/server/test_finals.py",
    "tests/server/test_matches.py",
    "tests/server/test_serve.py",
    "tests/server/test_submissions.py",
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
        for package in PACKAGES:
            shutil.rmtree(tree / package)
        environment = scratch / "venv"
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[dev]", cwd=scratch)
        run(environment / "bin" / "plyhouse", "doctor", cwd=scratch)
        jobs = os.environ.get("JOBS", "auto")
        run(environment / "bin" / "pytest", "-q", "-n", jobs, *(sys.argv[1:] or TESTS), cwd=tree)
    return 0


if __name__ == "__main__":
    sys.exit(main())
