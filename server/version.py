"""Which program this is."""

from __future__ import annotations

from typing import Final

from plyhouse.protocol.installed import installed_version


def server_version() -> str:
    """Name and version of this program."""
    return f"plyhouse {installed_version()}".rstrip()


LINKED: Final = "Documentation", "Source"
"""The labels of addresses that the pages show."""


def project_links() -> list[tuple[str, str]]:
    """Return the documentation and the source of this program, as its package names them."""
    import importlib.metadata  # slow to import, and pages alone need it

    try:
        named = importlib.metadata.metadata("plyhouse").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    links = dict(each.split(", ", 1) for each in named)
    return [(label, links[label]) for label in LINKED if label in links]
