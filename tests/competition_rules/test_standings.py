"""Standings, grades and their CSV, from results."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from plyhouse.server.competition_rules.file import Baseline
from plyhouse.server.grades.standings import Entrant, SeatResult, standings
from plyhouse.server.grades.standings_files import standings_csv
from plyhouse.server.grades.student_grades import Grade, grades, standard_error

ADA = Entrant(1, "ada/deep", "ada", version="2", digest="abc")
BOB = Entrant(2, "bob/bob", "bob")
CY = Entrant(3, "cy/cy", "cy", "disqualified")
EASY = Entrant(8, "staff/easy", "staff", baseline=True)
HARD = Entrant(9, "staff/hard", "staff", baseline=True)
ALL = [ADA, BOB, CY, EASY, HARD]
BASELINES = [Baseline("staff/easy", False, "pass", 0.5), Baseline("Staff/hard", True, "good", 0.5)]


def match(
    number: int, one: Entrant, other: Entrant, score: float, game: str = "pig"
) -> list[SeatResult]:
    letters = {1.0: "WL", 0.5: "DD", 0.0: "LW"}[score]
    loser = "flag_fall" if number == 3 else ""
    return [
        SeatResult(f"m{number}", game, one.bot_id, score, letters[0], "" if score else loser),
        SeatResult(f"m{number}", game, other.bot_id, 1 - score, letters[1]),
    ]


RESULTS = [
    *match(1, ADA, BOB, 1.0),
    *match(2, ADA, EASY, 1.0),
    *match(3, BOB, EASY, 0.0),
    *match(4, ADA, HARD, 0.5, "go"),
    *match(5, BOB, HARD, 0.0, "go"),
    *match(6, CY, HARD, 1.0, "go"),
    *match(7, CY, ADA, 1.0),
]


def test_every_game_counts_alike_and_the_disqualified_have_no_rank() -> None:
    lines = standings(ALL, RESULTS)
    ada = next(line for line in lines if line.entrant is ADA)
    assert ada.games == {"go": 0.5, "pig": 2 / 3}
    assert ada.score == pytest.approx((0.5 + 2 / 3) / 2)
    assert (ada.matches, ada.wins, ada.draws, ada.losses) == (4, 2, 1, 1)
    assert lines[-1].entrant is CY
    assert lines[-1].rank is None
    assert [line.rank for line in lines[:-1]] == [1, 2, 2, 4]
    assert next(line for line in lines if line.entrant is BOB).forfeits == 1


def test_entries_without_a_match_come_after_all_who_played() -> None:
    lines = standings([ADA, BOB, CY], match(1, CY, BOB, 1.0))
    assert [(line.entrant.student, line.rank) for line in lines] == [
        ("bob", 1),
        ("ada", 2),
        ("cy", None),
    ]
    assert lines[1].score is None


def test_a_grade_is_that_of_the_last_baseline_that_was_reached() -> None:
    found = {g.student: g for g in grades(["ada", "bob", "cy", "dan"], ALL, RESULTS, BASELINES)}
    assert (found["ada"].grade, found["ada"].against) == ("good", (1.0, 0.5))
    assert (found["bob"].grade, found["bob"].against) == ("", (0.0, 0.0))
    assert (found["cy"].grade, found["cy"].against) == ("disqualified", (None, 1.0))
    assert (found["dan"].grade, found["dan"].entry) == ("nothing entered", "")


def test_grade_needs_every_lower_threshold_unless_the_file_says_otherwise() -> None:
    # Bob loses to the easy baseline, and is lucky against the hard one.
    results = [*RESULTS, *match(8, BOB, HARD, 1.0), *match(9, BOB, HARD, 1.0)]
    (strict,) = grades(["bob"], ALL, results, BASELINES)
    (loose,) = grades(["bob"], ALL, results, BASELINES, every_lower=False)
    assert strict.against == loose.against
    assert strict.against[0] == 0.0
    assert (strict.grade, loose.grade) == ("", "good")


def test_score_by_opponent_gives_each_opponent_the_same_weight() -> None:
    results = [*match(1, ADA, EASY, 1.0)]
    for number in range(2, 12):
        results += match(number, ADA, HARD, 0.0)
    (plain, *_) = [each for each in standings(ALL, results) if each.entrant is ADA]
    (alike, *_) = [each for each in standings(ALL, results, by_opponent=True)
                   if each.entrant is ADA]  # fmt: skip
    assert plain.score == pytest.approx(1 / 11)
    assert alike.score == 0.5
    assert alike.games == {"pig": 0.5}


def test_an_entry_that_played_nothing_is_not_taken_for_one_that_lost() -> None:
    idle = Entrant(6, "eve/bot", "eve")
    found = {g.student: g for g in grades(["bob", "eve"], [*ALL, idle], RESULTS, BASELINES)}
    assert (found["eve"].grade, found["eve"].score) == ("nothing played", None)
    assert (found["bob"].grade, found["bob"].score is None) == ("", False)


def test_the_best_of_several_entries_counts() -> None:
    more = Entrant(4, "bob/other", "bob")
    results = [*RESULTS, *match(8, more, EASY, 1.0)]
    found = {g.student: g for g in grades(["bob"], [*ALL, more], results, BASELINES)}
    assert (found["bob"].grade, found["bob"].entry) == ("pass", "bob/other")


def test_csv_has_a_column_for_each_game_and_no_formulas() -> None:
    formula = Entrant(5, "=cmd/x", "=cmd")
    text = standings_csv(standings([*ALL, formula], RESULTS), ["go", "pig"])
    rows = list(csv.DictReader(io.StringIO(text)))
    ada = next(row for row in rows if row["student"] == "ada")
    assert (ada["score"], ada["go"]) == ("0.583333", "0.5")
    assert (ada["version"], ada["digest"]) == ("2", "abc")
    assert next(row for row in rows if "cmd" in row["entry"])["entry"] == "'=cmd/x"


def test_student_without_an_entry_has_a_grade_with_nothing_in_it() -> None:
    none, counts = (None, None), (0, 0)
    expected = Grade("dan", "nothing entered", None, "", none, counts, none, -1, 0, 0.0)
    assert grades(["dan"], ALL, RESULTS, BASELINES) == [expected]
    assert Grade("dan", "", None, "", ()) == Grade("dan", "", None, "", (), (), (), -1, 0, 0.0)


def test_grade_has_all_evidence_against_each_baseline() -> None:
    baselines = [*BASELINES, Baseline("staff/absent", False, "best", 0.5)]
    results = [
        *[replace(each, pairing="p1") for each in match(1, ADA, EASY, 1.0)],
        *[replace(each, pairing="p1") for each in match(2, EASY, ADA, 1.0)],
        *match(4, ADA, EASY, 1.0),
        *match(5, ADA, EASY, 0.5),
        *match(6, ADA, HARD, 0.0),
    ]
    [found] = grades(["ADA"], ALL, results, baselines)
    assert found.student == "ADA"
    assert (found.grade, found.level, found.entry) == ("pass", 0, "ada/deep")
    assert found.against == (0.625, 0.0, None)
    assert found.matches == (4, 1, 0)
    # The two matches of a mirrored pairing are one observation.
    assert found.errors == (
        standard_error([0.5, 1.0, 0.5]),
        standard_error([0.0]),
        None,
    )
    assert found.score == pytest.approx(2.5 / 5)


@pytest.mark.parametrize("scores", [(0.0, None), (1.0, 0.0)])
def test_entry_with_the_better_score_counts_where_grades_are_equal(
    scores: tuple[float, float | None],
) -> None:
    one, other = Entrant(4, "ada/one", "ada"), Entrant(5, "Ada/two", "Ada")
    results = []
    for bot, score in zip((one, other), scores, strict=True):
        if score is not None:
            results += match(bot.bot_id, bot, BOB, score)
    for entrants in ([one, other, BOB], [other, one, BOB]):
        [found] = grades(["ada"], entrants, results, [])
        assert (found.entry, found.score) == ("ada/one", scores[0])


def test_disqualified_entry_counts_less_than_any_other_of_its_student() -> None:
    out = Entrant(4, "ada/out", "ada", "disqualified")
    [found] = grades(["ada"], [out, ADA, EASY], match(1, ADA, EASY, 0.0), BASELINES)
    assert (found.entry, found.grade, found.level) == ("ada/deep", "", -1)
    [only] = grades(["ada"], [out], [], BASELINES)
    assert (only.grade, only.level) == ("disqualified", -2)


def test_twin_has_no_rank_and_takes_up_none() -> None:
    twin = Entrant(7, "staff/twin", "staff", baseline=True, twin_of="staff/easy")
    results = [*match(1, ADA, BOB, 1.0), *match(2, twin, BOB, 1.0), *match(4, EASY, BOB, 1.0)]
    lines = standings([BOB, twin, EASY, ADA], results)
    assert [(line.entrant.name, line.rank) for line in lines] == [
        ("ada/deep", 1),
        ("staff/easy", 1),
        ("staff/twin", None),
        ("bob/bob", 3),
    ]


def test_scores_are_compared_to_twelve_digits() -> None:
    one, other = Entrant(4, "x/one", "x"), Entrant(5, "y/two", "y")
    results = [SeatResult("m1", "pig", 4, 0.5 - 4e-13, "D"), SeatResult("m1", "pig", 5, 0.5, "D")]
    assert [line.rank for line in standings([one, other], results)] == [1, 1]
    results = [SeatResult("m1", "pig", 4, 0.5 - 3e-12, "D"), SeatResult("m1", "pig", 5, 0.5, "D")]
    assert [line.rank for line in standings([one, other], results)] == [1, 2]


def test_partner_of_a_baseline_side_is_met_as_that_side() -> None:
    team = Entrant(8, "staff/easy", "staff", baseline=True, partners=((18, "staff/easy2"),))
    assert team.bots == {8: "staff/easy", 18: "staff/easy2"}
    baselines = [Baseline("staff/EASY2", False, "pass", 0.5)]
    [found] = grades(["ada"], [ADA, team], match(1, ADA, team, 1.0), baselines)
    assert (found.grade, found.against) == ("pass", (1.0,))


def test_opponents_count_alike_in_games_of_three_seats() -> None:
    def table(number: int, bots: tuple[int, ...], score: float) -> list[SeatResult]:
        return [SeatResult(f"m{number}", "pig", bot, score, "D") for bot in bots]

    results = [*table(1, (1, 2, 8), 1.0), *table(2, (8, 2, 1), 0.0), *table(3, (1, 2, 9), 1.0)]
    by_opponent = standings([HARD, EASY, BOB, ADA], results, by_opponent=True)
    # Ada and Bob meet the table with the easy baseline twice, and that with the hard one once.
    assert [(line.entrant.student, line.score) for line in by_opponent] == [
        ("staff", 1.0),
        ("ada", 0.75),
        ("bob", 0.75),
        ("staff", 0.5),
    ]
    assert standings([ADA], results)[0].score == pytest.approx(2 / 3)


def test_first_of_two_entries_counts_where_nothing_tells_them_apart() -> None:
    one, other = Entrant(4, "ada/one", "ada"), Entrant(5, "ada/two", "ada")
    for entrants in ([one, other], [other, one]):
        [found] = grades(["ada"], entrants, [], BASELINES)
        assert (found.entry, found.grade) == (entrants[0].name, "nothing played")


def test_grade_does_not_depend_on_the_numbers_of_bots() -> None:
    low = Entrant(2, "staff/low", "staff", baseline=True)
    student = Entrant(5, "eve/bot", "eve")
    baselines = [Baseline("staff/low", False, "pass", 0.5)]
    [found] = grades(["eve"], [student, low], match(1, student, low, 1.0), baselines)
    assert (found.grade, found.against, found.matches) == ("pass", (1.0,), (1,))


def test_opponents_of_any_number_count_alike() -> None:
    results = [*match(1, HARD, ADA, 1.0), *match(2, HARD, ADA, 1.0), *match(4, HARD, EASY, 0.0)]
    [line] = standings([HARD], results, by_opponent=True)
    assert line.score == 0.5
