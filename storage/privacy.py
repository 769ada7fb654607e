"""Who may read a database file: it holds the seeds of matches that run, and tokens' digests."""

from __future__ import annotations

import contextlib
import os
import stat

from plyhouse.storage.urls import parse_url

__all__ = ["private"]

OWNER_ONLY = 0o600
OTHERS = stat.S_IRWXO


def private(url: str, *, create: bool) -> None:
    """Make a SQLite file, if it is to be made, readable by its owner alone.

    One that is there already is closed to everybody else but its group, which may have been let
    in on purpose.  SQLite gives the files beside it the same rights.  Where that cannot be done
    (another's file, a file system without rights) the file stays as it is: whoever opens it says
    what is wrong.  Raises `BadUrl` or `CannotOpen` as `parse_url` does.
    """
    target = parse_url(url)
    if target.path is None or target.read_only or os.name != "posix":
        return
    with contextlib.suppress(OSError):
        if create and not target.path.exists():
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
            os.close(os.open(target.path, flags, OWNER_ONLY))
            return
        rights = stat.S_IMODE(target.path.stat().st_mode)
        if rights & OTHERS:
            target.path.chmod(rights & ~OTHERS)
