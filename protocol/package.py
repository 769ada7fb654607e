"""Packages: what a bot that is handed in may be, read and checked without running anything of it.

Whoever hands in looks at a package by the same rules as the server that takes it and the runner
that plays it.  Here are names and bytes in memory only; limits hold while they are read, so that an
archive takes up no more than it may, whatever it says of itself.  What is refused:

    submission/missing       there is no such file, or it is neither .py, folder nor zip
    submission/too_large     more bytes or files than allowed, packed or unpacked
    submission/bad_name      a path that leaves the package, or that no system can take
    submission/bad_file      links, devices, and whatever else is no ordinary file
    submission/pickle        pickles: reading one runs what it says; keep data as JSON or NPZ
    submission/compiled      machine code in a Python bot, and bytecode
    submission/manifest      plyhouse.toml does not say what it has to
    submission/requirement   a requirement that the server does not offer
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import struct
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Final

__all__ = [
    "IGNORED",
    "MANIFEST",
    "Manifest",
    "Package",
    "Rules",
    "SubmissionError",
    "checked_name",
    "digest_of",
    "from_entries",
    "from_upload",
    "from_zip",
    "in_units",
    "no_file",
    "not_a_zip",
    "pack",
    "version_of",
]

MANIFEST: Final = "plyhouse.toml"
REQUIREMENTS: Final = "requirements.txt"

IGNORED: Final = frozenset({"__pycache__", "__MACOSX", ".git", ".venv", ".idea", ".DS_Store"})
"""What lies about in folders and is no part of a bot."""
_PICKLES: Final = (".pkl", ".pickle", ".joblib", ".dill", ".pt", ".pth")
_COMPILED: Final = (".so", ".pyd", ".dll", ".dylib")
_BYTECODE: Final = (".pyc", ".pyo")
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f\\:*?\"<>|]{1,100}")
_DEEPEST: Final = 10
_END: Final = b"PK\5\6"
_END_64: Final = b"PK\6\7"
_DIRECTORY_EACH: Final = 4 * 1200
"""Bytes that a file takes up in the directory of an archive, at most; four times, as folders and
what is left out are there as well.
"""
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
    """What ``requirements.txt`` may name."""
    installed: bool = True
    """Whether that has to be installed here; not where bots are only taken, and run elsewhere."""
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

    @property
    def program(self) -> str:
        """What it is started with that is not in the package, such as ``node``; empty for none."""
        return self.run[0] if self.run and "/" not in self.run[0] else ""


@dataclass(frozen=True, slots=True)
class Package:
    """Names and contents, checked."""

    files: dict[str, bytes]
    executable: frozenset[str]
    manifest: Manifest
    requirements: tuple[str, ...] = field(default=())


def from_entries(entries: Iterable[tuple[str, bytes, bool]], rules: Rules, whole: str) -> Package:
    """Make a package of names, contents and whether they may be run; raises `SubmissionError`.

    ``whole`` is what all of it is called in messages.
    """
    files: dict[str, bytes] = {}
    executable = set()
    folded = set()
    size = 0
    for name, content, may_run in entries:
        if name.casefold() in folded:
            raise SubmissionError("bad_name", f"{name} is there twice (capitals do not count)")
        folded.add(name.casefold())
        files[name] = content
        size += len(content)
        if len(files) > rules.max_files:
            raise SubmissionError("too_large", f"more than {rules.max_files} files")
        if size > rules.max_bytes:
            raise SubmissionError(
                "too_large", f"more than {in_units(rules.max_bytes)} in all files"
            )
        if may_run:
            executable.add(name)
    if not files:
        raise SubmissionError("missing", f"{whole} is empty")
    files, executable = _without_top_folder(files, executable)
    manifest = _manifest(files, rules)
    for name, content in files.items():
        _check_content(name, content, python=bool(manifest.bot))
    if manifest.run and "/" in manifest.run[0]:
        executable.add(os.path.normpath(manifest.run[0]))
    return Package(files, frozenset(executable), manifest, _requirements(files, rules))


def from_upload(name: str, data: bytes, rules: Rules) -> Package:
    """Read what was sent: a zip, or the text of a bot that is called ``name``, like mybot.py.

    Raises `SubmissionError`.
    """
    if data[:4] in (b"PK\3\4", b"PK\5\6"):
        return from_zip(data, rules, name or "the zip")
    if name.lower().endswith(".zip"):
        raise not_a_zip(name, len(data))
    if not name.endswith(".py"):
        raise SubmissionError(
            "missing", f"{name or 'this'} is no bot: hand in a .py file, a folder or a zip"
        )
    if len(data) > rules.max_file:
        raise SubmissionError("too_large", f"{name}: more than {in_units(rules.max_file)}")
    return from_entries([(checked_name(name), data, False)], rules, name)


def from_zip(data: bytes, rules: Rules, whole: str = "the zip") -> Package:
    """Read a zip; raises `SubmissionError`."""
    if len(data) > rules.max_packed:
        raise SubmissionError("too_large", f"{whole}: more than {in_units(rules.max_packed)}")
    return from_entries(_of_zip(data, rules), rules, whole)


def not_a_zip(name: str, size: int) -> SubmissionError:
    """What to say of a file that is called a zip and is none."""
    what = "is damaged, or no zip" if size else "is empty"
    return SubmissionError("bad_file", f"{name} {what}: pack it again, or hand in the folder")


def pack(package: Package) -> bytes:
    """Return a package as a zip: the same package gives the same names in the same order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(package.files.items()):
            entry = zipfile.ZipInfo(name)  # of 1980: when it was packed is no part of it
            entry.create_system = 3
            mode = 0o755 if name in package.executable else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def version_of(package: Package) -> str:
    """The SHA-256 of names, contents, and what may be run; 64 hexadecimal digits."""
    parts = []
    for name, content in sorted(package.files.items()):
        mark = b"x" if name in package.executable else b"-"
        parts += [name.encode(), mark, content]
    return _hashed(b"plyhouse-package-1", parts)


