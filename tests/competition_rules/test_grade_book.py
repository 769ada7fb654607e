"""Grades as files for grade books: points agree with grades, and people are in them."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from dataclasses import replace
from typing import Any

import pytest

from plyhouse.protocol.api.competitions import Member
from plyhouse.server.competition_rules.class_list import read_students
from plyhouse.server.competition_rules.file import Baseline, CompetitionFile
from plyhouse.server.competition_rules.file_reader import InvalidCompetition, read_competition
from plyhouse.server.grades.board_statistics import BoardLine
from plyhouse.server.grades.grade_files import (
    GradeEntry,
    canvas_csv,
    grades_csv,
    gradescope,
    moodle_csv,
)
from plyhouse.server.grades.standings import Entrant, Standing
from plyhouse.server.grades.student_grades import Grade, grade_level, is_reached, points_of
from plyhouse.server.results.fitted import Estimate
from plyhouse.server.results.sequential import BandDecision, GradingState

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
        *("", (Member("Ada Lovelace", "ada@example.org", "=17"),), {}),
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
        (Member("Bo", "bo@example.org", "18"), Member("Cy", "", "")),
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


def test_csv_of_a_final_until_certain_has_bounds_and_decisions() -> None:
    found = file()
    made = entry(found, (0.8, None, 0.8, 0.2))
    decided = BandDecision(GradingState.DECIDED, 7, 0.75, 0.6, math.inf, range(1, 2), 1)
    made = replace(made, certainty={"staff/pass": decided})
    text = grades_csv([made], found.baselines, "wins", certain=True, late=False)
    [row] = csv.DictReader(io.StringIO(text))
    assert list(row)[10:14] == [
        f"against staff/{name}" for name in ("pass", "free", "good", "best")
    ]
    assert list(row)[14:] == [
        f"{what} staff/{name}"
        for name in ("pass", "good", "best")
        for what in ("matches", "low", "high", "pairs", "decision")
    ]
    assert list(row.values())[14:] == [
        *("2", "0.6", "", "7", "decided"),
        *("2", "", "", "", ""),
        *("2", "", "", "", ""),
    ]
    assert [row[key] for key in ("score", "scoring", "entry")] == ["0.5", "wins", "ada/bot"]


def test_csv_of_late_submissions_ends_with_days_and_penalty() -> None:
    found = file()
    made = entry(found, (0.8, None, 0.2, 0.2))
    made = replace(made, grade=replace(made.grade, days_late=3, penalty=12.50))
    late = grades_csv([made], found.baselines, "wins", certain=False, late=True)
    [row] = csv.DictReader(io.StringIO(late))
    assert list(row)[-3:] == ["standard error staff/best", "days late", "penalty"]
    assert (row["days late"], row["penalty"]) == ("3", "12.5")
    plain = grades_csv([made], found.baselines, "wins", certain=False)
    assert plain.splitlines()[0].endswith("standard error staff/best")
    assert plain.splitlines()[1].endswith(",0.29")


def test_csv_has_score_and_matches_of_each_game_and_names_missing_ones() -> None:
    found = file()
    made = entry(found, (0.8, None, 0.8, 0.2))
    played = {"chess": 0.0, "pig": 0.75}, {"chess": 0, "pig": 4}
    grade = replace(made.grade, games=played[0], counts=played[1], missing=("chess",))
    games = ("chess", "pig", "go")
    text = grades_csv(
        [replace(made, grade=grade)], found.baselines, "wins", certain=False, late=True, games=games
    )
    (row,) = csv.DictReader(io.StringIO(text))
    assert [(row[f"score {game}"], row[f"matches {game}"]) for game in games] == [
        ("0.0", "0"), ("0.75", "4"), ("", "0"),
    ]  # fmt: skip
    assert row["missing games"] == "chess"
    assert list(row)[-2:] == ["days late", "penalty"]
    told = autograded(found, replace(made, grade=grade))["output"]
    assert "pig: score 0.750 in 4 matches" in told
    assert "without chess: a missing game counts as 0, and the score is at most 1 of 2" in told


def people(made: GradeEntry, *known: Member) -> GradeEntry:
    return replace(made, people=known)


def test_canvas_file_has_the_header_and_ids_that_canvas_knows() -> None:
    made = entry(file(), (0.8, None, 0.8, 0.2))
    group = people(
        made,
        Member("Ada Lovelace", "ada@example.org", "0042", "ada1"),
        Member("Zoë Müller", "zoe@example.org", "canvas:903"),
        Member("Di", "", "0043"),
        Member("Bo", "bo@example.org", ""),
        Member("=Cy", "", ""),
    )
    rows = list(csv.reader(io.StringIO(canvas_csv([group], "Autumn cup", 3.0))))
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Autumn cup"],
        ["    Points Possible", "", "", "", "", "3"],
        ["Ada Lovelace", "", "0042", "ada1", "", "2"],
        ["Zoë Müller", "903", "", "", "", "2"],
        ["Di", "", "0043", "", "", "2"],
        ["Bo", "", "", "", "", "2"],
        ["'=Cy", "", "", "", "", "2"],
    ]
    again = read_students(canvas_csv([group], "Cup", 3.0))
    assert [(each.institution_id, each.login) for each in again] == [
        ("0042", "ada1"), ("canvas:903", ""), ("0043", ""), ("", ""), ("", ""),
    ]  # fmt: skip


def test_moodle_file_has_points_and_feedback_by_id_and_address() -> None:
    made = entry(file(), (0.8, None, 0.8, 0.2))
    grade = replace(made.grade, games={"chess": 0.0, "pig": 1.0}, missing=("chess",), days_late=2)
    text = moodle_csv([replace(made, grade=grade, points=1.5)], "Cup", 3.0)
    assert list(csv.DictReader(io.StringIO(text))) == [
        {
            "ID number": "'=17", "Email address": "ada@example.org", "Full name": "Ada Lovelace",
            "Cup": "1.5",
            "Cup (feedback)": "grade good; score 0.500; without chess: a missing game counts as 0, "
            "and the score is at most 1 of 2; 2 days late",
        }
    ]  # fmt: skip
    canvas = moodle_csv([people(made, Member("Zoë", "", "canvas:903"))], "Cup", 3.0)
    assert [row["ID number"] for row in csv.DictReader(io.StringIO(canvas))] == [""]


def test_platform_gets_the_score_where_no_baseline_has_a_grade() -> None:
    made = replace(entry(file(), (0.8, None, 0.8, 0.2)), graded=False)
    out = replace(made, grade=replace(made.grade, grade="disqualified", score=0.9))
    for entries, value in (([made], "0.5"), ([out], "0")):
        rows = list(csv.reader(io.StringIO(canvas_csv(entries, "Cup", 1.0))))
        assert rows[-1][-1] == value


def board_line(score: float | None, elo: float | None) -> BoardLine:
    entrant = Entrant(1, "ada/bot", "ada")
    estimate = None
    if elo is not None:
        estimate = Estimate("ada/bot", elo, *(1.0,) * 5, 1, 2, 4.0, 2.0)
    return BoardLine(Standing(1, entrant, score, 4, 2, 0, 2, 0), estimate, None, None)


def test_gradescope_file_has_every_test_with_its_reason() -> None:
    found = file("hidden = true\npoints = 1", "points = 4", "points = 10")
    grade = Grade(
        *("ada", "good", 0.123_456_78, "ada/bøt", (0.8, None, 0.55, None)),
        *((1, 0, 2, 0), (None,) * 4, 2, 2, 7.5),
    )
    made = GradeEntry(grade, 3.333_333_33, "", (), {})
    points = points_of(found.baselines, found.points)
    line = board_line(0.123_456_78, 1512.6)
    forfeits = {"flag_fall": 2, "illegal_action": 1}
    text = gradescope(made, found.baselines, points, line, forfeits, "wins")
    shared = {"output_format": "text"}
    expected = {
        "output": "Grade: good\n"
        "Mean score over all games: 0.123 (scored by wins)\n"
        "Days late: 2, penalty 7.5 % of the points\n"
        "flag fall: 2 forfeits\n"
        "illegal action: 1 forfeits",
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "name": "pass",
                "number": "1",
                "score": 1.0,
                "max_score": 1.0,
                "status": "passed",
                "output": "Mean score 0.800 in 1 match. 0.5 is needed.",
                **shared,
                "visibility": "hidden",
            },
            {
                "name": "good: staff/good",
                "number": "3",
                "score": 3.0,
                "max_score": 3.0,
                "status": "passed",
                "output": "Mean score 0.550 in 2 matches. 0.5 is needed.",
                **shared,
                "visibility": "visible",
            },
            {
                "name": "best: staff/best",
                "number": "4",
                "score": 0.0,
                "max_score": 6.0,
                "status": "failed",
                "output": "They have not met. 0.5 is needed.",
                **shared,
                "visibility": "visible",
            },
        ],
        "leaderboard": [
            {"name": "Score", "value": 0.123457, "order": "desc"},
            {"name": "Rating", "value": 1513, "order": "desc"},
        ],
        "extra_data": {"student": "ada", "entry": "ada/bøt", "grade": "good"},
        "score": 3.333333,
    }
    assert json.loads(text) == expected
    assert text == json.dumps(expected, indent=2, ensure_ascii=False) + "\n"


def test_gradescope_file_without_grades_has_the_mean_score() -> None:
    nobody = Grade("dan", "", None, "", (), (), ())
    for score, shown in ((None, 0.0), (0.123_456_78, 0.123457)):
        made = GradeEntry(replace(nobody, score=score), 5.0, "", (), {})
        found = json.loads(gradescope(made, [], [], board_line(None, None), {}, "wins"))
        assert (found["score"], found["tests"], found["leaderboard"]) == (shown, [], [])
        expected = ["Grade: none"]
        if score is not None:
            expected.append("Mean score over all games: 0.123 (scored by wins)")
        assert found["output"].split("\n") == expected
        assert json.loads(gradescope(made, [], [], None, {}, "wins"))["leaderboard"] == []


def test_gradescope_points_are_rounded_to_millionths() -> None:
    found = file(grading="[grading]\npoints = 1\n")
    made = replace(entry(found, (0.8, None, 0.2, 0.2)), points=1 / 3)
    results = autograded(found, made)
    assert results["score"] == 0.333333
    assert [each["max_score"] for each in results["tests"]] == [0.333333] * 3


def test_mean_reaches_a_threshold_to_twelve_digits() -> None:
    assert is_reached(0.5, 0.5)
    assert is_reached(0.5 - 4e-13, 0.5)
    assert is_reached(0.5, 0.5 + 4e-13)
    assert not is_reached(0.5 - 3e-12, 0.5)
    assert not is_reached(None, 0.0)
    assert is_reached(0.0, 0.0)


@pytest.mark.parametrize(
    ("scores", "needed", "strict", "loose"),
    [
        ([], [], -1, -1),
        ([0.4], [0.5], -1, -1),
        ([0.5], [0.5], 0, 0),
        ([0.5, 0.4, 0.6], [0.5, 0.5, 0.5], 0, 2),
        ([0.5, None, 0.6], [0.5, None, 0.5], 2, 2),
        ([0.5, None, 0.6], [0.5, 0.5, 0.5], 0, 2),
        ([None, 0.6], [0.5, 0.5], -1, 1),
    ],
)
def test_level_is_the_last_threshold_reached(
    scores: list[float | None], needed: list[float | None], strict: int, loose: int
) -> None:
    assert grade_level(scores, needed, every_lower=True) == strict
    assert grade_level(scores, needed, every_lower=False) == loose
    with pytest.raises(ValueError, match="argument 2 is longer"):
        grade_level(scores, [*needed, 0.5], every_lower=False)


def test_points_of_few_grades_are_the_whole_or_none() -> None:
    free, graded = Baseline("staff/free"), Baseline("staff/pass", grade="pass")
    assert points_of([free], 100.0) == [0.0]
    assert points_of([], 100.0) == []
    assert points_of([graded], 100.0) == [100.0]
    assert points_of([Baseline("staff/free", points=7.0)], None) == [0.0]
