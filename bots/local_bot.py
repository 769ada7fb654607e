"""Packages and commands as bots of this machine, without a sandbox.

``mybot/``: a folder with what `plyhouse submit` takes, ``cmd:./mybot --fast``: any program that
speaks protocol v1 as lines of JSON (`plyhouse.bots.engines.command_bot`).
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

from plyhouse.bots.package_files import Rules, SubmissionError, read_package
from plyhouse.protocol.hosting.package import version_of

__all__ = ["COMMAND", "local_spec"]

COMMAND = "cmd:"
"""The beginning of a text that names a command."""


def local_spec(text: str) -> str:
    """Return the bot of a package's folder or of a command, as `plyhouse.bots.loading` takes it.

    Raises `SubmissionError`.
    """
    if text.startswith(COMMAND):
        try:
            words = shlex.split(text.removeprefix(COMMAND))
        except ValueError as error:
            raise SubmissionError(
                "missing", f"{text!r} cannot be read: {error}. Check its quotes"
            ) from None
        if not words:
            raise SubmissionError(
                "missing", f"{COMMAND} names no program: write it like cmd:./mybot"
            )
        program, *arguments = words
        if os.sep in program:  # it holds in any folder
            program = str(Path(program).expanduser().resolve())
        return _command(program, arguments)
    folder = Path(text).resolve()
    try:
        package = read_package(folder, Rules(installed=False, runtimes=frozenset("*")))
    except SubmissionError as error:
        raise SubmissionError("missing", f"{text}: {error}") from None
    manifest = package.manifest
    if manifest.bot:
        return str(folder / manifest.bot)
    program, *arguments = manifest.run
    if "/" in program:
        program = str(folder / program)
    return _command(
        program,
        arguments,
        folder=str(folder),
        plays=";".join(manifest.games),
        version=version_of(package),
    )


def _command(program: str, arguments: list[str], **more: str) -> str:
    if shutil.which(program) is None:
        if os.sep not in program:
            raise SubmissionError(
                "missing", f"There is no program {program!r} on the PATH: install it"
            )
        fault = "is not executable: run chmod +x" if Path(program).is_file() else "is no program:"
        raise SubmissionError("missing", f"{Path(program).name} {fault} {program}")
    options = {"program": program, "arguments": shlex.join(arguments), **more}
    given = ", ".join(f"{name}={json.dumps(value)}" for name, value in options.items() if value)
    return f"command({given})"
