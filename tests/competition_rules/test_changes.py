"""Changes of competition files: what they are called, when they are possible, what they do."""

from __future__ import annotations

import dataclasses

import pytest

from plyhouse.server.competition_rules.changes import RULES, Stage, compare, label, notice
from plyhouse.server.competition_rules.file import (
    Baseline,
    CompetitionFile,
    Dates,
    LateRule,
    Limits,
    Practice,
)
from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competition_rules.file_table import CannotEdit, set_value

FILE = """
name = "Cup"  # ours
games = ["pig"]
time_control = "move:1"
board = "anonymous"
rules = "One bot each."

[dates]  # in UTC
freeze = 2027-01-01T00:00:00Z  # the "last" day
final = 2027-01-02T00:00:00Z

[[baselines]]
bot = "staff/easy"
grade = "pass"
at_least = 0.4

[[baselines]]
bot = "staff/secret"
hidden = true
"""
OPEN, FROZEN, RUNNING, FINISHED = (
    Stage(status, 10) for status in ("open", "frozen", "running", "finished")
)


def changed(old: str, new: str, stage: Stage = OPEN) -> dict[str, str]:
    """The keys of the changes of a text in the file, each with why it is refused."""
    assert old in FILE
    found = compare(read_competition(FILE), read_competition(FILE.replace(old, new)), stage)
    return {each.key: each.refused for each in found}


def test_same_file_in_other_words_changes_nothing() -> None:
    assert changed("board =", "mirrored = true\nboard =") == {}


def test_every_value_of_a_file_has_a_rule() -> None:
    keys = {field.name for field in dataclasses.fields(CompetitionFile)}
    keys -= {"dates", "limits", "baselines", "hosting_required", "every_lower"}
    keys -= {"points", "practice", "late"}
    keys |= {
        "grading.points",
        "grading.every_lower",
        "hosting.required",
        "baselines[]",
        "baselines[].shown",
    }
    keys |= {f"dates.{field.name}" for field in dataclasses.fields(Dates)}
    keys |= {f"late.{field.name}" for field in dataclasses.fields(LateRule)}
    keys |= {f"limits.{field.name}" for field in dataclasses.fields(Limits)}
    keys |= {f"practice.{field.name}" for field in dataclasses.fields(Practice)}
    keys |= {f"baselines[].{field.name}" for field in dataclasses.fields(Baseline)}
    assert RULES.keys() == keys - {"baselines[].bot"}


@pytest.mark.parametrize(
    ("old", "new", "key", "stages"),
    [
        ('"pig"', '"tic_tac_toe"', "games", "of"),
        ('"move:1"', '"move:2"', "time_control", "of"),
        ("board =", "rounds = 2\nboard =", "rounds", "of"),
        ('"anonymous"', '"class"', "board", "ofrd"),
        ("2027-01-01", "2026-12-01", "dates.freeze", "of"),
        ("at_least = 0.4", "at_least = 0.5", "baselines[staff/easy].at_least", "ofrd"),
        ("hidden = true", "", "baselines[staff/secret].hidden", "ofrd"),
        ('grade = "pass"', 'grade = "pass"\nhidden = true', "baselines[staff/easy].hidden", "of"),
        ("[dates]  #", "[limits]\nstudents = 5\n[dates]  #", "limits.students", "ofrd"),
        ('"Cup"', '"Bowl"', "name", ""),
    ],
)
def test_change_is_possible_only_as_long_as_its_rule_says(
    old: str, new: str, key: str, stages: str
) -> None:
    for letter, stage in zip("ofrd", (OPEN, FROZEN, RUNNING, FINISHED), strict=True):
        found = changed(old, new, stage)
        assert found.keys() == {key}
        assert (found[key] == "") == (letter in stages), (stage.status, found)


def test_thresholds_of_a_certain_gauntlet_wait_for_its_end() -> None:
    sure = FILE.replace(
        "[dates]  #", '[format]\nname = "gauntlet"\nuntil_certain = true\n[dates]  #'
    )
    old, new = (read_competition(each) for each in (sure, sure.replace("0.4", "0.5")))
    assert [bool(each.refused) for each in compare(old, new, RUNNING)] == [True]
    assert [bool(each.refused) for each in compare(old, new, FINISHED)] == [False]


def test_effect_of_a_schedule_says_how_many_matches_there_are() -> None:
    (change,) = compare(
        read_competition(FILE), read_competition(FILE.replace("board", "rounds = 2\nboard")), OPEN
    )
    assert change.effect.endswith("it has 180 matches instead of 90.")


