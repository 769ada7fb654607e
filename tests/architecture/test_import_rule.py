"""The house has rooms, and a table of who may know whom (ARCHITECTURE.md)."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from tests.harness.source_tree import TOP, folder_of, imports, modules

ALLOWED: dict[str, set[str]] = {
    "games": set(),
    "search": {"games"},
    "learning": {"games", "search"},
    "protocol": set(),
    "storage": {"games", "protocol"},
    "server": {"games", "protocol", "storage"},
    "bots": {"games", "search", "learning", "protocol"},
    "clients.web": {"protocol"},
    "clients.terminal": {"protocol"},
    "clients.api": {"games", "protocol"},  # scenes of states, to draw them
    "clients.shared": {
        "games",
        "protocol",
        "storage",
        "server",
        "bots",
        "clients.api",
        "clients.terminal",
    },
    "clients.arena": {"games", "protocol", "server", "bots", "clients.shared"},
    "clients.bot_check": {"games", "protocol", "server", "bots", "clients.arena", "clients.shared"},
    "clients.review": {"games", "search", "protocol", "server", "clients.api", "clients.shared"},
    "clients.yardstick": {
        "games",
        "search",
        "protocol",
        "server",
        "bots",
        "clients.arena",
        "clients.review",
        "clients.shared",
    },
    "clients.openenv": {"games", "protocol", "server", "bots"},
    "clients.runner": {"games", "protocol", "server", "bots", "clients.shared"},
    "clients.replay": {
        "games",
        "search",
        "protocol",
        "storage",
        "server",
        "bots",
        "clients.shared",
        "clients.terminal",
        "clients.web",  # `replay --html` embeds the files of the web client
    },
    "clients.builtin_bots": {"games", "protocol", "server", "storage", "bots", "clients.shared"},
    "clients.docgen": {"games", "protocol", "server", "clients.shared", "clients.cli"},
    "clients.program": {"clients.cli"},  # the module of `python -m plyhouse`
    # Commands may import everything but the generators of documentation.
    "clients.cli": {
        "games",
        "search",
        "learning",
        "protocol",
        "storage",
        "server",
        "bots",
        "clients.api",
        "clients.arena",
        "clients.bot_check",
        "clients.builtin_bots",
        "clients.openenv",
        "clients.replay",
        "clients.review",
        "clients.runner",
        "clients.shared",
        "clients.terminal",
        "clients.yardstick",
    },
}


def room(dotted: str) -> str:
    """The room that a module below ``plyhouse`` belongs to: ``clients.cli`` or ``games``."""
    parts = dotted.split(".")
    return ".".join(parts[:2]) if parts[0] == "clients" else parts[0]


@pytest.mark.parametrize("top", TOP)
def test_every_import_stays_within_the_table(top: str) -> None:
    broken = []
    for path in modules(top):
        inside = path.relative_to(folder_of(top)).with_suffix("").as_posix().replace("/", ".")
        here = room(f"{top}.{inside}")
        if here not in ALLOWED:  # clients/__init__.py: belongs to no room, imports nothing
            here, allowed = top, set()
        else:
            allowed = ALLOWED[here]
        for line, name in imports(path):
            if name.split(".")[0] in TOP:
                broken.append(f"{path.name}:{line}: {name} (write plyhouse.{name})")
            if not name.startswith("plyhouse."):
                continue
            there = room(name.removeprefix("plyhouse."))
            if there != here and there not in allowed:
                broken.append(f"{here} may not import {there}: {path.name}:{line} {name}")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("top", TOP)
def test_a_folder_is_no_package_of_its_own(top: str, tmp_path: Path) -> None:
    elsewhere = folder_of(top).parent if (folder_of(top).parent / "setup.py").exists() else tmp_path
    for place in (tmp_path, elsewhere):  # from anywhere, and from the repository's root
        done = subprocess.run(
            [sys.executable, "-c", f"import {top}"], cwd=place, capture_output=True, text=True
        )
        assert done.returncode == 1
        assert "ModuleNotFoundError" in done.stderr or f"import plyhouse.{top}" in done.stderr


def product_modules() -> dict[str, Path]:
    """Every module of the product by its dotted name."""
    found = {}
    for top in TOP:
        for path in modules(top):
            inside = path.relative_to(folder_of(top)).with_suffix("").as_posix().replace("/", ".")
            found[f"plyhouse.{top}.{inside}".removesuffix(".__init__")] = path
    return found


def imported_modules(path: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules of ours that a module imports anywhere, also for types alone."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in known else node.module for name in names}
    return found & known.keys()


def test_modules_import_each_other_without_cycles() -> None:
    known = product_modules()
    order = TopologicalSorter({name: imported_modules(path, known) for name, path in known.items()})
    order.prepare()  # raises CycleError, which names the cycle


PARSERS = {
    *("competition_rules", "competitions/baselines", "competitions/file_changes"),
    *("competitions/lifecycle", "competitions/practice"),
}
"""Parts of the server at which the text of a competition file arrives or changes."""


def test_competition_files_are_parsed_only_where_they_arrive() -> None:
    """Everything else takes the stored values (`plyhouse.server.competition_rules.file`)."""
    parsing = set()
    for top in ("server", "storage"):
        for path in modules(top):
            inside = path.relative_to(folder_of(top)).with_suffix("").as_posix()
            names = {
                alias.name
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            if names & {"read_competition", "read_document", "written_dates"}:
                package = "competition_rules"
                parsing.add(package if inside.startswith(f"{package}/") else inside)
    assert parsing == PARSERS
