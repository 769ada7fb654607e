"""The evidence for a grade: matches, standard errors, and warnings for the lecturer."""

from __future__ import annotations

import math
import random

import pytest

from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competition_rules.grade_precision import (
    ENOUGH,
    MOST_ERROR,
    grade_matches,
    grade_notes,
)
from plyhouse.server.grades.student_grades import standard_error

HEAD = 'name = "Cup"\ntime_control = "move:1"\n'
GRADED = '[[baselines]]\nbot = "staff/easy"\ngrade = "pass"\n'


def notes(games: str, more: str, entries: int = 12) -> list[str]:
    return grade_notes(read_competition(f"{HEAD}games = {games}\n{more}{GRADED}"), entries)


@pytest.mark.parametrize(
    ("games", "more", "matches"),
    [
        ('["pig"]', "", 2),
        ('["pig"]', "mirrored = false\n", 1),
        ('["pig", "chess"]', "rounds = 3\n", 12),
        ('["pig"]', '[format]\nname = "double_round_robin"\n', 4),
        ('["pig"]', 'rounds = 2\n[format]\nname = "gauntlet"\ntimes = 5\n', 20),
        ('["pig"]', '[format]\nname = "swiss"\n', 0),
        ('["pig"]', '[format]\nname = "knockout"\n', 0),
        ('["pig"]', '[format]\nname = "ladder"\n', 0),
    ],
)
def test_matches_behind_a_grade_follow_from_the_format(games: str, more: str, matches: int) -> None:
    file = read_competition(f"{HEAD}games = {games}\n{more}{GRADED}")
    assert grade_matches(file, 12) == matches


def test_default_competition_is_warned_about_and_told_what_would_do() -> None:
    said, warning = notes('["pig"]', "")
    assert "rests on 2 matches" in said
    assert "up to 0.35" in said
    assert warning.startswith("Warning: ")
    assert "until_certain = true" in warning
    assert "rounds = 13" in warning
    assert len(notes('["pig"]', "rounds = 13\n")) == 1
    assert len(notes('["pig"]', "rounds = 12\n")) == 2


def test_formats_without_sure_matches_against_baselines_are_warned_about() -> None:
    for form in ("swiss", "knockout", "ladder"):
        (warning,) = notes('["pig"]', f'[format]\nname = "{form}"\n')
        assert f"in the format {form} nobody is sure to meet a baseline" in warning


def test_games_of_many_seats_are_graded_by_a_gauntlet_of_as_many_baselines() -> None:
    (warning,) = notes('["hearts"]', '[format]\nname = "tables"\n')
    assert 'Grade with name = "gauntlet" under [format], with 3 baselines or more.' in warning
    more = "".join(f'[[baselines]]\nbot = "staff/{name}"\n' for name in ("b", "c", "d"))
    text = f'{HEAD}games = ["hearts"]\n[format]\nname = "gauntlet"\ntimes = 2\n{GRADED}\n{more}'
    assert grade_matches(read_competition(text), 12) == 2 * 3 * 4


def test_until_certain_states_its_error_and_has_no_warning() -> None:
    (said,) = notes('["pig"]', '[format]\nname = "gauntlet"\nuntil_certain = true\nmost = 70\n')
    assert "at most 70 pairings" in said
    assert "5.0%" in said


def test_competition_without_grades_says_nothing() -> None:
    assert grade_notes(read_competition(f'{HEAD}games = ["pig"]\n'), 12) == []


def test_number_that_is_enough_keeps_the_error_within_its_bound() -> None:
    assert 0.5 / math.sqrt(ENOUGH) <= MOST_ERROR < 0.5 / math.sqrt(ENOUGH - 1)


def test_standard_error_is_never_nothing_and_comes_near_that_of_the_scores() -> None:
    assert standard_error([]) is None
    few = [standard_error([1.0] * count) or 0.0 for count in (1, 2, 4, 8)]
    assert few == sorted(few, reverse=True)
    assert few[-1] > 0.0
    rng = random.Random(3)
    means = []
    for _ in range(2000):
        scores = [float(rng.random() < 0.7) for _ in range(50)]
        means.append(sum(scores) / 50)
    spread = math.sqrt(sum((each - 0.7) ** 2 for each in means) / len(means))
    assert standard_error([1.0] * 35 + [0.0] * 15) == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize(
    ("means", "error"),
    [([1.0], 1 / 3), ([0.5], math.sqrt(0.5 / 2 / 3)), ([0.25, 0.75], math.sqrt(0.625 / 3 / 4))],
)
def test_standard_error_of_few_scores_is_that_with_one_win_and_one_loss_more(
    means: list[float], error: float
) -> None:
    assert standard_error(means) == pytest.approx(error)