@pytest.mark.parametrize(
    ("old", "new", "ends"),
    [
        ("move:1", "move:2", True),
        ('games = ["pig"]', 'games = ["pig", "nim"]', True),
        ("[dates]", "[hosting]\nrequired = true\n[dates]", True),
        ("2027-01-02", "2027-01-03", False),
        ("at_least = 0.4", "at_least = 0.5", False),
    ],
)
def test_effect_of_other_terms_says_that_the_practice_ladder_ends(
    old: str, new: str, ends: bool
) -> None:
    file = FILE + "[practice]\nladder = true\n"
    texts = read_competition(file), read_competition(file.replace(old, new))
    (change,) = compare(*texts, OPEN)
    assert ("The practice ladder ends" in change.effect) is ends
    (frozen,) = compare(*texts, FROZEN)
    assert "The practice ladder ends" not in frozen.effect, "it has ended with the freeze"
    without = [dataclasses.replace(each, practice=Practice()) for each in texts]
    assert "ladder" not in compare(without[0], without[1], OPEN)[0].effect


def test_effect_of_final_waits_says_what_the_final_does() -> None:
    waits = read_competition(FILE)
    begins = read_competition(
        FILE.replace("[[baselines]]", "[late]\nfinal_waits = false\n[[baselines]]", 1)
    )
    (change,) = compare(waits, begins, OPEN)
    assert change.effect == (
        "The final begins on its date; late submissions and extensions play in a rerun."
    )
    (back,) = compare(begins, waits, OPEN)
    assert back.effect == "The final waits for the end of late submissions and extensions."


def test_notice_names_what_students_know_and_their_time() -> None:
    file = FILE.replace("[dates]", '[dates]\nzone = "Europe/Berlin"')
    old, new = read_competition(file), read_competition(file.replace("01-01T00", "01-01T20"))
    assert notice(compare(old, new, OPEN)) == (
        "Freeze, until which versions may change: 2027-01-01 01:00 Europe/Berlin -> "
        "2027-01-01 21:00 Europe/Berlin"
    )
    new = dataclasses.replace(old, practice=Practice(ladder=True))
    assert notice(compare(old, new, OPEN)) == "Practice ladder: no -> yes"


def test_every_key_of_a_file_has_words_for_students() -> None:
    keys = {each for each in RULES if each not in ("name", "rules", "baselines[].shown")}
    for name, kind in {
        "dates": Dates, "limits": Limits, "practice": Practice, "late": LateRule
    }.items():  # fmt: skip
        keys |= {f"{name}.{each.name}" for each in dataclasses.fields(kind)}
    keys |= {f"baselines[].{each.name}" for each in dataclasses.fields(Baseline)} - {
        "baselines[].bot"
    }
    spelled = {
        "hosting_required": "hosting.required",
        "every_lower": "grading.every_lower",
        "points": "grading.points",
    }
    plain = {each.name for each in dataclasses.fields(CompetitionFile)}
    keys |= {spelled.get(each, each) for each in plain - {"dates", "limits", "practice", "late"}}
    for key in keys - {"rules"}:
        assert label(key.replace("[]", "[staff/a]")), key


def test_notice_says_nothing_of_hidden_baselines() -> None:
    old = read_competition(FILE)
    text = FILE.replace("0.4", "0.6").replace("hidden = true", 'hidden = true\ngrade = "good"')
    told = notice(compare(old, read_competition(text), OPEN))
    assert told == "Least score against baseline staff/easy: 0.4 -> 0.6"
    gone = read_competition(FILE.partition('[[baselines]]\nbot = "staff/secret"')[0])
    assert len(compare(old, gone, OPEN)) == 1
    assert notice(compare(old, gone, OPEN)) == notice(compare(gone, old, OPEN)) == ""
    shown = read_competition(FILE.replace("hidden = true", ""))
    assert "staff/secret" in notice(compare(old, shown, OPEN))


def test_value_is_set_in_the_text_and_comments_stay() -> None:
    text = set_value(FILE, "dates.freeze", "2026-12-01T00:00:00Z")
    assert 'freeze = 2026-12-01T00:00:00Z  # the "last" day' not in text, "a quote: no comment kept"
    assert read_competition(text).dates.freeze != read_competition(FILE).dates.freeze
    text = set_value(text, "name", '"Bowl"')
    assert 'name = "Bowl"  # ours' in text
    text = set_value(text, "dates.final", None)
    assert read_competition(text).dates.final is None
    text = set_value(text, "limits.students", "7")
    assert read_competition(text).limits.students == 7
    text = set_value(text, "mirrored", "false")
    assert read_competition(text).mirrored is False
    assert set_value(text, "rounds", None) == text


def test_line_of_a_text_that_looks_like_a_date_is_not_edited() -> None:
    trap = FILE.replace(
        '"One bot each."',
        """'''
[dates]
freeze = "no date"
'''""",
    )
    with pytest.raises(CannotEdit):
        set_value(trap, "dates.freeze", "2028-01-01T00:00:00Z")


@pytest.mark.parametrize(("key", "value"), [("name.x", "1"), ("name", "= 1")])
def test_value_that_cannot_be_set_alone_is_refused(key: str, value: str) -> None:
    with pytest.raises(CannotEdit):
        set_value(FILE, key, value)
