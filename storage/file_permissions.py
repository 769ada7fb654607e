"""Permissions of database files, which hold digests of tokens and seeds of running matches."""

from __future__ import annotations

import contextlib
import os
import stat

from plyhouse.storage.urls import parse_url

__all__ = ["protect_file"]

OWNER_ONLY = 0o600
OTHERS = stat.S_IRWXO


def protect_file(url: str, *, create: bool) -> None:
    """Let only its owner and, if it exists already, its group read a SQLite file.

    ``create`` creates a missing file for its owner alone.  SQLite gives the same permissions to the
    files beside it.  A file whose permissions cannot be changed stays as it is; opening it reports
    the error.  Raises `BadUrl` or `CannotOpen` as `parse_url` does.
    """
    target = parse_url(url)
    if target.path is None or target.read_only or os.name != "posix":
        return
    with contextlib.suppress(OSError):
        if create and not target.path.exists():
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
            os.close(os.open(target.path, flags, OWNER_ONLY))
            return
        permissions = stat.S_IMODE(target.path.stat().st_mode)
        if permissions & OTHERS:
            target.path.chmod(permissions & ~OTHERS)
