"""``plyhouse match --sprt`` and ``--resume``: tests that stop by themselves, and go on."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.conftest import Plyhouse, Zygote, clean_environment, command
from tests.cli.terminal import in_terminal

from plyhouse.bots.loading import check_spec
from plyhouse.clients.arena.content_hash import bot_version, game_version, source_files
from plyhouse.clients.arena.pairing_log import Conditions, Entrant, PairingLog
from plyhouse.clients.arena.series import Series
from plyhouse.clients.arena.sprt_trial import Trial, pair_value, random_plies
from plyhouse.clients.arena.tally import MatchResult
from plyhouse.clients.shared.errors import CommandError
from plyhouse.games.registry import get_game

FIRST = """
from plyhouse.bots import Bot

class First(Bot):
    def choose(self, turn):
        return turn.legal[0]
"""
GAME = ("--game", "tic_tac_toe", "--seed", "1", "--time-control", "move:100")
"""With more time than a loaded machine ever takes: a flag that falls would change a result."""


@pytest.fixture
def first(tmp_path: Path) -> Path:
    path = tmp_path / "first.py"
    path.write_text(FIRST)
    return path


def told(text: str) -> Any:
    """The document without what is measured."""
    document = json.loads(text)
    for bot in document.get("bots", ()):
        del bot["seconds_per_game"]
    return document


def test_a_better_bot_is_accepted_and_the_run_stops(plyhouse: Plyhouse, first: Path) -> None:
    run = ("match", "first.py", "random", *GAME, "--sprt", "0,100", "--opening-plies", "0")
    done = plyhouse(*run)
    assert done.code == 0, done.err
    assert "\nH1 accepted after " in done.out
    assert "first is better than random by more than 0 Elo (LLR +" in done.out
    assert "bounds [−2.94, +2.94]" in done.out
    pairs = re.search(r"after (\d+) pairs", done.out)
    assert pairs is not None
    assert int(pairs[1]) < 200, "the maximum is 10000"


def test_a_worse_bot_is_not(plyhouse: Plyhouse, first: Path) -> None:
    done = plyhouse("match", "random", "first.py", *GAME, "--sprt", "0,100", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    (candidate,) = document["candidates"]
    assert document["base"] == "first"
    assert candidate["accepted"] == "H0"
    assert candidate["llr"] <= candidate["lower"]
    assert candidate["games"] == 2 * candidate["pairs"]
    assert candidate["value"]["low"] <= candidate["value"]["value"] <= candidate["value"]["high"]


def test_no_decision_within_the_maximum_says_so(plyhouse: Plyhouse, first: Path) -> None:
    done = plyhouse("match", "first.py", "random", *GAME, "--sprt", "0,5", "--max-pairs", "4")
    assert done.code == 0, done.err
    assert "No decision within 4 pairs: whether first is better than random" in done.out
    assert "  -  " in done.out


def test_how_many_processes_play_changes_nothing(plyhouse: Plyhouse, first: Path) -> None:
    run = ("match", "first.py", "random", *GAME, "--sprt", "0,150", "--json")
    one, two = plyhouse(*run, "--jobs", "1"), plyhouse(*run, "--jobs", "2")
    assert (one.code, two.code) == (0, 0), one.err + two.err
    assert told(one.out) == told(two.out)


def test_several_candidates_share_one_error_budget(plyhouse: Plyhouse, first: Path) -> None:
    done = plyhouse(
        "match", "first.py", "minimax(depth=2)", "random", "--base", "random", *GAME,
        "--sprt", "0,200", "--max-pairs", "60", "--jobs", "2", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    document = json.loads(done.out)
    names = [candidate["name"] for candidate in document["candidates"]]
    assert names == ["first", "minimax-depth-2", "random"]
    assert document["base"] == "random-2"
    uppers = {round(candidate["upper"], 2) for candidate in document["candidates"]}
    assert uppers <= {4.04, 3.64, 2.94}
    assert 4.04 in uppers
    strong = document["candidates"][1]
    assert (strong["accepted"], strong["losses"] < strong["wins"]) == ("H1", True)


def test_chips_are_tested_in_chips_unless_told_otherwise(plyhouse: Plyhouse) -> None:
    run = ("match", "kuhn_optimal", "random", "--game", "kuhn_poker", "--seed", "2", "--max-pairs",
           "20", "--json")  # fmt: skip
    chips = json.loads(plyhouse(*run, "--sprt", "0,0.5").out)
    assert chips["test"]["unit"] == "utility"
    assert "elo_difference" not in chips["candidates"][0]
    elo = json.loads(plyhouse(*run, "--sprt", "0,50", "--sprt-unit", "elo").out)
    assert elo["test"]["unit"] == "elo"
    assert 0 <= elo["candidates"][0]["value"]["value"] <= 1


def test_in_games_of_three_the_base_has_the_other_seats(plyhouse: Plyhouse) -> None:
    done = plyhouse(
        "match", "maxn(depth=3)", "random", "--game", "pig(seats=3,target=20)", "--seed", "1",
        "--sprt", "0,200", "--max-pairs", "100", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    (candidate,) = json.loads(done.out)["candidates"]
    assert candidate["games"] == 3 * candidate["pairs"]
    assert candidate["accepted"] == "H1"


def test_games_that_repeat_decide_nothing(plyhouse: Plyhouse, first: Path) -> None:
    last = first.with_name("last.py")
    last.write_text(FIRST.replace("legal[0]", "legal[-1]").replace("First", "Last"))
    done = plyhouse(
        "match", "last.py", "first.py", *GAME, "--sprt", "0,100", "--opening-plies", "0"
    )
    assert done.code == 1, done.err
    assert "accepted after" not in done.out
    assert "No decision after 21 pairs: the pairs of last repeat earlier ones" in done.out
    assert "--opening-plies 4" in done.out


def test_bots_without_chance_play_from_random_openings(plyhouse: Plyhouse, first: Path) -> None:
    game = ("--game", "connect_four(columns=5,rows=4)", "--time-control", "move:100")
    done = plyhouse(
        "match", "alpha_beta(depth=4)", "first.py", *game, "--sprt", "0,100", "--seed", "3"
    )
    assert done.code == 0, done.err
    assert "4 random opening plies" in done.out
    assert "H1 accepted" in done.out


def test_pair_that_repeats_an_earlier_one_does_not_count() -> None:
    def trial(spec: str) -> Trial:
        series = Series(("a", "b"), ("a", "b"), spec, "move:1", "forfeit", True, 1, False)
        return Trial(
            [series], get_game(spec), (0, 100), unit="elo", alpha=0.05, beta=0.05, max_pairs=99
        )

    def pair(index: int, course: str) -> list[MatchResult]:
        won = MatchResult(index, (0, 1), (1.0, -1.0), "normal", None, 3, (), course=course)
        return [won, dataclasses.replace(won, bots=(1, 0))]

    determined, chance = trial("nim"), trial("pig")
    for each in (determined, chance):
        for index, course in reversed(list(enumerate("aaabab"))):
            each.hear(0, index, pair(index, course))
        assert each.sprt.taken(0) == 6
    assert determined.sprt.state(0).pairs == 2
    assert chance.sprt.state(0).pairs == 4
    for each in (determined, chance):
        for index in range(6, 60):
            each.hear(0, index, pair(index, "a"))
    assert determined.repeats(0)
    assert not determined.sprt.is_open(0)
    assert not chance.repeats(0)
    alike = trial("pig")
    for index in range(60):
        alike.hear(0, index, pair(index, "a"))
    assert (alike.repeats(0), alike.sprt.state(0).verdict) == (True, None)
    assert alike.sprt.state(0).pairs == 1


def test_default_of_random_opening_plies_fits_the_game() -> None:
    plies = {spec: random_plies(get_game(spec)) for spec in ("chess", "tic_tac_toe", "pig")}
    assert plies == {"chess": 4, "tic_tac_toe": 2, "pig": 0}
    assert random_plies(get_game("rock_paper_scissors")) == 0


def test_a_crashing_candidate_loses_and_is_told(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "crash.py").write_text(FIRST.replace("turn.legal[0]", "1 / 0"))
    done = plyhouse("match", "crash.py", "random", *GAME, "--sprt", "0,100", traceback=True)
    assert done.code == 1
    assert "H0 accepted" in done.out
    assert "could not be played as they should; the first ended by bot crash of crash" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("random", "random", *GAME, "--sprt", "10,0"), "H1 has to be more than H0"),
        (("random", "random", *GAME, "--sprt", "0,0"), "H1 has to be more than H0"),
        (("random", "random", *GAME, "--sprt", "10"), "two numbers"),
        (("random", "random", *GAME, "--sprt", "a,b"), "two numbers"),
        (("random", "random", *GAME, "--sprt", "0,nan"), "two numbers"),
        (("random", "random", *GAME, "--sprt", "0,1e9"), "some doubt"),
        (("random", "random", *GAME, "--sprt", "0,10", "--no-mirrored"), "mirrored pairs"),
        (("random", "random", *GAME, "--sprt", "0,10", "--games", "50"), "--max-pairs"),
        (("random", "random", *GAME, "--sprt", "0,10", "--alpha", "0.6"), "--alpha"),
        (("random", "random", *GAME, "--sprt", "0,10", "--max-pairs", "0"), "--max-pairs"),
        (("random", "random", *GAME, "--base", "random"), "--base goes with --sprt"),
        (("random", "random", *GAME, "--beta", "0.1"), "--beta goes with --sprt"),
        (("random", *GAME, "--sprt", "0,10"), "--base old.py"),
        (("random", "random", "random", *GAME, "--sprt", "0,10"), "--base old.py"),
        (("random", "--base", "rnadom", *GAME, "--sprt", "0,10"), "did you mean random?"),
        (("random", "random", "--game", "kuhn_poker", "--sprt", "0,10"), "between -2 and 2"),
        (("random", "--game", "pacman(ghosts=random)", "--sprt", "0,10"), "has one seat"),
        (("random", "random", *GAME, "--sprt", "0,10", "--resume", "no/such/file"), "no/such"),
        (("random", "random", *GAME, "--sprt", "0,10", "--resume", "other.txt"), "no file of"),
    ],
)
def test_what_cannot_be_tested_is_one_sentence(
    plyhouse: Plyhouse, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "other.txt").write_text("my notes\n")
    done = plyhouse("match", *arguments)
    assert done.code == 2, done.err
    assert message in done.err
    assert done.err.count("\n") == 1, done.err
    assert done.out == ""
    assert (tmp_path / "other.txt").read_text() == "my notes\n"


def test_an_interrupted_test_goes_on_to_the_same_end(
    plyhouse: Plyhouse, tmp_path: Path, first: Path
) -> None:
    run = ("match", "first.py", "random", *GAME, "--sprt", "0,2", "--save", "games.jsonl")
    file = tmp_path / "run.jsonl"
    with subprocess.Popen(
        [*command(), *run, "--resume", "run.jsonl"],
        cwd=tmp_path,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 100
        while not file.exists() or file.read_bytes().count(b"\n") < 4:
            assert time.monotonic() < deadline
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as the terminal does
        out, err = process.communicate(timeout=100)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "Interrupted: LLR " in err
    assert "--resume run.jsonl goes on" in err
    assert "Undecided so far after" in out
    played = file.read_bytes().count(b"\n") - 1
    maximum = ("--max-pairs", str(played + 3), "--json")
    resumed = plyhouse(*run, "--resume", "run.jsonl", *maximum)
    assert resumed.code == 0, resumed.err
    assert f"Going on after {played} pairs of run.jsonl" in resumed.err
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 2 * (played + 3)
    assert plyhouse("verify", "games.jsonl").code == 0
    whole = plyhouse(*run[:-2], *maximum)
    assert told(resumed.out) == told(whole.out)
    again = plyhouse(*run[:-2], "--resume", "run.jsonl", *maximum)
    assert told(again.out) == told(whole.out), "nothing is left to be played"


def test_a_series_of_fixed_length_goes_on_too_and_keeps_its_seed(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    run = ("match", "random", "random", "--game", "pig(target=10)", "--json", "--resume", "a.jsonl")
    begun = plyhouse(*run, "--games", "4", "--seed", "7")
    assert begun.code == 0, begun.err
    resumed = plyhouse(*run, "--games", "10", "--jobs", "2")
    assert "Going on after 2 pairings of a.jsonl" in resumed.err
    whole = plyhouse(*run[:-2], "--games", "10", "--seed", "7")
    assert told(resumed.out) == told(whole.out)
    shorter = plyhouse(*run, "--games", "4")
    assert told(shorter.out) == told(begun.out)


KEPT = ("match", "random", "random", *GAME, "--sprt", "0,10", "--max-pairs", "2")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> bytes:
    """The file of one series."""
    folder = tmp_path_factory.mktemp("kept")
    done = zygote.run((*KEPT, "--resume", "run.jsonl"), folder, clean_environment())
    assert done.code == 0, done.err
    return (folder / "run.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--game", "nim"), "the game is tic_tac_toe there and nim here"),
        (("--time-control", "move:2"), "the time control is move:100 there and move:2 here"),
        (("--seed", "2"), "the seed is 1 there and 2 here"),
        (("--opening-plies", "3"), "the random opening plies are 2 there and 3 here"),
        (("--illegal-rule", "retry"), "the rule for illegal actions is forfeit there"),
        (("--sprt", "0,20"), "the test is H0 0.0, H1 10.0"),
        (("--alpha", "0.1"), "the test is "),
        (("--base", "random"), "the number of bots is 2 there and 3 here"),
    ],
)
def test_the_file_of_another_series_is_refused(
    plyhouse: Plyhouse, tmp_path: Path, kept: bytes, change: tuple[str, ...], message: str
) -> None:
    (tmp_path / "run.jsonl").write_bytes(kept)
    refused = plyhouse(*KEPT, "--resume", "run.jsonl", *change)
    assert refused.code == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1
    assert (tmp_path / "run.jsonl").read_bytes() == kept


def test_the_file_of_an_older_version_of_a_bot_is_refused(plyhouse: Plyhouse, first: Path) -> None:
    run = ("match", "first.py", "random", *GAME, "--sprt", "0,10", "--max-pairs", "2", "--resume",
           "run.jsonl")  # fmt: skip
    assert plyhouse(*run).code == 0
    first.write_text(FIRST.replace("turn.legal[0]", "turn.legal[-1]"))
    refused = plyhouse(*run)
    assert refused.code == 2
    assert "a bot is first (sha256:" in refused.err
    assert "another version" in refused.err
    first.write_text(FIRST)
    assert plyhouse(*run).code == 0


def test_the_bar_shows_the_ratio_and_its_bounds(tmp_path: Path, first: Path) -> None:
    shown = in_terminal(
        "match", "first.py", "random", *GAME, "--sprt", "0,50", "--max-pairs", "30",
        cwd=tmp_path, columns=100,
    )  # fmt: skip
    assert shown.code == 0
    assert re.search(r"\d+/30 .*LLR [−+]?\d\.\d\d \[−2\.94, \+2\.94\]", shown.text)
    plain = in_terminal(
        "match", "random", "random", *GAME, "--sprt", "0,1", "--max-pairs", "30",
        env={"TERM": "dumb"}, cwd=tmp_path,
    )  # fmt: skip
    assert "25 of 30 pairings: LLR " in plain.text


CONDITIONS = Conditions(
    1, "nim", "g", "move:1", "forfeit", True, 0, 1, (Entrant("a", "x"), Entrant("b", "y"))
)
RESULT = MatchResult(0, (0, 1), (1.0, -1.0), "normal", None, 3, (1, 2))


def test_a_line_that_was_cut_off_is_dropped_and_written_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with PairingLog.open(path, CONDITIONS) as ledger:
        ledger.add(0, 0, [RESULT])
        ledger.add(0, 1, [RESULT])
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        if 0 < cut <= whole.index(b"\n"):
            with pytest.raises(CommandError, match="no file of --resume"):
                PairingLog.open(path, CONDITIONS)
            continue
        with PairingLog.open(path, CONDITIONS) as ledger:
            for index in range(len(ledger.played), 2):
                ledger.add(0, index, [RESULT])
        assert path.read_bytes() == whole


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with PairingLog.open(path, CONDITIONS) as ledger:
        ledger.add(0, 0, [RESULT])
    path.write_bytes(path.read_bytes() + b'{"candidate":0}\n')
    with pytest.raises(CommandError, match="line 3, is damaged"):
        PairingLog.open(path, CONDITIONS)


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    later = msgspec.structs.replace(CONDITIONS, plyhouse_pairings=2)
    path.write_bytes(msgspec.json.encode(later) + b"\n")
    with pytest.raises(CommandError, match="has format 2"):
        PairingLog.open(path, CONDITIONS)


@pytest.mark.skipif(os.name != "posix", reason="files are locked on POSIX systems only")
def test_two_series_do_not_write_into_one_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with PairingLog.open(path, CONDITIONS), pytest.raises(CommandError, match="is in use"):
        PairingLog.open(path, CONDITIONS)
    with PairingLog.open(path, CONDITIONS) as ledger:
        assert ledger.played == []


def test_the_version_of_a_bot_is_its_content(tmp_path: Path) -> None:
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / "__init__.py").write_text("")
    (tmp_path / "helpers" / "deep.py").write_text("from plan import x\n")
    (tmp_path / "plan.py").write_text("x = 1\n")
    (tmp_path / "unused.py").write_text("y = 1\n")
    bot = tmp_path / "bot.py"
    bot.write_text("import math, helpers.deep\n" + FIRST)
    version = bot_version(check_spec(str(bot)))
    assert {file.name for file in source_files(bot)} == {
        "bot.py", "__init__.py", "deep.py", "plan.py",
    }  # fmt: skip

    (tmp_path / "unused.py").write_text("y = 2\n")
    assert bot_version(check_spec(str(bot))) == version
    elsewhere = tmp_path / "copy"
    elsewhere.mkdir()
    for name in ("bot.py", "plan.py"):
        (elsewhere / name).write_bytes((tmp_path / name).read_bytes())
    (tmp_path / "helpers").rename(elsewhere / "helpers")
    assert bot_version(check_spec(str(elsewhere / "bot.py"))) == version
    (elsewhere / "plan.py").write_text("x = 2\n")
    assert bot_version(check_spec(str(elsewhere / "bot.py"))) != version


def test_a_file_that_an_option_names_is_part_of_the_version(tmp_path: Path) -> None:
    weights = tmp_path / "weights.toml"
    weights.write_text("a = 1\n")
    spec = f'linear(file="{weights}")'
    version = bot_version(spec)
    weights.write_text("a = 2\n")
    assert bot_version(spec) != version
    assert bot_version("linear(depth=1)") != bot_version("linear(depth=2)")


def test_the_version_of_a_game_is_its_file_and_parameters(tmp_path: Path) -> None:
    assert game_version(get_game("nim")) == game_version(get_game("nim"))
    assert game_version(get_game("pig")) != game_version(get_game("pig(target=50)"))


def test_a_pair_with_a_game_that_does_not_count_does_not_count() -> None:
    void = MatchResult(0, (1, 0), (), "aborted", None, 0, ())
    assert pair_value([RESULT, void], "elo") is None
    assert pair_value([RESULT, RESULT], "elo") == 1.0
    assert pair_value([RESULT, RESULT], "utility") == 1.0
    three = MatchResult(0, (2, 0, 1), (4.0, 1.0, 1.0), "normal", None, 3, ())
    assert pair_value([three], "elo") == 0.25
    assert pair_value([three], "utility") == -0.75
