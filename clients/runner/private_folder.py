"""A folder of a runner that no bot can name: its logs, outbox and packages lie in it.

Landlock keeps a bot from reading and listing files, but not from asking for a file's size and times
by its name.  So the names are secret: a part of each path is random.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import logging.handlers
import os
import secrets
from pathlib import Path
from typing import Final

PREFIX: Final = "private-"
MOVED: Final = ("logs", "outbox", "packages")
"""Folders that lie in the private one."""


def private_folder(folder: Path) -> Path:
    """Return the private folder in ``folder``, made if there is none; raises `OSError`.

    Programs that share ``folder`` share it.  Folders that earlier versions kept in ``folder`` move
    into it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = sorted(folder.glob(f"{PREFIX}*"))
        private = found[0] if found else folder / f"{PREFIX}{secrets.token_hex(16)}"
        private.mkdir(mode=0o700, exist_ok=True)
        for name in MOVED:
            if not (private / name).exists():
                with contextlib.suppress(FileNotFoundError):
                    (folder / name).rename(private / name)
    finally:
        os.close(lock)
    return private


def place_of(private: Path, digest: str) -> str:
    """Return the name of a place for a bot's files that no other bot can find out."""
    return hashlib.sha256(f"{private.name}/{digest}".encode()).hexdigest()[:32]


FILE_BYTES: Final = 10 << 20
"""Bytes of a file before the next one begins."""
FILES: Final = 5
"""Files that are kept: the present one and four older ones."""


def runner_log(folder: Path, name: str) -> logging.Logger:
    """Return a logger that writes ``runner-NAME.log``, and older files ``.1`` to ``.4``.

    ``folder`` is the runner's.  The files lie in its private folder, because the log quotes bots:
    a bot that can ask for the size of the file could read there what another bot printed.
    Raises `OSError`.
    """
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
    handler = logging.handlers.RotatingFileHandler(
        private_folder(folder) / f"runner-{safe}.log",
        maxBytes=FILE_BYTES,
        backupCount=FILES - 1,
        encoding="utf-8",
        errors="replace",
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.Logger("plyhouse.runner")
    log.addHandler(handler)
    return log
