"""Backwards from the end: who wins every position of a graph, and how soon.

Stroehlein, "Untersuchungen ueber kombinatorische Spiele" (1970); Thompson, "Retrograde
analysis of certain endgames", ICCA Journal 9 (1986).  Vectorised: a step handles all
positions of one distance at once.

Three positions in a row, of which the last is lost for the seat to move:

>>> steps = np.array([1, 1, 0], np.int32), np.array([1, 2], np.int32)
>>> backwards(None, *steps, np.array([OPEN, OPEN, -1], np.int16)).tolist()
[-3, 2, -1]

(lost in 2 plies, won in 1, lost at once).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["DRAW", "FARTHEST", "OPEN", "backwards"]

Codes = NDArray[np.int16]
Numbers = NDArray[np.int32]

DRAW: Final = 0
FARTHEST: Final = 32_000
"""Most plies to a win that a code can hold."""
OPEN: Final = 32_767
"""Code of an unsolved position, given to `backwards`."""


def backwards(
    movers: NDArray[np.int8] | None,
    degrees: Numbers,
    targets: Numbers,
    codes: Codes,
    step: Callable[[int], None] | None = None,
) -> Codes:
    """Solve all positions whose code is `OPEN`; the others are known already.

    Position i has ``degrees[i]`` edges, which lie one position after the other in ``targets``.  A
    code is 0 for a draw, d + 1 for a win of seat 0 in d plies, and -(d + 1) for a win of seat 1.
    The winner takes the shortest way and the loser the longest.  A position that nobody can force
    to an end, such as one in a loop, is a draw.  Without ``movers`` the turn passes with every ply,
    and codes are those of the seat to move.  ``step`` is called with every distance done.
    """
    count = len(codes)
    unsolved = codes == OPEN
    codes = np.where(unsolved, DRAW, codes).astype(np.int16)
    sources = np.repeat(np.arange(count, dtype=np.int32), degrees)
    order = np.argsort(targets, kind="stable")
    parents = sources[order]
    del sources, order
    begin = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(targets, minlength=count), out=begin[1:])
    left = degrees.astype(np.int32)
    known = np.flatnonzero(~unsolved & (codes != DRAW))
    distances = np.abs(codes[known].astype(np.int32)) - 1
    by_distance = np.argsort(distances, kind="stable")
    known, distances = known[by_distance], distances[by_distance]
    new = np.zeros(0, np.int64)
    distance = 0
    last = int(distances[-1]) if len(distances) else -1
    while len(new) or distance <= last:
        if distance >= FARTHEST:
            raise OverflowError(f"a win takes more than {FARTHEST} plies")
        low, high = np.searchsorted(distances, (distance, distance + 1))
        frontier = np.concatenate((new, known[low:high]))
        found = []
        for winner, sign in ((0, 1), (1, -1)):
            won = frontier[codes[frontier] * sign > 0]
            before = parents[_spans(begin[won], begin[won + 1])]
            before = before[unsolved[before]]
            own = np.full(len(before), sign < 0) if movers is None else movers[before] == winner
            choosing = np.unique(before[own])
            forced, edges = np.unique(before[~own], return_counts=True)
            left[forced] -= edges.astype(np.int32)
            decided = np.concatenate((choosing, forced[left[forced] == 0]))
            unsolved[decided] = False
            codes[decided] = (sign if movers is not None else -sign) * (distance + 2)
            found.append(decided)
        new = np.concatenate(found)
        if step is not None:
            step(distance)
        distance += 1
    return codes


def _spans(starts: NDArray[Any], stops: NDArray[Any]) -> NDArray[np.int64]:
    """Return all numbers from each start up to its stop, one span after the other."""
    lengths = stops - starts
    total = int(lengths.sum())
    if total == 0:
        return np.zeros(0, np.int64)
    offsets = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
    spans: NDArray[np.int64] = offsets + np.arange(total)
    return spans
