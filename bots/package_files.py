"""Read packages of bots from a file, a folder or a zip.

The rules are in `plyhouse.protocol.hosting.package`.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

from plyhouse.protocol.hosting.package import (
    MANIFEST,
    Manifest,
    Package,
    Rules,
    SubmissionError,
    checked_name,
    from_entries,
    from_zip,
    ignored,
    in_units,
    no_file,
    not_a_zip,
)

__all__ = ["MANIFEST", "Manifest", "Package", "Rules", "SubmissionError", "read_package"]


def read_package(path: Path, rules: Rules | None = None) -> Package:
    """Read a .py file, a folder or a zip; raises `SubmissionError`."""
    rules = rules or Rules()
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise SubmissionError("missing", f"{path}: {error.strerror}") from None
    if stat.S_ISDIR(mode):
        return from_entries(_of_folder(path, rules), rules, path.name)
    if path.suffix == ".py" and stat.S_ISREG(mode):
        return from_entries([(path.name, _read(path, path.name, rules), False)], rules, path.name)
    if stat.S_ISREG(mode) and zipfile.is_zipfile(path):
        if path.stat().st_size > rules.max_packed:
            raise SubmissionError(
                "too_large", f"{path.name}: more than {in_units(rules.max_packed)}"
            )
        return from_zip(path.read_bytes(), rules, path.name)
    if path.suffix.lower() == ".zip" and stat.S_ISREG(mode):
        raise not_a_zip(path.name, path.stat().st_size)
    raise SubmissionError(
        "missing", f"{path.name} is not a bot; submit a .py file, a folder or a zip"
    )


def _of_folder(top: Path, rules: Rules) -> Iterator[tuple[str, bytes, bool]]:
    count = 0
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(each for each in folders if not ignored(each))
        for each in folders:
            if (Path(folder) / each).is_symlink():
                raise no_file(os.path.relpath(os.path.join(folder, each), top), "a link")
        for each in sorted(each for each in names if not ignored(each)):
            path = Path(folder) / each
            name = checked_name(path.relative_to(top).as_posix())
            mode = path.lstat().st_mode
            if not stat.S_ISREG(mode):
                raise no_file(name, "a link" if stat.S_ISLNK(mode) else "a device, pipe or socket")
            count += 1
            if count > rules.max_files:
                raise SubmissionError("too_large", f"more than {rules.max_files} files")
            yield name, _read(path, name, rules), bool(mode & 0o111)


def _read(path: Path, name: str, rules: Rules) -> bytes:
    # If the file becomes a link at this moment, opening it fails.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(rules.max_file + 1)
    if len(content) > rules.max_file:
        raise SubmissionError("too_large", f"{name}: more than {in_units(rules.max_file)}")
    return content