def test_notes_state_the_matches_and_the_remedy_in_full() -> None:
    (said, warning) = notes('["pig"]', "mirrored = false\n")
    assert said == (
        "Each grade rests on 1 match against its baseline: the standard error of the mean score is "
        "up to 0.50."
    )
    assert warning == (
        "Warning: a grade should rest on 25 matches or more, which make the standard error 0.1 at "
        "most. Even then a bot whose true score is 0.1 below a threshold reaches it one time in "
        'six. Set name = "gauntlet" and until_certain = true under [format], which plays until '
        "grades are certain, or set rounds = 25."
    )
    (many,) = notes('["pig"]', "rounds = 1000\n")
    assert len(notes('["pig"]', "mirrored = false\nrounds = 25\n")) == 1
    assert len(notes('["pig"]', "mirrored = false\nrounds = 24\n")) == 2
    assert "rests on 2,000 matches" in many
    assert "up to 0.01." in many


def test_notes_of_games_of_three_seats_ask_for_baselines_or_rounds() -> None:
    (none,) = notes('["kuhn_poker(seats=3)"]', '[format]\nname = "tables"\n')
    assert none.endswith('Grade with name = "gauntlet" under [format], with 2 baselines or more.')
    (_, few) = notes('["kuhn_poker(seats=3)"]', "", entries=3)
    assert few.endswith("one time in six. Set rounds = 9.")


@pytest.mark.parametrize("other", ["kuhn_poker(seats=3)", "nim"])
def test_notes_of_two_games_ask_for_rounds_only(other: str) -> None:
    (_, warning) = notes(f'["pig", "{other}"]', "", entries=4)
    assert "Set rounds = " in warning
    assert "until_certain" not in warning


def test_notes_of_two_games_without_sure_matches_ask_for_a_gauntlet() -> None:
    (none,) = notes('["pig", "nim"]', '[format]\nname = "swiss"\n')
    assert none.endswith('Grade with name = "gauntlet" under [format].')


def test_too_few_entries_are_warned_that_nobody_meets_a_baseline() -> None:
    for games, entries in (('["pig"]', 1), ('["kuhn_poker(seats=3)"]', 2)):
        (warning,) = notes(games, "", entries=entries)
        assert "nobody is sure to meet a baseline" in warning


def test_entries_of_teams_are_counted_in_sides() -> None:
    file = read_competition(f'{HEAD}games = ["bridge"]\nteams = true\n')
    assert [grade_matches(file, bots) for bots in (3, 4, 8)] == [0, 2, 2]
    gauntlet = f'{HEAD}games = ["bridge"]\nteams = true\n[format]\nname = "gauntlet"\n'
    pair = "".join(f'[[baselines]]\nbot = "staff/{name}"\n' for name in ("a", "b"))
    assert grade_matches(read_competition(gauntlet + pair), 8) == 2


def test_games_of_one_seat_have_no_matches_against_a_baseline() -> None:
    file = read_competition(f'{HEAD}games = ["pacman(ghosts=random)"]\n')
    assert [grade_matches(file, entries) for entries in (1, 2)] == [0, 0]


@pytest.mark.parametrize(
    ("more", "entries", "matches"),
    [
        ("", 3, 3),  # one table of all three, in each order of the seats
        ("", 5, 9),
        ("", 2, 0),
        ('[format]\nname = "gauntlet"\n', 12, 0),  # one baseline leaves a seat without
    ],
)
def test_matches_of_games_of_three_seats_are_those_with_a_baseline(
    more: str, entries: int, matches: int
) -> None:
    file = read_competition(f'{HEAD}games = ["kuhn_poker(seats=3)"]\n{more}{GRADED}')
    assert grade_matches(file, entries) == matches
