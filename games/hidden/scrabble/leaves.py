"""How much the tiles that a seat keeps are worth, and plays by points and tiles kept.

The value of a *leave* is by how many points it changes what the next turns are worth.  It is the
sum of a number for each tile, each further tile of a kind, and each two kinds that lie together.
More vowels than consonants, and the reverse, have a number as well.  ``python -m
benchmarks.scrabble_leaves`` has fitted them to games of seats that play by such values themselves.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from importlib.resources import files
from typing import Final

from mypy_extensions import i64

from plyhouse.games.hidden.scrabble.action_lists import LEAST_BAG, PASS, exchanges
from plyhouse.games.hidden.scrabble.plays import placed_squares, play_parts
from plyhouse.games.hidden.scrabble.state import ScrabbleState
from plyhouse.games.hidden.scrabble.tiles import BLANK, VALUES, tiles_named, without

__all__ = ["facts_of", "kept_after", "leave_value", "ranked", "read_leaves"]

_MERGED: Final = 64
"""Plays that are valued before they are compared with the best ones."""
_KINDS: Final = 27
_VOWELS: Final = (1, 5, 9, 15, 21)

_FACTS: Final = 2 * _KINDS + 2
_PAIRS: Final = _KINDS * (_KINDS - 1) // 2


def read_leaves(data: bytes) -> tuple[list[float], list[float]]:
    """Return the points of the facts of `facts_of`, and those of two kinds of tiles together.

    The latter are at 27 times the lesser kind plus the greater.  The bytes are numbers of 16 bits,
    in hundredths of a point, little-endian.  Raises `ValueError` if their number is wrong.
    """
    count = _FACTS + _PAIRS
    if len(data) != 2 * count:
        raise ValueError(f"the leaves of Scrabble are {len(data)} bytes, not {2 * count}")
    points = [number / 100.0 for number in struct.unpack(f"<{count}h", data)]
    pairs = [0.0] * (_KINDS * _KINDS)
    place = _FACTS
    for one in range(_KINDS):
        for other in range(one + 1, _KINDS):
            pairs[_KINDS * one + other] = points[place]
            place += 1
    return points[:_FACTS], pairs


_SHIPPED: Final = read_leaves(
    files("plyhouse.games.hidden.scrabble").joinpath("leaves.bin").read_bytes()
)
_LEAVES: Final[list[float]] = _SHIPPED[0]
_TOGETHER: Final[list[float]] = _SHIPPED[1]


def facts_of(rack: bytes) -> list[int]:
    """Return the facts by which a leave is valued.

    They are the number of tiles of each kind, and the number of further tiles of each kind.  Two
    more say by how many the vowels exceed the consonants, and the reverse.
    """
    facts: list[int] = [0] * (2 * _KINDS + 2)
    vowels: int = 0
    consonants: int = 0
    for tile in rack:
        if facts[tile]:
            facts[_KINDS + tile] += 1
        facts[tile] += 1
        if tile in _VOWELS:
            vowels += 1
        elif tile:
            consonants += 1
    facts[2 * _KINDS] = max(0, vowels - consonants)
    facts[2 * _KINDS + 1] = max(0, consonants - vowels)
    return facts


def leave_value(rack: bytes) -> float:
    """Return what the tiles kept are worth, in points."""
    total: float = 0.0
    facts: list[int] = facts_of(rack)
    index: i64 = 0
    while index < _FACTS:
        count: int = facts[index]
        if count:
            total += float(count) * _LEAVES[index]
        index += 1
    one: i64 = 0
    while one < _KINDS:
        if facts[one]:
            other: i64 = one + 1
            while other < _KINDS:
                if facts[other]:
                    total += _TOGETHER[_KINDS * one + other]
                other += 1
        one += 1
    return total


def kept_after(state: ScrabbleState, text: str) -> bytes:
    """Return the tiles that the seat to move keeps after an action."""
    rack = state.racks[state.turn]
    if text.startswith(PASS):
        return without(rack, tiles_named(text[1:]))
    parts = play_parts(text)
    if parts is None:
        return rack
    used: list[int] = []
    for _, code in placed_squares(state.board, parts[0], parts[1]):
        used.append(0 if code > BLANK else code)
    return without(rack, bytes(used))


def ranked(
    state: ScrabbleState, most: int, stop: Callable[[], bool] | None = None
) -> list[tuple[float, int, str]]:
    """Return the best actions of the seat to move by points and leave, best first.

    Each is its value, its points and its text.  Once the bag is empty, the points of the tiles left
    count against an action instead.  ``stop`` ends the search for plays, see `Plays`.  Those of
    most points are valued even then.
    """
    rack = state.racks[state.turn]
    left: int = state.bag_size()
    values: dict[bytes, float] = {}
    swaps: list[str] = exchanges(rack)
    found: list[tuple[float, int, str]] = [(_worth(rack, left, values), 0, PASS)]
    for text in swaps:
        worth: float = _worth(kept_after(state, text), left, values)
        if left >= LEAST_BAG:
            found.append((worth, 0, text))
    found.sort(key=_order)
    found = found[:most]
    # Every rack that a play may keep has its value by now.
    best_kept: float = max(values.values())
    plays = state.plays(False, stop)
    texts: list[str] = plays.texts
    scores: list[int] = plays.scores
    places: list[int] = sorted(range(len(texts)), key=scores.__getitem__, reverse=True)
    fewer: list[tuple[float, int, str]] = []
    for place in places:
        score: int = scores[place]
        if len(found) == most and float(score) + best_kept < found[most - 1][0]:
            break
        text = texts[place]
        fewer.append((float(score) + _worth(kept_after(state, text), left, values), score, text))
        if len(fewer) >= _MERGED:
            found = sorted(found + fewer, key=_order)[:most]
            fewer = []
            if stop is not None and stop():
                break
    return sorted(found + fewer, key=_order)[:most]


def _order(candidate: tuple[float, int, str]) -> tuple[float, str]:
    return (-candidate[0], candidate[2])


def _worth(kept: bytes, bag: int, values: dict[bytes, float]) -> float:
    """Return the value of the tiles kept, which ``values`` holds for those that came before."""
    known = values.get(kept)
    if known is not None:
        return known
    lost: float = -2.0 * float(sum([VALUES[tile] for tile in kept]))
    found: float = leave_value(kept) if bag > 0 else lost
    values[kept] = found
    return found
