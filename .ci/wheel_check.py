"""Build the sdist, a wheel from that sdist, and run the sdist's tests on the wheel.

The tests run from the unpacked sdist with the packages themselves moved out of the
way, so that nothing but the installed wheel can be what they import.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("games", "search", "protocol", "storage", "server", "bots", "clients")


def run(*command: str | Path, cwd: Path) -> None:
    """Run a command, echo it, and stop at the first failure."""
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def main() -> int:
    """Do the whole check; arguments are passed on to pytest."""
    with tempfile.TemporaryDirectory(prefix="plyhouse-wheel-") as scratch_name:
        scratch = Path(scratch_name)
        # `python -m build` without options makes the wheel from the sdist it just made.
        run(sys.executable, "-m", "build", "--outdir", scratch / "dist", cwd=ROOT)
        (sdist,) = (scratch / "dist").glob("*.tar.gz")
        (wheel,) = (scratch / "dist").glob("*.whl")
        with tarfile.open(sdist) as archive:
            archive.extractall(scratch / "unpacked", filter="data")
        (tree,) = (scratch / "unpacked").iterdir()
        for package in PACKAGES:
            shutil.rmtree(tree / package)
        environment = scratch / "venv"
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[dev]", cwd=scratch)
        run(environment / "bin" / "plyhouse", "doctor", cwd=scratch)
        jobs = os.environ.get("JOBS", "auto")
        run(environment / "bin" / "pytest", "-q", "-n", jobs, *sys.argv[1:], cwd=tree)
    return 0


if __name__ == "__main__":
    sys.exit(main())
