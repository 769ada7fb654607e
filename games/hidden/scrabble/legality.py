"""Which rule an illegal action breaks, and the one way to write a play of a single tile.

It does without the generator of `plays`, so that tests can compare the two.
"""

from __future__ import annotations

from plyhouse.games.hidden.scrabble.plays import placed_squares, play_parts
from plyhouse.games.hidden.scrabble.state import LEAST_BAG, PASS, ScrabbleState
from plyhouse.games.hidden.scrabble.tiles import (
    ALPHABET,
    BLANK,
    CENTRE,
    SIZE,
    SQUARES,
    square_name,
    transposed,
)

__all__ = ["broken_rule", "canonical_play", "word_through"]


def _line_of(start: int, word: str) -> list[int]:
    """Return the squares of a word; empty if it does not fit on the board."""
    first = start % SQUARES
    if first % SIZE + len(word) > SIZE:
        return []
    line = range(first, first + len(word))
    return [transposed(square) if start >= SQUARES else square for square in line]


def _run(board: bytes, square: int, down: bool) -> tuple[int, int]:
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
    first, length = _run(board, square, down)
    step = SIZE if down else 1
    codes = [board[first + step * place] for place in range(length)]
    return "".join([ALPHABET[code & 31] for code in codes])


def canonical_play(board: bytes, text: str) -> str:
    """Return a play of a single tile that makes two words by its word across.

    Other texts are returned as they are.
    """
    parts = play_parts(text)
    if parts is None or parts[0] < SQUARES or not _line_of(*parts):
        return text
    laid = placed_squares(board, *parts)
    if len(laid) != 1:
        return text
    square = laid[0][0]
    after = _with(board, laid)
    first, length = _run(after, square, False)
    if length < 2:
        return text
    codes = [after[first + place] for place in range(length)]
    letters = [
        chr(code + 64) if first + place == square else ALPHABET[code & 31]
        for place, code in enumerate(codes)
    ]
    return f"{square_name(first)} {''.join(letters)}"


def broken_rule(state: ScrabbleState, text: str) -> str:
    """Return the rule that an illegal action breaks; it tells facts that the mover knows."""
    rack = state.racks[state.turn]
    if text.startswith(PASS):
        size = state.bag_size()
        if size < LEAST_BAG:
            return f"an exchange needs at least {LEAST_BAG} tiles in the bag, which holds {size}"
        return _lacks(rack, text[1:])
    parts = play_parts(text)
    if parts is None:
        return ""
    start, word = parts
    line = _line_of(start, word)
    if not line:
        return "the word does not fit on the board"
    down = start >= SQUARES
    board = state.board
    for square, letter in zip(line, word.upper(), strict=True):
        there = ALPHABET[board[square] & 31] if board[square] else letter
        if there != letter:
            return f"square {square_name(square, down=True)} has the letter {there}"
    laid = placed_squares(board, start, word)
    if not laid:
        return "the play lays no tile"
    tiles = "".join(["?" if code > BLANK else chr(code + 64) for _, code in laid])
    if lacking := _lacks(rack, tiles):
        return lacking
    after = _with(board, laid)
    whole = word_through(after, line[0], down)
    if len(whole) != len(word):
        return f"tiles beside the word make it {whole}, which must be written whole"
    if not any(board):
        if CENTRE not in line:
            return f"the first play must cover the centre, {square_name(CENTRE, down=True)}"
    elif not _connected(board, laid):
        return "no tile of the play lies beside one on the board"
    words = [whole] + [word_through(after, square, not down) for square, _ in laid]
    wrong = [each for each in words if len(each) > 1 and each not in state.rules.words]
    if not wrong:
        return ""
    return f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not in the word list"


def _with(board: bytes, laid: list[tuple[int, int]]) -> bytes:
    """Return the board with more tiles."""
    after: list[int] = list(board)
    for square, code in laid:
        after[square] = code
    return bytes(after)


def _connected(board: bytes, laid: list[tuple[int, int]]) -> bool:
    """Return whether a play lies beside tiles on the board."""
    return any(_run(board, square, down)[1] > 1 for square, _ in laid for down in (False, True))


def _lacks(rack: bytes, wanted: str) -> str:
    """Return in words which tile of those wanted the rack lacks; "" if it has them all."""
    for name in wanted:
        if wanted.count(name) > rack.count(ALPHABET.index(name)):
            tile = "blank" if name == "?" else name
            return f"the rack has not enough tiles: {tile}"
    return ""
