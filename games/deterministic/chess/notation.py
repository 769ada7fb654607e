"""Reading and writing chess: FEN, UCI and SAN, and the 960 starting positions.

FEN is the standard of S. J. Edwards (PGN specification, 1994, section 16.1).  Castling
rights are read in any of its forms: ``KQkq``, or rooks' files as in Shredder-FEN.  They are
written as X-FEN: the letter of the wing, or of the file if another rook is further out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from plyhouse.games.deterministic.chess.board import (
    BLACK,
    BORDER,
    CASTLING,
    EN_PASSANT,
    EN_PASSANT_AT,
    INDEX,
    KING,
    KINGS_AT,
    PAWN,
    RIGHTS_AT,
    ROOK,
    SIDE_AT,
    SQUARE,
    apply_action,
    can_capture_en_passant,
    is_attacked,
    legal_actions,
)
from plyhouse.games.deterministic.chess.checks import in_check
from plyhouse.games.errors import InvalidPosition

__all__ = [
    "PIECES",
    "SQUARES",
    "STANDARD",
    "board_rows",
    "read_fen",
    "san",
    "start_fen",
    "uci",
    "unconventional",
    "write_epd",
]

STANDARD: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
PIECES: Final = ".PNBRQK..pnbrqk"
"""Letters by the code of a piece."""

_FILES: Final = "abcdefgh"
_NAMES: Final[tuple[str, ...]] = tuple([_FILES[i % 8] + str(i // 8 + 1) for i in range(64)])
SQUARES: Final[dict[str, int]] = {name: index for index, name in enumerate(_NAMES)}
"""The squares by name: 0 for "a1", 63 for "h8"."""
_PLAIN: Final[tuple[str, ...]] = tuple([_NAMES[n % 64] + _NAMES[n // 64] for n in range(4096)])
"""Actions of no special kind in UCI: made once, as all the legal ones are written every ply."""
_MARKS: Final[bytes] = bytes([ord(PIECES[code]) if code < 15 else 32 for code in range(256)])
"""Character of each piece code, for `bytes.translate`."""
_SEATS: Final = ("white", "black")
_KNIGHT_PAIRS: Final = ("01", "02", "03", "04", "12", "13", "14", "23", "24", "34")


def square_name(index: int) -> str:
    """Return the name of a square by its index, rank by rank from a1: ``e4`` for 28."""
    return _NAMES[index]


def start_fen(number: int) -> str:
    """Return the starting position of Chess960 with a number of 0 to 959 (R. Scharnagl); 518 is
    that of standard chess.
    """
    row = [""] * 8
    rest, light = divmod(number, 4)
    rest, dark = divmod(rest, 4)
    knights, queen = divmod(rest, 6)
    row[2 * light + 1] = row[2 * dark] = "b"
    row[[i for i in range(8) if not row[i]][queen]] = "q"
    free = [i for i in range(8) if not row[i]]
    for place in _KNIGHT_PAIRS[knights]:
        row[free[int(place)]] = "n"
    for empty, piece in zip([i for i in range(8) if not row[i]], "rkr", strict=True):
        row[empty] = piece
    pieces = "".join(row)
    return f"{pieces}/pppppppp/8/8/8/8/PPPPPPPP/{pieces.upper()} w KQkq - 0 1"


# FEN


def _read_board(board: bytearray, text: str, fen: str) -> None:
    """Put the pieces of the first field of a FEN on the board."""
    rows = text.split("/")
    if len(rows) != 8:
        raise InvalidPosition("chess", fen, f"the board has {len(rows)} ranks, not 8")
    for index, row in enumerate(rows):
        rank = 8 - index
        file = 0
        for mark in row:
            if mark in "12345678":
                file += int(mark)
                continue
            code = PIECES.find(mark)
            if code <= 0 or mark == ".":
                raise InvalidPosition("chess", fen, f"{mark!r} on rank {rank} is not a piece")
            if file < 8:
                board[SQUARE[8 * (rank - 1) + file]] = code
            file += 1
        if file != 8:
            raise InvalidPosition("chess", fen, f"rank {rank} has {file} squares, not 8")


def _check_pieces(board: bytearray, fen: str) -> None:
    """Raise unless each side has one king and no more men than a game can give it."""
    for side, name in enumerate(_SEATS):
        men = [i for i in range(64) if board[SQUARE[i]] and board[SQUARE[i]] // 8 == side]
        kings = [i for i in men if board[SQUARE[i]] == KING + 8 * side]
        pawns = [i for i in men if board[SQUARE[i]] == PAWN + 8 * side]
        if len(kings) != 1:
            where = f" ({', '.join([square_name(i) for i in kings])})" if kings else ""
            raise InvalidPosition("chess", fen, f"{name} has {len(kings)} kings{where}, not 1")
        misplaced = [square_name(i) for i in pawns if i < 8 or i >= 56]
        if misplaced:
            raise InvalidPosition("chess", fen, f"{name} has a pawn on {misplaced[0]}")
        if len(pawns) > 8:
            raise InvalidPosition("chess", fen, f"{name} has {len(pawns)} pawns, at most 8 can be")
        if len(men) > 16:
            raise InvalidPosition("chess", fen, f"{name} has {len(men)} men, at most 16 can be")
        board[KINGS_AT + side] = SQUARE[kings[0]]


def _read_castling(board: bytearray, text: str, fen: str) -> None:
    """Find the rooks that the third field of a FEN gives the right to castle."""
    if text == "-":
        return
    for mark in text:
        side = 0 if mark.isupper() else 1
        king = board[KINGS_AT + side]
        home = 21 + 70 * side
        rook = ROOK + 8 * side
        name, letter = _SEATS[side], mark.lower()
        if letter not in "kq" + _FILES:
            raise InvalidPosition("chess", fen, f"{mark!r} is not a castling right")
        if not home <= king < home + 8:
            where = square_name(INDEX[king])
            raise InvalidPosition(
                "chess", fen, f"{name} cannot castle ({mark}) with the king on {where}"
            )
        if letter in _FILES:
            at = home + _FILES.index(letter)
        else:
            wing = range(home + 7, king, -1) if letter == "k" else range(home, king)
            at = next((place for place in wing if board[place] == rook), king)
        if board[at] != rook:
            raise InvalidPosition(
                "chess", fen, f"{name} cannot castle ({mark}): there is no rook for it"
            )
        right = RIGHTS_AT + 2 * side + (0 if at > king else 1)
        if board[right]:
            raise InvalidPosition("chess", fen, f"the castling right {mark} is given twice")
        board[right] = at


def _read_en_passant(board: bytearray, text: str, fen: str) -> None:
    """Check the square skipped by a pawn; it is kept only if a capture there is legal."""
    if text == "-":
        return
    side = board[SIDE_AT]
    forward = 10 - 20 * side
    if not re.fullmatch("[a-h][36]", text) or (text[1] == "6") != (side == 0):
        where = "sixth" if side == 0 else "third"
        raise InvalidPosition(
            "chess", fen, f"the en passant square {text!r} is not on the {where} rank"
        )
    at = SQUARE[_FILES.index(text[0]) + 8 * (int(text[1]) - 1)]
    pawn = PAWN + BLACK - 8 * side
    if board[at] or board[at + forward] or board[at - forward] != pawn:
        raise InvalidPosition("chess", fen, f"no pawn can just have skipped {text}")
    position = bytes(board)
    if any(can_capture_en_passant(position, at - forward + by, at) for by in (-1, 1)):
        board[EN_PASSANT_AT] = at


def read_fen(fen: str) -> tuple[bytes, int, int]:
    """Return the position, the plies since the last capture or pawn move, and the move's number.

    The two numbers may be missing.  Raises `InvalidPosition`, which says what is wrong.
    """
    fields = fen.split()
    if len(fields) not in (4, 6):
        raise InvalidPosition("chess", fen, f"a FEN has 4 or 6 fields, not {len(fields)}")
    board = bytearray([BORDER] * 120 + [0] * 8)
    for at in SQUARE:
        board[at] = 0
    _read_board(board, fields[0], fen)
    _check_pieces(board, fen)
    if fields[1] not in ("w", "b"):
        raise InvalidPosition("chess", fen, f"the side to move is {fields[1]!r}, not w or b")
    side = "wb".index(fields[1])
    board[SIDE_AT] = side
    other = board[KINGS_AT + 1 - side]
    if is_attacked(bytes(board), other, 1 + 8 * side, 0, 0):
        raise InvalidPosition(
            "chess",
            fen,
            f"{_SEATS[side]} is to move but the king of {_SEATS[1 - side]} "
            f"on {square_name(INDEX[other])} is in check",
        )
    _read_castling(board, fields[2], fen)
    _read_en_passant(board, fields[3], fen)
    numbers = fields[4:] or ["0", "1"]
    for name, text in zip(("half-move clock", "move number"), numbers, strict=True):
        if not re.fullmatch("[0-9]{1,4}", text):
            raise InvalidPosition("chess", fen, f"the {name} is {text!r}, not one of 0 to 9999")
    return bytes(board), int(numbers[0]), max(1, int(numbers[1]))


def board_rows(position: bytes) -> tuple[str, ...]:
    """Return the board as eight texts from the eighth rank, white's pieces as capitals.

    >>> board_rows(read_fen("8/8/8/3k4/8/8/8/K6R w - - 0 1")[0])[3]
    '...k....'
    """
    text = position.translate(_MARKS).decode("ascii")
    return tuple([text[at : at + 8] for at in (91, 81, 71, 61, 51, 41, 31, 21)])


def _castling(position: bytes) -> str:
    text = ""
    for right in range(4):
        at = position[RIGHTS_AT + right]
        if not at:
            continue
        side, wing = divmod(right, 2)
        home = 21 + 70 * side
        outer = range(at + 1, home + 8) if wing == 0 else range(home, at)
        mark = "kq"[wing]
        if any(position[place] == ROOK + 8 * side for place in outer):
            mark = _FILES[at - home]
        text += mark if side else mark.upper()
    return text or "-"


def write_epd(position: bytes) -> str:
    """Return the four fields of a FEN that make up the position.

    >>> position, clock, number = read_fen(STANDARD)
    >>> write_epd(position)
    'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -'
    """
    rows = "/".join(board_rows(position))
    for length in range(8, 0, -1):
        rows = rows.replace("." * length, str(length))
    skipped = position[EN_PASSANT_AT]
    at = square_name(INDEX[skipped]) if skipped else "-"
    return f"{rows} {'wb'[position[SIDE_AT]]} {_castling(position)} {at}"


def unconventional(position: bytes) -> bool:
    """Return whether a king or rook that may castle stands where standard chess has none."""
    for right, at in enumerate((28, 21, 98, 91)):
        rook = position[RIGHTS_AT + right]
        if rook and (rook != at or position[KINGS_AT + right // 2] != (25, 95)[right // 2]):
            return True
    return False


# Actions


def uci(action: int, chess960: bool) -> str:
    """``e2e4``, ``e7e8q``; castling as the king's move, in Chess960 as ``e1h1``: king to rook.

    >>> uci(SQUARES["e7"] + 64 * SQUARES["e8"] + 4096 * 5, chess960=False)
    'e7e8q'
    """
    if action < 4096:
        return _PLAIN[action]
    at, to, kind = action & 63, (action >> 6) & 63, action >> 12
    if kind == CASTLING and not chess960:
        to = at - at % 8 + (6 if to > at else 2)
    letter = PIECES[kind].lower() if EN_PASSANT < kind < CASTLING else ""
    return square_name(at) + square_name(to) + letter


def san(position: bytes, action: int, legal: Sequence[int]) -> str:
    """``Nbd7``, ``exd6``, ``e8=Q+``, ``O-O``: an action as people write it.

    ``legal`` are all legal actions of the position.
    """
    at, to, kind = action & 63, (action >> 6) & 63, action >> 12
    piece = position[SQUARE[at]] & 7
    if kind == CASTLING:
        text = "O-O" if to > at else "O-O-O"
    else:
        takes = kind == EN_PASSANT or position[SQUARE[to]] != 0
        if piece == PAWN:
            text = f"{_FILES[at % 8]}x" if takes else ""
            text += square_name(to)
            if kind > EN_PASSANT:
                text += "=" + PIECES[kind]
        else:
            rivals = [
                other & 63
                for other in legal
                if (other >> 6) & 63 == to
                and other & 63 != at
                and other >> 12 != CASTLING
                and position[SQUARE[other & 63]] & 7 == piece
            ]
            name = square_name(at)
            if not rivals:
                name = ""
            elif all(rival % 8 != at % 8 for rival in rivals):
                name = name[0]
            elif all(rival // 8 != at // 8 for rival in rivals):
                name = name[1]
            text = PIECES[piece] + name + ("x" if takes else "") + square_name(to)
    after = apply_action(position, action)
    if in_check(after):
        text += "+" if legal_actions(after, True) else "#"
    return text
