"""Packages of bots: names and bytes in memory, checked without running anything.

The author's command, the server and the runner apply the same rules (`package_rules`). Limits apply
while an archive is read; the sizes that it states are not trusted.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from plyhouse.protocol.hosting.manifest import MANIFEST, Manifest, read_manifest, read_requirements
from plyhouse.protocol.hosting.package_rules import Rules, SubmissionError, in_units, shortened

__all__ = [
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
    "ignored",
    "in_units",
    "no_file",
    "not_a_zip",
    "pack",
    "version_of",
]

_IGNORED: Final = frozenset(
    [
        *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".ipynb_checkpoints"),
        *(".git", ".hg", ".svn", ".venv", ".idea", ".vscode", "__MACOSX", ".DS_Store"),
        *("Thumbs.db", "desktop.ini"),
    ]
)
"""Files and folders that tools and systems leave behind."""
_PICKLES: Final = (".pkl", ".pickle", ".joblib", ".dill", ".pt", ".pth")
_CALLS: Final = frozenset({"REDUCE", "OBJ", "NEWOBJ", "NEWOBJ_EX", "BUILD"})
"""Instructions of pickles that call something."""
_MOST_CODES: Final = 10_000
"""Instructions of a file that are read to find out whether it is a pickle."""
_COMPILED: Final = (".so", ".pyd", ".dll", ".dylib")
_BYTECODE: Final = (".pyc", ".pyo")
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\\:*?\"<>|]{1,100}")
_DEEPEST: Final = 10
_LONGEST: Final = 255
"""Longest file name in bytes, the limit of common file systems."""
_END: Final = b"PK\5\6"
_END_64: Final = b"PK\6\7"
_DIRECTORY_EACH: Final = 4 * 1200
"""Bytes that a file takes up in the directory of an archive, at most; four times, as folders and
what is left out are there as well.
"""


@dataclass(frozen=True, slots=True)
class Package:
    """A checked package: names and contents."""

    files: dict[str, bytes]
    executable: frozenset[str]
    manifest: Manifest
    requirements: tuple[str, ...] = field(default=())


def ignored(name: str) -> bool:
    """Return whether a file or folder of this name is no part of a package, such as a cache.

    >>> ignored("__pycache__"), ignored("._mybot.py"), ignored("mybot.py")
    (True, True, False)
    """
    return name in _IGNORED or name.startswith("._")  # what macOS keeps beside a file


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
            raise SubmissionError(
                "bad_name", f"{name} is in the package twice (case does not matter)"
            )
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
    for name in files:
        _refuse_file_as_folder(name, folded)
    files, executable = _without_top_folder(files, executable)
    manifest = read_manifest(files, rules)
    for name, content in files.items():
        _check_content(name, content, python=bool(manifest.bot))
    if manifest.run and "/" in manifest.run[0]:
        executable.add(os.path.normpath(manifest.run[0]))
    return Package(files, frozenset(executable), manifest, read_requirements(files, rules))


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
            "missing", f"{name or 'this'} is not a bot: submit a .py file, a folder or a zip"
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
    """Return the error for a file that is named like a zip but is none."""
    what = "is damaged, or no zip" if size else "is empty"
    return SubmissionError("bad_file", f"{name} {what}: pack it again, or submit the folder")


def pack(package: Package) -> bytes:
    """Return a package as a zip: the same package gives the same names in the same order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(package.files.items()):
            entry = zipfile.ZipInfo(name)  # dated 1980, so that the time of packing does not matter
            entry.create_system = 3
            mode = 0o755 if name in package.executable else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def version_of(package: Package) -> str:
    """Return the SHA-256 of names, contents and executable flags, as 64 hexadecimal digits."""
    parts = []
    for name, content in sorted(package.files.items()):
        mark = b"x" if name in package.executable else b"-"
        parts += [name.encode(), mark, content]
    return _hashed(b"plyhouse-package-1", parts)


