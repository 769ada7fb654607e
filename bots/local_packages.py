"""Packages and commands as bots of this machine, read from a file, a folder or a zip.

The rules are in `plyhouse.protocol.hosting.package`.  Two texts name such bots:
``mybot/``: a folder with what `plyhouse submit` takes, ``cmd:./mybot --fast``: any program that
speaks protocol v1 as lines of JSON (`plyhouse.bots.engines.command_bot`).
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plyhouse.protocol.hosting.package import (
    MANIFEST,
    Manifest,
    Package,
    Rules,
    SubmissionError,
    checked_name,
    from_entries,
    from_zip,
    ignored,
    in_units,
    no_file,
    not_a_zip,
    version_of,
)

__all__ = [
    "COMMAND",
    "LOCAL_RULES",
    "MANIFEST",
    "Command",
    "Manifest",
    "Package",
    "Rules",
    "SubmissionError",
    "local_spec",
    "read_command",
    "read_package",
]


def read_package(path: Path, rules: Rules | None = None) -> Package:
    """Read a .py file, a folder or a zip; raises `SubmissionError`."""
    rules = rules or Rules()
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise SubmissionError("missing", f"{path}: {error.strerror}") from None
    if stat.S_ISDIR(mode):
        return from_entries(_of_folder(path, rules), rules, path.name)
    if path.suffix == ".py" and stat.S_ISREG(mode):
        return from_entries([(path.name, _read(path, path.name, rules), False)], rules, path.name)
    if stat.S_ISREG(mode) and zipfile.is_zipfile(path):
        if path.stat().st_size > rules.max_packed:
            raise SubmissionError(
                "too_large", f"{path.name}: more than {in_units(rules.max_packed)}"
            )
        return from_zip(path.read_bytes(), rules, path.name)
    if path.suffix.lower() == ".zip" and stat.S_ISREG(mode):
        raise not_a_zip(path.name, path.stat().st_size)
    raise SubmissionError(
        "missing", f"{path.name} is not a bot; submit a .py file, a folder or a zip"
    )


def _of_folder(top: Path, rules: Rules) -> Iterator[tuple[str, bytes, bool]]:
    count = 0
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(each for each in folders if not ignored(each))
        for each in folders:
            if (Path(folder) / each).is_symlink():
                raise no_file(os.path.relpath(os.path.join(folder, each), top), "a link")
        for each in sorted(each for each in names if not ignored(each)):
            path = Path(folder) / each
            name = checked_name(path.relative_to(top).as_posix())
            mode = path.lstat().st_mode
            if not stat.S_ISREG(mode):
                raise no_file(name, "a link" if stat.S_ISLNK(mode) else "a device, pipe or socket")
            count += 1
            if count > rules.max_files:
                raise SubmissionError("too_large", f"more than {rules.max_files} files")
            yield name, _read(path, name, rules), bool(mode & 0o111)


def _read(path: Path, name: str, rules: Rules) -> bytes:
    # If the file becomes a link at this moment, opening it fails.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(rules.max_file + 1)
    if len(content) > rules.max_file:
        raise SubmissionError("too_large", f"{name}: more than {in_units(rules.max_file)}")
    return content


COMMAND: Final = "cmd:"
"""The beginning of a text that names a command."""

LOCAL_RULES: Final = Rules(packages=frozenset("*"), installed=False, runtimes=frozenset("*"))
"""Rules for bots of this machine, which may use all that is installed here."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program that speaks protocol v1 as lines of JSON."""

    program: str
    """An absolute path, or a name on the PATH."""
    arguments: tuple[str, ...] = ()
    folder: str = ""
    """Where it starts; empty for the current folder."""
    plays: tuple[str, ...] = ()
    """Its games; empty for those of its ``hello``."""
    version: str = ""
    """Identifies the files of a package."""
    label: str = ""
    """Its name in messages; empty for that of the program."""

    @property
    def spec(self) -> str:
        """The bot as `plyhouse.bots.loading` takes it."""
        options = {
            "program": self.program,
            "arguments": shlex.join(self.arguments),
            "folder": self.folder,
            "plays": ";".join(self.plays),
            "version": self.version,
            "label": self.label,
        }
        given = [f"{name}={json.dumps(value)}" for name, value in options.items() if value]
        return f"command({', '.join(given)})"


def local_spec(text: str) -> str:
    """Return the bot of a package's folder or of a command, as `plyhouse.bots.loading` takes it.

    Raises `SubmissionError`.
    """
    if text.startswith(COMMAND):
        return read_command(text).spec
    folder = Path(text).resolve()
    try:
        package = read_package(folder, LOCAL_RULES)
    except SubmissionError as error:
        raise SubmissionError("missing", f"{text}: {error}") from None
    manifest = package.manifest
    if manifest.bot:
        return str(folder / manifest.bot)
    program, *arguments = manifest.run
    if "/" in program:
        program = str(folder / program)
    return _checked(
        Command(program, tuple(arguments), str(folder), manifest.games, version_of(package))
    ).spec


def read_command(text: str) -> Command:
    """Return the command of a text like ``cmd:./mybot --fast``; raises `SubmissionError`."""
    try:
        words = shlex.split(text.removeprefix(COMMAND))
    except ValueError as error:
        raise SubmissionError(
            "missing", f"{text!r} cannot be read: {error}. Check its quotes"
        ) from None
    if not words:
        raise SubmissionError("missing", f"{COMMAND} names no program: write it like cmd:./mybot")
    program, *arguments = words
    if os.sep in program:  # it holds in any folder
        program = str(Path(program).expanduser().resolve())
    return _checked(Command(program, tuple(arguments)))


def _checked(command: Command) -> Command:
    """Return the command; raises `SubmissionError` if it cannot be started."""
    program = command.program
    if shutil.which(program) is None:
        if os.sep not in program:
            raise SubmissionError(
                "missing", f"There is no program {program!r} on the PATH: install it"
            )
        fault = "is not executable: run chmod +x" if Path(program).is_file() else "is no program:"
        raise SubmissionError("missing", f"{Path(program).name} {fault} {program}")
    return command
