"""The grades of a final for grade books: points, people and certainty."""

from __future__ import annotations

from plyhouse.server.competition_rules.class_list import account_name
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.grade_book import GradeEntry, Person
from plyhouse.server.competition_rules.grading import points_of
from plyhouse.server.competition_rules.standings import Grade
from plyhouse.server.competitions.boards import Boards
from plyhouse.server.competitions.final_results import Results
from plyhouse.server.competitions.finals import certainty
from plyhouse.server.results.sequential import BandDecision
from plyhouse.storage import competition_students
from plyhouse.storage.competition_rows import CompetitionStudent
from plyhouse.storage.store import Store

__all__ = ["grade_entries", "grade_points", "most_points"]


async def grade_entries(store: Store, boards: Boards, found: Results) -> list[GradeEntry]:
    """Return the grades of all students who were not removed, by account."""
    names = {each.bot_id: each.name for each in found.entrants}
    given = {each.bot.lower(): each.bot for each in found.file.originals}
    known: dict[str, dict[str, BandDecision]] = {}
    for each in await certainty(boards, found.row):
        baseline = given.get(names.get(each.baseline, "").lower())
        if each.entry in names and baseline is not None:
            known.setdefault(names[each.entry], {})[baseline] = each.decision
    students = {
        each.player: each
        for each in await store.read(competition_students.students_of, found.row.id)
    }
    return [
        GradeEntry(
            grade,
            grade_points(grade, found.file),
            *_whose(students.get(grade.student)),
            known.get(grade.entry, {}),
            found.file.graded,
        )
        for grade in await boards.grades(found)
    ]


def most_points(file: CompetitionFile) -> float:
    """Return the points of the best grade; 1, the best score, if no baseline has a grade."""
    return max(points_of(file.originals, file.points)) if file.graded else 1.0


def grade_points(grade: Grade, file: CompetitionFile) -> float:
    """Return the points of a grade after the penalty for a late entry; 0 without a grade."""
    if grade.level < 0:
        return 0.0
    points = points_of(file.originals, file.points)[grade.level]
    return round(points * (1 - grade.penalty / 100), 6)


def _whose(student: CompetitionStudent | None) -> tuple[str, tuple[Person, ...]]:
    """Return an account's group name, empty for one student, and its people."""
    if student is None:
        return "", ()
    people = tuple(Person(each.name, each.email, each.institution_id) for each in student.members)
    # The account of one student is named after the student, that of a group after the group.
    alone = {account_name(each.name).lower() for each in people} <= {student.player.lower()}
    return "" if alone else student.display or student.player, people
