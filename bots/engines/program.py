"""Find the program of an engine: a name on the PATH, or a path, with arguments behind it."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plyhouse.bots.engines.errors import EngineError

__all__ = ["USUAL_ARGUMENTS", "Program", "find_program"]

GAMES_FOLDERS: Final = ("/usr/games", "/usr/local/games")
"""Where Debian installs engines; the PATH of some accounts lacks them."""

USUAL_ARGUMENTS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("gtp", "gnugo"): ("--mode", "gtp", "--chinese-rules", "--positional-superko"),
    ("gnubg", "gnubg"): ("--tty", "--quiet", "--no-rc"),
    ("uci", "gnuchess"): ("--uci",),
}
"""Arguments by protocol and program, without which the engine would play by other rules or not
speak the protocol.  Arguments of the user follow them."""

PACKAGES: Final = ("fairy-stockfish", "gnubg", "gnuchess", "gnugo", "phalanx", "stockfish")
"""Engines that are Debian packages of the same name."""


@dataclass(frozen=True, slots=True)
class Program:
    """An engine's command."""

    name: str
    """Name of the program, for messages."""
    command: tuple[str, ...]
    """Path of the program, and its arguments."""
    folder: str = ""
    """Folder in which it starts; empty for the current one."""


def find_program(engine: str, protocol: str) -> Program:
    """Return the command of ``engine``, like ``stockfish`` or ``"/opt/katago gtp -model m.bin"``.

    Raises `EngineError` if there is no such program.

    >>> find_program("no-such-engine", "uci")
    Traceback (most recent call last):
    plyhouse.bots.engines.errors.EngineError: There is no program 'no-such-engine' on the PATH or \
in /usr/games. Install it, or give its path as the engine.
    """
    try:
        words = shlex.split(engine)
    except ValueError as error:
        raise EngineError(
            f"The engine {engine!r} cannot be read: {error}. Check its quotes."
        ) from (error)
    if not words:
        raise EngineError(f"Name the program of the {protocol} engine: it is empty.")
    wanted, *arguments = words
    name = Path(wanted).name
    path = _found(wanted)
    if path is None:
        raise EngineError(_missing(wanted, name))
    usual = USUAL_ARGUMENTS.get((protocol.lower(), name), ())
    return Program(name, (path, *usual, *arguments))


def _found(wanted: str) -> str | None:
    if os.sep in wanted:
        return shutil.which(os.path.abspath(os.path.expanduser(wanted)))
    folders = os.pathsep.join([os.environ.get("PATH", os.defpath), *GAMES_FOLDERS])
    return shutil.which(wanted, path=folders)


def _missing(wanted: str, name: str) -> str:
    if os.sep in wanted:
        path = Path(wanted).expanduser()
        if path.is_file():
            return f"{wanted} is not executable: run chmod +x {wanted}"
        what = "is a folder" if path.is_dir() else "does not exist"
        return f"The engine {wanted} {what}. Give the path of its program."
    fix = f"Install it (Debian: apt-get install {name})" if name in PACKAGES else "Install it"
    return (
        f"There is no program {wanted!r} on the PATH or in /usr/games. {fix}, or give its path as "
        "the engine."
    )
