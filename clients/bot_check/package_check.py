"""Check whether a package compiles and its bot can be imported here, before it is sent to a
server.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Final

from plyhouse.protocol.hosting.package import Package

__all__ = ["Problem", "import_problem"]

PATIENCE: Final = 60.0
"""Seconds that the import of a bot may take."""

_LOADER: Final = """
import json, sys
from plyhouse.bots.loading import BotLoadError, bot_options, load_bot
try:
    bot_options(sys.argv[1], load_bot(sys.argv[1]))
except BotLoadError as error:
    missing = getattr(error.__cause__, "name", None) or ""
    print("\\n" + json.dumps([str(error), error.details, missing.partition(".")[0]]))
    sys.exit(3)
"""
"""Loads the bot that it is given; with exit code 3 its last line says why that failed."""


class Problem(Exception):  # noqa: N818 - a condition of the package
    """A bot that cannot be imported; ``str()`` is a sentence, ``details`` a traceback or empty."""

    code = "submission/does_not_import"

    def __init__(self, text: str, details: str = "") -> None:
        super().__init__(text)
        self.details = details


def import_problem(package: Package, offered: Collection[str] = ()) -> Problem | None:
    """Compile the Python files of a package, and import its bot in another process.

    Runs the code of the bot.  ``offered`` are packages that the server has: one of them may be
    missing here.  Programs that are no Python bots are not looked at.
    """
    if package.manifest.run:
        return None
    for name, content in package.files.items():
        if name.endswith(".py"):
            try:
                compile(content, name, "exec", dont_inherit=True)
            except SyntaxError as error:
                line = (error.text or "").strip()
                where = f"{name}, line {error.lineno}" if error.lineno else name
                return Problem(f"{where}: {error.msg}" + (f": {line}" if line else ""))
            except ValueError as error:
                return Problem(f"{name}: {error}")
    with tempfile.TemporaryDirectory(prefix="plyhouse-submit-") as folder:
        for name, content in package.files.items():
            place = Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return _imported(package.manifest.bot, folder, offered)


def _imported(spec: str, folder: str, offered: Collection[str]) -> Problem | None:
    # -P: the folder holds the bot, which may be called as a module that the loader needs.
    command = [sys.executable, "-P", "-c", _LOADER, spec]
    try:
        done = subprocess.run(  # noqa: S603 - the author's own bot, on the author's machine
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Problem(f"{spec}: its import takes more than {PATIENCE:.0f} s")
    if done.returncode == 0:
        return None
    said = done.stderr.decode("utf-8", "replace").strip()
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    if done.returncode != 3 or not lines:
        return Problem(f"{spec}: its import ended with exit code {done.returncode}", said)
    text, details, missing = json.loads(lines[-1])
    return None if missing and missing in offered else Problem(text, details)
