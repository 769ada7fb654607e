"""Packages live in the repository root and are imported as ``plyhouse.<folder>``."""

from __future__ import annotations

from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
TOP = ("games", "search", "protocol", "storage", "server", "bots", "clients")


def packages() -> dict[str, str]:
    """Map every package to its folder: ``plyhouse.games`` to ``games`` and so on."""
    found: dict[str, str] = {}
    for top in TOP:
        for init in sorted((ROOT / top).rglob("__init__.py")):
            folder = init.parent.relative_to(ROOT)
            found["plyhouse." + ".".join(folder.parts)] = folder.as_posix()
    return found


PACKAGES = packages()
setup(
    packages=list(PACKAGES),
    package_dir=PACKAGES,
    package_data={"": ["py.typed", "*.toml", "*.html", "*.css", "*.js", "*.svg", "*.mako"]},
)
