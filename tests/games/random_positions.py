"""Positions that random play seldom meets, of every game whose positions can be written down."""

from __future__ import annotations

import random
from collections.abc import Callable

from plyhouse.games import Game, InvalidPosition, State, get_game

__all__ = ["WRITERS", "random_position"]


def checkers(rng: random.Random) -> str:
    """Few kings among many pieces, so that there are long jumps with ends in common."""
    squares = rng.sample(range(1, 33), rng.randint(4, 16))
    mine = rng.randint(1, 4)
    sides: list[str] = []
    for seat, own in enumerate((squares[:mine], squares[mine : mine + 12])):
        crowned = 0.8 if seat == 0 else 0.3
        sides.append(",".join([("K" if rng.random() < crowned else "") + str(s) for s in own]))
    mover = rng.choice("BW")
    other = "W" if mover == "B" else "B"
    return f"{mover}:{mover}{sides[0]}:{other}{sides[1]}"


def chess(rng: random.Random) -> str:
    """Many of few kinds, so that names of pieces must be told apart."""
    board = ["."] * 64
    kinds = rng.choice(["bBrRnN", "bB", "qQnN", "bBpP", "bBrRnNqQpP"])
    squares = rng.sample(range(64), rng.randint(4, 14))
    for place, square in enumerate(squares):
        piece = "kK"[place] if place < 2 else rng.choice(kinds)
        if piece in "pP" and not 8 <= square < 56:
            piece = "B"
        board[square] = piece
    rows = ["".join(board[row * 8 : row * 8 + 8]) for row in range(8)]
    text = "/".join(rows)
    for length in range(8, 0, -1):
        text = text.replace("." * length, str(length))
    return f"{text} {rng.choice('wb')} - - 0 1"


def othello(rng: random.Random) -> str:
    """Any discs on any squares."""
    empty = rng.random()
    discs = ["-" if rng.random() < empty else rng.choice("xo") for _ in range(64)]
    return "".join(discs) + " " + rng.choice("xo")


def backgammon(rng: random.Random) -> str:
    """Blots, points and checkers on the bar wherever they may be."""
    owner = [rng.choice((0, 1, -1)) for _ in range(26)]
    sides: list[str] = []
    for seat in (0, 1):
        counts = [0] * 26
        points = [p for p in range(1, 25) if owner[p if seat == 0 else 25 - p] == seat]
        for _ in range(rng.randint(1, 15)):
            counts[25 if not points or rng.random() < 0.05 else rng.choice(points)] += 1
        words = [f"{'bar' if p == 25 else p}x{counts[p]}" for p in range(1, 26) if counts[p]]
        sides.append(" ".join(words))
    small, large = sorted((rng.randint(1, 6), rng.randint(1, 6)))
    return f"{sides[0]}; {sides[1]}; {rng.randint(0, 1)} {large}{small}"


def nim(rng: random.Random) -> str:
    """Heaps of any size."""
    return ",".join([str(rng.randint(1, 30)) for _ in range(rng.randint(1, 8))])


WRITERS: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "backgammon": ("position", backgammon),
    "checkers": ("position", checkers),
    "chess": ("fen", chess),
    "nim": ("heaps", nim),
    "othello": ("position", othello),
}
"""By game: the parameter that says where to start, and what makes up a value for it."""


def random_position(name: str, rng: random.Random) -> tuple[Game, State]:
    """A game that starts in a position which was made up, and that position."""
    parameter, write = WRITERS[name]
    while True:
        try:
            game = get_game(f'{name}({parameter}="{write(rng)}")')
        except InvalidPosition:
            continue
        return game, game.initial_state()
