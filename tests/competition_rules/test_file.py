"""The competition file: what it says, and everything that can be wrong with it."""

from __future__ import annotations

import contextlib
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plyhouse.games.registry import get_game
from plyhouse.protocol.api.bodies import MAX_FILE
from plyhouse.server.competition_rules.file import Baseline, CompetitionFile
from plyhouse.server.competition_rules.file_reader import (
    InvalidCompetition,
    read_competition,
)
from plyhouse.server.competition_rules.file_template import template
from plyhouse.server.competition_rules.format_registry import FORMATS, described
from plyhouse.server.competition_rules.grade_precision import grade_notes

NOW = datetime(2026, 10, 1, 12, tzinfo=UTC)
LEAST = 'name = "Cup"\ngames = ["pig"]\ntime_control = "move:1"\n'


TEAMS = LEAST.replace("pig", "bridge") + "teams = true\n"


STAFF = "[[baselines]]\nbot = 'a/b'\ngrade = 'pass'\n"


def twin(of: str, more: str = "") -> str:
    return f"{STAFF}[[baselines]]\nbot = 'a/b-2'\ntwin_of = '{of}'\n{more}\n"


def mistakes(text: str, now: datetime | None = NOW) -> list[tuple[str, str]]:
    with pytest.raises(InvalidCompetition) as caught:
        read_competition(text, now)
    return [(each.code.partition("/")[2], each.key) for each in caught.value.mistakes]


def test_three_lines_are_enough() -> None:
    found = read_competition(LEAST, NOW)
    assert (found.name, found.games, str(found.time_control)) == ("Cup", ("pig",), "move:1")
    assert (found.format.name, found.laps, found.mirrored, found.board) == (
        *("round_robin", 1, True, "class"),
    )
    assert (found.dates.opening, found.dates.freeze, found.dates.final) == (None, None, None)
    assert not found.hosting_required


def test_a_final_may_be_for_what_is_handed_in() -> None:
    assert read_competition(f"{LEAST}[hosting]\nrequired = true\n", NOW).hosting_required
    assert mistakes(f"{LEAST}[hosting]\nrequired = 1\n") == [("bad_type", "hosting.required")]


def test_everything_is_read() -> None:
    found = read_competition(
        """
        name = "  Größe   2026 "
        games = ["pig(target=100)", "pig(target=50)"]
        time_control = "total:60"
        mirrored = false
        rounds = 3
        entries_per_student = 2
        board = "anonymous"
        rules = "be kind"
        [format]
        name = "double_round_robin"
        [dates]
        opening = 2026-10-02T10:00:00+02:00
        freeze = "2026-10-03T10:00:00Z"
        final = 2026-10-03T10:00:00Z
        [limits]
        students = 3
        matches_at_a_time = 5
        [[baselines]]
        bot = "staff/random"
        grade = "pass"
        at_least = 1
        [[baselines]]
        bot = "staff/deep"
        hidden = true
        """,
        NOW,
    )
    assert found.name == "Größe 2026"
    assert found.games == ("pig", "pig(target=50)"), "canonical specs"
    assert found.laps == 6
    assert found.dates.opening == datetime(2026, 10, 2, 8, tzinfo=UTC)
    assert found.baselines == (
        Baseline("staff/random", False, "pass", 1.0),
        Baseline("staff/deep", True, "", 0.5),
    )
    assert (found.limits.students, found.limits.matches_at_a_time) == (3, 5)


@pytest.mark.parametrize("games", [["connect_four"], ["pig(target=50)", "kuhn_poker"]])
def test_the_template_is_valid_as_it_stands(games: list[str]) -> None:
    text = template("Anna's cup", games, "move:1", NOW)
    found = read_competition(text, NOW)
    assert isinstance(found, CompetitionFile)
    assert found.games == tuple(games)
    freeze = found.dates.freeze
    assert freeze is not None
    assert freeze - NOW > timedelta(days=14)


@pytest.mark.parametrize("hosted", [False, True])
def test_template_grades_one_game_until_it_is_certain(hosted: bool) -> None:
    found = read_competition(template("Cup", ["pig"], "move:1", NOW, hosted=hosted), NOW)
    assert found.until_certain
    assert found.every_lower
    (baseline,) = found.baselines
    assert (baseline.bot, baseline.reference) == (
        ("house/random-1", "random") if hosted else ("staff/easy", "")
    )
    assert (baseline.grade, baseline.at_least) == ("pass", 0.6)


