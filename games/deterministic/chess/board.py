"""Chess on one `bytes` object: which moves are legal, what they do, who is attacked.

A *position* is 128 bytes, so that copying, comparing and hashing it are single machine
loops and equal bytes mean the same position in the sense of the repetition rule:

====== =====================================================================
0-119  the board, ten columns by twelve rows: a1 is 21, h1 28, a8 91, h8 98.
       The border around it ends every walk without a test for edges
120    the seat to move: 0 white, 1 black
121-4  where the rooks stand that may still castle: white's on the king's side, on the
       queen's side, then black's; 0 for a right that is lost
125    the square a pawn has just skipped, only if it can legally be captured there; or 0
126-7  the squares of the kings, white's first
====== =====================================================================

Codes of pieces: `PAWN` to `KING` for white, the same plus `BLACK` for black.  An *action*
is the square from (0 to 63, a1 b1 ... h8), plus 64 times the square to, plus 4096 times a
kind: 0, `EN_PASSANT`, the piece a pawn becomes, or `CASTLING`, where the square to is that
of the rook.
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

__all__ = [
    "BISHOP",
    "BLACK",
    "BORDER",
    "CASTLING",
    "EMPTY",
    "EN_PASSANT",
    "EN_PASSANT_AT",
    "INDEX",
    "KING",
    "KINGS_AT",
    "KNIGHT",
    "PAWN",
    "QUEEN",
    "RIGHTS_AT",
    "ROOK",
    "SIDE_AT",
    "SQUARE",
    "apply_action",
    "can_capture_en_passant",
    "insufficient_material",
    "is_attacked",
    "legal_actions",
]

EMPTY: Final = 0
PAWN: Final = 1
KNIGHT: Final = 2
BISHOP: Final = 3
ROOK: Final = 4
QUEEN: Final = 5
KING: Final = 6
BLACK: Final = 8
BORDER: Final = 16

SIDE_AT: Final = 120
RIGHTS_AT: Final = 121
EN_PASSANT_AT: Final = 125
KINGS_AT: Final = 126

EN_PASSANT: Final = 1
CASTLING: Final = 6

# Tables of small numbers are bytes: compiled, they are read four times as fast as tuples.
SQUARE: Final[bytes] = bytes([21 + i % 8 + 10 * (i // 8) for i in range(64)])
"""Where a square of 0 to 63 lies in the position."""
INDEX: Final[bytes] = bytes([SQUARE.index(at) if at in SQUARE else 0 for at in range(128)])
"""The opposite; 0 for the border."""

# Only joined with & and |, never shifted, so that the sign bit of a word does no harm.
_BIT: Final[tuple[int, ...]] = tuple(
    [-(1 << 63) if INDEX[at] == 63 else 1 << INDEX[at] for at in range(128)]
)
_ROWS: Final[tuple[tuple[Any, ...], ...]] = tuple(
    [tuple([INDEX[at] + 64 * INDEX[to] for to in range(128)]) for at in range(128)]
)
"""Plain actions by the places from and to: ready objects, as making them would take longer."""
_ZERO: Final = 32
"""Added to steps, as bytes cannot be negative."""
_STEPS: Final[bytes] = bytes([_ZERO + by for by in (1, -1, 10, -10, 9, 11, -9, -11)])
"""To the eight neighbours, the straight ones first."""
_JUMPS: Final[bytes] = bytes([_ZERO + by for by in (21, 19, 12, 8, -21, -19, -12, -8)])
"""Of a knight."""


def is_attacked(position: bytes, at: i64, low: i64, lifted: i64, also_lifted: i64) -> bool:
    """Return whether the side whose pawns have the code ``low`` attacks the place ``at``.

    Pieces on the two ``lifted`` places (0 for none) do not block, so that a king cannot hide behind
    itself.
    """
    straight: i64 = low + 3
    diagonal: i64 = low + 2
    queen: i64 = low + 4
    king: i64 = low + 5
    way: i64 = 0
    while way < 8:
        by: i64 = _STEPS[way] - _ZERO
        to: i64 = at + by
        piece: i64 = position[to]
        if piece == king:
            return True
        while piece == 0 or to in (lifted, also_lifted):
            to += by
            piece = position[to]
        if piece == queen:
            return True
        if piece == (straight if way < 4 else diagonal):
            return True
        way += 1
    knight: i64 = low + 1
    way = 0
    while way < 8:
        piece = position[at + _JUMPS[way] - _ZERO]
        if piece == knight:
            return True
        way += 1
    # White's pawns attack from below, black's from above.
    middle: i64 = at - 10
    if low > 8:
        middle = at + 10
    one: i64 = position[middle - 1]
    other: i64 = position[middle + 1]
    return one == low or other == low


def can_capture_en_passant(position: bytes, at: i64, skipped: i64) -> bool:
    """Return whether the pawn ``at`` may capture onto ``skipped`` without exposing its king."""
    side: i64 = position[SIDE_AT]
    if position[at] != PAWN + 8 * side:
        return False
    taken: i64 = skipped - 10 + 20 * side
    board = bytearray(position)
    board[skipped] = position[at]
    board[at] = EMPTY
    board[taken] = EMPTY
    king: i64 = position[KINGS_AT + side]
    return not is_attacked(bytes(board), king, 9 - 8 * side, 0, 0)


def _add_promotions(actions: list[Any], plain: i64) -> None:
    """A pawn move to the last rank, once for each piece that it can become."""
    kind: i64 = QUEEN
    while kind >= KNIGHT:
        action: i64 = plain + 4096 * kind
        actions.append(action)
        kind -= 1


def _add_pinned(
    actions: list[Any], position: bytes, at: i64, king: i64, attacker: i64, by: i64
) -> None:
    """Moves of a pinned piece: between its king and the attacker, which it may capture."""
    side: i64 = position[SIDE_AT]
    piece: i64 = position[at]
    kind: i64 = piece - 8 * side
    row = _ROWS[at]
    straight = by == 1 or by == -1 or by == 10 or by == -10
    if kind == QUEEN or (kind == ROOK and straight) or (kind == BISHOP and not straight):
        to: i64 = king + by
        while True:
            if to != at:
                actions.append(row[to])
            if to == attacker:
                break
            to += by
    elif kind == PAWN:
        forward: i64 = 10 - 20 * side
        to = at + forward
        if by == 10 or by == -10:
            blocker: i64 = position[to]
            if blocker == 0:
                actions.append(row[to])
                first: i64 = 31 + 50 * side
                blocker = position[to + forward]
                if first <= at < first + 8 and blocker == 0:
                    actions.append(row[to + forward])
        elif attacker == to - 1 or attacker == to + 1:
            if attacker >= 91 or attacker <= 28:
                _add_promotions(actions, INDEX[at] + 64 * INDEX[attacker])
            else:
                actions.append(row[attacker])


def _add_castling(actions: list[Any], position: bytes, side: i64, king: i64) -> None:
    """Castling, for a king that is not in check; also from the starts of Chess960."""
    wing: i64 = 0
    low: i64 = 9 - 8 * side
    while wing < 2:
        rook: i64 = position[RIGHTS_AT + 2 * side + wing]
        if rook != 0:
            home: i64 = 21 + 70 * side
            king_to: i64 = home + 6 - 4 * wing
            rook_to: i64 = home + 5 - 2 * wing
            free = True
            # All between the outermost of the four places must be empty but for the two.
            at: i64 = king if king < rook else rook
            end: i64 = rook if king < rook else king
            if wing == 0:
                at = rook_to if rook_to < at else at
                end = king_to if king_to > end else end
            else:
                at = king_to if king_to < at else at
                end = rook_to if rook_to > end else end
            while at <= end:
                piece: i64 = position[at]
                if piece != 0 and at != king and at != rook:
                    free = False
                    break
                at += 1
            if free:
                by: i64 = 1 if king_to > king else -1
                at = king
                while at != king_to:
                    at += by
                    if at != king_to and is_attacked(position, at, low, king, 0):
                        free = False
                        break
                # The rook leaves its place, which may open a line to the king.
                if free and not is_attacked(position, king_to, low, king, rook):
                    plain: i64 = INDEX[king] + 64 * INDEX[rook]
                    action: i64 = plain + 4096 * CASTLING
                    actions.append(action)
        wing += 1


def legal_actions(position: bytes, any_will_do: bool) -> list[Any]:
    """Return all legal actions; with ``any_will_do`` at least one of them, if there is one."""
    side: i64 = position[SIDE_AT]
    us: i64 = 8 * side
    low: i64 = 9 - us
    high: i64 = low + 5
    king: i64 = position[KINGS_AT + side]
    forward: i64 = 10 - 20 * side
    actions: list[Any] = []

    # Look out from the king: who gives check, and who is pinned?
    checks: i64 = 0
    pins: i64 = 0
    answers: i64 = 0  # places that end a check: the attacker's and those between
    slider: i64 = low + 3
    queen: i64 = low + 4
    at: i64 = 0
    to: i64 = 0
    piece: i64 = 0
    bit: i64 = 0
    way: i64 = 0
    while way < 8:
        by: i64 = _STEPS[way] - _ZERO
        if way == 4:
            slider = low + 2
        way += 1
        to = king + by
        piece = position[to]
        while piece == 0:
            to += by
            piece = position[to]
        if piece in (slider, queen):
            checks += 1
            while to != king:
                bit = _BIT[to]
                answers |= bit
                to -= by
        elif piece < BORDER and (piece < low or piece > high):
            at = to
            to += by
            piece = position[to]
            while piece == 0:
                to += by
                piece = position[to]
            if piece in (slider, queen):
                bit = _BIT[at]
                pins |= bit
                _add_pinned(actions, position, at, king, to, by)
    knight: i64 = low + 1
    way = 0
    while way < 8:
        to = king + _JUMPS[way] - _ZERO
        piece = position[to]
        if piece == knight:
            checks += 1
            bit = _BIT[to]
            answers |= bit
        way += 1
    to = king + forward - 1
    while to <= king + forward + 1:
        piece = position[to]
        if piece == low:
            checks += 1
            bit = _BIT[to]
            answers |= bit
        to += 2
    if checks > 0:
        actions = []  # a pinned piece cannot end another check

    if checks < 2:
        last: i64 = us + KING
        first: i64 = 31 + 50 * side
        before_last: i64 = 81 - 50 * side
        # From the own first rank on, as most of the men are there.
        start: i64 = 21 + 70 * side
        while 20 < start < 100:
            at = start
            while at < start + 8:
                piece = position[at]
                if us < piece < last:
                    if pins != 0:
                        bit = _BIT[at]
                        if pins & bit != 0:
                            at += 1
                            continue
                    row = _ROWS[at]
                    kind: i64 = piece - us
                    if kind == PAWN:
                        promotes = before_last <= at < before_last + 8
                        to = at + forward
                        piece = position[to]
                        if piece == 0:
                            if promotes:
                                _add_promotions(actions, INDEX[at] + 64 * INDEX[to])
                            else:
                                actions.append(row[to])
                                if first <= at < first + 8:
                                    piece = position[to + forward]
                                    if piece == 0:
                                        actions.append(row[to + forward])
                        piece = position[to - 1]
                        if low <= piece <= high:
                            if promotes:
                                _add_promotions(actions, INDEX[at] + 64 * INDEX[to - 1])
                            else:
                                actions.append(row[to - 1])
                        piece = position[to + 1]
                        if low <= piece <= high:
                            if promotes:
                                _add_promotions(actions, INDEX[at] + 64 * INDEX[to + 1])
                            else:
                                actions.append(row[to + 1])
                    elif kind == KNIGHT:
                        way = 0
                        while way < 8:
                            to = at + _JUMPS[way] - _ZERO
                            piece = position[to]
                            if piece == 0 or low <= piece <= high:
                                actions.append(row[to])
                            way += 1
                    else:
                        way = 4 if kind == BISHOP else 0
                        end: i64 = 4 if kind == ROOK else 8
                        while way < end:
                            by = _STEPS[way] - _ZERO
                            way += 1
                            to = at + by
                            piece = position[to]
                            while piece == 0:
                                actions.append(row[to])
                                to += by
                                piece = position[to]
                            if low <= piece <= high:
                                actions.append(row[to])
                    if any_will_do and checks == 0 and len(actions) > 0:
                        return actions
                at += 1
            start += forward
        if checks == 1:
            found = actions
            actions = []
            for action in found:
                number: i64 = action
                bit = _BIT[SQUARE[(number >> 6) & 63]]
                if answers & bit != 0:
                    actions.append(action)

    skipped: i64 = position[EN_PASSANT_AT]
    if skipped != 0:
        at = skipped - forward - 1
        while at <= skipped - forward + 1:
            if can_capture_en_passant(position, at, skipped):
                plain: i64 = INDEX[at] + 64 * INDEX[skipped]
                number = plain + 4096 * EN_PASSANT
                actions.append(number)
            at += 2

    row = _ROWS[king]
    way = 0
    while way < 8:
        to = king + _STEPS[way] - _ZERO
        piece = position[to]
        if (piece == 0 or low <= piece <= high) and not is_attacked(position, to, low, king, 0):
            actions.append(row[to])
        way += 1
    if checks == 0:
        _add_castling(actions, position, side, king)
    return actions


def apply_action(position: bytes, action: i64) -> bytes:
    """Return the position after a legal action."""
    board = bytearray(position)
    side: i64 = position[SIDE_AT]
    at: i64 = SQUARE[action & 63]
    to: i64 = SQUARE[(action >> 6) & 63]
    kind: i64 = action >> 12
    piece: i64 = position[at]
    rights: i64 = RIGHTS_AT + 2 * side
    skipped: i64 = 0
    if position[EN_PASSANT_AT] != 0:
        board[EN_PASSANT_AT] = 0
    board[SIDE_AT] = 1 - side
    board[at] = EMPTY
    if kind == CASTLING:
        wing: i64 = 1 if to < at else 0
        home: i64 = 21 + 70 * side
        king_to: i64 = home + 6 - 4 * wing
        board[to] = EMPTY
        board[king_to] = piece
        board[home + 5 - 2 * wing] = ROOK + 8 * side
        board[KINGS_AT + side] = king_to
        board[rights] = 0
        board[rights + 1] = 0
        return bytes(board)
    if kind >= KNIGHT:
        board[to] = kind + 8 * side
    else:
        board[to] = piece
    own: i64 = piece - 8 * side
    if own == KING:
        board[KINGS_AT + side] = to
        board[rights] = 0
        board[rights + 1] = 0
    elif own == PAWN:
        if kind == EN_PASSANT:
            board[to - 10 + 20 * side] = EMPTY
        elif to - at == 20 or at - to == 20:
            left: i64 = position[to - 1]
            right: i64 = position[to + 1]
            enemy: i64 = 9 - 8 * side
            if left == enemy or right == enemy:
                skipped = (at + to) // 2
    right_at: i64 = RIGHTS_AT
    while right_at < EN_PASSANT_AT:
        rook: i64 = position[right_at]
        if rook != 0 and (rook in (at, to)):
            board[right_at] = 0
        right_at += 1
    result = bytes(board)
    if skipped != 0 and (
        can_capture_en_passant(result, to - 1, skipped)
        or can_capture_en_passant(result, to + 1, skipped)
    ):
        board[EN_PASSANT_AT] = skipped
        result = bytes(board)
    return result


def insufficient_material(position: bytes) -> bool:
    """Return whether no course of play can end in mate: the kings with at most one knight, or with
    bishops that all stand on squares of one colour.
    """
    knights: i64 = 0
    light: i64 = 0
    dark: i64 = 0
    start: i64 = 21
    while start < 100:
        at: i64 = start
        while at < start + 8:
            piece: i64 = position[at]
            if piece != 0:
                piece = piece & 7
                if piece == KNIGHT:
                    knights += 1
                elif piece == BISHOP:
                    # Going up a row adds 10, which is even: the rows count themselves.
                    if (at + start // 10) & 1 == 1:
                        dark += 1
                    else:
                        light += 1
                elif piece != KING:
                    return False
            at += 1
        start += 10
    if light + dark == 0:
        return knights <= 1
    return knights == 0 and (light == 0 or dark == 0)
