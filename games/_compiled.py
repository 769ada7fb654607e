"""Machine code of games that lie in files: where it is kept, and when it may be loaded.

``plyhouse compile mygame.py`` (see `plyhouse.clients.cli.compile`) puts an extension into the
folder ``__pycache__`` beside the file.  Its name holds digests of the file's place and of its
text, so that code which is older than its source is never found.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Final

from plyhouse.games._pure import wanted

__all__ = ["Compiled", "extension_of", "module_name", "spec_of", "state_of"]

SUFFIX: Final = importlib.machinery.EXTENSION_SUFFIXES[0]
"""Suffix of extension modules for this interpreter."""


def module_name(path: Path) -> str:
    """Return the module name of a game file; files of the same name get different ones."""
    import hashlib  # loads OpenSSL, and most games are no files

    place = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    stem = "".join([letter if letter.isalnum() else "_" for letter in path.stem])
    return f"plyhouse_game_{stem}_{place}"


def extension_of(path: Path, text: bytes | None = None) -> Path:
    """Return where the extension made from this file, as it is now, lies or would lie.

    ``text`` is the file's content where that has been read already.
    """
    import hashlib

    content = hashlib.sha256(path.read_bytes() if text is None else text).hexdigest()[:16]
    return path.resolve().parent / "__pycache__" / f"{module_name(path)}.{content}{SUFFIX}"


def spec_of(path: Path) -> ModuleSpec | None:
    """How to import a game file: compiled where that fits, else as it is."""
    name = module_name(path)
    if not wanted(os.environ):
        extension = extension_of(path)
        if extension.is_file():
            loader = importlib.machinery.ExtensionFileLoader(name, str(extension))
            return importlib.util.spec_from_file_location(name, extension, loader=loader)
    return importlib.util.spec_from_file_location(name, path)


@dataclass(frozen=True)
class Compiled:
    """What `state_of` found."""

    compiled: bool
    """True if machine code runs (or would run) for the file."""
    reason: str
    """Why, as a sentence."""


def state_of(path: Path) -> Compiled:
    """Return whether machine code is used for a game file, and why or why not."""
    extension = extension_of(path)
    loaded = sys.modules.get(module_name(path))
    if wanted(os.environ):
        return Compiled(False, "The environment variable PLYHOUSE_PURE asks for it.")
    if extension.is_file() and (loaded is None or loaded.__file__ == str(extension)):
        return Compiled(True, f"Compiled by `plyhouse compile`: {extension}")
    if list(extension.parent.glob(f"{module_name(path)}.*{SUFFIX}")):
        why = f"The file has changed since it was compiled: run `plyhouse compile {path}` again."
        return Compiled(False, why)
    return Compiled(False, f"`plyhouse compile {path}` makes machine code of it.")