def test_template_plays_several_games_often_enough_for_grades() -> None:
    found = read_competition(template("Cup", ["pig", "kuhn_poker"], "move:1", NOW), NOW)
    assert (found.format.name, found.rounds) == ("gauntlet", 7)
    assert [note for note in grade_notes(found, 30) if "Warning" in note] == []


@pytest.mark.parametrize(
    ("games", "scoring", "at_least"),
    [
        (["texas_holdem"], ["wins"], 0.55),
        (["kuhn_poker"], ["returns"], 0.52),
        (["pig", "texas_holdem(hands=50)"], ["wins", "wins"], 0.55),
        (["kuhn_poker", "texas_holdem(hands=50)"], ["returns", "wins"], 0.52),
    ],
)
def test_template_scores_games_of_wide_returns_by_wins(
    games: list[str], scoring: list[str], at_least: float
) -> None:
    found = read_competition(template("Cup", games, "move:1", NOW), NOW)
    assert [found.scored_by(game).value for game in found.games] == scoring
    assert [each.at_least for each in found.baselines] == [at_least]


def test_template_of_bridge_makes_partners_with_its_comments_taken_out() -> None:
    text = template("Cup", ["bridge"], "move:1", NOW)
    found = read_competition(text, NOW)
    assert (found.teams, found.scored_by("bridge").value) == (False, "wins")
    found = read_competition(text.replace("# teams = true", "teams = true"), NOW)
    assert (found.teams, found.entries_per_student) == (True, 2)
    for other in ("pig", "hearts"):
        assert "teams" not in template("Cup", [other], "move:1", NOW)


def test_the_template_is_valid_with_its_comments_taken_out() -> None:
    text = template("Cup", ["pig"], "move:1", NOW).replace("until_certain = true", "")
    lines = [
        line.removeprefix("# ") if re.match(r"# (\[|\w+ = )", line) else line
        for line in text.splitlines()
    ]
    found = read_competition("\n".join(lines), NOW)
    assert [each.bot for each in found.baselines] == [
        *("staff/easy", "staff/hard", "house/mcts-200", "staff/hard-2"),
    ]
    assert found.baselines[2].reference == "mcts(simulations=200)"
    assert found.baselines[3].twin_of == "staff/hard"
    assert found.hosting_required
    assert found.practice.ladder
    assert found.dates.opening is not None


@pytest.mark.parametrize("name", ["Кубок 2026", "हिन्दी कप", "決勝(A)", "Κύπελλο", "Größe"])
def test_a_competition_and_its_baselines_have_names_of_any_script(name: str) -> None:
    text = LEAST.replace("Cup", name) + '[[baselines]]\nbot = "Штаб/лёгкий"\n'
    found = read_competition(text)
    assert found.name == name
    assert found.baselines[0].bot == "Штаб/лёгкий"
    for bad in ("\\u202e", "\\u200b", "*"):
        with pytest.raises(InvalidCompetition, match="cannot name a competition"):
            read_competition(LEAST.replace("Cup", f"{name}{bad}x"))


def test_a_practice_ladder_needs_games_of_two_seats() -> None:
    text = LEAST + "[practice]\nladder = true\nmatches_at_a_time = 2\nbaselines = false\n"
    found = read_competition(text).practice
    assert (found.ladder, found.matches_at_a_time, found.baselines) == (True, 2, False)
    assert not read_competition(LEAST).practice.ladder
    with pytest.raises(InvalidCompetition, match=r"practice\.ladder.*pig\(seats=3\) has 3"):
        read_competition(re.sub(r"games = .*", 'games = ["pig(seats=3)"]', text))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_written_down(name: str) -> None:
    given = {
        each.name: each.choices[-1] if each.choices else each.most if each.most else True
        for each in described(name)
    }
    lines = "".join(
        f"{key} = {json.dumps(int(value) if value == 1.0 and value is not True else value)}\n"
        for key, value in given.items()
    )
    staff = "[[baselines]]\nbot = 'staff/easy'\ngrade = 'pass'\n"
    for text in ("", lines):
        found = read_competition(f'{LEAST}[format]\nname = "{name}"\n{text}{staff}', NOW)
        assert found.format.name == name
        assert found.format.parameters == (given if text else {})
        found.play("pig")


