"""Letters with their values and numbers, and the squares of the board.

A tile is a number: 0 for a blank, 1 to 26 for A to Z.  A square is 15 times its row plus its
column, from the top left.  The content of a square is 0 for nothing, the number of a letter, or
that plus `BLANK` for a blank that stands for the letter.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ALPHABET",
    "BLANK",
    "BONUS",
    "CENTRE",
    "COUNTS",
    "LETTER_FACTORS",
    "PREMIUMS",
    "RACK",
    "SIZE",
    "SQUARES",
    "VALUES",
    "WORD_FACTORS",
    "square_name",
    "square_named",
    "tile_names",
    "tiles_named",
    "transposed",
    "without",
]

SIZE: Final = 15
SQUARES: Final = SIZE * SIZE
CENTRE: Final = SQUARES // 2
RACK: Final = 7
"""Tiles of a full rack."""
BONUS: Final = 50
"""Points for a play of seven tiles."""
BLANK: Final = 32
ALPHABET: Final = "?ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Names of the tiles by their numbers."""

COUNTS: Final[tuple[int, ...]] = (
    2, 9, 2, 2, 4, 12, 2, 3, 2, 9, 1, 1, 4, 2, 6, 8, 2, 1, 6, 4, 6, 4, 2, 2, 1, 2, 1,
)  # fmt: skip
"""How many tiles of each number there are."""
VALUES: Final[tuple[int, ...]] = (
    0, 1, 3, 3, 2, 1, 4, 2, 4, 1, 8, 5, 1, 3, 1, 1, 3, 10, 1, 1, 1, 1, 4, 4, 8, 4, 10,
)  # fmt: skip
"""Points of each tile."""

PREMIUMS: Final = (
    "T..d...T...d..T"
    ".D...t...t...D."
    "..D...d.d...D.."
    "d..D...d...D..d"
    "....D.....D...."
    ".t...t...t...t."
    "..d...d.d...d.."
    "T..d...D...d..T"
    "..d...d.d...d.."
    ".t...t...t...t."
    "....D.....D...."
    "d..D...d...D..d"
    "..D...d.d...D.."
    ".D...t...t...D."
    "T..d...T...d..T"
)
"""Premium of each square: d and t double and treble the letter, D and T the word."""
LETTER_FACTORS: Final[list[int]] = [{"d": 2, "t": 3}.get(kind, 1) for kind in PREMIUMS]
WORD_FACTORS: Final[list[int]] = [{"D": 2, "T": 3}.get(kind, 1) for kind in PREMIUMS]


def transposed(square: int) -> int:
    """Return the square with row and column exchanged."""
    return SIZE * (square % SIZE) + square // SIZE


def square_name(square: int, down: bool = False) -> str:
    """Return the name of a square: row and column, as for a word across, or column and row.

    >>> square_name(112), square_name(112, down=True)
    ('8H', 'H8')
    """
    row, column = str(square // SIZE + 1), ALPHABET[square % SIZE + 1]
    return column + row if down else row + column


def square_named(name: str) -> int:
    """Return the square of a name with the column first.

    >>> square_named("H8")
    112
    """
    return SIZE * (int(name[1:]) - 1) + ALPHABET.index(name[0]) - 1


def tile_names(rack: bytes) -> str:
    """Return the tiles of a rack in alphabetical order, blanks last, as in "AEINRT?"."""
    text = "".join([ALPHABET[tile] for tile in rack if tile])
    return text + "?" * (len(rack) - len(text))


def tiles_named(text: str) -> bytes:
    """Return the tiles of a text such as "ABC?", in the order of their numbers."""
    return bytes(sorted([ALPHABET.index(name) for name in text]))


def without(rack: bytes, taken: bytes) -> bytes:
    """Return a rack without some of its tiles."""
    left: list[int] = list(rack)
    for tile in taken:
        left.remove(tile)
    return bytes(left)
