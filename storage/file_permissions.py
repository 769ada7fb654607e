"""Permissions of database files, which hold digests of tokens and seeds of running matches."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from plyhouse.storage.errors import CannotOpen, DatabaseReadOnly
from plyhouse.storage.urls import not_permitted, parse_url

__all__ = ["protect_file"]

OWNER_ONLY = 0o600
OTHERS = stat.S_IRWXO
BESIDE = ("-wal", "-shm", "-journal")
"""Ends of the names of files that stand beside a database."""


def protect_file(url: str, *, create: bool) -> None:
    """Let only its owner and, if it exists already, its group read a SQLite file.

    ``create`` creates a missing file for its owner alone.  SQLite gives the same permissions to the
    files beside it.  Raises `BadUrl` or `CannotOpen` as `parse_url` does, and `CannotOpen` or
    `DatabaseReadOnly` with the permission that is missing.
    """
    target = parse_url(url)
    if target.path is None or os.name != "posix":
        return
    if not target.read_only:
        with contextlib.suppress(OSError):
            if create and not target.path.exists():
                flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
                os.close(os.open(target.path, flags, OWNER_ONLY))
            permissions = stat.S_IMODE(target.path.stat().st_mode)
            if permissions & OTHERS:
                target.path.chmod(permissions & ~OTHERS)
    _refuse_unusable(target.path, read_only=target.read_only)


def _refuse_unusable(path: Path, *, read_only: bool) -> None:
    """Raise `CannotOpen` or `DatabaseReadOnly` for what this user may not read or write.

    Files that a command has made by ``sudo`` are such, those beside the database as well.
    """
    wanted = os.R_OK if read_only else os.R_OK | os.W_OK
    for each in (path, *(path.with_name(path.name + end) for end in BESIDE)):
        if each.exists() and not _may(each, wanted):
            kind = DatabaseReadOnly if _may(each, os.R_OK) else CannotOpen
            raise kind(f"the database {path} cannot be used: {not_permitted(each)}")
    folder = path.absolute().parent
    if not read_only and not _may(folder, os.W_OK):
        raise DatabaseReadOnly(f"the database {path} cannot be used: {not_permitted(folder)}")


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)
