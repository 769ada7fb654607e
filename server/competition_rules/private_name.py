"""The name that everyone sees instead of one that the rules keep private."""

from __future__ import annotations

from typing import Final

__all__ = ["PRIVATE"]

PRIVATE: Final = "(another entry)"
