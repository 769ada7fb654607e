"""Keys of a competition file about results: ``scoring``, and the points of grades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Protocol

from plyhouse.games.base import Scoring
from plyhouse.games.errors import GameError
from plyhouse.games.registry import get_game
from plyhouse.server.competition_rules.file_table import Mistake, Table

__all__ = ["read_points", "read_scoring"]

MOST: Final = 1_000_000.0


def read_scoring(table: Table, games: Sequence[str]) -> dict[str, Scoring]:
    """Return the scoring that a file gives its games, by canonical spec.

    ``scoring`` is a text for all games, or a table with a text for some of them.  Games that the
    file does not mention are left out: their default applies.  Mistakes are noted in the table.
    """
    example = 'scoring = "wins", or scoring = { kuhn_poker = "returns" }'
    value = table.take("scoring", object, "a text or a table", example)
    if value is None:
        return {}
    if isinstance(value, str):
        each = _one_scoring(table, "scoring", value)
        return {} if each is None else dict.fromkeys(games, each)
    if not isinstance(value, dict):
        table.wrong("bad_type", "scoring", f"must be a text or a table; write it like {example}")
        return {}
    found: dict[str, Scoring] = {}
    for spec, given in value.items():
        at = f"scoring.{spec}"
        try:
            canonical = get_game(spec).spec
        except GameError as error:
            table.wrong("unknown_game", at, str(error))
            continue
        if canonical not in games:
            known = ", ".join(games)
            table.bad(at, f"{canonical} is not in games, which has {known}")
            continue
        chosen = _one_scoring(table, at, given)
        if chosen is not None:
            found[canonical] = chosen
    return found


def _one_scoring(table: Table, at: str, value: object) -> Scoring | None:
    """Return a value of `Scoring`; note a mistake and return None for others."""
    if isinstance(value, str) and value in [each.value for each in Scoring]:
        return Scoring(value)
    known = " or ".join(repr(each.value) for each in Scoring)
    table.bad(at, f"must be {known}, not {value!r}")
    return None


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
        grading.bad("points", f"must be above 0 and at most {MOST:,.0f}, not {most:g}")
    given = [(number, each) for number, each in enumerate(baselines) if each.points is not None]
    if most is not None and given:
        text = (
            "is for grades that are evenly spaced; leave it out, or leave points of baselines out"
        )
        grading.bad("points", text)

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
