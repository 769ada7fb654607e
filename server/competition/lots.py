"""Seeding by lot: a random order that anybody can recompute.

The entries are sorted by the SHA-256 of ``SEED NAME`` in hexadecimal digits, where ``SEED`` is the
recorded seed and ``NAME`` the name of an entry (``player/bot``) in UTF-8.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from typing import TypeVar

__all__ = ["drawn"]

EntryT = TypeVar("EntryT", bound=Hashable)


def drawn(seed: str, names: Mapping[EntryT, str]) -> list[EntryT]:
    """Order entries by lot; ``names`` are all different.

    >>> drawn("5eed", {1: "ada/deep", 2: "bob/bot", 3: "cy/bot"})
    [3, 2, 1]
    """
    return sorted(names, key=lambda each: hashlib.sha256(f"{seed} {names[each]}".encode()).digest())
