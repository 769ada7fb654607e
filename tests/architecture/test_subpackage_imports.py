"""Rooms have rooms of their own, and a table of who may know whom (ARCHITECTURE.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.harness.source_tree import TOP, folder_of, imports, modules

TOP_FLOOR = ""
"""The modules of a room that lie in none of its rooms."""

SERVER_LAYERS = (
    "match",
    "results",
    "wire",
    "competition_rules",
    "grades",
    "jobs",
    "accounts",
    "table",
    "lobby",
    "competitions",
    "hosting",
    "administration",
    "gateway",
    "web",
    "mcp",
    "cluster",
)
"""Packages of the server: each may import the ones before it."""

WITHIN: dict[str, dict[str, set[str]]] = {
    "games": {
        TOP_FLOOR: set(),
        "deterministic": {TOP_FLOOR},
        "stochastic": {TOP_FLOOR},
        "hidden": {TOP_FLOOR},
        "bridges": {TOP_FLOOR},
    },
    "search": {
        TOP_FLOOR: set(),
        "kernels": {TOP_FLOOR},
        **{
            name: {TOP_FLOOR, "kernels"}
            for name in ("trees", "monte_carlo", "equilibria", "tables", "evaluation", "teaching")
        },
    },
    "server": {
        TOP_FLOOR: {*SERVER_LAYERS},
        **{name: {TOP_FLOOR, *SERVER_LAYERS[:layer]} for layer, name in enumerate(SERVER_LAYERS)},
    },
    "bots": {
        TOP_FLOOR: set(),
        "client": {TOP_FLOOR},
        "process": {TOP_FLOOR, "client"},
        "running": {TOP_FLOOR, "client", "process"},
        "reference": {TOP_FLOOR},
        "engines": {TOP_FLOOR, "process"},
        "llm": {TOP_FLOOR},
        "serving": {TOP_FLOOR, "client", "process", "running"},
        "sandbox": {TOP_FLOOR, "process"},
        "hosting": {TOP_FLOOR, "client", "process", "running", "sandbox"},
    },
}

OPTIONAL = ("plyhouse.server.cluster.", "plyhouse.server.mcp.")
"""Packages of the server that it imports only where they are asked for."""

SERVED = {"plyhouse.server.config", "plyhouse.server.version"}
"""The modules of the server's top level that its packages may import."""


def places(top: str) -> Iterator[tuple[Path, str, str]]:
    """Every module of a room: its file, its name for people, and the room in which it lies."""
    for path in modules(top):
        inside = path.relative_to(folder_of(top))
        here = inside.parts[0] if len(inside.parts) > 1 else TOP_FLOOR
        if inside.as_posix() != "__init__.py":  # what a room exports comes from everywhere
            yield path, f"{top}/{inside.as_posix()}", here


def room_of(top: str, dotted: str) -> str:
    """The room within ``plyhouse.<top>`` that an imported module lies in."""
    parts = dotted.split(".")[2:]
    return parts[0] if parts and (folder_of(top) / parts[0]).is_dir() else TOP_FLOOR


@pytest.mark.parametrize("top", WITHIN)
def test_every_room_is_in_the_table(top: str) -> None:
    rooms = {path.parent.name for path in folder_of(top).glob("*/__init__.py")}
    assert rooms == set(WITHIN[top]) - {TOP_FLOOR}


@pytest.mark.parametrize("top", WITHIN)
def test_every_import_within_a_room_stays_within_its_table(top: str) -> None:
    broken = []
    for path, name, here in places(top):
        for line, dotted in imports(path):
            if dotted != f"plyhouse.{top}" and not dotted.startswith(f"plyhouse.{top}."):
                continue
            there = room_of(top, dotted)
            if there != here and there not in WITHIN[top][here]:
                broken.append(f"{name}:{line}: {here or top} may not import {there or top}")
            if top == "server" and here and not there and dotted not in SERVED:
                broken.append(f"{name}:{line}: {dotted} joins the rooms; they do not know it")
    assert not broken, "\n".join(broken)


def test_modules_of_grades_use_those_above_them_only() -> None:
    """The docstring of the package lists its modules in the order of the computation."""
    folder = folder_of("server") / "grades"
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    order = re.findall(r"^    (\w+)  +\S", docstring, re.MULTILINE)
    for path in sorted(folder.glob("[!_]*.py")):
        used = [dotted.split(".")[3] for _, dotted in imports(path)
                if dotted.startswith("plyhouse.server.grades.")]  # fmt: skip
        late = [name for name in used if name not in order[: order.index(path.stem)]]
        assert not late, f"{path.name} may not import {late}"


CONNECTIONS = {"plyhouse.server.table.participants", "plyhouse.server.wire.session"}
"""The modules of `Participant` and `Session`: objects of the process that holds the sockets."""
DIRECTORS = {"lobby", "competitions", "hosting", "administration"}
"""Packages that decide who plays; they see connections and matches as records only."""


def test_only_cluster_gateway_table_and_wire_use_connections() -> None:
    """Other packages use the records of `plyhouse.server.match.presence`, and ids of bots."""
    broken = []
    for top in TOP:
        for path in modules(top):
            inside = path.relative_to(folder_of(top))
            if top == "server" and inside.parts[0] in {"cluster", "gateway", "table", "wire"}:
                continue
            hidden = set(CONNECTIONS)
            if top == "server" and inside.parts[0] in DIRECTORS:
                hidden.add("plyhouse.server.table.live")
            for line, dotted in imports(path):
                if dotted in hidden:
                    broken.append(f"{top}/{inside.as_posix()}:{line}: imports {dotted}")
    assert not broken, "\n".join(broken)


def inside_functions(path: Path) -> Iterator[tuple[int, str]]:
    """The imports of ours that functions of a module make."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    yield from ((node.lineno, alias.name) for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield node.lineno, node.module or ""


def at_once(path: Path) -> Iterator[str]:
    """Return the imports that run with the module, not those for types or in functions."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)


def brought_along(dotted: str, imported: Mapping[str, set[str]]) -> set[str]:
    """All that is imported when a module is, directly or not."""
    found: set[str] = set()
    waiting = [dotted]
    while waiting:
        new = imported.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def test_the_server_dodges_no_circle() -> None:
    """A function may import what is optional or brings numpy along, if nothing leads back."""
    imported = {
        f"plyhouse.{name.removesuffix('.py').replace('/', '.')}": set(at_once(path))
        for path, name, _ in places("server")
    }
    broken = []
    for path, name, _ in places("server"):
        here = f"plyhouse.{name.removesuffix('.py').replace('/', '.')}"
        for line, dotted in inside_functions(path):
            if not dotted.startswith("plyhouse.server"):
                continue
            along = brought_along(dotted, imported)
            if here in along:
                broken.append(f"{name}:{line}: {dotted} leads back here")
            elif "numpy" not in along and not dotted.startswith(OPTIONAL):
                broken.append(f"{name}:{line}: {dotted} needs no numpy: import it at the top")
    assert not broken, "\n".join(broken)