def test_what_is_played_has_the_rounds_worked_in() -> None:
    staff = "[[baselines]]\nbot = 'staff/easy'\n"
    text = LEAST + "rounds = 3\n[format]\nname = 'gauntlet'\ntimes = 2\n" + staff
    assert read_competition(text, NOW).terms == ("gauntlet", {"times": 6})
    text = LEAST + "rounds = 3\n[format]\nname = 'double_round_robin'\n"
    assert read_competition(text, NOW).terms == ("round_robin", {"laps": 6})
    text = LEAST + "[format]\nname = 'swiss'\nlate = 0.5\npoints = 'result'\n"
    assert read_competition(text, NOW).terms == ("swiss", {"late": 0.5, "points": "result"})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("name = ", [("not_toml", "")]),
        (LEAST + "rounds = " + "9" * 5_000, [("not_toml", "")]),
        (LEAST + "rounds = 0x" + "f" * 9_000, [("not_toml", "")]),
        (LEAST + "x = [{y = 9223372036854775808}]", [("not_toml", "")]),
        ("", [("missing_key", "name"), ("missing_key", "games"), ("missing_key", "time_control")]),
        (LEAST.replace("Cup", ""), [("bad_value", "name")]),
        (LEAST.replace("Cup", "a/"), [("bad_value", "name")]),
        (LEAST.replace("Cup", "x" * 65), [("bad_value", "name")]),
        (LEAST.replace('["pig"]', '"pig"'), [("bad_type", "games")]),
        (LEAST.replace('["pig"]', "[]"), [("bad_value", "games")]),
        (LEAST.replace('["pig"]', "[1]"), [("bad_type", "games[0]")]),
        (LEAST.replace('"pig"', '"pgi", "pig(tarjet=1)"'), [("unknown_game", "games[0]"),
                                                             ("unknown_game", "games[1]")]),
        (LEAST.replace('"pig"', '"evil.py"'), [("unknown_game", "games[0]")]),
        (LEAST.replace('"pig"', '"pig", "pig(target=100)"'), [("bad_value", "games[1]")]),
        (LEAST.replace("move:1", "blitz"), [("bad_value", "time_control")]),
        (LEAST + "mirrored = 1", [("bad_type", "mirrored")]),
        (LEAST + "rounds = true", [("bad_type", "rounds")]),
        (LEAST + "rounds = 0", [("bad_value", "rounds")]),
        (LEAST + "entries_per_student = 1.5", [("bad_type", "entries_per_student")]),
        (LEAST + "teams = 1", [("bad_type", "teams")]),
        (LEAST + "teams = true", [("bad_value", "teams")]),
        (LEAST.replace("pig", "hearts") + "teams = true", [("bad_value", "teams")]),
        (LEAST.replace("pig", "pacman") + "teams = true", [("bad_value", "teams")]),
        (
            LEAST.replace("pig", "bridge") + "teams = true\nentries_per_student = 3",
            [("bad_value", "entries_per_student")],
        ),
        (
            LEAST.replace("pig", "bridge") + "teams = true\n[format]\nname = 'ladder'",
            [("bad_value", "format.name")],
        ),
        (
            TEAMS + "[[baselines]]\nbot = 'x/2'\nhidden = true\n[[baselines]]\nbot = 'X/1'",
            [("bad_value", "baselines[0].hidden")],
        ),
        (
            TEAMS + "[[baselines]]\nbot = 'x/1'\n[[baselines]]\nbot = 'x/2'\nhidden = true",
            [("bad_value", "baselines[1].hidden")],
        ),
        (
            TEAMS + "[[baselines]]\nbot = 'x/2'\ngrade = 'A'\n[[baselines]]\nbot = 'x/1'",
            [("bad_value", "baselines[0].grade")],
        ),
        (LEAST + 'board = "secret"', [("bad_value", "board")]),
        (LEAST + "rule = 'x'", [("unknown_key", "rule")]),
        (LEAST + "scoring = 'goals'", [("bad_value", "scoring")]),
        (LEAST + "scoring = 1", [("bad_type", "scoring")]),
        (LEAST + "scoring = { pig = 1 }", [("bad_value", "scoring.pig")]),
        (LEAST + "scoring = { pgi = 'wins' }", [("unknown_game", "scoring.pgi")]),
        (LEAST + "scoring = { chess = 'wins' }", [("bad_value", "scoring.chess")]),
        (LEAST + "rules = 'a\\u0000'".replace("'", '"'), [("bad_value", "rules")]),
        (LEAST + "[format]\nname = 'swis'", [("unknown_format", "format.name")]),
        (LEAST + "[format]\nname = 'swiss'\nbest_of = 3", [("unknown_key", "format.best_of")]),
        (LEAST + "[format]\nname = 'knockout'\nbest_of = 0", [("bad_value", "format.best_of")]),
        (LEAST + "[format]\nname = 'knockout'\nbest_of = 1.5", [("bad_type", "format.best_of")]),
        (LEAST + "[format]\nname = 'swiss'\nbye = nan", [("bad_value", "format.bye")]),
        (LEAST + "[format]\nname = 'swiss'\npoints = 'x'", [("bad_value", "format.points")]),
        (LEAST + "[format]\nname = 'gauntlet'", [("missing_key", "baselines")]),
        (LEAST + "rounds = 2\n[format]\nname = 'swiss'", [("bad_value", "rounds")]),
        (
            LEAST.replace('"pig"', '"pig", "pig(seats=3)"') + "[format]\nname = 'swiss'",
            [("bad_value", "games[1]")],
        ),
        (LEAST + "format = 'swiss'", [("bad_type", "format")]),
        (LEAST + "[dates]\nfreeze = 2026-12-01T10:00:00", [("no_zone", "dates.freeze")]),
        (LEAST + "[dates]\nfreeze = 2026-12-01", [("bad_type", "dates.freeze")]),
        (LEAST + "[dates]\nfreeze = 5", [("bad_type", "dates.freeze")]),
        (LEAST + "[dates]\nfreeze = 'soon'", [("bad_value", "dates.freeze")]),
        (LEAST + "[dates]\nfreeze = 2020-12-01T10:00:00Z", [("date_past", "dates.freeze")]),
        (
            LEAST + "[dates]\nfreeze = 2026-12-02T10:00:00Z\nfinal = 2026-12-01T10:00:00Z",
            [("date_order", "dates.final")],
        ),
        (
            LEAST + "[dates]\nopening = 2026-12-02T10:00:00Z\nfinal = 2026-12-01T10:00:00Z",
            [("date_order", "dates.final")],
        ),
        (LEAST + "[dates]\nfrezee = 2026-12-02T10:00:00Z", [("unknown_key", "dates.frezee")]),
        (LEAST + "[limits]\nstudents = -1", [("bad_value", "limits.students")]),
        (LEAST + "[limits]\nhelp = 'all'", [("bad_value", "limits.help")]),
        (LEAST + "[limits]\nhelp = 'rules'\nstudents = 0", [("bad_value", "limits.help")]),
        (LEAST + "baselines = 3", [("bad_type", "baselines")]),
        (LEAST + "baselines = [3]", [("bad_type", "baselines[0]")]),
        (LEAST + "[[baselines]]\n", [("missing_key", "baselines[0].bot")]),
        (LEAST + "[[baselines]]\nbot = 'random'", [("bad_value", "baselines[0].bot")]),
        (
            LEAST + "[[baselines]]\nbot = 'a/b'\n[[baselines]]\nbot = 'A/b'",
            [("bad_value", "baselines[1].bot")],
        ),
        (
            LEAST + "[[baselines]]\nbot = 'a/b'\nat_least = nan\ngrade = 'A'",
            [("bad_value", "baselines[0].at_least")],
        ),
        (
            LEAST + "[[baselines]]\nbot = 'a/b'\nat_least = 0.5",
            [("missing_key", "baselines[0].grade")],
        ),
        (LEAST + twin("a/c"), [("bad_value", "baselines[1].twin_of")]),
        (LEAST + twin("a/b-2"), [("bad_value", "baselines[1].twin_of")]),
        (LEAST + twin("a/b", "hidden = true"), [("bad_value", "baselines[1].hidden")]),
        (LEAST + twin("a/b", "at_least = 0.1"), [("bad_value", "baselines[1].at_least")]),
        (
            LEAST + twin("a/b") + "[[baselines]]\nbot = 'a/b-3'\ntwin_of = 'a/b-2'",
            [("bad_value", "baselines[2].twin_of")],
        ),
        (
            LEAST + twin("A/B") + "[[baselines]]\nbot = 'a/b-3'\ntwin_of = 'a/b'",
            [("bad_value", "baselines[2].twin_of")],
        ),
        (
            LEAST + "[format]\nname = 'double_elimination'\n" + twin("a/b"),
            [("bad_value", "baselines[1].twin_of")],
        ),
        (
            LEAST + "[format]\nname = 'knockout'\n" + twin("a/b"),
            [("bad_value", "baselines[1].twin_of")],
        ),
        (
            LEAST + "[format]\nname = 'gauntlet'\nuntil_certain = true\n" + twin("a/b"),
            [("bad_value", "baselines[1].twin_of")],
        ),
        ("x" * (MAX_FILE + 1), [("bad_value", "")]),
    ],
)  # fmt: skip
def test_every_mistake_has_its_code_and_its_key(text: str, wanted: list[tuple[str, str]]) -> None:
    assert mistakes(text) == wanted


