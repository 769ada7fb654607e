"""Grades as files for grade books: CSV, and files for Canvas, Moodle and Gradescope.

The format of Gradescope is specified in its autograder documentation, "Output format": one
``results.json`` for each submission.  Canvas reads the header of its own exports ("How do I import
grades in the Gradebook?"); Moodle maps the columns of any CSV ("Grade import").
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plyhouse.protocol.api.competitions import Member
from plyhouse.protocol.parts import ending_words
from plyhouse.server.competition_rules.class_list_columns import CANVAS_ID
from plyhouse.server.competition_rules.file import Baseline
from plyhouse.server.grades.board_statistics import BoardLine
from plyhouse.server.grades.missing_games import left_words, missing_words
from plyhouse.server.grades.standings_files import Cell, table_csv
from plyhouse.server.grades.student_grades import Grade
from plyhouse.server.results.sequential import BandDecision


@dataclass(frozen=True, slots=True)
class GradeEntry:
    """A grade with its points and its owner."""

    grade: Grade
    points: float
    group: str
    """The name of the group; empty for one student."""
    people: tuple[Member, ...]
    """The members of the group, or the student; empty if only the account is known."""
    certainty: Mapping[str, BandDecision]
    """Decisions by the name of the baseline, in a final that plays until grades are certain."""
    graded: bool = True
    """True if the competition has graded baselines, and so points."""


def grades_csv(
    entries: Sequence[GradeEntry],
    baselines: Sequence[Baseline],
    scoring: str,
    *,
    certain: bool,
    late: bool = False,
    games: Sequence[str] = (),
) -> str:
    """Return the grades as CSV, with a row for each person.

    ``scoring`` names the scoring of a match.  For each baseline there is the mean score against it,
    and for a graded one the number of matches and the standard error.  In a final that plays until
    grades are ``certain``, bounds and decisions replace the standard error, which means little
    there.  For each of the ``games`` there are the score in it and the number of matches; a game
    that was left out has 0 in both, and is listed as missing.  If ``late`` submissions are taken,
    days and penalty in percent come last.
    """
    graded = [(number, each) for number, each in enumerate(baselines) if each.grade]
    head = ["student", "name", "email", "group", "institution_id", "grade", "points", "score"]
    head += ["scoring", "entry", *(f"against {each.bot}" for each in baselines)]
    columns = ("low", "high", "pairs", "decision") if certain else ("standard error",)
    head += [f"{what} {each.bot}" for _, each in graded for what in ("matches", *columns)]
    head += [f"{what} {game}" for game in games for what in ("score", "matches")]
    head += ["missing games"] if games else []
    head += ["days late", "penalty"] if late else []
    rows: list[list[Cell]] = []
    for entry in entries:
        grade = entry.grade
        own: list[Cell] = [grade.grade, entry.points, grade.score, scoring, grade.entry]
        own += grade.against
        for number, each in graded:
            own.append(grade.matches[number])
            found = entry.certainty.get(each.bot)
            if not certain:
                own.append(grade.errors[number])
            elif found is None:
                own += [None] * 4
            else:
                own += [found.low, found.high, found.pairs, found.state.value]
        for game in games:
            own += [grade.games.get(game), grade.counts.get(game, 0)]
        own += [", ".join(grade.missing)] if games else []
        own += [grade.days_late, f"{grade.penalty:g}"] if late else []
        for person in entry.people or (Member(grade.student, ""),):
            who = (grade.student, person.name, person.email, entry.group, person.institution_id)
            rows.append([*who, *own])
    return table_csv(head, rows)


def canvas_csv(entries: Sequence[GradeEntry], name: str, most: float) -> str:
    """Return a file that Canvas imports, with an assignment of ``most`` points called ``name``.

    Canvas finds a student by ``ID``, ``SIS User ID`` or ``SIS Login ID``.  A column stays empty if
    the class list did not give its value: a wrong one could find another student.
    """
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", name]
    rows: list[list[Cell]] = [["    Points Possible", None, None, None, None, f"{most:g}"]]
    for entry in entries:
        for person in entry.people or (Member(entry.grade.student, ""),):
            own = person.institution_id.partition(CANVAS_ID)[2]
            known = [own, _known(person), person.login]
            rows.append([person.name, *known, None, _value(entry, most)])
    return table_csv(head, rows)


def moodle_csv(entries: Sequence[GradeEntry], name: str, most: float) -> str:
    """Return a file that Moodle imports as a grade item called ``name``, with feedback.

    Students are found by their ``ID number`` or ``Email address``.
    """
    head = ["ID number", "Email address", "Full name", name, f"{name} (feedback)"]
    rows: list[list[Cell]] = []
    for entry in entries:
        grade = entry.grade
        comments = [f"grade {grade.grade or 'none'}"]
        comments += [] if grade.score is None else [f"score {grade.score:.3f}"]
        comments += _left(grade)
        comments += [f"{grade.days_late} days late"] if grade.days_late else []
        for person in entry.people or (Member(grade.student, ""),):
            who = (_known(person), person.email, person.name)
            rows.append([*who, _value(entry, most), "; ".join(comments)])
    return table_csv(head, rows)


def _known(person: Member) -> str:
    """Return the person's id at the institution; empty if only Canvas has one."""
    return "" if person.institution_id.startswith(CANVAS_ID) else person.institution_id