def digest_of(package: Package) -> str:
    """What tells a package's versions apart on a server.

    For a bot in one file it is what its author's own runner reports for that file
    (`plyhouse.bots.running.digest`): handed in or connected, it is the same version.  As soon as
    there is more, all of it counts (`version_of`): a bot with other weights is another one.
    """
    if len(package.files) == 1 and package.manifest.bot in package.files:
        (content,) = package.files.values()
        return _hashed(b"plyhouse-bot-1", [b"class", b"", b"file bot", content])
    return version_of(package)


def _hashed(kind: bytes, parts: Iterable[bytes]) -> str:
    whole = hashlib.sha256(kind)
    for each in parts:
        whole.update(len(each).to_bytes(8, "big") + each)
    return whole.hexdigest()


def in_units(size: int) -> str:
    """A number of bytes, for people."""
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size} bytes"


def _of_zip(data: bytes, rules: Rules) -> Iterator[tuple[str, bytes, bool]]:
    """Names, contents, and whether they may be run, checked one by one as they are read."""
    _check_directory(data, rules)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as error:
        raise SubmissionError("bad_file", f"the zip cannot be read: {error}") from None
    with archive:
        entries = archive.infolist()
        if len(entries) > 4 * rules.max_files:
            raise SubmissionError("too_large", f"more than {rules.max_files} files")
        for entry in entries:
            name = checked_name(entry.filename.rstrip("/"))
            mode = entry.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise no_file(name, "a link" if stat.S_ISLNK(mode) else "a device, pipe or socket")
            if entry.is_dir() or not IGNORED.isdisjoint(name.split("/")):
                continue
            if entry.flag_bits & 1:
                raise SubmissionError("bad_file", f"{name} is encrypted")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                # Other ways of packing may ask for gigabytes to unpack with.
                raise SubmissionError(
                    "bad_file", f"{name} is packed in an unusual way: use the usual one, deflate"
                )
            try:
                with archive.open(entry) as file:  # what it says of its size need not be true
                    content = file.read(rules.max_file + 1)
            except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError) as error:
                raise SubmissionError("bad_file", f"{name} cannot be unpacked: {error}") from None
            except Exception as error:  # zlib.error, lzma.LZMAError: of no common kind
                raise SubmissionError("bad_file", f"{name} cannot be unpacked: {error}") from None
            if len(content) > rules.max_file:
                raise SubmissionError("too_large", f"{name}: more than {in_units(rules.max_file)}")
            yield name, content, bool(mode & 0o111)


def _check_directory(data: bytes, rules: Rules) -> None:
    """Refuse an archive whose directory would fill the memory; zipfile reads it as a whole."""
    usual = data[-22:-18] == _END and data[-2:] == b"\0\0"
    end = len(data) - 22 if usual else data.rfind(_END, max(0, len(data) - 65_557))
    if end < 0 or end + 22 > len(data):
        raise SubmissionError("bad_file", "the zip cannot be read: it has no end")
    if data[max(0, end - 20) : end].startswith(_END_64):
        raise SubmissionError("bad_file", "the zip is of the kind for more than 4 GiB: zip64")
    (size,) = struct.unpack_from("<I", data, end + 12)
    if size > _DIRECTORY_EACH * rules.max_files:
        raise SubmissionError("too_large", f"more than {rules.max_files} files")


def checked_name(name: str) -> str:
    """Return the path of a file in a package; raises `SubmissionError` if it leads elsewhere."""
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


def no_file(name: str, what: str) -> SubmissionError:
    """The refusal of something that is no ordinary file."""
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
    if lower.endswith(".py") and b"\0" in content:
        raise SubmissionError(
            "bad_file", f"{name} is no text in UTF-8, as it holds zero bytes: save it as UTF-8"
        )
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
    if not text.strip():
        return ()
    # Slow to import, and few bots require anything.
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

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
        if not rules.installed:
            found.append(str(requirement))
            continue
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
