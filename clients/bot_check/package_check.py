"""Check whether a package compiles and its bot can be imported here, before it is sent to a
server.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Final

from plyhouse.protocol.hosting.package import Package

PATIENCE: Final = 60.0
"""Seconds that the import of a bot may take."""

_LOADER: Final = """
import json, os, sys
from plyhouse.bots.loading import BotLoadError, bot_options, load_bot
said = None
try:
    bot_options(sys.argv[1], load_bot(sys.argv[1]))
except BotLoadError as error:
    missing = getattr(error.__cause__, "name", None) or ""
    said = [str(error), error.details, missing.partition(".")[0]]
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(said, file)
os._exit(0)
"""
"""Loads a bot, and writes to a file why that failed, or null.

Threads and programs that the bot has started, or what it has done to its output, do not matter.
"""


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
        top = Path(folder, "package")
        for name, content in package.files.items():
            place = top / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return _imported(package.manifest.bot, top, offered)


def _imported(spec: str, folder: Path, offered: Collection[str]) -> Problem | None:
    # -P: the folder holds the bot, which may be called as a module that the loader needs.
    found, errors = folder.with_name("found.json"), folder.with_name("errors.txt")
    command = [sys.executable, "-P", "-c", _LOADER, spec, str(found)]
    with errors.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the author's own bot, on the author's machine
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,  # not a pipe, which a program that the bot starts would keep open
            start_new_session=True,
        )
    try:
        code = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        return Problem(f"{spec}: its import takes more than {PATIENCE:.0f} s")
    finally:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)  # and the programs that the bot has started
        process.wait()
    if not found.exists():
        said = errors.read_text("utf-8", "replace").strip()
        return Problem(f"{spec}: its import ended with exit code {code}", said)
    failure = json.loads(found.read_bytes())
    if failure is None:
        return None
    text, details, missing = failure
    return None if missing and missing in offered else Problem(text, details)
