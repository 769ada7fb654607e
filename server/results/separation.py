"""Separation: whether results compare all entries with each other.

Strengths have a finite most likely value if and only if the following holds.  However the entries
are split in two groups, some entry of each group has taken something from one of the other.
Source: Ford, "Solution of a ranking problem from binary comparisons", American Mathematical
Monthly 64, 1957.  In other words, the graph of who took something from whom is strongly connected.
If it is not, only the prior holds the parts together.  Their distance then shows only how strong
the prior is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

NameT = TypeVar("NameT", bound=Hashable)
Took = NDArray[np.bool_]
"""A square table: True if the row's entry took something from the column's."""

NAMED: Final = 6
"""The largest number of names in a note, and of notes of a kind."""


def parts(took: Took) -> list[list[int]]:
    """Return the strongly connected parts, each in ascending order.

    The parts are sorted: no entry of an earlier part lost anything to a later one.
    """
    left = np.ones(len(took), dtype=bool)
    found: list[list[int]] = []
    while left.any():
        # Find the part from which no outside entry took anything: climb until nothing is above.
        at = int(np.flatnonzero(left)[0])
        while True:
            above = _reached(took.T, at, left)
            below = _reached(took, at, left)
            higher = np.flatnonzero(above & ~below)
            if not len(higher):
                break
            at = int(higher[0])
        found.append([int(index) for index in np.flatnonzero(above)])
        left &= ~above
    return found


def groups(took: Took) -> list[list[int]]:
    """Return the groups compared directly or through others, largest first."""
    return sorted(parts(took | took.T), key=lambda group: (-len(group), group))


def notes_on(names: Sequence[NameT], took: Took) -> tuple[str, ...]:
    """Return sentences on missing comparisons; none if all are compared.

    Set ``took`` to True both ways between entries whose difference is known (anchors).
    """
    every = np.ones(len(names), dtype=bool)
    if len(names) < 2 or (_reached(took, 0, every) & _reached(took.T, 0, every)).all():
        return ()
    notes = []
    apart = groups(took)
    if len(apart) > 1:
        notes.append(
            f"{len(apart)} groups have not met, not even through others, so only the prior puts "
            f"them on one scale: {_groups(names, apart)}."
        )
    takes = np.asarray(took.any(axis=1), dtype=np.bool_)
    loses = np.asarray(took.any(axis=0), dtype=np.bool_)
    middle = takes & loses
    for chosen, what, bound in (
        (takes & ~loses, "won", "upper"),
        (loses & ~takes, "lost", "lower"),
    ):
        found = np.flatnonzero(chosen)
        notes += [
            f"{names[index]!r} {what} everything: its results give no {bound} bound, only the "
            "prior keeps its rating finite."
            for index in found[:NAMED]
        ]
        if len(found) > NAMED:
            notes.append(f"{len(found) - NAMED} more entries {what} everything.")
    for group in apart:
        rows = np.array(group)
        within = parts(took[np.ix_(rows, rows)])
        several = [rows[part] for part in within if middle[rows[part]].any()]
        higher: list[NDArray[np.int64]] = []
        lowest: list[NDArray[np.int64]] = []
        for part in several:
            others = np.setdiff1d(np.concatenate(several), part)
            (higher if took[np.ix_(part, others)].any() else lowest).append(part)
        notes += [
            f"{_list([names[i] for i in part])}: lost nothing to those below whom they met, so "
            "only the prior says how far above them they stand."
            for part in higher[:NAMED]
        ]
        if len(lowest) > 1:
            notes.append(
                f"{_groups(names, lowest)}: took nothing from each other, so only the prior says "
                "how far apart they stand."
            )
    return tuple(notes)


def _reached(heads: Took, start: int, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the entries reached from ``start`` along the rows, with itself."""
    reached = np.zeros(len(heads), dtype=bool)
    reached[start] = True
    front = reached
    while front.any():
        front = heads[front].any(axis=0) & among & ~reached
        reached = reached | front
    return reached


def _groups(names: Sequence[object], groups: Sequence[Iterable[int]]) -> str:
    """Return the names of groups for a sentence, at most `NAMED` groups."""
    told = "; ".join(_list([names[index] for index in group]) for group in groups[:NAMED])
    return told if len(groups) <= NAMED else f"{told}; and {len(groups) - NAMED} more groups"


def _list(names: Sequence[object]) -> str:
    """Return names for a sentence, at most `NAMED` of them."""
    told = ", ".join(repr(name) for name in names[:NAMED])
    return told if len(names) <= NAMED else f"{told} and {len(names) - NAMED} more"
