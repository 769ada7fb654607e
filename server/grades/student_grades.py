"""The grades of students, from mean scores against baselines.

A grade compares the mean score against each baseline with the threshold of the file.  The mean is
over all matches of all games, with a 0 for each match that the entry missed by leaving.  A student
with several entries gets the best grade.

Baselines are ordered from the easiest grade to the best one.  A grade needs its own threshold and,
unless the competition says otherwise, every lower one.  A bot that beats the best baseline and
loses to `random` was lucky, or is tuned against that baseline alone.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from plyhouse.server.competition_rules.file import Baseline
from plyhouse.server.grades.missing_games import Left, lost_meetings
from plyhouse.server.grades.standings import (
    NOBODY,
    Entrant,
    SeatResult,
    Standing,
    standings,
)

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


def standard_error(means: Sequence[float]) -> float | None:
    """Return the standard error of a mean of independent scores from 0 to 1.

    Returns None for no scores.  ``means`` has one score for each mirrored pairing, as matches of a
    pairing are not independent.  The function adds one 0 and one 1: a few equal scores would
    otherwise have an error of 0.  (For wins and losses alone, with two of each, this is the
    interval of Agresti and Coull, 1998.)

    >>> round(standard_error([1.0]) or 0.0, 2), round(standard_error([1.0, 0.0] * 50) or 0.0, 2)
    (0.33, 0.05)
    """
    if not means:
        return None
    scores = [*means, 0.0, 1.0]
    middle = math.fsum(scores) / len(scores)
    about = math.fsum((each - middle) ** 2 for each in scores)
    return math.sqrt(about / (len(scores) - 1) / len(scores))


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade of a student."""

    student: str
    grade: str
    """Empty if no threshold was reached.  Otherwise the grade, ``disqualified``, ``nothing
    entered``, or, for an entry without matches, ``nothing played``."""
    score: float | None
    entry: str
    """The entry that earned it."""
    against: tuple[float | None, ...]
    """The mean score against each baseline of the file; None where they have not met."""
    matches: tuple[int, ...] = ()
    """The number of matches played in each of these means."""
    errors: tuple[float | None, ...] = ()
    """The standard error of each of these means (`standard_error`)."""
    level: int = -1
    """The number of the baseline whose grade it is; below 0 for no grade."""
    days_late: int = 0
    """Days, begun or full, by which the entry came after the freeze or the student's extension."""
    penalty: float = 0.0
    """The penalty for these days, in percent of the points."""
    games: Mapping[str, float] = field(default_factory=dict)
    """The score of the entry in each game."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """The number of its matches in each game."""
    missing: tuple[str, ...] = ()
    """The games that it left out."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """As in `Standing`."""
    zeros: Mapping[int, int] = field(default_factory=dict)
    """The number of matches that count as 0 in the mean against a baseline, by its number."""


class _Meetings(NamedTuple):
    """The matches of entries against baselines."""

    staff: Sequence[int | None]
    """The bot of each baseline; None for one that did not play."""
    scores: Mapping[tuple[int, int], Sequence[tuple[str, float]]]
    """The pairing and score of each match between two bots."""
    lost: Mapping[tuple[int, int], int]
    """The number of further matches between two bots that count as 0."""


def _grade(
    student: str,
    line: Standing,
    baselines: Sequence[Baseline],
    meetings: _Meetings,
    *,
    every_lower: bool,
) -> Grade:
    """Return the grade of a student for one entry."""
    bot_id, lost = line.entrant.bot_id, meetings.lost
    rows = [meetings.scores[bot_id, bot] if bot else [] for bot in meetings.staff]
    met = tuple(
        _mean([score for _, score in each], lost[bot_id, bot or 0])
        for bot, each in zip(meetings.staff, rows, strict=True)
    )
    needed = [each.at_least if each.grade else None for each in baselines]
    out = line.entrant.status == "disqualified"
    best = -2 if out else grade_level(met, needed, every_lower=every_lower)
    grade = "disqualified" if out else baselines[best].grade if best >= 0 else ""
    if line.score is None and not out:
        grade = "nothing played"
    return Grade(
        *(student, grade, line.score, line.entrant.name, met),
        *(tuple(map(len, rows)), tuple(map(_error, rows)), best),
        games=line.games,
        counts=line.counts,
        missing=tuple(game for game, count in line.counts.items() if not count),
        lost=line.lost,
        zeros={
            number: lost[bot_id, bot]
            for number, bot in enumerate(meetings.staff)
            if bot and (bot_id, bot) in lost
        },
    )


def _rank(grade: Grade) -> tuple[int, float]:
    """Return a sort key: the grade, then the score."""
    return grade.level, -1.0 if grade.score is None else grade.score


def grades(
    students: Iterable[str],
    entrants: Sequence[Entrant],
    results: Sequence[SeatResult],
    baselines: Sequence[Baseline],
    *,
    every_lower: bool = True,
    by_opponent: bool = False,
    left: Left = NOBODY,
) -> list[Grade]:
    """Return the grade of every student, by name.

    ``every_lower`` is as in `grade_level`, ``by_opponent`` and ``left`` as in `standings`.
    """
    ids = {name.lower(): entrant.bot_id for entrant in entrants for name in entrant.bots.values()}
    staff = [ids.get(baseline.bot.lower()) for baseline in baselines]
    lost: Counter[tuple[int, int]] = Counter()
    for (bot, _, opponent), more in lost_meetings(left, results).items():
        lost[bot, opponent] += more
    met = _Meetings(staff, _against(results), lost)
    lines = standings(entrants, results, by_opponent=by_opponent, left=left)
    overall = {line.entrant.bot_id: line for line in lines}
    own: dict[str, list[Entrant]] = defaultdict(list)
    for entrant in entrants:
        if not entrant.baseline:
            own[entrant.student.lower()].append(entrant)
    found: list[Grade] = []
    for student in sorted(students, key=str.lower):
        options = [
            _grade(student, overall[each.bot_id], baselines, met, every_lower=every_lower)
            for each in own[student.lower()]
        ]
        if options:
            found.append(max(options, key=_rank))
        else:
            none = (None,) * len(staff)
            found.append(Grade(student, "nothing entered", None, "", none, (0,) * len(staff), none))
    return found


def _against(results: Sequence[SeatResult]) -> dict[tuple[int, int], list[tuple[str, float]]]:
    """Return the pairings and scores of each bot against each other bot."""
    matches: dict[str, list[SeatResult]] = defaultdict(list)
    for result in results:
        matches[result.match].append(result)
    found: dict[tuple[int, int], list[tuple[str, float]]] = defaultdict(list)
    for seats in matches.values():
        for one in seats:
            for other in seats:
                if one.bot_id != other.bot_id:
                    unit = one.pairing or one.match
                    found[one.bot_id, other.bot_id].append((unit, one.score))
    return found


def _mean(scores: Sequence[float], lost: int = 0) -> float | None:
    """Return the mean of the scores and of ``lost`` zeros; None without any."""
    return sum(scores) / (len(scores) + lost) if scores or lost else None


def _error(rows: Sequence[tuple[str, float]]) -> float | None:
    """Return the standard error of the mean of scores, over their pairings."""
    pairings: dict[str, list[float]] = defaultdict(list)
    for pairing, score in rows:
        pairings[pairing].append(score)
    return standard_error([sum(each) / len(each) for each in pairings.values()])
