"""The name that everyone sees instead of one that the rules keep private."""

from __future__ import annotations

from typing import Final

PRIVATE: Final = "(another entry)"
