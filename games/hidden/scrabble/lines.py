"""Words and empty squares along the rows and columns of a board.

It does without the generator of `plays`, so that tests can compare the two.
"""

from __future__ import annotations

from plyhouse.games.hidden.scrabble.tiles import ALPHABET, CENTRE, SIZE, transposed

__all__ = ["connected", "free_places", "run", "word_through", "words_made"]


def run(board: bytes, square: int, down: bool) -> tuple[int, int]:
    """Return the first square of the run of tiles through a square, and its length."""
    step = SIZE if down else 1
    lowest = square % SIZE if down else square - square % SIZE
    highest = lowest + (SIZE - 1) * step
    first = last = square
    while first > lowest and board[first - step]:
        first -= step
    while last < highest and board[last + step]:
        last += step
    return first, (last - first) // step + 1


def word_through(board: bytes, square: int, down: bool) -> str:
    """Return the word on the board through a square, in capitals."""
    first, length = run(board, square, down)
    step = SIZE if down else 1
    codes = [board[first + step * place] for place in range(length)]
    return "".join([ALPHABET[code & 31] for code in codes])


def words_made(board: bytes, laid: list[int], down: bool) -> list[str]:
    """Return the words of a play that lies on the board: the one along it, then those across it."""
    words = [word_through(board, laid[0], down)]
    words += [word_through(board, square, not down) for square in laid]
    return [word for word in words if len(word) > 1]


def connected(board: bytes, squares: list[int]) -> bool:
    """Return whether one of the squares lies beside a tile."""
    return any(run(board, square, down)[1] > 1 for square in squares for down in (False, True))


def free_places(board: bytes, most: int) -> list[list[int]]:
    """Return all sets of squares that a play of at most ``most`` tiles of any letters may cover."""
    found: list[list[int]] = []
    empty = not any(board)
    near = [not code and connected(board, [square]) for square, code in enumerate(board)]
    for line in range(2 * SIZE):
        first = line % SIZE * SIZE
        squares = list(range(first, first + SIZE))
        if line >= SIZE:
            squares = [transposed(square) for square in squares]
        squares = [square for square in squares if not board[square]]
        for start in range(len(squares)):
            for end in range(start + 1, min(len(squares), start + most) + 1):
                place = squares[start:end]
                if len(place) == 1 and (empty or line >= SIZE):
                    continue
                if CENTRE in place if empty else any(near[square] for square in place):
                    found.append(place)
    return found
