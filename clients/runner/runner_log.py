"""Log files of a runner, with a fixed size, in its private folder."""

from __future__ import annotations

import logging
import logging.handlers
from pathlib import Path
from typing import Final

from plyhouse.clients.runner.private_folder import private_folder

__all__ = ["FILES", "FILE_BYTES", "runner_log"]

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
