"""A go board that is changed in place, with what playouts and priors ask of it."""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from plyhouse.games.deterministic.go.board import BLACK, BORDER, EMPTY, WHITE, ZERO, area_lead

__all__ = ["Scratch"]


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

    def copy(self) -> Scratch:
        """Return another board with the same position."""
        other = Scratch(b"", self.steps)
        other.colours = self.colours.copy()
        other.heads = self.heads.copy()
        other.following = self.following.copy()
        other.liberties = self.liberties.copy()
        other.where = self.where.copy()
        other.empties = self.empties.copy()
        other.free = self.free
        other.ko = self.ko
        return other

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

    def is_eye(self, at: i64, colour: i64) -> bool:
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

    def only_liberty(self, start: i64) -> i64:
        """Return the one liberty of the chain of a stone, or 0 if it has several."""
        head: i64 = self.heads[start]
        if self.liberties[head] > 4:
            return 0  # one empty place touches a chain four times at most
        colours = self.colours
        steps = self.steps
        following = self.following
        found: i64 = 0
        at: i64 = head
        while True:
            way: i64 = 0
            while way < 4:
                to: i64 = at + steps[way] - ZERO
                way += 1
                if colours[to] == EMPTY:
                    if found == 0:
                        found = to
                    elif found != to:
                        return 0
            at = following[at]
            if at == head:
                return found

    def liberties_after(self, at: i64, colour: i64) -> i64:
        """Return 0, 1, or 2 for two or more: liberties of a stone to be put on an empty place.

        Chains that it takes count as liberties, each as one.
        """
        colours = self.colours
        steps = self.steps
        found: i64 = 0
        liberty: i64 = 0
        way: i64 = 0
        while way < 4:
            to: i64 = at + steps[way] - ZERO
            way += 1
            if colours[to] == EMPTY:
                found += 1
                if found == 2:
                    return 2
                liberty = to
        way = 0
        while way < 4:
            to = at + steps[way] - ZERO
            way += 1
            stone: i64 = colours[to]
            if stone == colour:
                head: i64 = self.heads[to]
                if self.liberties[head] > 8:
                    return 2
                here: i64 = head
                while True:
                    side: i64 = 0
                    while side < 4:
                        beside: i64 = here + steps[side] - ZERO
                        side += 1
                        if colours[beside] == EMPTY and beside != at and beside != liberty:
                            if found == 1:
                                return 2
                            found = 1
                            liberty = beside
                    here = self.following[here]
                    if here == head:
                        break
            elif stone == 3 - colour and self.only_liberty(to) != 0:
                if found == 1:
                    return 2
                found = 1
                liberty = to
        return found

    def code_at(self, at: i64) -> i64:
        """Return the code of the eight neighbours of a place, see `shapes`."""
        colours = self.colours
        steps = self.steps
        code: i64 = 0
        way: i64 = 8
        while way > 0:
            way -= 1
            stone: i64 = colours[at + steps[way] - ZERO]
            code = code * 4 + stone
        return code
