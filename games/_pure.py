"""The run-time switch ``PLYHOUSE_PURE=1``: load the .py files although compiled ones lie beside.

``PLYHOUSE_PURE=server`` does so with the server's alone: what is compiled cannot be timed from
within (``benchmarks/ply.py``).

Never compiled itself.  `plyhouse.games` installs the finder before it imports anything
else of ours, so that it covers `plyhouse.games`, `plyhouse.search` and `plyhouse.server` alike.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType

__all__ = ["PREFIXES", "PureFinder", "install", "wanted"]

SERVER = "plyhouse.server."
PREFIXES = ("plyhouse.games.", "plyhouse.search.", SERVER)
"""Modules that may exist in both forms."""


class PureFinder:
    """Finds modules under `prefixes` as source files only.

    It has the methods of a finder of `sys.meta_path` without the base class of `importlib.abc`,
    because that module would import temporary files and archives into every bot's process.
    """

    def __init__(self, prefixes: tuple[str, ...] = PREFIXES) -> None:
        self.prefixes = prefixes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the source file of ``fullname``; None for the usual finders."""
        if path is None or not fullname.startswith(self.prefixes):
            return None
        name = fullname.rpartition(".")[2]
        for folder in path:
            source = Path(folder, name + ".py")
            if source.is_file():
                loader = SourceFileLoader(fullname, str(source))
                return importlib.util.spec_from_file_location(fullname, source, loader=loader)
        return None


def wanted(environ: Mapping[str, str]) -> bool:
    """Return whether the environment asks for the interpreted games and searches."""
    return _prefixes(environ) == PREFIXES


def _prefixes(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Under what names the environment asks for interpreted modules."""
    asked = environ.get("PLYHOUSE_PURE", "").strip().lower()
    if asked in ("", "0", "false", "no", "off"):
        return ()
    return (SERVER,) if asked == "server" else PREFIXES


def install(environ: Mapping[str, str] | None = None) -> bool:
    """Put the finder first when it is wanted and not there yet; say whether it is there."""
    present = any(isinstance(finder, PureFinder) for finder in sys.meta_path)
    prefixes = _prefixes(os.environ if environ is None else environ)
    if not present and prefixes:
        sys.meta_path.insert(0, PureFinder(prefixes))
        present = True
    return present
