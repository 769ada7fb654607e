"""Which program this is."""

from __future__ import annotations

import functools
import importlib.metadata

__all__ = ["server_version"]


@functools.cache
def server_version() -> str:
    """Name and version of this program."""
    try:
        return f"plyhouse {importlib.metadata.version('plyhouse')}"
    except importlib.metadata.PackageNotFoundError:
        return "plyhouse"
