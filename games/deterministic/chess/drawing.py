"""The board of chess and the pieces that were taken, as people see them."""

from __future__ import annotations

from typing import Final

from plyhouse.games.deterministic.chess.board import SIDE_AT
from plyhouse.games.deterministic.chess.notation import board_rows
from plyhouse.games.scene import Cell, Grid, Tray

__all__ = ["chess_board", "taken_pieces"]

_FIGURES: Final = {
    "K": "♔", "Q": "♕", "R": "♖", "B": "♗", "N": "♘", "P": "♙",
    "k": "♚", "q": "♛", "r": "♜", "b": "♝", "n": "♞", "p": "♟",
}  # fmt: skip
_SOLID: Final = {mark: _FIGURES[mark] + "\ufe0e" for mark in "kqrbnp"}
"""Figures where colours tell the sides apart; the selector keeps pawns from being emoji."""
_NAMES: Final = {"k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}


def chess_board(position: bytes, last: str, mated: bool, names: tuple[str, ...]) -> Grid:
    """Return the board with the squares of the last action (UCI, may be "") marked.

    ``mated``: the king of the side to move is; ``names`` are those of the seats.
    """
    marked = (last[:2], last[2:4])
    lost = "Kk"[position[SIDE_AT]] if mated else ""
    rows: list[tuple[Cell, ...]] = []
    for index, row in enumerate(board_rows(position)):
        cells: list[Cell] = []
        for file, mark in zip("abcdefgh", row, strict=True):
            name = f"{file}{8 - index}"
            owner = None if mark == "." else 0 if mark.isupper() else 1
            content = "empty"
            if owner is not None:
                content = f"{names[owner].lower()} {_NAMES[mark.lower()]}"
            cells.append(
                Cell(
                    text=_FIGURES.get(mark, ""),
                    owner=owner,
                    shape=_NAMES.get(mark.lower(), ""),
                    label=f"{name}, {content}",
                    highlight=name in marked,
                    name=name,
                    face=_SOLID.get(mark.lower(), ""),
                    won=mark == lost,
                )
            )
        rows.append(tuple(cells))
    return Grid(tuple(rows), tuple("87654321"), tuple("abcdefgh"), "Board", "checkered", "wood", 0)


def taken_pieces(start: bytes, position: bytes, names: tuple[str, ...]) -> list[Tray]:
    """Return the pieces that each side has captured: those the other side has lost.

    A pawn that became another piece counts as taken, as its place is empty.
    """
    before, there = "".join(board_rows(start)), "".join(board_rows(position))
    trays: list[Tray] = []
    for seat in range(2):
        pieces: list[Cell] = []
        for letter in "qrbnp":
            mark = letter if seat == 0 else letter.upper()
            gone = before.count(mark) - there.count(mark)
            name = _NAMES[letter]
            label = f"{names[1 - seat].lower()} {name}"
            if gone > 0:
                pieces.append(Cell(_FIGURES[mark], 1 - seat, name, label=label, count=gone))
        trays.append(Tray(f"Taken by {names[seat]}", tuple(pieces), seat))
    return trays
