"""How the pieces of English draughts move and jump, on sets of squares.

The 32 dark squares are numbered 1 to 32 from Black's side, as in PDN.  Square s is bit ``s - 1 + (s
- 1) // 8``: after every second row a bit stays unused.  So the four directions are shifts by 4 and
5 everywhere, and a step off the board lands on an unused bit.

An action is a number.  A step is ``bit number * 4 + direction``.  A series of jumps is
``route * 64 + bit number``, at least 256, where the route has the directions as digits in
base 4, the first one lowest, below a leading 1.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from plyhouse.games.bits import BIT, bit_number

__all__ = [
    "CELLS",
    "FAR",
    "MEN_START",
    "SQUARE",
    "SQUARE_BIT",
    "can_act",
    "jump_actions",
    "legal_actions",
    "route_squares",
    "squares_of",
    "start_bit",
    "steppers",
    "walk",
]

SQUARE_BIT: Final[tuple[int, ...]] = tuple(
    [0] + [1 << (s - 1 + (s - 1) // 8) for s in range(1, 33)]
)
"""The bit of each square from 1; entry 0 is unused."""

SQUARE: Final[tuple[int, ...]] = tuple([0 if n % 9 == 8 else n - n // 9 + 1 for n in range(35)])
"""The square of each bit number; 0 for unused ones."""

CELLS: Final = 0b11111111_0_11111111_0_11111111_0_11111111
FAR: Final[tuple[int, ...]] = (0b1111 << 31, 0b1111)
"""The king row of each seat."""
MEN_START: Final[tuple[int, ...]] = (
    sum(SQUARE_BIT[1:13]),
    sum(SQUARE_BIT[21:33]),
)
"""The men of each seat at the start."""

SHIFT: Final[tuple[int, ...]] = (4, 5, -4, -5)
"""Change of the bit number by direction; men of seat 0 move in the first two."""


def squares_of(cells: int) -> list[int]:
    """Numbers of the squares in a set, ascending.

    >>> squares_of(MEN_START[0])
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    """
    return [s for s in range(1, 33) if cells & SQUARE_BIT[s]]


def walk(bit: i64, direction: i64) -> i64:
    """Return the bit of the next square in a direction; it may lie off the board."""
    if direction == 0:
        return bit << 4
    if direction == 1:
        return bit << 5
    if direction == 2:
        return bit >> 4
    return bit >> 5


def steppers(movers: i64, empty: i64, direction: i64) -> i64:
    """Return which of the pieces can step in a direction."""
    if direction == 0:
        return movers & (empty >> 4)
    if direction == 1:
        return movers & (empty >> 5)
    if direction == 2:
        return movers & (empty << 4)
    return movers & (empty << 5)


def can_act(seat: i64, own: i64, enemy: i64, kings: i64) -> bool:
    """Return whether the owner of ``own`` has a legal action."""
    empty: i64 = CELLS & ~(own | enemy)
    back: i64 = own & kings
    down: i64 = own if seat == 0 else back
    up: i64 = back if seat == 0 else own
    near: i64 = down & ((empty >> 4) | (empty >> 5)) | up & ((empty << 4) | (empty << 5))
    if near != 0:
        return True
    far: i64 = down & (((enemy >> 4) & (empty >> 8)) | ((enemy >> 5) & (empty >> 10)))
    far |= up & (((enemy << 4) & (empty << 8)) | ((enemy << 5) & (empty << 10)))
    return far != 0


def extend(
    origin: i64,
    bit: i64,
    taken: i64,
    enemy: i64,
    empty: i64,
    first: i64,
    last: i64,
    king_row: i64,
    route: i64,
    lead: i64,
    found: list[int],
) -> None:
    """Add all series of jumps that go on from ``bit`` with the directions first to last.

    ``lead`` is the leading 1 of ``route``.  A piece cannot be jumped twice; a man that
    reaches its king row (``king_row`` is 0 for kings) stops there.
    """
    ended: bool = True
    direction: i64 = first
    while direction <= last:
        over: i64 = walk(bit, direction) & enemy & ~taken
        if over != 0:
            landing: i64 = walk(over, direction) & empty
            if landing != 0:
                ended = False
                longer: i64 = route + 3 * lead + direction * lead
                if landing & king_row != 0:
                    found.append(int((longer << 6) + origin))
                else:
                    extend(
                        origin,
                        landing,
                        taken | over,
                        enemy,
                        empty,
                        first,
                        last,
                        king_row,
                        longer,
                        lead * 4,
                        found,
                    )
        direction += 1
    if ended and lead > 1:
        found.append(int((route << 6) + origin))


def jump_actions(seat: i64, own: i64, enemy: i64, kings: i64) -> list[int]:
    """Return all series of jumps, by square and then by direction; empty if there are none."""
    found: list[int] = []
    empty: i64 = CELLS & ~(own | enemy)
    back: i64 = own & kings
    down: i64 = own if seat == 0 else back
    up: i64 = back if seat == 0 else own
    cells: i64 = down & (((enemy >> 4) & (empty >> 8)) | ((enemy >> 5) & (empty >> 10)))
    cells |= up & (((enemy << 4) & (empty << 8)) | ((enemy << 5) & (empty << 10)))
    while cells != 0:
        bit: i64 = cells & -cells
        cells = cells ^ bit
        first: i64 = 0
        last: i64 = 3
        king_row: i64 = 0
        if bit & kings == 0:
            king_row = FAR[seat]
            if seat == 0:
                last = 1
            else:
                first = 2
        number: i64 = bit_number(bit)
        extend(number, bit, 0, enemy, empty | bit, first, last, king_row, 1, 1, found)
    return found


def legal_actions(seat: i64, own: i64, enemy: i64, kings: i64) -> list[int]:
    """Jumps if there are any; else the steps, by direction and then by square."""
    found: list[int] = jump_actions(seat, own, enemy, kings)
    if found:
        return found
    empty: i64 = CELLS & ~(own | enemy)
    direction: i64 = 0
    while direction < 4:
        ahead: bool = (direction < 2) == (seat == 0)
        movers: i64 = own if ahead else own & kings
        cells: i64 = steppers(movers, empty, direction)
        while cells != 0:
            bit: i64 = cells & -cells
            cells = cells ^ bit
            found.append(int(bit_number(bit) * 4 + direction))
        direction += 1
    return found


def route_squares(action: int) -> list[int]:
    """Return the squares an action touches with the moving piece, from its origin on."""
    if action < 256:
        origin = action // 4
        return [SQUARE[origin], SQUARE[origin + SHIFT[action % 4]]]
    number, route = action % 64, action // 64
    squares = [SQUARE[number]]
    while route > 1:
        number += 2 * SHIFT[route % 4]
        squares.append(SQUARE[number])
        route //= 4
    return squares


def start_bit(action: i64) -> i64:
    """Return the set of the square that an action leaves."""
    return BIT[action & 63] if action >= 256 else BIT[action >> 2]
