"""Exact values of early positions of connect four, which take the solver seconds.

The book of a seat has the positions in which it moves and has followed the book so far.  The other
seat may have played anything.  The positions after its best moves and all of up to two plies are
also there.  An entry is the lesser key of a position and its mirror image, times 4, plus the value
for the mover plus 1, in 7 bytes.

``python benchmarks/connect_four_book.py`` makes the file again.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

__all__ = ["ENTRY", "book_values"]

ENTRY: Final = 7
"""Bytes of an entry."""

_SHARED: list[dict[int, int]] = []


def book_values() -> dict[int, int]:
    """Return the values for the mover by key, read when they are first needed."""
    if not _SHARED:
        values: dict[int, int] = {}
        data = files("plyhouse.games.deterministic.connect_four").joinpath("book.bin").read_bytes()
        for start in range(0, len(data), ENTRY):
            entry: int = int.from_bytes(data[start : start + ENTRY], "big")
            values[entry >> 2] = (entry & 3) - 1
        _SHARED.append(values)
    return _SHARED[0]
