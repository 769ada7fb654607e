"""Ladders of go: whether a chain in atari can run."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from plyhouse.games.deterministic.go.board import EMPTY, ZERO
from plyhouse.games.deterministic.go.scratch import Scratch

__all__ = ["escapes", "two_liberties"]

DEEPEST: Final = 40
"""Stones of the chain's owner after which a ladder counts as an escape."""


def escapes(scratch: Scratch, start: i64, depth: i64) -> bool:
    """Return whether the chain of a stone in atari gets away, its owner to move.

    It does by taking a chain that closes it in, or by a stone that gives it three liberties, or two
    when neither atari of the opponent catches it.
    """
    colours = scratch.colours
    steps = scratch.steps
    following = scratch.following
    colour: i64 = colours[start]
    liberty: i64 = scratch.only_liberty(start)
    if liberty == 0 or depth >= DEEPEST:
        return True
    at: i64 = start
    while True:
        way: i64 = 0
        while way < 4:
            to: i64 = at + steps[way] - ZERO
            way += 1
            if colours[to] == 3 - colour:
                gap: i64 = scratch.only_liberty(to)
                if gap != 0 and gap != scratch.ko:
                    return True
        at = following[at]
        if at == start:
            break
    here = scratch.copy()
    if not here.try_stone(liberty, colour) or here.only_liberty(start) != 0:
        return False
    pair = two_liberties(here, start)
    if pair == 0:
        return True
    first: i64 = pair // 1024
    second: i64 = pair % 1024
    return not (
        closes(here, start, first, 3 - colour, depth)
        or closes(here, start, second, 3 - colour, depth)
    )


def closes(here: Scratch, start: i64, at: i64, colour: i64, depth: i64) -> bool:
    """Return whether a stone of ``colour`` leaves the chain no escape."""
    after = here.copy()
    return at != after.ko and after.try_stone(at, colour) and not escapes(after, start, depth + 1)


def two_liberties(scratch: Scratch, start: i64) -> i64:
    """Return the two liberties of a chain as one number, in base 1024; 0 if there are more."""
    colours = scratch.colours
    steps = scratch.steps
    following = scratch.following
    one: i64 = 0
    other: i64 = 0
    at: i64 = start
    while True:
        way: i64 = 0
        while way < 4:
            to: i64 = at + steps[way] - ZERO
            way += 1
            if colours[to] == EMPTY and to != one and to != other:
                if one == 0:
                    one = to
                elif other == 0:
                    other = to
                else:
                    return 0
        at = following[at]
        if at == start:
            break
    return one * 1024 + other
