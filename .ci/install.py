"""Install Plyhouse into the environment of this Python, and show the progress.

    .venv/bin/python .ci/install.py --editable '.[dev]'

Compiling takes minutes, so only ``--compile`` does it, or a tree that already has compiled modules:
they would be out of date.  uv installs the packages in a tenth of pip's processor time.  If uv is
missing, or does not reach the index that pip is configured for, pip installs them.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import textwrap
import time
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ROOT / "build" / "native"
SECONDS = 15
"""How often a line appears where nobody watches a terminal."""
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")


def announcement(project: Path, compiling: bool) -> str:
    """Return what is installed and how long it takes."""
    described = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    names = [re.split(r"[^\w.-]", each)[0] for each in described["dependencies"]]
    text = (
        f"Installing Plyhouse into {sys.prefix} with {len(names)} packages: {', '.join(names)}. "
        + (
            "Compiling games and searches takes one to three minutes."
            if compiling
            else "This takes less than a minute on most networks."
        )
    )
    return textwrap.fill(text, 96, break_long_words=False, break_on_hyphens=False)


def stage(native: Path, began: float) -> str:
    """Return what the installation does, by the files that it has written since it began."""

    def fresh(pattern: str) -> int:
        return sum(path.stat().st_mtime >= began for path in native.glob(pattern))

    sources, objects = fresh("c/**/*.c"), fresh("o/**/*.o")
    if fresh("stamp.txt"):
        return "installing packages"
    if sources:
        return f"compiling: {objects} of {sources} C files"
    if fresh("modules.txt"):
        return "translating games and searches to C"
    return "downloading what the installation needs"


def watch(command: list[str], native: Path) -> int:
    """Run a command, show the stages meanwhile, and return its exit code."""
    began, shown, at = time.time(), "", 0.0
    terminal = sys.stdout.isatty()
    with subprocess.Popen(command) as process:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
            if process.returncode is not None:
                break
            passed, now = time.time() - began, stage(native, began)
            line = f"  {passed // 60:.0f}:{passed % 60:02.0f}  {now}"
            kind = now.partition(":")[0]
            if terminal:
                print(f"\r{line:<70}", end="", flush=True)
            elif kind != shown or passed - at >= SECONDS:
                print(line, flush=True)
                shown, at = kind, passed
    if terminal:
        print()
    return process.returncode


def uv() -> list[str]:
    """Return the beginning of uv's command line; empty where there is no uv for this machine."""
    done = subprocess.run(
        [*PIP, "--only-binary", "uv", "uv>=0.5"], capture_output=True, check=False
    )
    if done.returncode != 0:
        return []
    return [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]


def install(arguments: list[str]) -> int:
    """Install with uv or else with pip; return the exit code."""
    fast = uv()
    if fast and watch([*fast, *arguments], NATIVE) == 0:
        return 0
    print("  uv could not install the packages, so pip does", flush=True)
    return watch([*PIP, *arguments], NATIVE)


def compiled() -> bool:
    """Return whether the tree has modules compiled for this Python."""
    kernels = ROOT / "search" / "kernels"
    return any(path.name.endswith(EXTENSION_SUFFIXES[0]) for path in kernels.iterdir())


def main(arguments: list[str]) -> int:
    """Install as the command line says; return the exit code."""
    compiling = "--compile" in arguments or ("--editable" in arguments and compiled())
    if not compiling:
        os.environ["PLYHOUSE_COMPILE"] = "0"
    print(announcement(ROOT / "pyproject.toml", compiling))
    return install([each for each in arguments if each != "--compile"])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
