"""How writes are repeated that the database did not accept."""

from __future__ import annotations

from typing import Final

from plyhouse.storage.errors import (
    DatabaseFull,
    DatabaseLocked,
    StorageError,
    Unreachable,
    WriterFull,
)

TRANSIENT: Final[tuple[type[StorageError], ...]] = (
    DatabaseLocked,
    DatabaseFull,
    Unreachable,
    WriterFull,
)
"""Temporary storage errors: repeat the write until it succeeds."""

PERSISTENT_ATTEMPTS: Final = 3
"""How often to try a write that fails with another storage error.  More than once, because rows of
others may have spoilt the common transaction.
"""

RETRY_SECONDS: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds before each repetition; the last number holds for all later ones."""
