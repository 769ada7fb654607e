"""Go positions from drawings: rows from the top, "x" black, "o" white, "." empty."""

from __future__ import annotations

from typing import Any

from plyhouse.games.deterministic.go.board import empty_board, place_of
from plyhouse.games.deterministic.go.rules import GoState

__all__ = ["board_of", "position"]


def board_of(text: str) -> bytes:
    """Return the drawn board."""
    lines = text.split()
    size = len(lines)
    board = bytearray(empty_board(size))
    for row, line in enumerate(reversed(lines)):
        for column, mark in enumerate(line):
            board[place_of(row * size + column, size)] = ".xo".index(mark)
    return bytes(board)


def position(text: str, to_move: int, game: Any) -> GoState:
    """Return the drawn position without a past, with a seat to move."""
    stones = sum([mark in "xo" for mark in text])
    return GoState(to_move, game.rules, board_of(text), None, -1, 0, 0, stones, True)
