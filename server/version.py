"""Which program this is."""

from __future__ import annotations

import functools
import importlib.metadata
from typing import Final

__all__ = ["project_links", "server_version"]


@functools.cache
def server_version() -> str:
    """Name and version of this program."""
    try:
        return f"plyhouse {importlib.metadata.version('plyhouse')}"
    except importlib.metadata.PackageNotFoundError:
        return "plyhouse"


LINKED: Final = "Documentation", "Source"
"""The labels of addresses that the pages show."""


def project_links() -> list[tuple[str, str]]:
    """Return the documentation and the source of this program, as its package names them."""
    try:
        named = importlib.metadata.metadata("plyhouse").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    links = dict(each.split(", ", 1) for each in named)
    return [(label, links[label]) for label in LINKED if label in links]