def digest_of(package: Package) -> str:
    """Return the digest that distinguishes the versions of a package on a server.

    For a bot in a single file it equals the digest that its author's own runner reports
    (`plyhouse.bots.running.digest`), so that a submitted and a connected bot have the same version.
    For other packages it covers all files (`version_of`): new weights make a new version.
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


def _of_zip(data: bytes, rules: Rules) -> Iterator[tuple[str, bytes, bool]]:
    """Yield names, contents and executable flags, each checked as it is read."""
    _check_directory(data, rules)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error) as error:
        raise SubmissionError(
            "bad_file", f"the zip cannot be read: {shortened(str(error))}"
        ) from None
    with archive:
        entries = archive.infolist()
        if len(entries) > 4 * rules.max_files:
            raise SubmissionError("too_large", f"more than {rules.max_files} files")
        for entry in entries:
            written = entry.filename.replace("\\", "/")  # as some programs of Windows write it
            while written.startswith("./"):  # as tar writes a folder into a zip
                written = written[2:]
            if not written:
                continue
            name = checked_name(written.rstrip("/"))
            mode = entry.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise no_file(name, "a link" if stat.S_ISLNK(mode) else "a device, pipe or socket")
            if written.endswith("/") or any(map(ignored, name.split("/"))):
                continue
            if entry.flag_bits & 1:
                raise SubmissionError("bad_file", f"{name} is encrypted")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                # Unpacking other formats may take gigabytes of memory.
                raise SubmissionError(
                    "bad_file", f"{name} is compressed in an unusual way: use deflate"
                )
            try:
                with archive.open(entry) as file:  # the size that it states may be wrong
                    content = file.read(rules.max_file + 1)
            except Exception as error:  # zlib.error and lzma.LZMAError have no common base
                why = shortened(str(error))
                raise SubmissionError("bad_file", f"{name} cannot be unpacked: {why}") from None
            if len(content) > rules.max_file:
                raise SubmissionError("too_large", f"{name}: more than {in_units(rules.max_file)}")
            yield name, content, bool(mode & 0o111)


def _check_directory(data: bytes, rules: Rules) -> None:
    """Refuse an archive with a huge directory, since zipfile reads it into memory."""
    usual = data[-22:-18] == _END and data[-2:] == b"\0\0"
    end = len(data) - 22 if usual else data.rfind(_END, max(0, len(data) - 65_557))
    if end < 0 or end + 22 > len(data):
        raise SubmissionError("bad_file", "the zip cannot be read: its end is missing")
    if data[max(0, end - 20) : end].startswith(_END_64):
        raise SubmissionError(
            "bad_file", "the zip uses zip64, the format for more than 4 GiB: pack it without"
        )
    (size,) = struct.unpack_from("<I", data, end + 12)
    if size > _DIRECTORY_EACH * rules.max_files:
        raise SubmissionError("too_large", f"more than {rules.max_files} files")


def checked_name(name: str) -> str:
    """Return the path of a file in a package; raises `SubmissionError` if it leads elsewhere."""
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "" in parts or "." in parts:
        raise SubmissionError("bad_name", f"{shortened(name)!r} points outside the package")
    if any("\ud800" <= each <= "\udfff" for each in name):
        raise SubmissionError(
            "bad_name", f"{shortened(name)!r} is not in UTF-8: rename the file in plain letters"
        )
    usable = all(_NAME.fullmatch(part) and len(part.encode()) <= _LONGEST for part in parts)
    if len(parts) > _DEEPEST or not usable:
        raise SubmissionError(
            "bad_name",
            f"{shortened(name)!r}: a name has at most 100 characters and {_LONGEST} bytes, "
            f'contains none of \\ : * ? " < > |, and lies at most {_DEEPEST} folders deep',
        )
    return name


def _refuse_file_as_folder(name: str, folded: set[str]) -> None:
    """Raise `SubmissionError` if a folder of this path is also a file: no disk can hold both."""
    parts = name.casefold().split("/")
    for depth in range(1, len(parts)):
        if "/".join(parts[:depth]) in folded:
            folder = "/".join(name.split("/")[:depth])
            raise SubmissionError(
                "bad_name", f"{folder} is both a file and the folder of {name}; rename one of them"
            )


def no_file(name: str, what: str) -> SubmissionError:
    """Return the error for something that is not an ordinary file."""
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


def _is_pickle(content: bytes) -> bool:
    """Return whether a file of any name is a pickle, by its content.

    Protocols 0 and 1 have no mark at their beginning, so their instructions are read, as far as
    that goes.  Such a file counts as a pickle if it calls something.
    """
    marked = content[:1] == b"\x80" and content[1:2] in (b"\2", b"\3", b"\4", b"\5")
    if marked and content[-1:] == b".":
        return True
    import pickletools  # only uploads need it

    calls, stack = False, False
    try:
        for code, _, place in itertools.islice(pickletools.genops(content), _MOST_CODES):
            stack = stack or code.name == "MARK"
            calls = calls or code.name in _CALLS or (code.name == "INST" and stack)
            if code.name == "STOP":
                if calls and not marked:  # text may spell instructions that no stack allows
                    pickletools.dis(content[: (place or 0) + 1], io.StringIO())
                return marked or calls
    except Exception:  # genops raises errors of many kinds for what is no pickle
        return False
    return marked or calls


def _check_content(name: str, content: bytes, *, python: bool) -> None:
    lower = name.lower()
    if lower.endswith(_PICKLES) or _is_pickle(content):
        raise SubmissionError(
            "pickle",
            f"{name} is a pickle: loading one runs code; store data as JSON, text or "
            "NumPy's .npy and .npz",
        )
    if lower.endswith(_BYTECODE):
        raise SubmissionError("compiled", f"{name} is bytecode: submit the source")
    if lower.endswith(".py") and b"\0" in content:
        raise SubmissionError(
            "bad_file", f"{name} contains zero bytes, so it is not UTF-8 text: save it as UTF-8"
        )
    if python and lower.endswith(_COMPILED):
        raise SubmissionError(
            "compiled",
            f"{name} is machine code: submit a separate program that uses the protocol "
            f'(run = ["./bot"] in {MANIFEST})',
        )
