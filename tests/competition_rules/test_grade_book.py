"""Grades as files for grade books: points agree with grades, and people are in them."""

from __future__ import annotations

import csv
import io
import itertools
import json
from typing import Any

import pytest

from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition
from plyhouse.server.competition_rules.grade_book import GradeEntry, Person, grades_csv, gradescope
from plyhouse.server.competition_rules.grading import grade_level, points_of
from plyhouse.server.competition_rules.standings import Grade

HEAD = 'name = "Cup"\ngames = ["pig"]\ntime_control = "move:1"\n'
NAMES = ("pass", "good", "best")


def file(*points: str, grading: str = "") -> CompetitionFile:
    """Three graded baselines, and one without a grade between them."""
    text = HEAD + grading
    for name, more in zip(NAMES, points or ("", "", ""), strict=True):
        text += f'[[baselines]]\nbot = "staff/{name}"\ngrade = "{name}"\n{more}\n'
        if name == "pass":
            text += '[[baselines]]\nbot = "staff/free"\n'
    return read_competition(text)


def entry(found: CompetitionFile, scores: tuple[float | None, ...]) -> GradeEntry:
    needed = [each.at_least if each.grade else None for each in found.baselines]
    level = grade_level(scores, needed, every_lower=found.every_lower)
    points = points_of(found.baselines, found.points)
    grade = found.baselines[level].grade if level >= 0 else ""
    counts = tuple(0 if each is None else 2 for each in scores)
    errors = tuple(None if each is None else 0.29 for each in scores)
    return GradeEntry(
        Grade("ada", grade, 0.5, "ada/bot", scores, counts, errors, level),
        points[level] if level >= 0 else 0.0,
        *("", (Person("Ada Lovelace", "ada@example.org", "=17"),), {}),
    )


def autograded(found: CompetitionFile, made: GradeEntry) -> dict[str, Any]:
    points = points_of(found.baselines, found.points)
    text = gradescope(made, found.baselines, points, None, {}, "wins")
    results: dict[str, Any] = json.loads(text)
    return results


@pytest.mark.parametrize("every_lower", ["true", "false"])
@pytest.mark.parametrize(
    ("points", "grading"),
    [
        ((), ""),
        ((), "points = 100\n"),
        (("points = 4", "points = 4", "points = 9.5"), ""),
    ],
)
def test_better_grade_never_has_fewer_points_in_gradescope(
    points: tuple[str, ...], grading: str, every_lower: str
) -> None:
    found = file(*points, grading=f"[grading]\nevery_lower = {every_lower}\n{grading}")
    worth: dict[int, set[float]] = {}
    for scores in itertools.product((0.2, 0.8, None), repeat=4):
        made = entry(found, scores)
        results = autograded(found, made)
        assert sum(each["score"] for each in results["tests"]) == pytest.approx(
            made.points, abs=1e-5
        )
        assert results["score"] == pytest.approx(made.points, abs=1e-5)
        assert sum(each["max_score"] for each in results["tests"]) == pytest.approx(
            points_of(found.baselines, found.points)[-1], abs=1e-5
        )
        worth.setdefault(made.grade.level, set()).add(results["score"])
    assert all(len(each) == 1 for each in worth.values()), "the same grade, the same points"
    ordered = [next(iter(worth[level])) for level in sorted(worth)]
    assert ordered == sorted(ordered)
    assert (ordered[0], len(ordered)) == (0.0, 4)


def test_points_are_evenly_spaced_unless_the_file_gives_them() -> None:
    assert points_of(file().baselines, None) == [1.0, 0.0, 2.0, 3.0]
    found = file(grading="[grading]\npoints = 30\n")
    assert points_of(found.baselines, found.points) == [10.0, 0.0, 20.0, 30.0]
    given = file("points = 50", "points = 75", "points = 100")
    assert points_of(given.baselines, given.points) == [50.0, 0.0, 75.0, 100.0]


@pytest.mark.parametrize(
    ("points", "grading", "key"),
    [
        (("points = 2", "points = 1", "points = 3"), "", "baselines[2].points"),
        (("points = 2", "", "points = 3"), "", "baselines[2].points"),
        (("points = -1", "points = 1", "points = 3"), "", "baselines[0].points"),
        (("points = 1", "points = nan", "points = 3"), "", "baselines[2].points"),
        (("points = 1", "points = 2", "points = 3"), "points = 9\n", "grading.points"),
        (("", "", ""), "points = 0\n", "grading.points"),
    ],
)
def test_points_that_contradict_the_grades_are_refused(
    points: tuple[str, ...], grading: str, key: str
) -> None:
    with pytest.raises(InvalidCompetition) as raised:
        file(*points, grading=f"[grading]\n{grading}")
    assert [each.key for each in raised.value.mistakes] == [key]


def test_csv_has_a_row_for_each_person_with_id_and_points() -> None:
    found = file()
    made = entry(found, (0.8, None, 0.8, 0.2))
    group = GradeEntry(
        Grade("rockets", "pass", 0.5, "rockets/bot", (0.8, None, 0.2, 0.2), (2, 0, 2, 2),
              (0.29, None, 0.29, 0.29), 0),
        *(1.0, "The rockets"),
        (Person("Bo", "bo@example.org", "18"), Person("Cy", "", "")),
        {},
    )  # fmt: skip
    nobody = GradeEntry(
        Grade("dan", "nothing entered", None, "", (None,) * 4, (0,) * 4, (None,) * 4),
        *(0.0, "", (), {}),
    )
    text = grades_csv([made, group, nobody], found.baselines, "wins", certain=False)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [
        (row["student"], row["name"], row["email"], row["group"], row["institution_id"])
        for row in rows
    ] == [
        ("ada", "Ada Lovelace", "ada@example.org", "", "'=17"),
        ("rockets", "Bo", "bo@example.org", "The rockets", "18"),
        ("rockets", "Cy", "", "The rockets", ""),
        ("dan", "dan", "", "", ""),
    ]
    assert [(row["grade"], row["points"]) for row in rows] == [
        ("good", "2.0"), ("pass", "1.0"), ("pass", "1.0"), ("nothing entered", "0.0")
    ]  # fmt: skip
    assert (rows[0]["matches staff/pass"], rows[0]["standard error staff/pass"]) == ("2", "0.29")
    assert rows[0]["against staff/free"] == ""
    assert "matches staff/free" not in rows[0]
