"""The points of grades: ``points`` of baselines or of ``[grading]``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Protocol

from plyhouse.server.competition.file_table import Mistake, Table

__all__ = ["read_points"]

MOST: Final = 1_000_000.0


class Graded(Protocol):
    """The attributes of a baseline that points need."""

    @property
    def grade(self) -> str:
        """The grade; empty for none."""

    @property
    def points(self) -> float | None:
        """The points that the file gives; None if it gives none."""


def read_points(grading: Table, baselines: Sequence[Graded]) -> float | None:
    """Return the points of the best grade in ``[grading]``, for even spacing.

    Also notes mistakes in the points of the baselines.  Either all graded baselines have points or
    none has.  Points never fall from one grade to the next, and they exclude points of
    ``[grading]``.
    """
    most: float | None = grading.take("points", float, "a number", "points = 10")
    if most is not None and not (math.isfinite(most) and 0.0 < most <= MOST):
        grading.wrong(
            "bad_value", "points", f"must be above 0 and at most {MOST:,.0f}, not {most:g}"
        )
    given = [(number, each) for number, each in enumerate(baselines) if each.points is not None]
    if most is not None and given:
        text = (
            "is for grades that are evenly spaced; leave it out, or leave points of baselines out"
        )
        grading.wrong("bad_value", "points", text)

    def wrong(number: int, code: str, text: str) -> None:
        grading.mistakes.append(Mistake(f"competition/{code}", f"baselines[{number}].points", text))

    last = 0.0
    for number, each in enumerate(baselines):
        if each.points is None:
            if given and each.grade:
                wrong(number, "missing_key", "is missing: every grade has points, or none has")
            continue
        if not each.grade:
            wrong(number, "bad_value", 'is for a baseline with a grade: grade = "pass"')
        elif not (math.isfinite(each.points) and 0.0 <= each.points <= MOST):
            wrong(number, "bad_value", f"must be from 0 to {MOST:,.0f}, not {each.points:g}")
        elif each.points < last:
            wrong(
                number,
                "bad_value",
                f"must be {last:g} or more, not {each.points:g}: a better grade cannot have fewer "
                "points than the one before it",
            )
        else:
            last = each.points
    return most
