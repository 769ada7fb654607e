"""Rehearsals of competitions: one real one, and reports of what would go wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Plyhouse, clean_environment, forked_command
from tests.harness.patience import PATIENCE
from tests.harness.processes import processes_with

from plyhouse.clients.rehearsal.outcome_check import RehearsalFacts, RehearsalMatch, judge
from plyhouse.clients.rehearsal.participants import Cast, Event, cast_of
from plyhouse.clients.rehearsal.small_competition import scaled
from plyhouse.protocol.api.boards import BoardLine, GradeLine
from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competition_rules.rehearsals import toml

CUP = """
name = "Größe 2"
games = ["tic_tac_toe"]
time_control = "total:60+1"
rounds = 5
mirrored = false
board = "anonymous"
rules = "Say \\"hello\\"."
[dates]
freeze = 2001-01-01T00:00:00Z
[limits]
students = 2
[[baselines]]
bot = "staff/easy"
grade = "pass"
at_least = 0.4
"""


def test_a_rehearsal_says_which_rule_each_bot_hit_and_leaves_nothing(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    (tmp_path / "cup.toml").write_text(CUP, encoding="utf-8")
    place = tmp_path / "temporary"
    place.mkdir()
    options = ("--minutes", "2", "--json")
    done = plyhouse("competition", "rehearse", "cup.toml", *options, env={"TMPDIR": str(place)})
    told = json.loads(done.out)
    wrong = {each["entry"]: each["wrong"] for each in told["bots"] if each["wrong"]}
    assert done.code == 0, (wrong, told["wrong"], done.err)
    assert "Time control: move:1 instead of total:60+1" in done.err
    assert told["over"]
    bots = {each["entry"].partition("/")[0]: each for each in told["bots"]}
    hit = {name: set(each["forfeits"]) for name, each in bots.items()}
    assert hit["crash"] == {"bot_crash"}
    assert hit["memory-hog"], "as crashed, or by its flag on a machine that is busy"
    assert hit["memory-hog"] <= {"bot_crash", "flag_fall"}
    assert hit["hang"] == hit["slow"] == {"flag_fall"}
    assert hit["illegal"] == {"illegal_action"}
    assert hit["disconnect"] <= {"disconnect", "flag_fall", "no_show"}
    assert hit["disconnect"]
    for honest in ("staff", "honest-1", "honest-2", "double-login", "prints"):
        assert hit[honest] == set()
        assert bots[honest]["suspended"] == ""
        assert bots[honest]["table"]["matches"] > 0
    assert bots["import-failure"]["table"] is None
    assert bots["import-failure"]["grade"] == "nothing entered"
    assert "3 times it failed" in bots["crash"]["suspended"]
    assert bots["crash"]["table"]["status"] == "withdrawn"
    assert list(place.iterdir()) == []
    assert processes_with("TMPDIR", place) == []


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no list of processes")
def test_ctrl_c_ends_a_rehearsal_with_everything_cleaned_up(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(CUP, encoding="utf-8")
    place = tmp_path / "temporary"
    place.mkdir()
    running = subprocess.Popen(
        [*forked_command(), "competition", "rehearse", "cup.toml"],
        cwd=tmp_path,
        env=clean_environment({"TMPDIR": str(place)}),
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while len(processes_with("TMPDIR", place)) < 3:  # itself, the server, a bot
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert "Traceback" not in said
    assert list(place.iterdir()) == []
    assert processes_with("TMPDIR", place) == []


def test_a_file_with_mistakes_is_told_as_everywhere(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(CUP.replace("games", "gamse"), encoding="utf-8")
    done = plyhouse("competition", "rehearse", "cup.toml")
    assert done.code == 2
    assert "competition/missing_key" in done.err


# -------------------------------------------------------------------- what is made small


def test_what_is_not_as_in_the_file_is_said() -> None:
    small = scaled(CUP, 9)
    assert read_competition(small.text) == small.file
    assert (small.file.name, small.file.rules) == ("Größe 2", 'Say "hello".')
    assert (small.file.rounds, str(small.file.time_control)) == (1, "move:1")
    assert small.file.baselines == read_competition(CUP).baselines
    assert [each.partition(":")[0] for each in small.changes] == [
        "Dates are left out",
        "Rounds",
        "Time control",
        "Limit of students",
    ]
    short = scaled(CUP.replace("total:60+1", "move:0.3"), 1)
    assert str(short.file.time_control) == "move:0.3"
    assert str(scaled(CUP, 1, "move:2").file.time_control) == "move:2"


def test_formats_keep_their_parameters_but_for_what_only_takes_time() -> None:
    text = CUP.replace("rounds = 5\n", "")
    text += '[format]\nname = "groups_knockout"\nsize = 3\nadvance = 1\nbest_of = 7\nlaps = 2\n'
    small = scaled(text, 1)
    found = small.file.format.parameters
    assert {key: found[key] for key in ("size", "advance", "best_of", "laps")} == {
        "size": 3,
        "advance": 1,
        "best_of": 1,
        "laps": 1,
    }
    assert "Format: best_of = 1 instead of 7." in small.changes


def test_every_kind_of_value_survives() -> None:
    import tomllib

    values: dict[str, Any] = {
        "text": 'a "b" \\ \n ü \x7f',
        "numbers": [1, 2.5],
        "flag": True,
        "empty": [],
        "table": {"inner": {"deep": 1}},
        "tables": [{"a": 1, "under": {"b": "c"}}, {"a": 2}],
    }
    assert tomllib.loads(toml(values)) == values


# --------------------------------------------------------------------------- the judgement


@pytest.fixture
def cast() -> Cast:
    return cast_of(read_competition(CUP))


def in_table(entry: str, matches: int, forfeits: int) -> BoardLine:
    counts = (matches, 0, 0, 0, forfeits)
    return BoardLine(1, entry, "", "active", False, None, *counts, {}, "", "")


def as_promised(cast: Cast) -> RehearsalFacts:
    """A rehearsal in which everybody was treated as promised, each against honest-1."""
    matches, standings = [], []
    most = sum(role.event is not Event.ABSENT for role in cast) - 1
    for number, role in enumerate(cast):
        if role.event is Event.ABSENT:
            continue
        kind = min(role.forfeits, default="normal")
        culprit = role.entry if role.forfeits else ""
        entries = (role.entry, "honest-1/bot")
        tried = frozenset([role.entry])
        if role.name != "honest-1":
            matches.append(
                RehearsalMatch(
                    f"m{number}", "tic_tac_toe", entries, kind, culprit, (-1.0, 1.0), tried
                )
            )
        played = most if role.name == "honest-1" else 1
        standings.append(in_table(role.entry, played, len(role.forfeits) and 1))
    grades = [
        GradeLine(role.name, "nothing entered" if role.event is Event.ABSENT else "", None, "", {})
        for role in cast
    ]
    said = {role.entry: f"{role.prints} a_library_that_nobody_has" for role in cast}
    codes = {"import-failure/bot": 2, "double-login/bot": 4}
    return RehearsalFacts(True, (), matches, standings, grades, said, codes)


def wrong(cast: Cast, facts: RehearsalFacts) -> dict[str, str]:
    verdicts, all_of_it = judge(cast, facts)
    told = {each.role.name: "; ".join(each.wrong) for each in verdicts if each.wrong}
    return {**told, **({"": "; ".join(all_of_it)} if all_of_it else {})}


def change(facts: RehearsalFacts, name: str, **values: Any) -> RehearsalFacts:
    """The facts with the match of somebody changed."""
    matches = [
        replace(each, **values) if each.entries[0].startswith(f"{name}/") else each
        for each in facts.matches
    ]
    return replace(facts, matches=matches)


def test_all_is_well_when_it_is(cast: Cast) -> None:
    assert wrong(cast, as_promised(cast)) == {}


def test_each_wrong_treatment_is_told(cast: Cast) -> None:
    good = as_promised(cast)
    assert "promised" in wrong(cast, change(good, "hang", termination="normal", culprit=""))["hang"]
    crashed = change(good, "prints", termination="bot_crash", culprit="prints/bot")
    assert "it failed in 1 match" in wrong(cast, crashed)["prints"]
    assert "was void" in wrong(cast, change(good, "slow", termination="aborted", culprit=""))[""]
    assert "forfeited, and got 1" in wrong(cast, change(good, "crash", returns=(1.0, -1.0)))[""]
    assert "record does not hold" in wrong(cast, change(good, "crash", fault="FAILED chance"))[""]
    stuck = replace(good, over=False, waiting_for=["x is away."])
    assert "not over in time: x is away." in wrong(cast, stuck)[""]
    let_in = replace(good, codes={**good.codes, "double-login/bot": 0})
    assert "second login was not refused" in wrong(cast, let_in)["double-login"]
    silent = replace(good, said={})
    assert set(wrong(cast, silent)) == {"prints", "import-failure"}
    loaded = replace(good, grades=[], codes={**good.codes, "import-failure/bot": 0})
    assert "as if all was well" in wrong(cast, loaded)["import-failure"]
    suspended = replace(good, suspended={"honest-2/bot": "why not", "crash/bot": "3 times"})
    assert wrong(cast, suspended) == {"honest-2": "it was suspended: why not"}
    often = [replace(each, match=f"{n}") for n in range(9) for each in good.matches]
    assert "was not suspended" in wrong(cast, replace(good, matches=often, suspend_after=3))["slow"]
    forgotten = [line for line in good.standings if line.entry != "slow/bot"]
    assert "missing in the table" in wrong(cast, replace(good, standings=forgotten))["slow"]
    won = [in_table("import-failure/bot", 0, 0), *good.standings]
    assert "never connected" in wrong(cast, replace(good, standings=won))["import-failure"]
    lied = [replace(line, forfeits=0) for line in good.standings]
    assert "its matches say 1" in wrong(cast, replace(good, standings=lied))["crash"]


def test_names_of_the_staff_are_not_taken() -> None:
    text = CUP.replace("staff/easy", "crash/easy")
    names = [role.name for role in cast_of(read_competition(text))]
    assert len(set(names)) == len(names)
    assert {"crash", "crash-x"} <= set(names)


def test_a_forfeit_in_a_game_of_teams_may_cost_the_partner_as_much(cast: Cast) -> None:
    good = as_promised(cast)
    entries = ("crash/bot", "honest-2/bot", "prints/bot", "hang/bot")
    lost = RehearsalMatch("m", "bridge", entries, "bot_crash", "crash/bot", (-1.0, 1.0, -1.0, 1.0))
    assert wrong(cast, replace(good, over=False, matches=[lost]))[""].count("forfeited") == 0
    paid = replace(lost, returns=(-1.0, -1.0, -1.0, -1.0))
    said = wrong(cast, replace(good, over=False, matches=[paid]))[""]
    assert "crash/bot forfeited, and got -1 of [-1.0, -1.0]" in said


def test_a_bot_that_had_no_turn_to_misbehave_is_not_blamed(cast: Cast) -> None:
    good = as_promised(cast)
    entries = ("honest-1/bot", "honest-2/bot", "slow/bot", "hang/bot")
    ended = RehearsalMatch("m", "liars_dice", entries, "normal", "", (-3.0, 1.0, 1.0, 1.0))
    matches = [each for each in good.matches if each.entries[0] != "slow/bot"]
    told = wrong(cast, replace(good, matches=[*matches, ended]))
    assert "promised" not in told.get("slow", "")
    played = replace(ended, tried=frozenset(["slow/bot"]))
    told = wrong(cast, replace(good, matches=[*matches, played]))
    assert "ran out of time was promised" in told["slow"]


@pytest.mark.parametrize(
    ("game", "style"),
    [
        ("liars_dice(seats=6,dice=1)", '[format]\nname = "tables"\nnumber = 2'),
        ("bridge(boards=1)", 'mirrored = false\nteams = true\n[format]\nname = "swiss"'),
    ],
)
def test_game_of_more_than_two_seats_or_of_sides_is_rehearsed(
    plyhouse: Plyhouse, tmp_path: Path, game: str, style: str
) -> None:
    text = f'name = "Cup"\ngames = ["{game}"]\ntime_control = "move:1"\n{style}\n'
    (tmp_path / "cup.toml").write_text(text, encoding="utf-8")
    done = plyhouse("competition", "rehearse", "cup.toml", "--minutes", "4", "--json")
    told = json.loads(done.out)
    wrongs = [each["wrong"] for each in [told, *told["bots"]] if each["wrong"]]
    assert done.code == 0, (wrongs, done.err)
    assert told["over"]
