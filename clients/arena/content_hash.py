"""Content hashes that identify versions of bots and games.

The hash of a file covers its content, its options with the files that they name, and the modules
that it imports from its folder.  Its own name and folder have no influence.  The hash of an
installed bot or game covers its name, its options and the release of Plyhouse.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from plyhouse.bots.options import split_options
from plyhouse.protocol.installed import installed_version

if TYPE_CHECKING:
    from plyhouse.games.base import Game

_FILE: Final = re.compile(r"(?P<path>.*\.py)(?::(?P<name>\w+))?")


def bot_version(spec: str) -> str:
    """Return the hash of a bot; ``spec`` is as `plyhouse.bots.loading.check_spec` returns it.

    >>> bot_version("alpha_beta(depth=3)") == bot_version("alpha_beta( depth=3 )")
    True
    >>> bot_version("alpha_beta(depth=3)") == bot_version("alpha_beta(depth=4)")
    False
    """
    name, options = split_options(spec)
    described = {key: _value(value) for key, value in options.items()}
    found = _FILE.fullmatch(name)
    if found is None:
        return _digest({"bot": name, "options": described, "release": installed_version()})
    path = Path(found["path"])
    return _digest({"class": found["name"], "options": described, "files": _contents(path)})


def game_version(game: Game) -> str:
    """Return the hash of a game: of its file, or of its spec and the release if built in."""
    kind = type(game)
    source = None if kind.__module__.startswith("plyhouse.") else inspect.getsourcefile(kind)
    spec = game_text(game)
    if source is None:
        return _digest({"game": spec, "release": installed_version()})
    return _digest({"game": spec, "files": _contents(Path(source))})


def game_text(game: Game) -> str:
    """Return the game's spec without the folder of its file."""
    name, bracket, rest = game.spec.partition("(")
    return Path(name).name + bracket + rest


def source_files(path: Path) -> list[Path]:
    """Return a file and the modules in its folder that it imports, directly or not.

    The files are parsed and not run, so an import by a computed name is not found.
    """
    folder, found, waiting = path.parent, [path], [path]
    while waiting:
        for name in _imports(waiting.pop()):
            module = folder.joinpath(*name.split("."))
            for file in (module.with_name(f"{module.name}.py"), module / "__init__.py"):
                if file not in found and file.is_file():
                    found.append(file)
                    waiting.append(file)
    return found


def _imports(path: Path) -> Iterator[str]:
    """Yield the names that a file imports; none if it has a syntax error."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_parents(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            yield from _with_parents(base)
            for alias in node.names:
                yield f"{base}.{alias.name}".strip(".")


def _with_parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        if parts[0] and parts[0] not in sys.stdlib_module_names:
            yield ".".join(parts[:count])


def _contents(path: Path) -> list[str]:
    """Return hashes of the file and its modules; the modules' with their names."""
    first, *others = source_files(path)
    folder = first.parent
    named = sorted(f"{file.relative_to(folder)} {_file_hash(file)}" for file in others)
    return [_file_hash(first), *named]


def _value(value: object) -> object:
    """Return an option, or the hash of the file's content if it names a file."""
    if isinstance(value, str) and value and Path(value).is_file():
        return {"file": _file_hash(Path(value))}
    return value


def _file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(described: Mapping[str, object]) -> str:
    text = json.dumps(described, sort_keys=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
