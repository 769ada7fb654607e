"""Check whether machine code is older than its source: what runs would not be what is written.

The build (setup.py) leaves a note, ``search/_build.json``, with a digest of each source that it
compiled.  In a source tree, where people edit, `plyhouse.games` compares it with the sources when
it is imported, and warns.  The comparison looks at modification times, which takes a fraction of a
millisecond, and reads only files that are newer than the note.  (Games compiled by ``plyhouse
compile`` need none of this: `plyhouse.games._compiled` never finds code that is older than its
source.)
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["NOTE", "ROOT", "StaleBuild", "changed", "noted", "stale_sentence", "warn_if_stale"]

ROOT: Final = Path(__file__).resolve().parent.parent
"""The folder that holds ``games`` and ``search``."""
NOTE: Final = ROOT / "search" / "_build.json"
SHOWN: Final = 3


class StaleBuild(UserWarning):
    """Machine code runs that is older than its source."""


def noted(note: Path = NOTE) -> dict[str, Any]:
    """Return the build's note; empty if there is none or it cannot be read."""
    import json

    try:
        built: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return built


def changed(
    digests: Mapping[str, str], root: Path = ROOT, *, since: int | None = None
) -> tuple[str, ...]:
    """Name the compiled sources (like ``games/native.py``) that have changed since, or are gone.

    ``digests`` are SHA-256 hex digests by name.  With ``since`` (nanoseconds of the clock that
    files are stamped by) what was last written before is taken as unchanged, without a look.
    """
    found = []
    for name, digest in digests.items():
        try:
            if since is not None and os.stat(f"{root}/{name}").st_mtime_ns < since:
                continue
            content = Path(root, name).read_bytes()
        except OSError:
            found.append(name)
            continue
        import hashlib

        if hashlib.sha256(content).hexdigest() != digest:
            found.append(name)
    return tuple(found)


def stale_sentence(names: Iterable[str]) -> str:
    """Say what has changed and how to build again."""
    import shlex

    names = list(names)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--editable", str(ROOT)]
    return (
        f"Compiled code runs that is older than its source ({', '.join(names[:SHOWN])}{more}); "
        f"build it again: {shlex.join(command)}"
    )


def warn_if_stale() -> None:
    """Warn with `StaleBuild` if that is so in this source tree."""
    if not ROOT.joinpath("setup.py").is_file():
        return  # installed: nobody edits there
    try:
        since = os.stat(NOTE).st_mtime_ns
    except OSError:
        return
    built = noted()
    if built.get("python") != sys.implementation.cache_tag:
        return
    names = changed(built.get("sources", {}), since=since)
    if names:
        from plyhouse.games.native import COMPILED

        if COMPILED:
            warnings.warn(stale_sentence(names), StaleBuild, stacklevel=2)
