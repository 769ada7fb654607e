"""Packages: what may be handed in, read and checked without running anything of it.

A package is a file, a folder or a zip.  Nothing is unpacked before it has been checked: reading
gives names and bytes in memory, within limits that hold while it is read.  What is refused:

    submission/missing       there is no such file, or it is neither .py, folder nor zip
    submission/too_large     more bytes or files than allowed, packed or unpacked
    submission/bad_name      a path that leaves the package, or that no system can take
    submission/bad_file      links, devices, and whatever else is no ordinary file
    submission/pickle        pickles: reading one runs what it says; keep data as JSON or NPZ
    submission/compiled      machine code in a Python bot, and bytecode
    submission/manifest      plyhouse.toml does not say what it has to
    submission/requirement   a requirement that this server does not offer
"""

from __future__ import annotations

import io
import os
import re
import stat
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

__all__ = ["MANIFEST", "Manifest", "Package", "Rules", "SubmissionError", "read_package"]

MANIFEST: Final = "plyhouse.toml"
REQUIREMENTS: Final = "requirements.txt"

_IGNORED: Final = frozenset({"__pycache__", "__MACOSX", ".git", ".venv", ".idea", ".DS_Store"})
"""What lies about in folders and is no part of a bot."""
_PICKLES: Final = (".pkl", ".pickle", ".joblib", ".dill", ".pt", ".pth")
_COMPILED: Final = (".so", ".pyd", ".dll", ".dylib")
_BYTECODE: Final = (".pyc", ".pyo")
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f\\:*?\"<>|]{1,100}")
_DEEPEST: Final = 10
_BOT: Final = re.compile(r"[\w./-]+\.py(:[A-Za-z_]\w*)?(\(.*\))?", re.DOTALL)


class SubmissionError(Exception):
    """A package is refused; ``code`` is stable, ``str()`` says where and what would be right."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = f"submission/{code}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What an operator lets in."""

    max_bytes: int = 64 << 20
    """Of all files together, unpacked."""
    max_file: int = 32 << 20
    max_packed: int = 32 << 20
    max_files: int = 500
    packages: frozenset[str] = frozenset({"numpy", "scipy"})
    """What ``requirements.txt`` may name; they have to be installed here."""
    runtimes: frozenset[str] = frozenset({"node"})
    """Programs of this machine that ``run`` may begin with."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What plyhouse.toml says, or what goes without saying."""

    name: str = ""
    bot: str = ""
    """A bot by our API: ``mybot.py:MyBot(depth=4)``; or else ..."""
    run: tuple[str, ...] = ()
    """... a program that speaks protocol v1 as lines, and its arguments."""
    games: tuple[str, ...] = ()
    """What a program plays; a bot by our API says so itself."""


@dataclass(frozen=True, slots=True)
class Package:
    """Names and contents, checked."""

    files: dict[str, bytes]
    executable: frozenset[str]
    manifest: Manifest
    requirements: tuple[str, ...] = field(default=())


def read_package(path: Path, rules: Rules | None = None) -> Package:
    """Read a .py file, a folder or a zip; raises `SubmissionError`."""
    rules = rules or Rules()
    files: dict[str, bytes] = {}
    executable = set()
    size = 0
    for name, content, may_run in _entries(path, rules):
        if name in files or name.casefold() in {other.casefold() for other in files}:
            raise SubmissionError("bad_name", f"{name} is there twice (capitals do not count)")
        files[name] = content
        size += len(content)
        if len(files) > rules.max_files:
            raise SubmissionError("too_large", f"more than {rules.max_files} files")
        if size > rules.max_bytes:
            raise SubmissionError("too_large", f"more than {_mib(rules.max_bytes)} in all files")
        if may_run:
            executable.add(name)
    if not files:
        raise SubmissionError("missing", f"{path.name} is empty")
    files, executable = _without_top_folder(files, executable)
    manifest = _manifest(files, rules)
    for name, content in files.items():
        _check_content(name, content, python=bool(manifest.bot))
    if manifest.run and "/" in manifest.run[0]:
        executable.add(os.path.normpath(manifest.run[0]))
    return Package(files, frozenset(executable), manifest, _requirements(files, rules))


def _mib(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size} bytes"


