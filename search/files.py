"""Files of search data: written atomically, with positions identified by a hash.

Hashes can be stored in files, as they are the same in every run and on every machine:

>>> position_hash((1, "a", None))
17527025363876017514
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any, Final

__all__ = ["InvalidFile", "position_hash", "write_atomically"]

PLAIN: Final = (int, str, bytes, float, type(None))


class InvalidFile(ValueError):  # noqa: N818 - a condition of the file
    """A file that is not what was asked for; ``str()`` says why."""

    def __init__(self, path: str | Path, reason: str) -> None:
        self.path = str(path)
        self.reason = reason
        super().__init__(f"{path}: {reason}")


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside its place and move it there when it is complete.

    Raises `OSError`; nothing is left behind then, and an older file stays as it was.
    """
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def position_hash(key: Any) -> int:
    """64 bits that stand for a position's key in files, the same on every machine.

    BLAKE2b of the key's text. Raises `TypeError` for a key with parts other than numbers, texts,
    bytes and tuples of these, because its text could differ from run to run.
    """
    _check(key)
    digest = hashlib.blake2b(repr(key).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _check(key: Any) -> None:
    if isinstance(key, tuple):
        for part in key:
            _check(part)
    elif type(key) not in PLAIN and type(key) is not bool:
        raise TypeError(
            f"a table needs keys made of numbers, texts, bytes and tuples, not {key!r}: "
            "let the state's key() return such"
        )


def _umask() -> int:
    """Return the process's file mode mask, which mkstemp ignores."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
