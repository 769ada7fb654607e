"""Priors of go plays: virtual visits with a mean return, before any play is tried.

Gelly and Silver, "Monte-Carlo tree search and rapid action value estimation in computer Go",
Artificial Intelligence 175 (2011), section 7.  The weights were set by matches of this bot.
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from plyhouse.games.deterministic.go.board import BLACK, BORDER, EMPTY, WHITE, ZERO, place_of
from plyhouse.games.deterministic.go.patterns import shapes
from plyhouse.games.deterministic.go.scratch import Scratch

__all__ = ["action_priors", "escapes", "two_liberties"]

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


EVEN: Final = 10.0
"""Visits of every action with the mean 0."""
EYE: Final = 20.0
SELF_ATARI: Final = 15.0
TAKE: Final = 15.0
TAKE_SEVERAL: Final = 30.0
SHAPE: Final = 10.0
LADDER: Final = 15.0
EDGE: Final = 10.0
PASS: Final = 15.0
NEAR_1: Final = 20.0
NEAR_2: Final = 18.0
NEAR_3: Final = 8.0
"""Visits that count as won near the last stone, by the distance along chains."""


def action_priors(
    scratch: Scratch, actions: tuple[Any, ...], size: i64, colour: i64, last: i64
) -> tuple[list[float], list[float]]:
    """Return for each action virtual visits and their mean return for the mover.

    ``last`` is the place of the last stone, or 0.
    """
    visits: list[float] = []
    means: list[float] = []
    table = shapes()
    near = distances(scratch, last, 3)
    marks = urgent(scratch, colour)
    settled = has_stone_near(scratch, 3)
    for action in actions:
        number: i64 = action
        won: float = 0.0
        lost: float = 0.0
        if number == size * size:
            lost = PASS
        else:
            at: i64 = place_of(number, size)
            away: i64 = near[at]
            if away == 1:
                won += NEAR_1
            elif away == 2:
                won += NEAR_2
            elif away == 3:
                won += NEAR_3
            if scratch.is_eye(at, colour):
                lost += EYE
            if table[scratch.code_at(at)] != 0:
                won += SHAPE
            if scratch.liberties_after(at, colour) < 2:
                lost += SELF_ATARI
            mark: i64 = marks[at]
            if mark == 1:
                won += TAKE
            elif mark == 2:
                won += TAKE_SEVERAL
            elif mark == 3:
                lost += LADDER
            elif mark == 4:
                won += LADDER
            if settled[at] == 0:
                line = line_of(number, size)
                if line < 2:
                    lost += EDGE
                elif line == 2:
                    won += EDGE
        total: float = EVEN + won + lost
        visits.append(total)
        means.append((won - lost) / total)
    return visits, means


def line_of(number: i64, size: i64) -> i64:
    """Return the line of a point, 0 for those at the edge."""
    row: i64 = number // size
    column: i64 = number % size
    line: i64 = row
    if size - 1 - row < line:
        line = size - 1 - row
    if column < line:
        line = column
    if size - 1 - column < line:
        line = size - 1 - column
    return line


def distances(scratch: Scratch, start: i64, most: i64) -> list[int]:
    """Return how many steps each place is from a stone, 0 beyond ``most`` or without a stone.

    Stones of one chain are no step apart.
    """
    found: list[int] = [0 for _ in range(len(scratch.colours))]
    if start == 0:
        return found
    colours = scratch.colours
    steps = scratch.steps
    marks: list[int] = [0 for _ in range(len(found))]
    front: list[int] = [int(start)]
    marks[start] = 1
    away: i64 = 0
    while away < most and len(front) > 0:
        # All stones of the chains in front are as near as their nearest stone.
        index: i64 = 0
        while index < len(front):
            at: i64 = front[index]
            index += 1
            if colours[at] == EMPTY:
                continue
            way: i64 = 0
            while way < 4:
                to: i64 = at + steps[way] - ZERO
                way += 1
                if marks[to] == 0 and colours[to] == colours[at]:
                    marks[to] = 1
                    found[to] = away
                    front.append(int(to))
        away += 1
        following: list[int] = []
        for place in front:
            at = place
            way = 0
            while way < 4:
                to = at + steps[way] - ZERO
                way += 1
                if marks[to] == 0 and colours[to] != BORDER:
                    marks[to] = 1
                    found[to] = away
                    following.append(int(to))
        front = following
    return found


def has_stone_near(scratch: Scratch, most: i64) -> list[int]:
    """Return 1 for each place that has a stone within ``most`` steps, 0 for the others."""
    colours = scratch.colours
    steps = scratch.steps
    found: list[int] = [0 for _ in range(len(colours))]
    front: list[int] = []
    at: i64 = 0
    while at < len(colours):
        if colours[at] == BLACK or colours[at] == WHITE:
            found[at] = 1
            front.append(int(at))
        at += 1
    away: i64 = 0
    while away < most:
        away += 1
        following: list[int] = []
        for place in front:
            at = place
            way: i64 = 0
            while way < 4:
                to: i64 = at + steps[way] - ZERO
                way += 1
                if found[to] == 0 and colours[to] == EMPTY:
                    found[to] = 1
                    following.append(int(to))
        front = following
    return found


def urgent(scratch: Scratch, colour: i64) -> list[int]:
    """Return by place 1 for plays that take or save one stone, 2 for several.

    3 is for a stone added to a chain that a ladder catches, 4 for an atari that begins a ladder.
    """
    colours = scratch.colours
    heads = scratch.heads
    following = scratch.following
    enemy: i64 = 3 - colour
    found: list[int] = [0 for _ in range(len(colours))]
    start: i64 = 0
    while start < len(colours):
        stone: i64 = colours[start]
        if (stone != BLACK and stone != WHITE) or heads[start] != start:
            start += 1
            continue
        liberty: i64 = scratch.only_liberty(start)
        value: i64 = 2 if following[start] != start else 1
        if liberty != 0:
            if stone == enemy:
                if value > found[liberty] or found[liberty] > 2:
                    found[liberty] = value
            else:
                if scratch.liberties_after(liberty, colour) == 2 and escapes(scratch, start, 0):
                    if value > found[liberty] or found[liberty] > 2:
                        found[liberty] = value
                elif found[liberty] == 0:
                    found[liberty] = 3
        elif stone == enemy and scratch.liberties[start] <= 8:
            pair = two_liberties(scratch, start)
            if pair != 0:
                one: i64 = pair // 1024
                other: i64 = pair % 1024
                if found[one] == 0 and catches(scratch, start, one, colour):
                    found[one] = 4
                if found[other] == 0 and catches(scratch, start, other, colour):
                    found[other] = 4
        start += 1
    return found


def catches(scratch: Scratch, start: i64, at: i64, colour: i64) -> bool:
    """Return whether a stone of ``colour`` puts a chain into an atari from which it cannot run."""
    if scratch.liberties_after(at, colour) < 2:
        return False
    after = scratch.copy()
    return after.try_stone(at, colour) and not escapes(after, start, 0)
