"""All plays of a position with their scores.

The generator is that of Appel and Jacobson, "The world's fastest Scrabble program" (1988).  Every
play covers an *anchor*, an empty square beside a tile.  Words are laid along the paths of the word
graph, from each square from which they can reach the anchor.  No square may get a letter that
spoils the word across it (the *cross-check*).  Words down are words across of the transposed board,
whose premium squares are the same.

A play is the text ``8D WORD``: the first square and the whole word, with the letters on the board.
The row comes first for words across, as in 8D, and the column for words down, as in D8.  Small
letters are blanks that the play uses.  A single tile that makes two words is written across.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from mypy_extensions import i64

from plyhouse.games.bits import BIT
from plyhouse.games.hidden.scrabble.tiles import (
    BLANK,
    BONUS,
    CENTRE,
    LETTER_FACTORS,
    RACK,
    SIZE,
    SQUARES,
    VALUES,
    WORD_FACTORS,
    square_name,
    transposed,
)

__all__ = ["Plays", "placed_squares", "play_parts", "play_score"]

_ALL: Final[int] = (1 << 27) - 2
"""The set of all letters: bit n for letter n."""
_CAPITALS: Final[list[str]] = ["", *[chr(64 + number) for number in range(1, 27)]]
_SMALL: Final[list[str]] = ["", *[chr(96 + number) for number in range(1, 27)]]
_ACROSS: Final[list[str]] = [square_name(square) + " " for square in range(SQUARES)]
_DOWN: Final[list[str]] = [
    square_name(transposed(square), down=True) + " " for square in range(SQUARES)
]
_LOOK: Final = 255
"""Steps of the generator, less one, between two looks at whether to stop; a power of two."""
_STARTS: Final[dict[str, int]] = {
    **{_ACROSS[square].strip(): square for square in range(SQUARES)},
    **{_DOWN[square].strip(): square + SQUARES for square in range(SQUARES)},
}
"""First square of a play by its name; those of words down are transposed, plus 225."""


def play_parts(text: str) -> tuple[int, str] | None:
    """Return the start of a play and its word; None if the text is no play.

    A word across starts at a square, a word down at 225 plus the transposed square.

    >>> play_parts("8D WORD"), play_parts("D8 WORD"), play_parts("Z9 WORD")
    ((108, 'WORD'), (277, 'WORD'), None)
    """
    name, _, word = text.partition(" ")
    start = _STARTS.get(name.upper())
    if start is None or not word.isascii() or not word.isalpha():
        return None
    return start, word


def _lines(board: bytes, down: bool) -> list[int]:
    """Return what lies on the squares, transposed for words down."""
    if not down:
        return list(board)
    found: list[int] = []
    for column in range(SIZE):
        found.extend(board[column::SIZE])
    return found


def placed_squares(board: bytes, start: int, word: str) -> list[tuple[int, int]]:
    """Return the squares on which a play puts tiles, and what then lies there.

    The letters of the other squares are not compared with those of the word, but must not reach
    beyond the end of their line.
    """
    down = start >= SQUARES
    first = start - SQUARES if down else start
    found: list[tuple[int, int]] = []
    for place, letter in enumerate(word):
        square = transposed(first + place) if down else first + place
        if board[square] == 0:
            code = ord(letter)
            found.append((square, code - 96 + BLANK if code > 96 else code - 64))
    return found


def play_score(board: bytes, start: int, word: str) -> int:
    """Return the points of a legal play."""
    down: bool = start >= SQUARES
    cells: list[int] = _lines(board, down)
    at: i64 = start - SQUARES if down else start
    main: i64 = 0
    times: i64 = 1
    crosses: i64 = 0
    placed: i64 = 0
    for letter in word:
        code: i64 = ord(letter)
        here: i64 = cells[at]
        if here != 0:
            main += _worth(here)
        else:
            value: i64 = 0 if code > 96 else VALUES[code - 64]
            value *= LETTER_FACTORS[at]
            factor: i64 = WORD_FACTORS[at]
            main += value
            times *= factor
            placed += 1
            crossed: i64 = 0
            length: i64 = 0
            other: i64 = at - SIZE
            while other >= 0 and cells[other] != 0:
                crossed += _worth(cells[other])
                length += 1
                other -= SIZE
            other = at + SIZE
            while other < SQUARES and cells[other] != 0:
                crossed += _worth(cells[other])
                length += 1
                other += SIZE
            if length > 0:
                crosses += (crossed + value) * factor
        at += 1
    return int(main * times + crosses + (BONUS if placed == RACK else 0))


def _worth(cell: i64) -> i64:
    """Return the points of what lies on a square."""
    return 0 if cell >= BLANK else VALUES[cell]


@final
class Plays:
    """The plays of a rack on a board: `texts` and their `scores`, in a fixed order.

    With ``best`` only the plays are kept that score more than all before them.  The generator asks
    ``stop`` now and then; once that is true, `stopped` is, and further plays are missing.
    """

    def __init__(
        self,
        edges: list[int],
        board: bytes,
        rack: bytes,
        best: bool = False,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self.stop = stop
        self.stopped: bool = False
        self.steps: i64 = 0
        self.edges: list[int] = edges
        self.texts: list[str] = []
        self.scores: list[int] = []
        self.best: bool = best
        self.most: i64 = -1
        self.left: list[int] = [0] * 27
        """How many tiles of each number are left on the rack."""
        for tile in rack:
            self.left[tile] += 1
        self.size: i64 = len(rack)
        self.down: bool = False
        self.cells: list[int] = []
        self.masks: list[int] = [_ALL] * SQUARES
        """Letters that each empty square may get."""
        self.sums: list[int] = [-1] * SQUARES
        """Points of the word across each empty square without the square; -1 if there is none."""
        self.anchor: i64 = 0
        self.end: i64 = 0
        self.start: i64 = 0
        if len(edges) < 2 or not rack:
            return
        empty: bool = not any(board)
        for down in (False, True):
            self.down = down
            self.cells = _lines(board, down)
            if empty:
                self._line(CENTRE // SIZE, CENTRE)
            else:
                self._cross()
                for line in range(SIZE):
                    self._line(line, -1)

    def _step(self, at: i64, letter: i64) -> i64:
        """Return the edge with a letter from the node at an index; 0 if there is none."""
        edges: list[int] = self.edges
        index: i64 = at
        if index == 0:
            return 0
        while True:
            edge: i64 = edges[index]
            if edge & 31 == letter:
                return edge
            if edge & 64 != 0:
                return 0
            index += 1

    def _cross(self) -> None:
        """Find for all empty squares which letters fit the word across them, and its points."""
        cells: list[int] = self.cells
        square: i64 = 0
        while square < SQUARES:
            self.masks[square] = _ALL
            self.sums[square] = -1
            above: bool = square >= SIZE and cells[square - SIZE] != 0
            below: bool = square + SIZE < SQUARES and cells[square + SIZE] != 0
            if cells[square] == 0 and (above or below):
                self._cross_at(square)
            square += 1

    def _cross_at(self, square: i64) -> None:
        cells: list[int] = self.cells
        edges: list[int] = self.edges
        first: i64 = square
        while first >= SIZE and cells[first - SIZE] != 0:
            first -= SIZE
        points: i64 = 0
        node: i64 = 1
        at: i64 = first
        while at < square:
            cell: i64 = cells[at]
            points += _worth(cell)
            node = self._step(node, cell & 31) >> 7
            at += SIZE
        last: i64 = square
        while last + SIZE < SQUARES and cells[last + SIZE] != 0:
            last += SIZE
            points += _worth(cells[last])
        mask: i64 = 0
        index: i64 = node
        while index != 0:
            edge: i64 = edges[index]
            ending: i64 = edge
            at = square + SIZE
            while at <= last and ending != 0:
                after: i64 = cells[at]
                ending = self._step(ending >> 7, after & 31)
                at += SIZE
            if ending & 32 != 0:
                bit: i64 = BIT[edge & 31]
                mask = mask | bit
            index = 0 if edge & 64 != 0 else index + 1
        self.masks[square] = int(mask)
        self.sums[square] = int(points)

    def _line(self, line: i64, centre: i64) -> None:
        """Find the plays of a line; ``centre`` is its only anchor, or -1 for a board with tiles."""
        cells: list[int] = self.cells
        begin: i64 = line * SIZE
        self.end = begin + SIZE
        free: i64 = 0  # empty squares that are no anchors, left of here
        square: i64 = begin
        while square < self.end:
            if cells[square] != 0:
                free = 0
                square += 1
                continue
            before: bool = square > begin and cells[square - 1] != 0
            anchor: bool = square == centre
            if centre < 0:
                anchor = (
                    before
                    or self.sums[square] >= 0
                    or (square + 1 < self.end and cells[square + 1] != 0)
                )
            if not anchor:
                free += 1
                square += 1
                continue
            self.anchor = square
            if before:
                first: i64 = square - 1
                while first > begin and cells[first - 1] != 0:
                    first -= 1
                self.start = first
                self._right(first, 1, False, "", 0, 0, 1, 0)
            else:
                most: i64 = free if free < self.size - 1 else self.size - 1
                shift: i64 = 0
                while shift <= most:
                    self.start = square - shift
                    self._right(square - shift, 1, False, "", 0, 0, 1, 0)
                    shift += 1
            free = 0
            square += 1

    def _right(
        self,
        at: i64,
        node: i64,
        final: bool,
        word: str,
        placed: i64,
        main: i64,
        times: i64,
        crosses: i64,
    ) -> None:
        """Lay the rest of a word from a square on.

        ``node`` is where the word graph goes on, ``final`` whether the word may end here.
        ``main``, ``times`` and ``crosses`` are points and factor of the word so far, and the points
        of the words across it.
        """
        self.steps += 1
        if self.stop is not None and self.steps & _LOOK == 0 and self.stop():
            self.stopped = True
        if self.stopped:
            return
        edge: i64
        if at < self.end and self.cells[at] != 0:
            cell: i64 = self.cells[at]
            edge = self._step(node, cell & 31)
            if edge != 0:
                self._right(
                    at + 1,
                    edge >> 7,
                    edge & 32 != 0,
                    word + _CAPITALS[cell & 31],
                    placed,
                    main + _worth(cell),
                    times,
                    crosses,
                )
            return
        if final and at > self.anchor:
            self._keep(word, placed, main * times + crosses + (BONUS if placed == RACK else 0))
        if at == self.end or node == 0 or placed == self.size:
            return
        left: list[int] = self.left
        mask: i64 = self.masks[at]
        factor: i64 = WORD_FACTORS[at]
        double: i64 = LETTER_FACTORS[at]
        crossed: i64 = self.sums[at]
        gain: i64
        index: i64 = node
        while index != 0:
            edge = self.edges[index]
            letter: i64 = edge & 31
            if mask & BIT[letter] != 0:
                if left[letter] > 0:
                    left[letter] -= 1
                    value: i64 = VALUES[letter] * double
                    gain = (crossed + value) * factor if crossed >= 0 else 0
                    self._right(
                        at + 1, edge >> 7, edge & 32 != 0, word + _CAPITALS[letter],
                        placed + 1, main + value, times * factor, crosses + gain,
                    )  # fmt: skip
                    left[letter] += 1
                if left[0] > 0:
                    left[0] -= 1
                    gain = crossed * factor if crossed >= 0 else 0
                    self._right(
                        at + 1, edge >> 7, edge & 32 != 0, word + _SMALL[letter],
                        placed + 1, main, times * factor, crosses + gain,
                    )  # fmt: skip
                    left[0] += 1
            index = 0 if edge & 64 != 0 else index + 1

    def _keep(self, word: str, placed: i64, score: i64) -> None:
        """Keep a play, unless it is kept across already or does not score enough."""
        if self.best and score <= self.most:
            return
        if self.down and placed == 1 and self.sums[self.anchor] >= 0:
            return
        self.most = score if score > self.most else self.most
        self.texts.append((_DOWN if self.down else _ACROSS)[self.start] + word)
        self.scores.append(int(score))
