"""Go on one `bytes` object: chains, liberties, captures, areas; and fast random play.

A board of ``size`` by ``size`` points lies in rows of ``size + 1`` places, the first of each a
border, with a row of border below and above. So every place has four neighbours. Actions count the
points from A1 along the rows; ``size * size`` is to pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from mypy_extensions import i64

if TYPE_CHECKING:
    import random

__all__ = [
    "BLACK",
    "BORDER",
    "EMPTY",
    "WHITE",
    "ZERO",
    "Scratch",
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


@final
class Scratch:
    """A board that is changed in place, for random play.

    Chains are circles of places with a count of *pseudo-liberties*: an empty place counts as often
    as it touches the chain. So placing and taking stones only adds and subtracts.
    """

    def __init__(self, board: bytes, steps: bytes) -> None:
        places: int = len(board)
        self.steps: bytes = steps
        self.colours: list[int] = [EMPTY for _ in range(places)]
        self.heads: list[int] = [0 for _ in range(places)]
        self.following: list[int] = [0 for _ in range(places)]
        self.liberties: list[int] = [0 for _ in range(places)]
        self.where: list[int] = [0 for _ in range(places)]
        self.empties: list[int] = [0 for _ in range(places)]
        self.free: i64 = 0
        self.ko: i64 = 0
        """Where the next stone may not be put, or 0."""
        at: i64 = 0
        while at < places:
            if board[at] == BORDER:
                self.colours[at] = BORDER
            else:
                self._release(at)
            at += 1
        at = 0
        while at < places:
            stone: i64 = board[at]
            if stone in (BLACK, WHITE):
                self._press(at, -1)
                self._settle(at, stone)
            at += 1

    def _release(self, at: i64) -> None:
        """Make a place one of the empty ones."""
        self.where[at] = self.free
        self.empties[self.free] = at
        self.free += 1

    def _press(self, at: i64, change: i64) -> None:
        """Change the pseudo-liberties of the chains around a place."""
        colours = self.colours
        steps = self.steps
        heads = self.heads
        liberties = self.liberties
        way: i64 = 0
        while way < 4:
            to: i64 = at + steps[way] - ZERO
            way += 1
            stone: i64 = colours[to]
            if stone in (BLACK, WHITE):
                head: i64 = heads[to]
                liberties[head] = liberties[head] + change

    def _settle(self, at: i64, colour: i64) -> None:
        """Put a stone on an empty place and join it with its friends."""
        colours = self.colours
        steps = self.steps
        heads = self.heads
        following = self.following
        liberties = self.liberties
        hole: i64 = self.where[at]
        self.free -= 1
        moved: i64 = self.empties[self.free]
        self.empties[hole] = moved
        self.where[moved] = hole
        colours[at] = colour
        heads[at] = at
        following[at] = at
        free: i64 = 0
        way: i64 = 0
        while way < 4:
            if colours[at + steps[way] - ZERO] == EMPTY:
                free += 1
            way += 1
        liberties[at] = free
        way = 0
        while way < 4:
            to: i64 = at + steps[way] - ZERO
            way += 1
            if colours[to] == colour:
                mine: i64 = heads[at]
                other: i64 = heads[to]
                if mine != other:
                    liberties[other] = liberties[other] + liberties[mine]
                    place: i64 = at
                    while heads[place] != other:
                        heads[place] = other
                        place = following[place]
                    swap: i64 = following[at]
                    following[at] = following[to]
                    following[to] = swap

    def _take(self, start: i64) -> i64:
        """Take a chain from the board; returns how many stones it had."""
        following = self.following
        count: i64 = 0
        at: i64 = start
        while True:
            self.colours[at] = EMPTY
            self._release(at)
            count += 1
            at = following[at]
            if at == start:
                break
        while True:
            self._press(at, 1)
            at = following[at]
            if at == start:
                break
        return count

    def _is_eye(self, at: i64, colour: i64) -> bool:
        """Return whether an empty point is an eye that the colour should not fill: friends all
        around, and enemies on less than two of the diagonals, one at the edge.
        """
        colours = self.colours
        steps = self.steps
        way: i64 = 0
        while way < 4:
            stone: i64 = colours[at + steps[way] - ZERO]
            way += 1
            if stone != colour and stone != BORDER:
                return False
        bad: i64 = 0
        edge: i64 = 0
        while way < 8:
            stone = colours[at + steps[way] - ZERO]
            way += 1
            if stone == BORDER:
                edge = 1
            elif stone != colour and stone != EMPTY:
                bad += 1
        return bad + edge < 2

    def try_stone(self, at: i64, colour: i64) -> bool:
        """Put a stone on an empty place and take what it captures; False for suicide."""
        colours = self.colours
        steps = self.steps
        heads = self.heads
        liberties = self.liberties
        self._press(at, -1)
        legal = False
        takes = False
        way: i64 = 0
        while way < 4:
            to: i64 = at + steps[way] - ZERO
            way += 1
            stone: i64 = colours[to]
            if stone == EMPTY:
                legal = True
            elif stone != BORDER:
                left: i64 = liberties[heads[to]]
                if stone == colour:
                    if left > 0:
                        legal = True
                elif left == 0:
                    legal = True
                    takes = True
        if not legal:
            self._press(at, 1)
            return False
        self._settle(at, colour)
        self.ko = 0
        if takes:
            count: i64 = 0
            taken: i64 = 0
            way = 0
            while way < 4:
                to = at + steps[way] - ZERO
                way += 1
                stone = colours[to]
                if stone == 3 - colour and liberties[heads[to]] == 0:
                    count += self._take(to)
                    taken = to
            if count == 1 and self.following[at] == at and liberties[at] == 1:
                self.ko = taken
        return True

    def lead(self) -> int:
        """Black's area less white's."""
        colours = self.colours
        steps = self.steps
        lead: i64 = 0
        index: i64 = 0
        while index < self.free:
            at: i64 = self.empties[index]
            index += 1
            reached: i64 = 0
            way: i64 = 0
            while way < 4:
                stone: i64 = colours[at + steps[way] - ZERO]
                way += 1
                if stone == EMPTY:
                    return area_lead(bytes(colours), steps)
                if stone != BORDER:
                    reached |= stone
            if reached == BLACK:
                lead += 1
            elif reached == WHITE:
                lead -= 1
        for stone in colours:
            if stone == BLACK:
                lead += 1
            elif stone == WHITE:
                lead -= 1
        return int(lead)

    def play_out(self, rng: random.Random, colour: i64, passes: i64, plies: i64) -> int:
        """Black's area less white's after random play, for at most so many plies.

        Each player places a stone at random, but never fills its eyes or retakes a simple ko, and
        passes otherwise. Longer repetitions are left to the limit on plies.
        """
        empties = self.empties
        where = self.where
        while plies > 0:
            left: i64 = self.free
            placed = False
            while left > 0:
                random_number: float = rng.random()
                index: i64 = int(random_number * float(left))
                at: i64 = empties[index]
                if at != self.ko and not self._is_eye(at, colour) and self.try_stone(at, colour):
                    placed = True
                    break
                left -= 1
                other: i64 = empties[left]
                empties[left] = at
                where[at] = left
                empties[index] = other
                where[other] = index
            if placed:
                passes = 0
            else:
                self.ko = 0
                passes += 1
                if passes == 2:
                    break
            colour = 3 - colour
            plies -= 1
        return self.lead()
