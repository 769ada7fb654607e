"""Boards as inputs of networks: planes of cells, numbered actions, symmetries.

A view shows a position to the seat that moves: its own pieces first, and a board on which it plays
upwards.  So one network serves both seats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from plyhouse.games.base import Game

Floats = NDArray[np.float32]
Words = NDArray[np.int64]
Indices = NDArray[np.int64]

VIEWED: Final = ("breakthrough", "connect_four", "tic_tac_toe")
"""Names of the games that have a view."""


@dataclass(frozen=True)
class BoardView:
    """How a network sees the positions of one game and numbers its actions."""

    spec: str
    """The game, with its parameters."""
    rows: int
    columns: int
    planes: int
    """Numbers of each cell: own piece, other piece, and what a view adds."""
    window: int
    """Side of the square that one unit of the first layer sees, in cells."""
    actions: int
    """Actions that a network tells apart: the number of its logits."""
    places: list[list[int]]
    """``places[seat][action]``: index of an action among the logits."""
    symmetries: tuple[tuple[Indices, Indices], ...]
    """Orders of the inputs and of the logits that show the same position; the first changes
    nothing."""
    word: Callable[[Any], tuple[int, int, int]]
    """The own pieces, the other pieces and the mover of a state, as `encode` takes them."""
    encode: Callable[[Words], Floats]
    """Inputs of positions: from an array of shape (n, 3) to (n, planes * rows * columns)."""

    @property
    def inputs(self) -> int:
        """Return the number of inputs."""
        return self.planes * self.rows * self.columns

    def words(self, states: Sequence[Any]) -> Words:
        """Return states as numbers, of shape (n, 3)."""
        word = self.word
        return np.array([word(state) for state in states], np.int64).reshape(-1, 3)

    def windows(self) -> Indices:
        """Return the inputs in each window, of shape (windows, planes * window * window)."""
        side = self.window
        cells = np.arange(self.inputs).reshape(self.planes, self.rows, self.columns)
        found = [
            cells[:, row : row + side, column : column + side].ravel()
            for row in range(self.rows - side + 1)
            for column in range(self.columns - side + 1)
        ]
        return np.array(found)


def view_of(game: Game) -> BoardView:
    """Return the view of a game.

    Raises `ValueError` for a game without one.

    >>> from plyhouse.games import get_game
    >>> view_of(get_game("tic_tac_toe")).inputs
    18
    """
    if game.info.name == "tic_tac_toe":
        return _tic_tac_toe()
    if game.info.name == "connect_four":
        return _connect_four(game)
    if game.info.name == "breakthrough":
        return _breakthrough(game)
    raise ValueError(
        f"there is no view of {game.spec} for networks, only of these games: {', '.join(VIEWED)}"
    )


def _cells(words: NDArray[Any], bits: Indices) -> NDArray[np.uint8]:
    """Return the bits of 64-bit words, of shape (n, words, bits)."""
    count, wide = words.shape
    octets = np.ascontiguousarray(words, "<i8").view(np.uint8).reshape(count, wide, 8)
    found: NDArray[np.uint8] = np.unpackbits(octets, axis=2, bitorder="little")[:, :, bits]
    return found


def _orders(
    view: tuple[int, int, int], turns: Sequence[Callable[[Indices], Indices]]
) -> list[Indices]:
    """Return the order of inputs of each way to turn a board of (planes, rows, columns)."""
    cells = np.arange(view[0] * view[1] * view[2]).reshape(view)
    return [np.stack([turn(plane) for plane in cells]).ravel() for turn in turns]


def _same(board: Indices) -> Indices:
    return board


def _mirrored(board: Indices) -> Indices:
    return board[:, ::-1]


def _tic_tac_toe() -> BoardView:
    """Return a view of 9 cells with all eight symmetries of the square."""
    turns = [
        lambda board, times=times, flip=flip: np.rot90(board[:, ::-1] if flip else board, times)
        for flip in (False, True)
        for times in range(4)
    ]
    bits = np.arange(9)

    def word(state: Any) -> tuple[int, int, int]:
        if state.to_move == 0:
            return state.crosses, state.noughts, 0
        return state.noughts, state.crosses, 1

    def encode(words: Words) -> Floats:
        return _cells(words[:, :2], bits).reshape(len(words), -1).astype(np.float32)

    return BoardView(
        spec="tic_tac_toe",
        rows=3,
        columns=3,
        planes=2,
        window=3,
        actions=9,
        places=[list(range(9))] * 2,
        symmetries=tuple(zip(_orders((2, 3, 3), turns), _orders((1, 3, 3), turns), strict=True)),
        word=word,
        encode=encode,
    )


def _connect_four(game: Game) -> BoardView:
    """Return a view with cells to fall to, cells that complete a line, and parities of rows.

    The first planes are the own discs, those of the other seat, and the cells that a disc can fall
    to.  Two show the empty cells in which the mover, and the other seat, complete a line.  Where
    each disc is answered in its column, the first seat gets the odd rows, counted from 1 at the
    bottom, and the second seat the even rows.  So two more planes are the cells that complete a
    line of a seat in its own rows.  The last plane is all empty cells in the mover's rows.
    """
    start: Any = game.initial_state()
    shape = start.shape
    rows, columns = shape.rows, shape.columns
    connect = int(shape.connect)
    bits = np.array([c * (rows + 1) + r for r in range(rows) for c in range(columns)])
    bottoms, cells = int(shape.bottoms), int(shape.cells)
    board = sum(cells << column * (rows + 1) for column in range(columns))
    steps = np.array([1, rows, rows + 1, rows + 2])
    odd = sum(
        1 << column * (rows + 1) + row for column in range(columns) for row in range(0, rows, 2)
    )
    own_rows = np.array([[odd, board ^ odd], [board ^ odd, odd]])

    def word(state: Any) -> tuple[int, int, int]:
        return state.mine, state.taken ^ state.mine, state.to_move

    def encode(words: Words) -> Floats:
        pieces = words[:, :2]
        taken = pieces[:, :1] | pieces[:, 1:]
        free = (taken + bottoms) & board
        empty = board & ~taken
        completing = _completing(pieces, connect, steps) & empty
        gets = own_rows[words[:, 2]]
        planes = np.concatenate(
            [pieces, free, completing, completing & gets, empty & gets[:, :1]], axis=1
        )
        return _cells(planes, bits).reshape(len(words), -1).astype(np.float32)

    both = (_same, _mirrored)
    across = [np.arange(columns), np.arange(columns)[::-1].copy()]
    return BoardView(
        spec=game.spec,
        rows=rows,
        columns=columns,
        planes=8,
        window=min(4, rows, columns),
        actions=columns,
        places=[[0, *range(columns)]] * 2,
        symmetries=tuple(zip(_orders((8, rows, columns), both), across, strict=True)),
        word=word,
        encode=encode,
    )


def _completing(pieces: Words, connect: int, steps: Indices) -> Words:
    """Return the cells with ``connect - 1`` pieces beside them in a line, in sets of any shape.

    ``steps`` are the distances of neighbours in each direction, in bits.
    """
    below = [pieces[..., None] << distance * steps for distance in range(1, connect)]
    above = [pieces[..., None] >> distance * steps for distance in range(1, connect)]
    for runs in (below, above):
        for at in range(1, connect - 1):
            runs[at] &= runs[at - 1]
    found = below[-1] | above[-1]
    for count in range(connect - 2):
        found |= below[count] & above[connect - 3 - count]
    cells: Words = np.bitwise_or.reduce(found, axis=-1)
    return cells


def _breakthrough(game: Game) -> BoardView:
    """Return a view in which the mover's pawns go up."""
    start: Any = game.initial_state()
    size = start.board.size
    bits = np.arange(size * size)
    turned = bits.reshape(size, size)[::-1].ravel()

    def word(state: Any) -> tuple[int, int, int]:
        if state.to_move == 0:
            return state.white, state.black, 0
        return state.black, state.white, 1

    def encode(words: Words) -> Floats:
        found = _cells(words[:, :2], bits)
        found = np.where((words[:, 2] == 0)[:, None, None], found, found[:, :, turned])
        return found.reshape(len(words), -1).astype(np.float32)

    both = (_same, _mirrored)
    steps = np.arange(3 * size * size).reshape(size, size, 3)
    black = steps[::-1].ravel()
    return BoardView(
        spec=game.spec,
        rows=size,
        columns=size,
        planes=2,
        window=4,
        actions=3 * size * size,
        places=[steps.ravel().tolist(), black.tolist()],
        symmetries=tuple(
            zip(
                _orders((2, size, size), both),
                [steps.ravel(), steps[:, ::-1, ::-1].ravel()],
                strict=True,
            )
        ),
        word=word,
        encode=encode,
    )
