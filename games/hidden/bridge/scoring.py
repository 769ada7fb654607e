"""Points and IMPs of a board of bridge.

Laws of Duplicate Bridge 2017 (World Bridge Federation), law 77 (points) and law 78 B (IMPs).
"""

from __future__ import annotations

from typing import Final

__all__ = ["IMPS", "imps_of", "is_vulnerable", "points_of"]

_TRICK: Final = (20, 20, 30, 30, 30)
"""Points of a trick with clubs, diamonds, hearts, spades or no trumps as trumps."""
NO_TRUMPS: Final = 4
_DOWN: Final = (100, 200, 200, 300)
"""Doubled penalties of the first, second, third and each further trick down, not vulnerable."""
_VULNERABLE_DOWN: Final = (200, 300, 300, 300)

IMPS: Final = (
    20, 50, 90, 130, 170, 220, 270, 320, 370, 430, 500, 600, 750, 900, 1100, 1300, 1500, 1750, 2000,
    2250, 2500, 3000, 3500, 4000,
)  # fmt: skip
"""Points from which on a difference is worth one IMP more."""


def is_vulnerable(board: int, side: int) -> bool:
    """Return whether a side (0: north and south) is vulnerable on a board, counted from 0.

    The sides are vulnerable in turn, and the turn moves on by one after each four boards.
    """
    kind = (board + board // 4) % 4
    return kind == 3 or kind == side + 1


def points_of(level: int, trumps: int, doubled: int, tricks: int, vulnerable: bool) -> int:
    """Return the points of the declarer's side.

    ``trumps`` is a suit from 0 (clubs) to 3 (spades), or 4 for no trumps; ``doubled`` is 0, 1 or 2
    (redoubled); ``tricks`` are those that the side took.

    >>> points_of(4, 3, 0, 10, False), points_of(3, 4, 1, 8, True), points_of(7, 4, 2, 13, True)
    (420, -200, 2980)
    """
    factor = 1 << doubled
    over = tricks - level - 6
    if over < 0:
        if doubled == 0:
            return over * (100 if vulnerable else 50)
        row = _VULNERABLE_DOWN if vulnerable else _DOWN
        lost = 0
        for number in range(-over):
            lost += row[number if number < 3 else 3]
        return -lost * (factor // 2)
    bid = _TRICK[trumps] * level * factor
    if trumps == NO_TRUMPS:
        bid += 10 * factor
    points = bid
    if bid >= 100:
        points += 500 if vulnerable else 300
    else:
        points += 50
    if level == 6:
        points += 750 if vulnerable else 500
    elif level == 7:
        points += 1500 if vulnerable else 1000
    if doubled > 0:
        points += 25 * factor
        points += over * (100 if vulnerable else 50) * factor
    else:
        points += over * _TRICK[trumps]
    return points


def imps_of(points: int) -> int:
    """Return the international match points of a difference of points.

    >>> imps_of(-420), imps_of(10), imps_of(7600)
    (-9, 0, 24)
    """
    size = abs(points)
    found = 0
    for least in IMPS:
        if size >= least:
            found += 1
    return found if points > 0 else -found
