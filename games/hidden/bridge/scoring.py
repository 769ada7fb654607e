"""Points of duplicate bridge, and the dealer and vulnerability of each board.

The "Laws of Duplicate Bridge 2017" (World Bridge Federation): Law 77 has the points, and Law 2 the
boards.  A bid counts from 0 for 1C to 34 for 7NT.

>>> contract_points(17, 1, True, 10), contract_points(14, 2, True, 6)
(620, -800)
"""

from __future__ import annotations

from typing import Final

__all__ = ["contract_points", "dealer_of", "is_vulnerable", "needed_tricks"]

_NORTH_SOUTH: Final = frozenset([2, 4, 5, 7, 10, 12, 13, 15])
_EAST_WEST: Final = frozenset([3, 4, 6, 7, 9, 10, 13, 16])


def dealer_of(number: int) -> int:
    """Return the dealer of the board with a number from 1: North, East, South, West in turn."""
    return (number - 1) % 4


def is_vulnerable(number: int, seat: int) -> bool:
    """Return whether a seat is vulnerable on a board; sixteen boards make a cycle."""
    board: int = (number - 1) % 16 + 1
    return board in (_EAST_WEST if seat % 2 else _NORTH_SOUTH)


def needed_tricks(bid: int) -> int:
    """Return the tricks that a contract needs."""
    return bid // 5 + 7


def contract_points(bid: int, risk: int, vulnerable: bool, tricks: int) -> int:
    """Return the points of the declarer's side; negative if the contract is defeated.

    ``risk`` is 1, or 2 if the contract is doubled and 4 if it is redoubled.
    """
    level: int = bid // 5 + 1
    strain: int = bid % 5
    over: int = tricks - needed_tricks(bid)
    if over < 0:
        return -_penalty(-over, risk, vulnerable)
    each: int = 20 if strain < 2 else 30
    bid_points: int = (each * level + (10 if strain == 4 else 0)) * risk
    points: int = bid_points + 25 * risk if risk > 1 else bid_points
    if bid_points >= 100:
        points += 500 if vulnerable else 300
    else:
        points += 50
    if level == 6:
        points += 750 if vulnerable else 500
    elif level == 7:
        points += 1500 if vulnerable else 1000
    if risk == 1:
        return points + over * each
    return points + over * 50 * risk * (2 if vulnerable else 1)


def _penalty(under: int, risk: int, vulnerable: bool) -> int:
    """Return the points of the defenders for some undertricks."""
    if risk == 1:
        return under * (100 if vulnerable else 50)
    doubled: int
    if vulnerable:
        doubled = 300 * under - 100
    elif under <= 3:
        doubled = 200 * under - 100
    else:
        doubled = 300 * under - 400
    return doubled * risk // 2
