"""ARCHITECTURE.md says where things are: what it names is there, and no room is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.harness.source_tree import TOP, folder_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = {name: (ROOT / name).read_text("utf-8") for name in ("ARCHITECTURE.md", "CONTRIBUTING.md")}


def named(text: str) -> set[str]:
    """Files and folders that a page names: ``like/this.py`` and ``like/that/``."""
    quoted = re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", text)
    linked = re.findall(r"\]\(([\w./-]+)\)", text)
    files = [name for name in quoted if "/" in name or name.endswith((".py", ".md", ".toml"))]
    return {*files, *linked}


def place_of(name: str) -> Path:
    """Where it lies: packages may be installed, everything else is in the sources."""
    top, _, rest = name.partition("/")
    return folder_of(top) / rest if top in TOP else ROOT / name


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page: str) -> None:
    found = named(PAGES[page])
    assert len(found) > 5
    missing = [name for name in sorted(found) if not place_of(name).exists()]
    assert not missing, f"{page} names what is not there: {', '.join(missing)}"


def test_every_room_is_named() -> None:
    rooms = {f"{top}/" for top in TOP if top != "clients"}  # which is a corridor
    for top in TOP:
        rooms |= {f"{top}/{path.parent.name}/" for path in folder_of(top).glob("*/__init__.py")}
    missing = rooms - named(PAGES["ARCHITECTURE.md"])
    assert not missing, f"ARCHITECTURE.md does not say what is in {', '.join(sorted(missing))}"