def _entries(path: Path, rules: Rules) -> Iterator[tuple[str, bytes, bool]]:
    """Names, contents, and whether they may be run, checked one by one as they are read."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise SubmissionError("missing", f"{path}: {error.strerror}") from None
    if stat.S_ISDIR(mode):
        yield from _of_folder(path, rules)
    elif path.suffix == ".py" and stat.S_ISREG(mode):
        yield path.name, _read(path, path.name, rules), False
    elif stat.S_ISREG(mode) and zipfile.is_zipfile(path):
        if path.stat().st_size > rules.max_packed:
            raise SubmissionError("too_large", f"{path.name}: more than {_mib(rules.max_packed)}")
        yield from _of_zip(path.read_bytes(), rules)
    else:
        raise SubmissionError(
            "missing", f"{path.name} is no bot: hand in a .py file, a folder or a zip"
        )


def _of_folder(top: Path, rules: Rules) -> Iterator[tuple[str, bytes, bool]]:
    count = 0
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(set(folders) - _IGNORED)
        for each in folders:
            if (Path(folder) / each).is_symlink():
                raise _no_file(os.path.relpath(os.path.join(folder, each), top), "a link")
        for each in sorted(set(names) - _IGNORED):
            path = Path(folder) / each
            name = _checked_name(path.relative_to(top).as_posix())
            mode = path.lstat().st_mode
            if not stat.S_ISREG(mode):
                raise _no_file(name, "a link" if stat.S_ISLNK(mode) else "a device, pipe or socket")
            count += 1
            if count > rules.max_files:
                raise SubmissionError("too_large", f"more than {rules.max_files} files")
            yield name, _read(path, name, rules), bool(mode & 0o111)


def _read(path: Path, name: str, rules: Rules) -> bytes:
    # Whoever changes it into a link at this moment gets an error, not another file.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(rules.max_file + 1)
    if len(content) > rules.max_file:
        raise SubmissionError("too_large", f"{name}: more than {_mib(rules.max_file)}")
    return content


def _of_zip(data: bytes, rules: Rules) -> Iterator[tuple[str, bytes, bool]]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as error:
        raise SubmissionError("bad_file", f"the zip cannot be read: {error}") from None
    with archive:
        entries = archive.infolist()
        if len(entries) > 4 * rules.max_files:
            raise SubmissionError("too_large", f"more than {rules.max_files} files")
        for entry in entries:
            name = _checked_name(entry.filename.rstrip("/"))
            mode = entry.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _no_file(name, "a link" if stat.S_ISLNK(mode) else "a device, pipe or socket")
            if entry.is_dir() or not _IGNORED.isdisjoint(name.split("/")):
                continue
            if entry.flag_bits & 1:
                raise SubmissionError("bad_file", f"{name} is encrypted")
            try:
                with archive.open(entry) as file:  # what it says of its size need not be true
                    content = file.read(rules.max_file + 1)
            except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError) as error:
                raise SubmissionError("bad_file", f"{name} cannot be unpacked: {error}") from None
            except Exception as error:  # zlib.error, lzma.LZMAError: of no common kind
                raise SubmissionError("bad_file", f"{name} cannot be unpacked: {error}") from None
            if len(content) > rules.max_file:
                raise SubmissionError("too_large", f"{name}: more than {_mib(rules.max_file)}")
            yield name, content, bool(mode & 0o111)


def _checked_name(name: str) -> str:
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "" in parts or "." in parts:
        raise SubmissionError("bad_name", f"{name!r} leads out of the package")
    if len(parts) > _DEEPEST or not all(map(_NAME.fullmatch, parts)):
        raise SubmissionError(
            "bad_name",
            f'{name!r}: names have at most 100 characters, none of \\ : * ? " < > | among them, '
            f"and folders are at most {_DEEPEST} deep",
        )
    return name


def _no_file(name: str, what: str) -> SubmissionError:
    return SubmissionError("bad_file", f"{name} is {what}: packages hold ordinary files only")


def _without_top_folder(
    files: dict[str, bytes], executable: set[str]
) -> tuple[dict[str, bytes], set[str]]:
    """Zips of a folder have that folder in every name."""
    tops = {name.partition("/")[0] for name in files}
    if len(tops) != 1 or any("/" not in name for name in files):
        return files, executable
    start = len(tops.pop()) + 1
    return (
        {name[start:]: content for name, content in files.items()},
        {name[start:] for name in executable},
    )


def _check_content(name: str, content: bytes, *, python: bool) -> None:
    lower = name.lower()
    pickled = content[:1] == b"\x80" and content[1:2] in b"\2\3\4\5" and content[-1:] == b"."
    if lower.endswith(_PICKLES) or (pickled and len(content) > 2):
        raise SubmissionError(
            "pickle",
            f"{name} is a pickle: reading one runs what it says; keep data as JSON, text or "
            "NumPy's .npy and .npz",
        )
    if lower.endswith(_BYTECODE):
        raise SubmissionError("compiled", f"{name} is bytecode: hand in the source")
    if python and lower.endswith(_COMPILED):
        raise SubmissionError(
            "compiled",
            f"{name} is machine code: hand in a program of its own that speaks the protocol "
            f'(run = ["./bot"] in {MANIFEST})',
        )


# ------------------------------------------------------------------------ the manifest


def _manifest(files: dict[str, bytes], rules: Rules) -> Manifest:
    if MANIFEST not in files:
        return Manifest(bot=_only_bot(files))
    try:
        table = tomllib.loads(files[MANIFEST].decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _wrong(f"cannot be read: {error}") from None
    section = table.get("bot")
    if not isinstance(section, dict) or set(table) != {"bot"}:
        raise _wrong("has one section, [bot]")
    unknown = set(section) - {"name", "bot", "run", "games"}
    if unknown:
        raise _wrong(f"has {min(unknown)!r}; known are name, bot, run, games")
    manifest = Manifest(
        name=_text(section, "name"),
        bot=_text(section, "bot"),
        run=_texts(section, "run"),
        games=_texts(section, "games"),
    )
    if manifest.run and manifest.bot:
        raise _wrong("has both bot and run: one of them says what is started")
    if manifest.run:
        _check_run(manifest, files, rules)
    elif manifest.bot:
        file = manifest.bot.partition(".py")[0] + ".py"
        if not _BOT.fullmatch(manifest.bot) or file not in files:
            raise _wrong(f'says bot = "{manifest.bot}", and there is no file {file}')
    else:
        return Manifest(manifest.name, _only_bot(files), (), manifest.games)
    return manifest


def _check_run(manifest: Manifest, files: dict[str, bytes], rules: Rules) -> None:
    first = manifest.run[0]
    if "/" in first:
        if os.path.normpath(first) not in files:
            raise _wrong(f'says run = ["{first}"], and there is no such file')
    elif first not in rules.runtimes:
        offered = ", ".join(sorted(rules.runtimes)) or "none"
        raise _wrong(
            f'says run = ["{first}"]: programs of this server are {offered}; one of your own '
            f'begins with ./, as in "./{first}"'
        )
    if not manifest.games:
        raise _wrong('lacks games: which a program plays, like games = ["connect_four"]')


def _wrong(what: str) -> SubmissionError:
    return SubmissionError("manifest", f"{MANIFEST} {what}")


def _text(section: dict[str, Any], key: str) -> str:
    value = section.get(key, "")
    if not isinstance(value, str) or len(value) > 1000:
        raise _wrong(f"wants a text for {key}")
    return value


def _texts(section: dict[str, Any], key: str) -> tuple[str, ...]:
    value = section.get(key, [])
    if not (isinstance(value, list) and all(isinstance(each, str) and each for each in value)):
        raise _wrong(f'wants a list of texts for {key}, like {key} = ["..."]')
    if len(value) > 50 or any("\0" in each or len(each) > 1000 for each in value):
        raise _wrong(f"has too much in {key}")
    return tuple(value)


def _only_bot(files: dict[str, bytes]) -> str:
    """The bot's file, where nothing says which it is."""
    found = [name for name in files if name.endswith(".py") and "/" not in name]
    for usual in ("bot.py", "mybot.py"):
        if usual in found:
            return usual
    if len(found) == 1:
        return found[0]
    seen = ", ".join(sorted(found)) if found else "no .py file"
    raise SubmissionError(
        "manifest",
        f'which file is the bot? There is {seen}: call it bot.py, or say bot = "..." in {MANIFEST}',
    )


# ------------------------------------------------------------------------ requirements


def _requirements(files: dict[str, bytes], rules: Rules) -> tuple[str, ...]:
    """What requirements.txt names; all of it is offered and installed here."""
    text = files.get(REQUIREMENTS, b"").decode("utf-8", "replace")
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        wanted = line.partition("#")[0].strip()
        if not wanted:
            continue
        try:
            requirement = Requirement(wanted)
        except InvalidRequirement:
            raise _not_offered(number, f"{wanted!r} is no requirement like numpy>=1.26") from None
        name = canonicalize_name(requirement.name)
        offered = ", ".join(sorted(rules.packages)) or "nothing"
        if requirement.url or name not in map(canonicalize_name, rules.packages):
            raise _not_offered(number, f"{wanted}: this server offers {offered}")
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            raise _not_offered(
                number, f"{name} is allowed and not installed here: tell the operator"
            ) from None
        if not requirement.specifier.contains(version, prereleases=True):
            raise _not_offered(number, f"{wanted}: here is version {version}")
        found.append(f"{name}=={version}")
    return tuple(found)


def _not_offered(line: int, what: str) -> SubmissionError:
    return SubmissionError("requirement", f"{REQUIREMENTS}, line {line}: {what}")