def test_scoring_is_chosen_for_all_games_or_each_and_left_to_the_games_otherwise() -> None:
    games = LEAST.replace('"pig"', '"pig(target=50)", "kuhn_poker", "leduc_poker"')

    def chosen(more: str) -> list[str]:
        found = read_competition(games + more, NOW)
        return [found.scored_by(game).value for game in found.games]

    assert chosen("") == [get_game(game).info.scoring for game in ("pig", "kuhn_poker",
                                                                   "leduc_poker")]  # fmt: skip
    assert chosen('scoring = "returns"') == ["returns"] * 3
    assert chosen('scoring = "wins"') == ["wins"] * 3
    table = 'scoring = { "pig(target=50)" = "returns", kuhn_poker = "wins" }'
    assert chosen(table)[:2] == ["returns", "wins"]


def test_a_twin_repeats_a_baseline_and_is_hidden_with_it() -> None:
    text = "[[baselines]]\nbot = 'a/b-2'\ntwin_of = 'A/B'\n" + STAFF + "hidden = true\n"
    found = read_competition(LEAST + text, NOW)
    assert found.baselines == (
        Baseline("a/b-2", True, "", 0.5, "A/B"),
        Baseline("a/b", True, "pass", 0.5),
    )
    assert [each.bot for each in found.originals] == ["a/b"]
    assert found.twins == {"a/b-2": "a/b"}
    assert read_competition(LEAST + STAFF, NOW).twins == {}, "off unless it is asked for"


