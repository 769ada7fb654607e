"""Which rule an illegal action breaks, and the one way to write a play.

It does without the generator of `plays`, so that tests can compare the two.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

from plyhouse.games.hidden.scrabble.action_lists import LEAST_BAG, PASS
from plyhouse.games.hidden.scrabble.lines import connected, run, word_through, words_made
from plyhouse.games.hidden.scrabble.plays import placed_squares, play_parts
from plyhouse.games.hidden.scrabble.state import ACCEPT, CHALLENGE, ScrabbleState
from plyhouse.games.hidden.scrabble.tiles import (
    ALPHABET,
    BLANK,
    CENTRE,
    SIZE,
    SQUARES,
    square_name,
    transposed,
)

__all__ = [
    "blank_spellings",
    "broken_rule",
    "canonical_play",
    "free_play",
    "is_legal",
    "placed_play",
]


_EXCHANGED: Final = ALPHABET[1:] + ALPHABET[0]
"""Tiles in the order of an exchange: blanks come last."""


def _line_of(start: int, word: str) -> list[int]:
    """Return the squares of a word; empty if it does not fit on the board."""
    first = start % SQUARES
    if first % SIZE + len(word) > SIZE:
        return []
    line = range(first, first + len(word))
    return [transposed(square) if start >= SQUARES else square for square in line]


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
    first, length = run(after, square, False)
    if length < 2:
        return text
    codes = [after[first + place] for place in range(length)]
    letters = [
        chr(code + 64) if first + place == square else ALPHABET[code & 31]
        for place, code in enumerate(codes)
    ]
    return f"{square_name(first)} {''.join(letters)}"


def placed_play(board: bytes, text: str) -> str:
    """Return the play that lays letters on squares, as in ``H8=W I8=o``; "" if none does.

    >>> placed_play(bytes(SQUARES), "H8=W I8=o"), placed_play(bytes(SQUARES), "H8=W J8=O")
    ('8H Wo', '')
    """
    laid: list[tuple[int, int]] = []
    for part in text.split():
        name, _, letter = part.partition("=")
        start = play_parts(f"{name} {letter}")
        if start is None or start[0] < SQUARES or len(letter) != 1:
            return ""
        code = ord(letter)
        square = transposed(start[0] - SQUARES)
        laid.append((square, code - 96 + BLANK if code > 96 else code - 64))
    squares = sorted([square for square, _ in laid])
    if not squares or len(set(squares)) < len(squares) or any(board[at] for at in squares):
        return ""
    after = _with(board, laid)
    for down in (False, True):
        first, length = run(after, squares[0], down)
        step = SIZE if down else 1
        line = range(first, first + length * step, step)
        if set(squares) <= set(line) and (length > 1 or down):
            codes = [after[square] if square in squares else after[square] & 31 for square in line]
            word = "".join([chr(code + 64) for code in codes])
            return f"{square_name(first, down)} {word}"
    return ""


def free_play(state: ScrabbleState, text: str) -> str:
    """Return a play as it is written where its words are not looked up.

    Letters on the board are capitals, and so are all if the rack has no blank.
    """
    parts = play_parts(text)
    if parts is None:
        return text
    start, word = parts
    line = _line_of(start, word)
    if 0 not in state.racks[state.turn]:
        line, word = [], word.upper()
    letters = list(word)
    for place, square in enumerate(line):
        if state.board[square]:
            letters[place] = letters[place].upper()
    return f"{text.partition(' ')[0]} {''.join(letters)}"


def broken_rule(state: ScrabbleState, text: str) -> str:
    """Return the rule that an illegal action breaks; it tells facts that the mover knows."""
    rack = state.racks[state.turn]
    if state.laid:
        return f"the play {state.last[state.turn]} must be accepted or challenged first"
    if text in (ACCEPT, CHALLENGE):
        if state.rules.phonies:
            return "no play waits to be accepted or challenged"
        return "plays cannot be challenged in this match"
    if "=" in text:
        return "the tiles must lie on empty squares of one row or column, without a gap"
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
    squares = [square for square, _ in laid]
    if not laid:
        return "the play lays no tile"
    if len(word) < 2:
        return "a word has two letters or more"
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
    elif not connected(board, squares):
        return "no tile of the play lies beside one on the board"
    if state.rules.phonies:
        return ""
    words = state.rules.words
    wrong = [each for each in words_made(after, squares, down) if each not in words]
    if not wrong:
        return ""
    return f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not in the word list"


def is_legal(state: ScrabbleState, text: str) -> bool:
    """Return whether a text is a legal action as it is written, without listing them all."""
    if state.laid:
        return text in (ACCEPT, CHALLENGE)
    if text == PASS:
        return True
    if state.rules.most_plays:
        return text in state.actions()
    if text.startswith(PASS):
        tiles = text[1:]
        ordered = "".join(sorted(tiles, key=_EXCHANGED.find))
        known = all(tile in _EXCHANGED for tile in tiles)
        return known and tiles == ordered and not broken_rule(state, text)
    parts = play_parts(text)
    if parts is None or not _line_of(*parts):
        return False
    name, _, word = text.partition(" ")
    line = _line_of(*parts)
    on_board = [letter for square, letter in zip(line, word, strict=True) if state.board[square]]
    return (
        name == name.upper()
        and all(letter.isupper() for letter in on_board)
        and canonical_play(state.board, text) == text
        and not broken_rule(state, text)
    )


def blank_spellings(state: ScrabbleState, text: str) -> list[str]:
    """Return the legal plays that differ from a text by which letters are blanks only.

    Those with few blanks come first.
    """
    parts = play_parts(text)
    line = _line_of(*parts) if parts is not None else []
    if parts is None or not line or state.laid:
        return []
    rack = state.racks[state.turn]
    name, _, word = text.partition(" ")
    laid = [place for place, square in enumerate(line) if not state.board[square]]
    found: list[str] = []
    if len(laid) > len(rack):
        return found
    for count in range(rack.count(0) + 1):
        for blanks in combinations(laid, count):
            letters = list(word.upper())
            for place in blanks:
                letters[place] = letters[place].lower()
            tiles = ["?" if place in blanks else letters[place] for place in laid]
            if _lacks(rack, "".join(tiles)):
                continue
            play = canonical_play(state.board, f"{name} {''.join(letters)}")
            if not found and not is_legal(state, play):
                return []  # nor is any other, as it differs in blanks only
            found.append(play)
    return found


def _with(board: bytes, laid: list[tuple[int, int]]) -> bytes:
    """Return the board with more tiles."""
    after: list[int] = list(board)
    for square, code in laid:
        after[square] = code
    return bytes(after)


def _lacks(rack: bytes, wanted: str) -> str:
    """Return in words which tile of those wanted the rack lacks; "" if it has them all."""
    for name in wanted:
        if wanted.count(name) > rack.count(ALPHABET.index(name)):
            tile = "blank" if name == "?" else name
            return f"the rack has not enough tiles: {tile}"
    return ""
