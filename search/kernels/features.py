"""Features of positions for linear evaluations: numbers that favour seat 0 when positive.

Each function returns all features of a state of its game, from the view of seat 0, scaled to
lie about between -1 and 1.  `plyhouse.search.evaluation.features` has their names and meanings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plyhouse.games.bits import BIT, count_bits
from plyhouse.games.deterministic.checkers.moves import legal_actions as checkers_actions
from plyhouse.games.deterministic.chess.board import EN_PASSANT_AT, SIDE_AT
from plyhouse.games.deterministic.chess.board import legal_actions as chess_actions
from plyhouse.games.deterministic.othello.rules import PASS

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["breakthrough", "checkers", "chess", "connect_four", "othello", "tic_tac_toe"]


def cells(squares: list[int]) -> int:
    """Return a set of squares, as the number that games keep (the last of 64 is the sign)."""
    found = 0
    for square in squares:
        found |= BIT[square]
    return found


ROWS_OF_THREE: Final[tuple[int, ...]] = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)


def tic_tac_toe(state: Any) -> tuple[float, ...]:
    """Open lines, lines that lack one mark, the centre, the turn."""
    crosses: i64 = state.crosses
    noughts: i64 = state.noughts
    lines: i64 = 0
    threats: i64 = 0
    for row in ROWS_OF_THREE:
        line: i64 = row
        if line & noughts == 0:
            lines += 1
            if count_bits(line & crosses) == 2:
                threats += 1
        if line & crosses == 0:
            lines -= 1
            if count_bits(line & noughts) == 2:
                threats -= 1
    centre: i64 = (1 if crosses & 16 != 0 else 0) - (1 if noughts & 16 != 0 else 0)
    turn: float = 1.0 if state.to_move == 0 else -1.0
    return (float(lines) / 8.0, float(threats), float(centre), turn)


def connect_four(state: Any) -> tuple[float, ...]:
    """Lines only one seat can complete with one, two, three discs; the middle; the turn."""
    mine: i64 = state.mine
    theirs: i64 = state.taken & ~mine
    shape: Any = state.shape
    ones: i64 = 0
    twos: i64 = 0
    more: i64 = 0
    for cells_of_line in shape.lines:
        line: i64 = cells_of_line
        own: i64 = line & mine
        other: i64 = line & theirs
        if own != 0 and other != 0:
            continue
        count: i64 = count_bits(own) - count_bits(other)
        if count == 1 or count == -1:
            ones += count
        elif count == 2:
            twos += 1
        elif count == -2:
            twos -= 1
        elif count > 2:
            more += 1
        elif count < -2:
            more -= 1
    # "mine" are the discs of the seat to move.
    sign: float = 1.0 if state.to_move == 0 else -1.0
    height: i64 = shape.rows + 1
    columns: i64 = shape.columns
    middle: i64 = 0
    column: i64 = (columns - 1) // 2
    while column <= columns // 2:
        row: i64 = column * height
        while row < column * height + height - 1:
            if mine & BIT[row] != 0:
                middle += 1
            elif theirs & BIT[row] != 0:
                middle -= 1
            row += 1
        column += 1
    return (
        sign * float(ones) / 10.0,
        sign * float(twos) / 5.0,
        sign * float(more) / 2.0,
        sign * float(middle) / 6.0,
        sign,
    )


CORNERS: Final = cells([0, 7, 56, 63])
EDGES: Final = cells([*range(2, 6), *range(58, 62), *range(16, 48, 8), *range(23, 55, 8)])
NEAR: Final[tuple[tuple[int, int, int], ...]] = (
    (BIT[0], BIT[9], BIT[1] | BIT[8]),
    (BIT[7], BIT[14], BIT[6] | BIT[15]),
    (BIT[56], BIT[49], BIT[57] | BIT[48]),
    (BIT[63], BIT[54], BIT[62] | BIT[55]),
)
"""Every corner with the square slanting from it and those beside it on the edges."""


def lead(black: i64, white: i64, among: i64) -> i64:
    """Return how many more of the squares are black's than white's."""
    return count_bits(black & among) - count_bits(white & among)


def othello(state: Any) -> tuple[float, ...]:
    """Discs, corners, squares that give a corner away, edges, mobility, the turn."""
    black: i64 = state.black
    white: i64 = state.white
    slanting: i64 = 0
    beside: i64 = 0
    for corner, diagonal, adjacent in NEAR:
        if (black | white) & corner == 0:
            slanting += lead(black, white, diagonal)
            beside += lead(black, white, adjacent)
    mobility: i64 = 0
    turn: float = 0.0
    mover: i64 = state.to_move
    if mover >= 0:
        mobility = count_bits(state.open)
        passed: Any = state.after(PASS)
        if passed.to_move == 1 - mover:
            mobility -= count_bits(passed.open)
        if mover == 1:
            mobility = -mobility
        turn = 1.0 if mover == 0 else -1.0
    return (
        float(count_bits(black) - count_bits(white)) / 32.0,
        float(lead(black, white, CORNERS)) / 2.0,
        float(slanting) / 2.0,
        float(beside) / 4.0,
        float(lead(black, white, EDGES)) / 8.0,
        float(mobility) / 10.0,
        turn,
    )


def checkers(state: Any) -> tuple[float, ...]:
    """Men, kings, advance of men, men on the home row, mobility, the turn."""
    black: i64 = state.black
    white: i64 = state.white
    kings: i64 = state.kings
    men: i64 = black & ~kings
    other: i64 = white & ~kings
    advance: i64 = 0
    row: i64 = 0
    while row < 8:
        # Rows have four squares each, with a gap of one bit after every second.
        start: i64 = row * 4 + row // 2
        cells_of_row: i64 = BIT[start] | BIT[start + 1] | BIT[start + 2] | BIT[start + 3]
        advance += row * count_bits(men & cells_of_row)
        advance -= (7 - row) * count_bits(other & cells_of_row)
        row += 1
    home: i64 = BIT[0] | BIT[1] | BIT[2] | BIT[3]
    away: i64 = BIT[31] | BIT[32] | BIT[33] | BIT[34]
    mobility: i64 = len(checkers_actions(0, black, white, kings))
    mobility -= len(checkers_actions(1, white, black, kings))
    return (
        float(count_bits(men) - count_bits(other)) / 4.0,
        float(count_bits(black & kings) - count_bits(white & kings)) / 4.0,
        float(advance) / 20.0,
        float(count_bits(men & home) - count_bits(other & away)) / 4.0,
        float(mobility) / 10.0,
        1.0 if state.to_move == 0 else -1.0,
    )


def chess(state: Any) -> tuple[float, ...]:
    """Pawns, knights, bishops, rooks, queens, mobility, the turn."""
    position: bytes = state.position
    counts: list[int] = [0, 0, 0, 0, 0, 0, 0, 0]
    start: i64 = 21
    while start < 100:
        at: i64 = start
        while at < start + 8:
            code: i64 = position[at]
            if code != 0:
                if code < 8:
                    counts[code] += 1
                else:
                    counts[code - 8] -= 1
            at += 1
        start += 10
    side: i64 = position[SIDE_AT]
    other: bytearray = bytearray(position)
    other[SIDE_AT] = 1 if side == 0 else 0
    other[EN_PASSANT_AT] = 0
    mobility: i64 = len(chess_actions(position, False)) - len(chess_actions(bytes(other), False))
    if side != 0:
        mobility = -mobility
    return (
        float(counts[1]) / 4.0,
        float(counts[2]) / 2.0,
        float(counts[3]) / 2.0,
        float(counts[4]) / 2.0,
        float(counts[5]),
        float(mobility) / 20.0,
        1.0 if state.to_move == 0 else -1.0,
    )


def breakthrough(state: Any) -> tuple[float, ...]:
    """Pawns, their advance, the foremost pawn, pawns beyond the middle, the turn."""
    white: i64 = state.white
    black: i64 = state.black
    board: Any = state.board
    size: i64 = board.size
    advance: i64 = 0
    beyond: i64 = 0
    first: i64 = 0
    other_first: i64 = 0
    rank: i64 = 0
    while rank < size:
        row: i64 = board.rank[rank]
        own: i64 = count_bits(white & row)
        other: i64 = count_bits(black & row)
        advance += rank * own - (size - 1 - rank) * other
        if own != 0:
            first = rank
        if other != 0 and other_first == 0:
            other_first = size - 1 - rank
        if 2 * rank >= size:
            beyond += own
        if 2 * (size - 1 - rank) >= size:
            beyond -= other
        rank += 1
    unit: float = float(size)
    return (
        float(count_bits(white) - count_bits(black)) / unit,
        float(advance) / (unit * unit),
        float(first - other_first) / unit,
        float(beyond) / unit,
        1.0 if state.to_move == 0 else -1.0,
    )
