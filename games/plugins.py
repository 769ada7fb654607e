"""Entry points of installed packages, found without the slow import of `importlib.metadata`."""

from __future__ import annotations

import os
import sys

__all__ = ["entry_points"]


def entry_points(group: str) -> list[tuple[str, str]]:
    """Return the name and the ``module:attribute`` of each entry point of a group.

    Hardly any machine has packages with games or bots, and every process of a match asks.  So
    `importlib.metadata`, which brings a parser of e-mail along, is imported only if there are some.
    """
    if not any(_may_name(group.encode(), folder) for folder in sys.path):
        return []
    from importlib import metadata

    return [(point.name, point.value) for point in metadata.entry_points(group=group)]


def _may_name(group: bytes, folder: str) -> bool:
    """Return whether a package in this folder may have entry points of a group."""
    try:
        names = os.listdir(folder or ".")
    except NotADirectoryError:
        return True  # an archive: `importlib.metadata` can look into it
    except OSError:
        return False
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                    if group in file.read():
                        return True
            except OSError:
                continue
        elif name.endswith(".egg"):
            return True
    return False