def _value(entry: GradeEntry, most: float) -> str:
    """Return the points, or without graded baselines the score; ``most`` is 1 then."""
    score = 0.0 if entry.grade.grade == "disqualified" else entry.grade.score or 0.0
    return f"{entry.points if entry.graded else score * most:.6g}"


def _left(grade: Grade) -> list[str]:
    """Return the games that the entry left, and what that costs."""
    notes = [missing_words(grade.missing, len(grade.games))] if grade.missing else []
    return notes + ([left_words(grade.lost, grade.counts)] if grade.lost else [])


def _tests(
    grade: Grade, baselines: Sequence[Baseline], points: Sequence[float]
) -> list[dict[str, Any]]:
    """Return one test per graded baseline."""
    tests: list[dict[str, Any]] = []
    graded = [number for number, each in enumerate(baselines) if each.grade]
    steps = itertools.pairwise([0.0, *(points[number] for number in graded)])
    for number, (before, worth) in zip(graded, steps, strict=True):
        baseline, score = baselines[number], grade.against[number]
        output = "They have not met."
        if score is not None:
            count = grade.matches[number]
            missed = grade.zeros.get(number, 0)
            zeros = f", of which {missed} count as 0" if missed else ""
            count += missed
            output = f"Mean score {score:.3f} in {count} match{'es' if count > 1 else ''}{zeros}."
        passed = number <= grade.level
        most = round(worth - before, 6)
        tests.append(
            {
                "name": baseline.grade if baseline.hidden else f"{baseline.grade}: {baseline.bot}",
                "number": str(number + 1),
                "score": most if passed else 0.0,
                "max_score": most,
                "status": "passed" if passed else "failed",
                "output": f"{output} {baseline.at_least:g} is needed.",
                "output_format": "text",
                "visibility": "hidden" if baseline.hidden else "visible",
            }
        )
    return tests


def _notes(grade: Grade, forfeits: Mapping[str, int], scoring: str) -> list[str]:
    notes = [f"Grade: {grade.grade or 'none'}"]
    if grade.score is not None:
        notes.append(f"Mean score over all games: {grade.score:.3f} (scored by {scoring})")
    if len(grade.games) > 1:
        notes += [
            f"{game}: score {score:.3f} in {grade.counts.get(game, 0)} matches"
            for game, score in grade.games.items()
        ]
    notes += [f"The entry: {each}." for each in _left(grade)]
    if grade.days_late:
        notes.append(f"Days late: {grade.days_late}, penalty {grade.penalty:g} % of the points")
    notes += [f"{ending_words(kind)}: {many} forfeits" for kind, many in forfeits.items()]
    return notes


def gradescope(
    entry: GradeEntry,
    baselines: Sequence[Baseline],
    points: Sequence[float],
    line: BoardLine | None,
    forfeits: Mapping[str, int],
    scoring: str,
) -> str:
    """Return a student's ``results.json``, one test per graded baseline.

    ``points`` are those of each baseline's grade.  The worth of a test is the difference between
    its grade and the one before.  A student passes it with that grade or a better one, so the
    points always agree with the grade.  Tests of hidden baselines are hidden.
    """
    grade = entry.grade
    tests = _tests(grade, baselines, points)
    notes = _notes(grade, forfeits, scoring)
    board: list[dict[str, Any]] = []
    if line is not None and line.standing.score is not None:
        board.append({"name": "Score", "value": round(line.standing.score, 6), "order": "desc"})
    if line is not None and line.estimate is not None:
        board.append({"name": "Rating", "value": round(line.estimate.elo), "order": "desc"})
    results: dict[str, Any] = {
        "output": "\n".join(notes),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "leaderboard": board,
        "extra_data": {"student": grade.student, "entry": grade.entry, "grade": grade.grade},
    }
    if tests:
        results["score"] = round(entry.points, 6)
    else:  # Gradescope requires a score.
        results["score"] = 0.0 if grade.score is None else round(grade.score, 6)
    return json.dumps(results, indent=2, ensure_ascii=False) + "\n"
