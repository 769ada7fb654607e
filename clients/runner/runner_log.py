"""What a runner says, kept in files that never grow beyond a fixed size."""

from __future__ import annotations

import logging
import logging.handlers
from pathlib import Path
from typing import Final

__all__ = ["FILES", "FILE_BYTES", "runner_log"]

FILE_BYTES: Final = 10 << 20
"""Bytes of a file before the next one begins."""
FILES: Final = 5
"""Files that are kept: the present one and four older ones."""


def runner_log(folder: Path, name: str) -> logging.Logger:
    """Return a logger that writes ``runner-NAME.log`` in ``folder``, and ``.1`` to ``.4``.

    ``name`` is what the runner is called.  Raises `OSError`.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
    handler = logging.handlers.RotatingFileHandler(
        folder / f"runner-{safe}.log",
        maxBytes=FILE_BYTES,
        backupCount=FILES - 1,
        encoding="utf-8",
        errors="replace",
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.Logger("plyhouse.runner")
    log.addHandler(handler)
    return log
