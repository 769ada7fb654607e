"""The first sentences of a report: the reason for a grade, and what to try next."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.protocol.api.reports import BaselineScore
from plyhouse.server.grades.summaries import (
    CostlyPly,
    Evidence,
    HiddenBaseline,
    Loss,
    advice,
    costly,
    goals_of,
    reason_for,
)
from plyhouse.server.match.terminations import FORFEITS, TERMINATIONS


def goal(name: str, grade: str, at_least: float, score: float, **more: Any) -> BaselineScore:
    fields: dict[str, Any] = {
        "matches": 8, "wins": 4, "draws": 0, "losses": 4, "low": 0.2, "high": 0.8,
        "any_low": 0.1, "any_high": 0.9, "counted": score, "reached": score >= at_least, **more,
    }  # fmt: skip
    return BaselineScore(name=name, score=score, grade=grade, at_least=at_least, **fields)


EASY = goal("staff/easy", "pass", 0.4, 0.75)
HARD = goal("staff/hard", "good", 0.5, 0.25)


def reason(grade: str, *goals: BaselineScore | HiddenBaseline, every_lower: bool = True) -> str:
    return reason_for(grade, goals_of(grade, goals), every_lower=every_lower)


def test_reason_names_reached_and_missed_baselines_with_margin_and_interval() -> None:
    assert reason("pass", EASY, HARD) == (
        "Reached pass by 0.350: 0.750 against staff/easy (95 % from 0.20 to 0.80); "
        "missed good by 0.250: 0.250 against staff/hard (95 % from 0.20 to 0.80)."
    )


def test_reason_without_a_grade_names_the_easiest_missed_baseline() -> None:
    easy, hard = goal("staff/easy", "pass", 0.4, 0.1), goal("staff/hard", "good", 0.5, 0.9)
    assert reason("", easy, hard).startswith("Missed pass by 0.300: 0.100 against staff/easy")
    assert goals_of("good", (easy, hard)).missed is None


def test_reason_with_games_left_out_gives_the_counted_score_without_interval() -> None:
    left = goal("staff/easy", "pass", 0.4, 0.75, counted=0.375, reached=False)
    assert reason("", left) == "Missed pass by 0.025: 0.375 against staff/easy."


def test_reason_of_an_exact_threshold_gives_no_margin() -> None:
    text = reason("pass", goal("staff/easy", "pass", 0.3, 0.1 + 0.2))
    assert text.startswith("Reached pass exactly: 0.300 against staff/easy")


def test_reason_never_met_says_so() -> None:
    unmet = goal("staff/easy", "pass", 0.4, 0.0, counted=None, matches=0)
    assert reason("", unmet) == "Missed pass without a match against staff/easy."


def test_reason_of_a_hidden_baseline_does_not_name_it() -> None:
    reached, missed = HiddenBaseline("good", True), HiddenBaseline("good", False)
    hidden = "Reached good against a baseline that stays hidden."
    assert reason("good", EASY, reached) == hidden
    text = "Missed a baseline that stays hidden, which every better grade needs."
    assert reason("", missed, EASY) == text


def test_nothing_below_a_grade_was_missed() -> None:
    low = goal("staff/easy", "pass", 0.4, 0.1)
    assert goals_of("good", (low, HiddenBaseline("good", True))).missed is None
    same = goal("staff/other", "good", 0.4, 0.1)
    assert reason("good", HiddenBaseline("good", True), same, HARD, every_lower=False) == (
        "Reached good against a baseline that stays hidden."
    )


def test_no_hidden_baseline_is_made_up() -> None:
    assert reason("", EASY) == "No baseline gives a grade."
    assert reason("revoked") == "The student was taken out of the competition."


@pytest.mark.parametrize("grade", ["disqualified", "nothing entered", "nothing played"])
def test_reason_of_a_grade_without_results_names_no_baseline(grade: str) -> None:
    text = reason(grade, EASY, HARD)
    assert text.endswith(".")
    assert "staff" not in text


def test_every_forfeit_has_a_remedy() -> None:
    assert {each.name for each in TERMINATIONS.values() if each.remedy} == set(FORFEITS)


LOSSES = (
    Loss("pig", ("ann/bot",), "/matches/c"),
    Loss("connect_four", ("staff/hard",), "/matches/b"),
    Loss("pig", ("staff/hard",), "/matches/a"),
)
PLY = CostlyPly("connect_four", 6, "c4", "d4", "50 %", "/matches/b?ply=6")


def test_advice_puts_the_most_frequent_forfeit_first() -> None:
    found = Evidence(
        12, {"bot_crash": 1, "flag_fall": 3}, {"flag_fall": "/matches/a?ply=9"}, {}, LOSSES, PLY
    )
    text, replay = advice(found, HARD)
    assert text.startswith("3 of 12 matches were lost by flag fall: keep to the time that is left")
    assert replay == "/matches/a?ply=9"


def test_advice_goes_from_missed_baseline_to_game_to_ply_to_loss() -> None:
    games = {"pig": 0.25, "connect_four": 0.5}
    full = Evidence(12, games=games, losses=LOSSES, costly=PLY)
    assert advice(full, HARD) == (
        *("staff/hard is the next baseline to reach: look at the latest loss to it.", "/matches/b"),
    )
    assert advice(full) == (
        "Pig has the lowest score, 0.250: look at the latest loss there.",
        "/matches/c",
    )
    one = Evidence(12, games={"pig": 0.25}, losses=LOSSES, costly=PLY)
    assert advice(one) == (
        "Of the reviewed plies, ply 7 of a match of Connect four cost most, "
        "50 %: c4 instead of d4.",
        "/matches/b?ply=6",
    )
    assert advice(Evidence(12, losses=LOSSES))[1] == "/matches/c"
    assert advice(Evidence(12))[0].startswith("Nothing was lost")
    assert advice(Evidence()) == ("", "")


def test_costliest_ply_compares_shares_of_the_range_of_returns() -> None:
    def row(ply: int, drop: float, lost: bool = True) -> dict[str, Any]:
        return {"ply": ply, "drop": drop, "lost": lost, "action": "a", "best_action": "b"}

    rows = [
        ("liars_dice", "small", row(4, 1.0)),
        ("liars_dice", "small", row(5, 0.5)),
        ("texas_holdem", "big", row(2, 3.0)),
        ("texas_holdem", "big", row(3, 400.0, lost=False)),
    ]
    found = costly(rows)
    assert found is not None
    assert (found.cost, found.replay) == ("50 %", "/matches/small?ply=4")
    assert costly([]) is None
