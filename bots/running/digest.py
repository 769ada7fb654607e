"""The digest of a bot's files: the same digest means the same bot.

The digest covers the bot's file, the modules beside it that it imports (and those that they
import), files that its options name, and the options themselves.  It does not cover installed
packages and other files that the bot opens.  The bot's session computes it, so it distinguishes
versions but does not protect from a session that lies.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

from plyhouse.bots.loading import REFERENCE_BOTS, BotLoadError, bot_names, check_spec
from plyhouse.bots.options import OptionError, split_options
from plyhouse.protocol.installed import installed_version

__all__ = ["bot_digest"]


def bot_digest(spec: str) -> str:
    """Return the SHA-256 of a bot, as 64 hexadecimal digits; empty if a file cannot be read.

    This runs no code of the bot.  The folder of the bot makes no difference.
    """
    try:
        name, options = split_options(check_spec(spec))
        parts = dict(_parts(name))
        for option, value in sorted(options.items()):
            parts[f"option {option}"] = repr(value).encode()
            if isinstance(value, str) and Path(value).is_file():
                parts[f"option {option}"] = Path(value).read_bytes()
    except (OSError, BotLoadError, OptionError):
        return ""
    whole = hashlib.sha256(b"plyhouse-bot-1")
    for label, content in sorted(parts.items()):
        for each in (label.encode(), content):
            whole.update(len(each).to_bytes(8, "big") + each)
    return whole.hexdigest()


def _parts(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of the bot, by name."""
    path, _, wanted = name.rpartition(":") if ".py:" in name else (name, "", "")
    if path.endswith(".py"):
        yield "class", wanted.encode()
        yield from _modules(Path(path))
        return
    target = REFERENCE_BOTS.get(name) or bot_names()[name]
    yield "installed", target.encode()
    module, _, _ = target.partition(":")
    if module.startswith("plyhouse."):
        yield "plyhouse", installed_version().encode()
    found = importlib.util.find_spec(module)
    if found is not None and found.origin is not None and Path(found.origin).is_file():
        yield "source", Path(found.origin).read_bytes()


def _modules(first: Path) -> Iterator[tuple[str, bytes]]:
    """Yield a file and, recursively, the modules beside it that it imports, by path."""
    folder = first.parent
    waiting, seen = [first], {first}
    while waiting:
        path = waiting.pop()
        content = path.read_bytes()
        label = "bot" if path == first else path.relative_to(folder).as_posix()
        yield f"file {label}", content
        for found in _imported(content, path, folder):
            if found not in seen:
                seen.add(found)
                waiting.append(found)


def _imported(content: bytes, path: Path, folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that a module imports anywhere in its code."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return  # an unreadable file imports nothing; its bot will not load
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _places(folder, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = folder
            for _ in range(node.level):
                base = path.parent if base is folder else base.parent
            module = node.module.split(".") if node.module else []
            for alias in node.names:
                yield from _places(base, [*module, alias.name])


def _places(base: Path, parts: list[str]) -> Iterator[Path]:
    """Yield the files that importing a dotted name runs: its packages and the module."""
    for length in range(1, len(parts) + 1):
        place = base.joinpath(*parts[:length])
        for found in (place.with_suffix(".py"), place / "__init__.py"):
            if found.is_file():
                yield found
