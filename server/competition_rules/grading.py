"""Grades for mean scores against baselines.

Baselines are ordered from the easiest grade to the best one.  A grade needs its own threshold and,
unless the competition says otherwise, every lower one.  A bot that beats the best baseline and
loses to `random` was lucky, or is tuned against that baseline alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from plyhouse.server.competition_rules.file import Baseline

__all__ = ["grade_level", "is_reached", "points_of"]

DIGITS = 12
"""Decimals to which mean scores are compared, so that the order of summation does not matter."""


def is_reached(score: float | None, at_least: float) -> bool:
    """Return whether a mean reaches a threshold; None (never met) does not."""
    return score is not None and round(score, DIGITS) >= round(at_least, DIGITS)


def grade_level(
    scores: Sequence[float | None], needed: Sequence[float | None], *, every_lower: bool
) -> int:
    """Return the number of the best baseline whose grade is reached; -1 for none.

    ``scores`` are the mean scores against the baselines, ``needed`` their thresholds (None for a
    baseline without a grade), both from the easiest to the hardest.

    >>> grade_level([0.2, 0.7], [0.4, 0.6], every_lower=False)
    1
    >>> grade_level([0.2, 0.7], [0.4, 0.6], every_lower=True)
    -1
    """
    best = -1
    for number, (score, least) in enumerate(zip(scores, needed, strict=True)):
        if least is None:
            continue
        if is_reached(score, least):
            best = number
        elif every_lower:
            break
    return best


def points_of(baselines: Sequence[Baseline], most: float | None) -> list[float]:
    """Return the points of each baseline's grade; 0 for baselines without one.

    Where the file gives none, grades are evenly spaced up to ``most`` (None: one point for each
    grade).  A better grade never has fewer points.
    """
    graded = [each for each in baselines if each.grade]
    step = 1.0 if most is None else most / max(1, len(graded))
    found, number = [], 0
    for each in baselines:
        number += bool(each.grade)
        given = number * step if each.points is None else each.points
        found.append(given if each.grade else 0.0)
    return found
