"""Faces of dice as text.

>>> die_faces(3, 1), die_faces(12)
('\u2682\u2680', '12')
"""

from __future__ import annotations

from typing import Final

__all__ = ["die_faces"]

_ONE: Final = 0x2680
"""The character of the face with one pip; the others follow it."""


def die_faces(*values: int) -> str:
    """Return the faces of dice as characters; as numbers if one has more than six pips."""
    if all(1 <= value <= 6 for value in values):
        return "".join([chr(_ONE + value - 1) for value in values])
    return " ".join([str(value) for value in values])