def test_all_mistakes_are_told_at_once_with_what_would_be_right() -> None:
    with pytest.raises(InvalidCompetition) as caught:
        read_competition(
            'name = "Cup"\ngame = ["pig"]\ntime_control = "move:1"\n'
            "[dates]\nfreeze = 2020-01-01T00:00:00Z\n[[baselines]]\nbots = 'a/b'",
            NOW,
        )
    said = str(caught.value)
    assert "5 mistakes" in said
    assert 'games: is missing; write it like games = ["connect_four"]' in said
    assert "game: there is no such key; did you mean 'games'?" in said
    assert "2020-01-01 00:00 UTC is over; give a date to come" in said
    assert "baselines[0].bots: there is no such key; did you mean 'bot'?" in said


def test_a_file_that_was_accepted_is_read_again_when_its_dates_are_over() -> None:
    text = LEAST + "[dates]\nfreeze = 2026-12-02T10:00:00Z"
    later = NOW + timedelta(days=300)
    assert mistakes(text, later) == [("date_past", "dates.freeze")]
    assert read_competition(text) == read_competition(text, NOW)


@given(st.text(max_size=200))
def test_no_text_makes_it_fail_otherwise(text: str) -> None:
    for prefix in (LEAST, LEAST + "[dates]\nfreeze = ", LEAST + "[format]\nname = "):
        with contextlib.suppress(InvalidCompetition):
            assert read_competition(prefix + text, NOW).name == "Cup"
