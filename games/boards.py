"""Helpers for games on a board of squares: names of squares, scenes, status lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.scene import Button, Cell, Element, Grid, Scene

__all__ = [
    "board_grid",
    "board_scene",
    "result_status",
    "square_names",
    "taking_status",
    "two_squares",
]


def square_names(columns: int, rows: int) -> tuple[str, ...]:
    """``a1``, ``b1``, ... row by row; the letter is the column."""
    return tuple([f"{chr(97 + c)}{r + 1}" for r in range(rows) for c in range(columns)])


def board_grid(
    board: Sequence[str],
    owners: Mapping[str, int],
    words: Mapping[str, str],
    *,
    legal: Sequence[str] = (),
    top_is_first: bool = False,
    names: Sequence[str] = (),
    faces: Mapping[str, str] | None = None,
    look: str = "",
    theme: str = "",
    shapes: Mapping[str, str] | None = None,
    bottom: int | None = None,
) -> Grid:
    """Return the grid of a board given as rows from the top, one character a square.

    ``owners`` and ``words`` say of each piece's character whose it is and what people call it; a
    square whose name is in ``legal`` carries that action.  Rows are numbered from the bottom, or
    from the top if the game does so.  ``names``, if given, has the name of every square, and "" for
    squares that are not played on.  ``faces`` says what is written on pieces, ``shapes`` how those
    are drawn that are no discs; ``look``, ``theme`` and ``bottom`` are those of the `Grid`.
    """
    numbers = [str(index + 1) for index in range(len(board))]
    if not top_is_first:
        numbers.reverse()
    rows: list[tuple[Cell, ...]] = []
    for row, text in enumerate(board):
        cells: list[Cell] = []
        for column, mark in enumerate(text):
            square = chr(97 + column) + numbers[row]
            if names:
                square = names[row * len(text) + column]
            if not square:
                cells.append(Cell(text=" "))
                continue
            empty = mark not in owners
            cells.append(
                Cell(
                    text="" if empty else mark,
                    owner=None if empty else owners[mark],
                    shape="" if empty else (shapes or {}).get(mark, "disc"),
                    action=square if square in legal else None,
                    label=f"{square}, {'empty' if empty else words[mark]}",
                    name=square,
                    face=(faces or {}).get(mark, ""),
                )
            )
        rows.append(tuple(cells))
    letters = tuple([chr(97 + column) for column in range(len(board[0]))])
    if names:
        return Grid(tuple(rows), (), (), "Board", look, theme, bottom)
    return Grid(tuple(rows), tuple(numbers), letters, "Board", look, theme, bottom)


def two_squares(action: str) -> tuple[str, ...]:
    """Return the squares of an action that is written as those from and to: ``a2a3``, ``a10b11``.

    >>> two_squares("a10b11")
    ('a10', 'b11')
    """
    cut = 1
    while action[cut].isdigit():
        cut += 1
    return (action[:cut], action[cut:])


def result_status(game: Game, winner: int | None, to_move: int) -> str:
    """How it stands: "White to move", "White wins" or "Draw"."""
    if winner is not None:
        return f"{game.seat_name(winner)} wins"
    if to_move == TERMINAL:
        return "Draw"
    return f"{game.seat_name(to_move)} to move"


def taking_status(game: Game, last: int, misere: bool, to_move: int) -> str:
    """How a game of taking stands: whose turn it is, or the seat that took the last one."""
    if to_move != TERMINAL:
        return f"{game.seat_name(to_move)} to move"
    return f"{game.seat_name(last)} took the last one and {'loses' if misere else 'wins'}"


def board_scene(
    elements: Sequence[Element],
    legal: Sequence[str],
    status: str,
    to_move: int,
    via: Callable[[str], tuple[str, ...]] | None = None,
) -> Scene:
    """Return the elements with a button for each action that no square stands for.

    ``via`` says of such an action which squares mean it.
    """
    shown: list[Element] = list(elements)
    offered: set[str] = set()
    for element in shown:
        if isinstance(element, Grid):
            for row in element.rows:
                offered.update([cell.action for cell in row if cell.action is not None])
    shown += [
        Button(action, action, () if via is None else via(action))
        for action in legal
        if action not in offered
    ]
    return Scene(tuple(shown), status, to_move if to_move >= 0 else None)
