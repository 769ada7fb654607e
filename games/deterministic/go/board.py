"""Go on one `bytes` object: chains, liberties, captures, areas.

A board of ``size`` by ``size`` points lies in rows of ``size + 1`` places, the first of each a
border, with a row of border below and above. So every place has four neighbours. Actions count the
points from A1 along the rows; ``size * size`` is to pass.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

__all__ = [
    "BLACK",
    "BORDER",
    "EMPTY",
    "WHITE",
    "ZERO",
    "area_lead",
    "captured_by",
    "empty_board",
    "has_other_liberty",
    "nearness",
    "place_of",
    "steps_of",
]

EMPTY: Final = 0
BLACK: Final = 1
WHITE: Final = 2
BORDER: Final = 3
ZERO: Final = 32


def steps_of(size: int) -> bytes:
    """From a place to its four neighbours, then to the four diagonal ones.

    `ZERO` is added, as bytes cannot be negative: compiled, they are read faster than tuples.
    """
    up = size + 1
    steps = (1, -1, up, -up, up + 1, up - 1, -up + 1, -up - 1)
    return bytes([ZERO + step for step in steps])


def place_of(action: i64, size: i64) -> i64:
    """Return where on the board a point lies."""
    return action + action // size + size + 2


def empty_board(size: int) -> bytes:
    """Return the board before the first move."""
    board = bytearray([BORDER] * ((size + 2) * (size + 1) + 1))
    for action in range(size * size):
        board[place_of(action, size)] = EMPTY
    return bytes(board)


def has_other_liberty(board: bytes, steps: bytes, start: i64, besides: i64) -> bool:
    """Return whether the chain of the stone at ``start`` has a liberty other than ``besides``."""
    colour: i64 = board[start]
    width: i64 = steps[2] - ZERO
    # Most chains have one beside the stone itself: look there before anything is set up.
    one: i64 = board[start + 1]
    two: i64 = board[start - 1]
    three: i64 = board[start + width]
    four: i64 = board[start - width]
    if (
        (one == 0 and start + 1 != besides)
        or (two == 0 and start - 1 != besides)
        or (three == 0 and start + width != besides)
        or (four == 0 and start - width != besides)
    ):
        return True
    if one != colour and two != colour and three != colour and four != colour:
        return False
    marks = bytearray(len(board))
    marks[start] = 1
    waiting: list[int] = [start]
    while len(waiting) > 0:
        at: i64 = waiting.pop()
        way: i64 = 0
        while way < 4:
            to: i64 = at + steps[way] - ZERO
            way += 1
            stone: i64 = board[to]
            if stone == 0:
                if to != besides:
                    return True
            elif stone == colour and marks[to] == 0:
                marks[to] = 1
                waiting.append(to)
    return False


def captured_by(board: bytes, steps: bytes, at: i64, colour: i64) -> list[int]:
    """Return the places of the stones that a stone of ``colour``, put on the empty place ``at``,
    takes from the board.
    """
    enemy: i64 = 3 - colour
    taken: list[int] = []
    way: i64 = 0
    while way < 4:
        start: i64 = at + steps[way] - ZERO
        way += 1
        if board[start] != enemy or has_other_liberty(board, steps, start, at):
            continue
        if start in taken:
            continue
        marks = bytearray(len(board))
        marks[start] = 1
        index: i64 = len(taken)
        taken.append(start)
        while index < len(taken):
            here: i64 = taken[index]
            index += 1
            side: i64 = 0
            while side < 4:
                to: i64 = here + steps[side] - ZERO
                side += 1
                if board[to] == enemy and marks[to] == 0:
                    marks[to] = 1
                    taken.append(to)
    return taken


def area_lead(board: bytes, steps: bytes) -> int:
    """Black's points less white's: stones, and empty regions that reach one colour only."""
    width: i64 = steps[2] - ZERO
    lead: i64 = 0
    seen = bytearray(len(board))
    start: i64 = width + 1
    end: i64 = width * width
    while start < end:
        colour: i64 = board[start]
        if colour == BLACK:
            lead += 1
        elif colour == WHITE:
            lead -= 1
        elif colour == EMPTY and seen[start] == 0:
            reached: i64 = 0
            region: list[int] = [start]
            seen[start] = 1
            index: i64 = 0
            while index < len(region):
                at: i64 = region[index]
                index += 1
                way: i64 = 0
                while way < 4:
                    to: i64 = at + steps[way] - ZERO
                    way += 1
                    stone: i64 = board[to]
                    if stone == EMPTY:
                        if seen[to] == 0:
                            seen[to] = 1
                            region.append(to)
                    elif stone != BORDER:
                        reached |= stone
            count: i64 = len(region)
            if reached == BLACK:
                lead += count
            elif reached == WHITE:
                lead -= count
        start += 1
    return int(lead)


def nearness(board: bytes, steps: bytes) -> int:
    """Points nearer to black's stones less those nearer to white's, the stones included."""
    width: i64 = steps[2] - ZERO
    owner: list[int] = list(board)
    front: list[int] = []
    lead: i64 = 0
    start: i64 = width + 1
    while start < width * width:
        colour: i64 = board[start]
        if colour in (BLACK, WHITE):
            front.append(start)
            lead += 1 if colour == BLACK else -1
        start += 1
    while len(front) > 0:
        following: list[int] = []
        # All claims of one distance are made before any is counted: 4 and 8 for the two
        # colours, both together for a point that is as near to one as to the other.
        for place in front:
            at: i64 = place
            mine: i64 = owner[at]
            if mine in (BLACK, WHITE):
                way: i64 = 0
                while way < 4:
                    to: i64 = at + steps[way] - ZERO
                    way += 1
                    claim: i64 = owner[to]
                    if claim == EMPTY or claim >= 4:
                        if claim == EMPTY:
                            following.append(to)
                        owner[to] = claim | (4 * mine)
        for place in following:
            at = place
            claim = owner[at] // 4
            if claim == BLACK:
                lead += 1
            elif claim == WHITE:
                lead -= 1
            owner[at] = claim
        front = following
    return int(lead)
