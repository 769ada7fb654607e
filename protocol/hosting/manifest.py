"""The two files of a package that say how to start it: plyhouse.toml and requirements.txt.

Both come from strangers, so their size is checked before they are parsed. `tomllib` needs time and
memory that grow with the square of the number of dots in one key, hence the limit per line.
"""

from __future__ import annotations

import codecs
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from plyhouse.protocol.hosting.package_rules import (
    MAX_MANIFEST,
    MAX_REQUIREMENTS,
    Rules,
    SubmissionError,
    in_units,
    shortened,
)
from plyhouse.protocol.text import decoded

MANIFEST: Final = "plyhouse.toml"
REQUIREMENTS: Final = "requirements.txt"

_MAX_LINE: Final = 2000
"""Characters in one line of plyhouse.toml."""
_MAX_REQUIREMENT_LINES: Final = 50
_BOT: Final = re.compile(r"(?P<file>[^:()]+\.py)(:[A-Za-z_]\w*)?(\(.*\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Manifest:
    """How to start a bot: either ``bot`` or ``run`` is set."""

    name: str = ""
    bot: str = ""
    """A bot written against our API: ``mybot.py:MyBot(depth=4)``."""
    run: tuple[str, ...] = ()
    """A program that exchanges messages of protocol v1 as lines, and its arguments."""
    games: tuple[str, ...] = ()
    """The games that a program plays. A bot written against our API names them itself."""

    @property
    def program(self) -> str:
        """The program outside the package that starts the bot, such as ``node``; or ``""``."""
        return self.run[0] if self.run and "/" not in self.run[0] else ""


# ------------------------------------------------------------------------ plyhouse.toml


def read_manifest(files: Mapping[str, bytes], rules: Rules) -> Manifest:
    """Read plyhouse.toml, or guess the bot's file without one; raises `SubmissionError`.

    >>> read_manifest({"mybot.py": b""}, Rules()).bot
    'mybot.py'
    """
    if MANIFEST not in files:
        return Manifest(bot=_only_bot(files))
    table = _parsed(files[MANIFEST])
    section = table.get("bot")
    if not isinstance(section, dict) or set(table) != {"bot"}:
        raise _wrong("must contain one section, [bot]")
    unknown = set(section) - {"name", "bot", "run", "games"}
    if unknown:
        raise _wrong(f"contains {shortened(min(unknown))!r}; known keys are name, bot, run, games")
    manifest = Manifest(
        name=_text(section, "name"),
        bot=_text(section, "bot"),
        run=_texts(section, "run"),
        games=_texts(section, "games"),
    )
    if manifest.run and manifest.bot:
        raise _wrong("contains both bot and run; keep the one that starts your bot")
    if manifest.run:
        _check_run(manifest, files, rules)
    elif manifest.bot:
        found = _BOT.fullmatch(manifest.bot)
        file = found["file"] if found else manifest.bot
        if file not in files:
            named, missing = shortened(manifest.bot), shortened(file)
            raise _wrong(f'contains bot = "{named}", but the package has no file {missing}')
    else:
        return Manifest(manifest.name, _only_bot(files), (), manifest.games)
    return manifest


def _parsed(content: bytes) -> dict[str, Any]:
    if len(content) > MAX_MANIFEST:
        raise SubmissionError(
            "too_large",
            f"{MANIFEST} has {len(content):,} bytes; at most {in_units(MAX_MANIFEST)} are allowed",
        )
    try:
        text = decoded(content)
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > _MAX_LINE:
                raise _wrong(f"line {number} is longer than {_MAX_LINE:,} characters")
        return tomllib.loads(text)
    except RecursionError:
        raise _wrong("cannot be read: its values are nested too deeply") from None
    except ValueError as error:  # also TOMLDecodeError and huge integers
        raise _wrong(f"cannot be read: {shortened(str(error))}") from None


def _check_run(manifest: Manifest, files: Mapping[str, bytes], rules: Rules) -> None:
    first = manifest.run[0]
    if "/" in first:
        if os.path.normpath(first) not in files:
            raise _wrong(f'contains run = ["{shortened(first)}"], but the package has no such file')
        _check_start(os.path.normpath(first), files[os.path.normpath(first)])
    elif not rules.runtimes & {first, "*"}:
        offered = ", ".join(sorted(rules.runtimes)) or "none"
        raise _wrong(
            f'contains run = ["{shortened(first)}"]. This server offers these programs: '
            f'{offered}. To start a program of your package, begin with ./, as in "./mybot"'
        )
    if not manifest.games:
        raise _wrong('lacks games: name what the program plays, like games = ["connect_four"]')


def _check_start(name: str, content: bytes) -> None:
    """Refuse a script that the kernel cannot start because of how an editor saved it."""
    first = content[:200].partition(b"\n")[0]
    if first.startswith(codecs.BOM_UTF8 + b"#!"):
        fault = "begins with a byte-order mark: save it as UTF-8 without"
    elif first.startswith(b"#!") and first.endswith(b"\r"):
        fault = "has line ends of Windows: save it with those of Unix (LF)"
    else:
        return
    raise SubmissionError("bad_file", f"{name} {fault}, or no machine can start it")


def _wrong(what: str) -> SubmissionError:
    return SubmissionError("manifest", f"{MANIFEST} {what}")


def _text(section: dict[str, Any], key: str) -> str:
    value = section.get(key, "")
    if not isinstance(value, str) or len(value) > 1000:
        raise _wrong(f"must give {key} as a string of at most 1,000 characters")
    return value


def _texts(section: dict[str, Any], key: str) -> tuple[str, ...]:
    value = section.get(key, [])
    if not (isinstance(value, list) and all(isinstance(each, str) and each for each in value)):
        raise _wrong(f'must give {key} as a list of strings, like {key} = ["..."]')
    if len(value) > 50 or any("\0" in each or len(each) > 1000 for each in value):
        raise _wrong(f"may list at most 50 strings of 1,000 characters in {key}")
    return tuple(value)


def _only_bot(files: Mapping[str, bytes]) -> str:
    """Return the bot's file where the manifest does not name it."""
    found = [name for name in files if name.endswith(".py") and "/" not in name]
    for usual in ("bot.py", "mybot.py"):
        if usual in found:
            return usual
    if len(found) == 1:
        return found[0]
    seen = ", ".join(sorted(found)[:10]) if found else "no .py file"
    raise SubmissionError(
        "manifest",
        f"which file is the bot? The package has {seen}. Rename the bot to bot.py, or write "
        f'bot = "..." in {MANIFEST}',
    )


# ------------------------------------------------------------------------ requirements.txt


def read_requirements(files: Mapping[str, bytes], rules: Rules) -> tuple[str, ...]:
    """Read requirements.txt; raise `SubmissionError` for a package that is not offered.

    Where requirements must be installed (`Rules.installed`), the result names exact versions.
    """
    content = files.get(REQUIREMENTS, b"")
    if len(content) > MAX_REQUIREMENTS:
        raise SubmissionError(
            "too_large",
            f"{REQUIREMENTS} has {len(content):,} bytes; at most {in_units(MAX_REQUIREMENTS)} "
            "are allowed",
        )
    try:
        text = decoded(content)
    except ValueError as error:
        raise SubmissionError("requirement", f"{REQUIREMENTS} cannot be read: {error}") from None
    if not text.strip():
        return ()
    lines = text.splitlines()
    if len(lines) > _MAX_REQUIREMENT_LINES:
        raise SubmissionError(
            "too_large",
            f"{REQUIREMENTS} has {len(lines)} lines; at most {_MAX_REQUIREMENT_LINES} are allowed",
        )
    found = []
    for number, line in enumerate(lines, 1):
        if wanted := line.partition("#")[0].strip():
            found.append(_requirement(number, wanted, rules))
    return tuple(found)


def _requirement(number: int, wanted: str, rules: Rules) -> str:
    # Imported late because it is slow and few bots require anything.
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    try:
        requirement = Requirement(wanted)
    except (InvalidRequirement, RecursionError):
        raise _not_offered(
            number, f"{shortened(wanted)!r} is not a requirement like numpy>=1.26"
        ) from None
    name = canonicalize_name(requirement.name)
    offered = ", ".join(sorted(rules.packages)) or "nothing"
    offers = "*" in rules.packages or name in map(canonicalize_name, rules.packages)
    if requirement.url or not offers:
        raise _not_offered(number, f"{shortened(wanted)}: this server offers {offered}")
    if not rules.installed:
        return str(requirement)
    from importlib import metadata  # slow to import, and needed by servers alone

    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        raise _not_offered(
            number, f"{name} is allowed but not installed here; tell the operator"
        ) from None
    if not requirement.specifier.contains(version, prereleases=True):
        raise _not_offered(
            number, f"{shortened(wanted)}: version {version} is installed on this server"
        )
    return f"{name}=={version}"


def _not_offered(line: int, what: str) -> SubmissionError:
    return SubmissionError("requirement", f"{REQUIREMENTS}, line {line}: {what}")
