"""Games that an entry leaves out, or leaves before their end."""

from __future__ import annotations

import json

import pytest

from plyhouse.server.competition_rules.file import Baseline
from plyhouse.server.grades.grade_files import GradeEntry, gradescope
from plyhouse.server.grades.missing_games import left_games, left_words, missing, missing_words
from plyhouse.server.grades.standings import Entrant, SeatResult, standings
from plyhouse.server.grades.student_grades import grades

ADA = Entrant(1, "ada/all", "ada")
BEN = Entrant(2, "ben/pig", "ben")
CYD = Entrant(3, "cyd/all", "cyd")
EASY = Entrant(9, "staff/easy", "staff", baseline=True)
ALL = [ADA, BEN, CYD, EASY]
GAMES = ("chess", "go", "pig")


def play(game: str, one: Entrant, other: Entrant, score: float, times: int = 1) -> list[SeatResult]:
    found = []
    for number in range(times):
        match = f"{game} {one.name} {other.name} {number}"
        found += [
            SeatResult(match, game, one.bot_id, score, "W" if score else "L"),
            SeatResult(match, game, other.bot_id, 1 - score, "L" if score else "W"),
        ]
    return found


THREE = [
    *play("pig", BEN, ADA, 1.0),
    *play("pig", BEN, CYD, 1.0),
    *play("pig", BEN, EASY, 1.0),
    *play("pig", ADA, CYD, 1.0),
    *play("pig", ADA, EASY, 1.0),
    *play("pig", CYD, EASY, 1.0),
    *[each for game in ("chess", "go") for each in play(game, ADA, CYD, 1.0)],
    *[each for game in ("chess", "go") for each in play(game, ADA, EASY, 1.0)],
    *[each for game in ("chess", "go") for each in play(game, CYD, EASY, 1.0)],
]
LEFT = {"chess": {2}, "go": {2}, "pig": set[int]()}


def test_entry_that_leaves_games_out_is_behind_those_that_play_all() -> None:
    before = [line.entrant.name for line in standings(ALL, THREE)]
    assert before[0] == "ben/pig"
    lines = standings(ALL, THREE, left=LEFT)
    assert [line.entrant.name for line in lines[:2]] == ["ada/all", "cyd/all"]
    ben = next(line for line in lines if line.entrant is BEN)
    assert ben.score == pytest.approx(1 / 3)
    assert ben.games == {"chess": 0.0, "go": 0.0, "pig": 1.0}
    assert ben.counts == {"chess": 0, "go": 0, "pig": 3}


def test_grade_counts_the_missing_matches_against_each_baseline() -> None:
    baselines = [Baseline("staff/easy", False, "pass", 0.5)]
    found = {each.student: each for each in grades(["ada", "ben"], ALL, THREE, baselines)}
    assert (found["ben"].grade, found["ben"].missing) == ("pass", ())
    found = {
        each.student: each for each in grades(["ada", "ben"], ALL, THREE, baselines, left=LEFT)
    }
    assert (found["ada"].grade, found["ada"].against) == ("pass", (1.0,))
    assert found["ben"].grade == ""
    assert list(found["ben"].against) == pytest.approx([1 / 3])
    assert found["ben"].missing == ("chess", "go")
    assert found["ben"].matches == (1,), "only what was played"


LATE = [
    *play("go", BEN, EASY, 1.0),
    *play("go", ADA, EASY, 1.0, times=4),
    *play("go", CYD, EASY, 1.0, times=2),
    *play("go", CYD, ADA, 1.0, times=2),
]
"""Everybody who stayed has played four times or more; one entry left after a match that it won."""


@pytest.mark.parametrize("by_opponent", [False, True])
def test_entry_that_leaves_while_ahead_gains_nothing_by_it(by_opponent: bool) -> None:
    lines = standings(ALL, LATE, by_opponent=by_opponent, left={"go": {2}})
    ben = next(line for line in lines if line.entrant is BEN)
    assert ben.score == pytest.approx(1 / 6 if by_opponent else 1 / 4)
    assert (ben.matches, ben.counts, ben.lost) == (1, {"go": 1}, {"go": 3})
    assert [line.lost for line in lines if line.entrant is not BEN] == [{}] * 3


def test_grade_counts_the_matches_that_an_entry_missed_by_leaving() -> None:
    baselines = [Baseline("staff/easy", False, "pass", 0.6)]
    (ben,) = grades(["ben"], ALL, LATE, baselines, left={"go": {2}})
    assert (ben.grade, ben.against, ben.matches) == ("", (0.5,), (1,))
    assert ben.zeros == {0: 1}
    assert left_words(ben.lost, ben.counts).startswith("left go after 1 of at least 4 matches")
    entry = GradeEntry(ben, 0.0, "", (), {})
    (test,) = json.loads(gradescope(entry, baselines, [1.0], None, {}, "wins"))["tests"]
    assert test["output"].startswith("Mean score 0.500 in 2 matches, of which 1 count as 0.")
    (ben,) = grades(["ben"], ALL, LATE, baselines)
    assert (ben.grade, ben.against, ben.zeros) == ("pass", (1.0,), {})


def test_entry_that_left_a_swiss_did_not_miss_opponents_that_few_have_met() -> None:
    results = [*play("go", BEN, CYD, 1.0), *play("go", ADA, EASY, 1.0), *play("go", CYD, ADA, 1.0)]
    baselines = [Baseline("staff/easy", False, "pass", 0.6)]
    (ben,) = grades(["ben"], ALL, results, baselines, left={"go": {2}})
    assert ben.against == (None,)


def test_game_that_nobody_played_and_entries_without_a_match_are_not_missing() -> None:
    results = play("pig", ADA, EASY, 1.0)
    left = {"pig": {2}, "chess": {1, 2, 3, 9}}
    lines = {line.entrant.name: line for line in standings(ALL, results, left=left)}
    assert lines["ada/all"].games == {"pig": 1.0}
    assert lines["ben/pig"].score is None
    assert left_games(left, GAMES, results) == {}


def test_left_games_are_listed_in_the_order_of_the_file() -> None:
    assert left_games(LEFT, GAMES, THREE) == {2: ["chess", "go"]}


def test_missing_games_of_a_bot_respect_parameters() -> None:
    games = ("pig(target=50)", "chess", "go(size=9)")
    assert missing(games, ("pig", "go(size=9)")) == ("chess",)
    assert missing(games, ("pig(target=100)",)) == games
    assert missing(games, ()) == (), "not known"
    assert missing_words(["chess"], 1).endswith("at most 0 of 1")
