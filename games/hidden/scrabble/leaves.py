"""How much the tiles that a seat keeps are worth, and plays by points and tiles kept.

The value of a *leave* is by how many points it changes the next turn.  It adds up from numbers for
each tile, for each further tile of a kind, and for more vowels than consonants or the reverse.
``python -m benchmarks.scrabble_leaves`` has fitted them to games of seats that make the play of
most points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from plyhouse.games.hidden.scrabble.action_lists import LEAST_BAG, PASS, exchanges
from plyhouse.games.hidden.scrabble.plays import placed_squares, play_parts
from plyhouse.games.hidden.scrabble.state import ScrabbleState
from plyhouse.games.hidden.scrabble.tiles import BLANK, VALUES, tiles_named, without

__all__ = ["facts_of", "kept_after", "leave_value", "ranked"]

_MERGED: Final = 64
"""Plays that are valued before they are compared with the best ones."""
_KINDS: Final = 27
_VOWELS: Final = (1, 5, 9, 15, 21)

LEAVES: Final[tuple[float, ...]] = (
    10.9, -0.5, -1.4, -0.5, -1.6, -1.7, 0.5, -2.5, 0.3, -2.8, -1.6, -0.6, -1.6, -1.3,
    -0.6, -1.2, -0.1, -5.2, -1.3, 2.5, -1.0, -3.9, -2.6, -1.4, 1.9, 0.9, 6.2, 0.0,
    -3.5, -3.8, -2.2, -2.9, -2.8, -2.1, -2.9, -0.5, -2.4, 0.0, 0.0, -2.5, -0.4, -4.8,
    -4.9, -0.9, 0.0, -4.3, -4.8, -3.3, -2.0, -1.0, 0.4, 0.0, 0.0, 0.0, -0.6, -1.4,
)  # fmt: skip
"""Points for each fact of `facts_of`, from 200 games of seed 1."""


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
    while index < 2 * _KINDS + 2:
        count: int = facts[index]
        if count:
            total += float(count) * LEAVES[index]
        index += 1
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
    count against an action instead.  ``stop`` ends the search for plays, see `Plays`.
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
