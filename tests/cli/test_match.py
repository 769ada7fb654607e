"""``plyhouse match``: the local arena."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.conftest import Plyhouse
from tests.cli.terminal import in_terminal

from plyhouse.clients.arena.bot_labels import bot_labels
from plyhouse.clients.arena.process import pairing_seed, seat_orders
from plyhouse.clients.arena.series import Series
from plyhouse.clients.arena.tally import MatchResult
from plyhouse.clients.cli.match import _faults
from plyhouse.games.base import TERMINAL
from plyhouse.games.registry import get_game

CRASH = """
from plyhouse.bots import Bot

class Crash(Bot):
    def choose(self, turn):
        print("about to fail")
        return 1 / 0
"""

THINKER = """
import time
from plyhouse.bots import Bot

class Thinker(Bot):
    def choose(self, turn):
        print("thinking", flush=True)
        time.sleep(3600)
"""


def test_a_series_is_repeatable_and_its_records_hold(plyhouse: Plyhouse, tmp_path: Path) -> None:
    series = ("match", "random", "random", "--game", "pig(target=30)", "--games", "6", "--json")
    first = plyhouse(*series, "--seed", "7", "--save", "games.jsonl")
    assert first.code == 0, first.err
    again = plyhouse(*series, "--seed", "7", "--jobs", "2")
    other = plyhouse(*series, "--seed", "8")

    def told(text: str) -> object:
        document = json.loads(text)
        for bot in document["bots"]:
            del bot["seconds_per_game"]  # the one thing that is measured
        return document

    assert told(first.out) == told(again.out)
    assert told(first.out) != told(other.out)
    records = (tmp_path / "games.jsonl").read_text().splitlines()
    assert len(records) == 6
    verified = plyhouse("verify", "games.jsonl")
    assert (verified.code, verified.out) == (0, "All 6 records are sound.\n")


def test_openings_differ_by_pairing_and_are_the_same_from_both_seats(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    series = ("match", "alpha_beta(depth=2)", "alpha_beta(depth=1)", "--game", "connect_four")
    done = plyhouse(
        *series, "--games", "8", "--seed", "3", "--opening-plies", "4", "--save", "games.jsonl"
    )
    assert done.code == 0, done.err
    pairings: dict[str, list[tuple[str, ...]]] = {}
    for line in (tmp_path / "games.jsonl").read_text().splitlines():
        record = json.loads(line)
        played = [event["text"] for event in record["events"] if event["kind"] == "action"]
        pairings.setdefault(record["pairing"], []).append(tuple(played[:4]))
    assert len(pairings) == 4
    assert all(first == second for first, second in pairings.values())
    assert len({first for first, _ in pairings.values()}) > 1


def test_the_result_has_its_interval_and_no_progress_when_piped(plyhouse: Plyhouse) -> None:
    done = plyhouse(
        "match", "alpha_beta", "random", "--game", "tic_tac_toe", "--games", "3",
        "--time-control", "move:0.05",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "4 games in 2 mirrored pairs" in done.out, "rounded up to whole pairs"
    assert "Elo difference alpha_beta - random: " in done.out
    assert "\r" not in done.err
    assert "--seed" in done.err, "how to repeat it"
    counts = [int(n) for n in done.out.splitlines()[2].split()[2].split("-")]
    assert sum(counts) == 4


def test_three_seats_take_three_bots(plyhouse: Plyhouse) -> None:
    done = plyhouse(
        "match", "random", "random", "random", "--game", "pig(seats=3,target=10)", "--games", "3",
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert [bot["name"] for bot in document["bots"]] == ["random", "random-2", "random-3"]
    assert "elo_difference" not in document


def test_a_crashing_bot_is_told_to_its_author_there_and_in_the_log_folder(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    (tmp_path / "crash.py").write_text(CRASH)
    series = ("match", "crash.py", "random", "--game", "tic_tac_toe", "--games", "4")
    done = plyhouse(*series, "--log-folder", "logs", traceback=True)
    assert done.code == 1
    assert "[crash] about to fail" in done.err
    assert "ZeroDivisionError" in done.err
    assert "the position was" in done.err
    assert done.err.count("the bot failed") == 1, "once, however often it crashes"
    assert "4 of 4 games could not be played as they should" in done.err
    assert "4 bot_crash" in done.out
    log = (tmp_path / "logs" / "crash.log").read_text()
    assert log.count("about to fail") == 4
    assert log.count("ZeroDivisionError: division by zero\n") >= 4


def test_game_that_the_bot_does_not_claim_is_noted(plyhouse: Plyhouse, tmp_path: Path) -> None:
    claims = 'games = ("nim",)'
    text = f"from plyhouse.bots import Bot\nclass B(Bot):\n    {claims}\n"
    (tmp_path / "b.py").write_text(
        f"{text}    def choose(self, turn):\n        return turn.legal[0]"
    )
    series = ("match", "b.py", "random", "--games", "2", "--jobs", "1")
    done = plyhouse(*series, "--game", "coins")
    assert done.code == 0
    assert "[b] this bot's `games` has only nim: it may not know how to play coins" in done.err
    done = plyhouse(*series, "--game", "nim(misere=True)")
    assert done.code == 0
    assert "may not know" not in done.err


def test_flag_fall_without_a_report_names_the_remedy(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(CRASH.replace("return 1 / 0", "__import__('time').sleep(9)"))
    series = ("match", "slow.py", "random", "--game", "coins", "--games", "2", "--jobs", "1")
    done = plyhouse(*series, "--time-control", "move:0.1")
    assert "no action so far; use turn.limit for searches, or turn.report" in done.err
    assert ", turn.ply 0: time nearly out" in done.err
    assert done.code == 1
    assert "2 of 2 games could not be played as they should; the first ended by flag" in done.err


def test_flag_fall_among_other_ends_is_a_loss_as_others() -> None:
    fallen, played, crashed = (
        MatchResult(0, (0, 1), (-1.0, 1.0), termination, 0, 3, (0, 0))
        for termination in ("flag_fall", "normal", "bot_crash")
    )
    assert _faults([fallen, played]) == []
    assert _faults([fallen, played, crashed]) == [crashed]
    assert _faults([fallen, crashed]) == [fallen, crashed]
    assert _faults([]) == []


def test_an_action_that_is_none_is_explained_once(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text(CRASH.replace("return 1 / 0", "return None"))
    done = plyhouse("match", "none.py", "random", "--game", "tic_tac_toe", "--games", "2")
    assert done.code == 1
    assert done.err.count("returned no action: None is not an action of tic_tac_toe") == 1
    assert "the position was" in done.err


def test_a_bot_that_breaks_the_rules_fails_the_command(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "zz.py").write_text(CRASH.replace("return 1 / 0", "return 'zz'"))
    done = plyhouse("match", "zz.py", "random", "--game", "tic_tac_toe", "--games", "2")
    assert done.code == 1
    assert "2 of 2 games could not be played as they should" in done.err
    assert "the first ended by illegal action of zz" in done.err


def test_a_log_folder_that_cannot_be(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = plyhouse(
        "match", "random", "random", "--game", "tic_tac_toe", "--log-folder", "file/logs"
    )
    assert (refused.code, "file/logs" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.py", "random", "--game", "pig"), "no file missing.py"),
        (("noimport.py", "random", "--game", "pig"), "does not import"),
        (("syntax.py", "random", "--game", "pig"), "SyntaxError"),
        (("nobot.py", "random", "--game", "pig"), "has no bot"),
        (("rnadom", "random", "--game", "pig"), "did you mean random?"),
        (("random", "random", "--game", "pgi"), "did you mean pig?"),
        (("random", "random", "--game", "pig(target=x)"), "target"),
        (("random", "--game", "pig"), "name 2 bots"),
        (("random", "random", "--game", "pig", "--time-control", "blitz"), "move:1"),
        (("random", "random", "--game", "pig", "--games", "0"), "--games"),
        (("random", "random", "--game", "pig", "--save", "no/such/file"), "no/such/file"),
        (("random", "random"), "--game"),
    ],
)
def test_what_cannot_be_played_is_one_sentence(
    plyhouse: Plyhouse, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "noimport.py").write_text("import no_such_module_here\n")
    (tmp_path / "syntax.py").write_text("def choose(:\n")
    (tmp_path / "nobot.py").write_text("x = 1\n")
    done = plyhouse("match", *arguments)
    assert done.code == 2, done.err
    assert message in done.err
    assert done.err.count("\n") == 1, done.err
    assert done.out == ""


def test_a_process_of_the_arena_ends_with_its_parent_in_the_middle_of_a_match(
    tmp_path: Path,
) -> None:
    bot = tmp_path / "thinker.py"
    bot.write_text(THINKER)
    series = Series((str(bot), "random"), ("a", "b"), "tic_tac_toe", "move:3600", "forfeit", True,
                    1, False)  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "plyhouse.clients.arena.process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            process.stdin.write(msgspec.json.encode(series) + b"\n0\n")
            process.stdin.flush()
            assert b"ready" in process.stdout.readline()
            assert b"thinking" in process.stderr.readline()
            process.stdin.close()  # as the system does when the parent is killed
            assert process.wait(60) == 0
        finally:
            process.kill()


def test_bots_are_told_apart() -> None:
    assert bot_labels(("random", "a/random.py", "x.py:Deep", "x.py:Deep")) == (
        "random",
        "a-random",
        "Deep",
        "Deep-2",
    )


def test_commands_are_told_apart_by_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.mjs").touch()
    (tmp_path / "book").touch()
    assert bot_labels(("cmd:old/mybot", "cmd:new/mybot")) == ("old-mybot", "new-mybot")
    assert bot_labels(("cmd:node bot.mjs", "cmd:./go --book book")) == ("bot", "go")
    assert bot_labels(("cmd:./go", "cmd:./go --depth 9")) == ("go", "go-depth-9")
    assert bot_labels(("cmd:java -cp a Bot", "cmd:java -cp b Bot")) == (
        "java-cp-a-Bot",
        "java-cp-b-Bot",
    )
    assert bot_labels(("cmd:'my bots/last.py' 'log'", ".")) == ("last.py", tmp_path.name[:28])


def test_files_may_be_called_what_bots_cannot() -> None:
    assert bot_labels(("quitter.py", "quitter.py:Quitter")) == ("quitter", "Quitter-2"), (
        "the referee takes no two names that differ in case only"
    )
    labels = bot_labels(("my bot (copy).py", "schüler.py", "名前.py", "a" * 90 + ".py"))
    assert labels == ("my-bot-copy", "sch-ler", "bot", "a" * 28)


def test_every_bot_has_every_seat() -> None:
    assert seat_orders(range(3), True, 5) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert [seat_orders(range(2), False, index) for index in range(3)] == [
        [(0, 1)],
        [(1, 0)],
        [(0, 1)],
    ]


def test_two_bots_play_a_team_each_in_bridge_with_the_same_deals(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    game = ("--game", "bridge(boards=1)", "--seed", "7", "--save", "records.jsonl", "--json")
    done = plyhouse("match", "easy", "random", *game, "--games", "4")
    found = json.loads(done.out)
    assert done.code == 0, done.err
    one, other = found["bots"]
    assert (one["games"], other["games"]) == (4, 4)
    assert (one["wins"], one["losses"]) == (other["losses"], other["wins"])
    assert one["mean"]["value"] == -other["mean"]["value"]
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    seated = [[seat["bot"] for seat in each["seats"]] for each in records]
    north, east = ["easy", "random", "easy.2", "random.2"], ["random", "easy", "random.2", "easy.2"]
    assert seated == [north, east] * 2
    deals = [
        [event["text"] for event in each["events"] if event["kind"] == "chance"] for each in records
    ]
    assert deals[0] == deals[1]
    assert deals[2] == deals[3] != deals[0]


def test_four_bots_play_bridge_as_partners_and_three_are_refused(plyhouse: Plyhouse) -> None:
    done = plyhouse("match", "random", "random", "random", "--game", "bridge")
    assert done.code == 2
    assert "name 4 bots, or 2 that play a team each; not 3" in done.err


def test_two_bots_in_a_game_of_one_seat_are_refused_without_a_word_of_teams(
    plyhouse: Plyhouse,
) -> None:
    done = plyhouse("match", "random", "random", "--game", "pacman(ghosts=random)")
    assert done.code == 2
    assert "name 1 bot; not 2" in done.err


def test_pairings_have_seeds_of_their_own() -> None:
    seeds = {pairing_seed(seed, index) for seed in range(20) for index in range(20)}
    assert len(seeds) == 400
    assert all(len(seed) == 32 for seed in seeds)


@pytest.mark.parametrize(
    ("game", "more", "again"),
    [
        ("tic_tac_toe", (), "The same random numbers of bots again: --seed "),
        (
            "tic_tac_toe",
            ("--opening-plies", "2"),
            "The same openings and random numbers of bots again: --seed ",
        ),
        ("pig(target=10)", (), "The same chance events and random numbers of bots again: --seed "),
        ("kuhn_poker", (), "The same chance events and random numbers of bots again: --seed "),
    ],
)
def test_seed_note_names_what_the_seed_repeats(
    plyhouse: Plyhouse, game: str, more: tuple[str, ...], again: str
) -> None:
    done = plyhouse("match", "random", "random", "--game", game, "--games", "2", *more)
    assert done.code == 0, done.err
    assert again in done.err


def test_one_bot_plays_a_game_of_one_seat_alone(plyhouse: Plyhouse) -> None:
    alone = ("match", "random", "--game", "pacman(ghosts=random,steps=10)", "--games", "3")
    done = plyhouse(*alone, "--seed", "1", "--json")
    assert done.code == 0, done.err
    (bot,) = json.loads(done.out)["bots"]
    assert (bot["games"], bot["wins"], bot["losses"], bot["score"]) == (3, 0, 0, None)
    assert bot["mean"]["value"] != 0
    assert "random" in plyhouse(*alone, "--seed", "1").out
    refused = plyhouse("match", "random", *alone[1:])
    assert refused.code == 2
    assert "1 seat in pacman" in refused.err


CHATTY = """
from plyhouse.bots import Bot

class Chatty(Bot):
    def choose(self, turn):
        print("I think of", turn.legal_text[0], "now")
        return turn.legal[0]
"""


def test_what_bots_print_does_not_tear_the_bar_and_the_score_runs(tmp_path: Path) -> None:
    (tmp_path / "chatty.py").write_text(CHATTY, encoding="utf-8")
    shown = in_terminal(
        "match", "chatty.py", "random", "--game", "tic_tac_toe", "--games", "60", cwd=tmp_path
    )
    assert shown.code == 0
    said = [line for line in shown.lines if "I think of" in line]
    assert len(said) > 100
    assert all(line.startswith("[chatty] I think of") and line.endswith("now") for line in said)
    assert re.search(r"\d+/30 .*chatty [\d.]+ : [\d.]+ random", shown.text)
    assert all(len(line) <= 80 for line in shown.lines)
    for column in ("W-D-L", "mean", "forfeits", "time/game"):
        assert column in shown.text


def test_a_dumb_terminal_is_told_how_the_series_stands(tmp_path: Path) -> None:
    shown = in_terminal(
        "match", "random", "random", "--game", "coin_guess", "--games", "40",
        env={"TERM": "dumb"}, cwd=tmp_path,
    )  # fmt: skip
    assert "\x1b" not in shown.raw
    assert "10 of 20 pairings: random " in shown.text


def test_matches_of_a_pairing_have_the_same_deals_whatever_is_bet(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    series = ("match", "random", "equity", "--game", "texas_holdem(hands=6)", "--games", "4")
    done = plyhouse(*series, "--seed", "5", "--save", "games.jsonl")
    assert done.code == 0, done.err
    assert "mean, bb/100" in done.out
    assert "without luck" in done.out
    pairings: dict[str, list[list[list[str]]]] = {}
    for line in (tmp_path / "games.jsonl").read_text().splitlines():
        record = json.loads(line)
        game = get_game("texas_holdem(hands=6)")
        state: Any = game.initial_state()
        deals: list[list[str]] = [[] for _ in range(6)]
        for event in record["events"]:
            if event["kind"] == "chance":
                deals[state.hand].append(event["text"])
                state = state.after(game.parse_chance(state, event["text"]))
            elif event["kind"] == "action":
                state = state.after(game.parse(state, event["text"]))
        pairings.setdefault(record["pairing"], []).append(deals)
    assert len(pairings) == 2
    lengths = set()
    for one, other in pairings.values():
        for first, second in zip(one, other, strict=True):
            common = min(len(first), len(second))
            assert first[:common] == second[:common]
            lengths.add(len(first) - len(second))
    assert lengths != {0}, "some hands have more cards in one match than in the other"
    verified = plyhouse("verify", "games.jsonl")
    assert (verified.code, verified.out) == (0, "All 4 records are sound.\n")


def test_result_has_the_mean_without_luck_for_scripts(plyhouse: Plyhouse) -> None:
    series = ("match", "random", "random", "--games", "4", "--seed", "5", "--json")
    done = plyhouse(*series, "--game", "texas_holdem(hands=2)")
    one, other = json.loads(done.out)["bots"]
    assert one["mean_without_luck"]["value"] == -other["mean_without_luck"]["value"]
    assert one["mean_without_luck"]["value"] != one["mean"]["value"]
    done = plyhouse(*series, "--game", "pig(target=10)")
    assert json.loads(done.out)["bots"][0]["mean_without_luck"] is None


BLUFFER = """
from plyhouse.bots import Bot
from plyhouse.games.hidden.scrabble.lines import free_places

class Bluffer(Bot):
    games = ("scrabble",)

    def choose(self, turn):
        state = turn.sample()
        if state.laid:
            return turn.rng.choice(turn.legal)
        tiles = turn.observation.rack.replace("?", "")
        places = free_places(state.board, len(tiles))
        if not places:
            return "-"
        squares = turn.rng.choice(places)
        names = ["ABCDEFGHIJKLMNO"[square % 15] + str(square // 15 + 1) for square in squares]
        return " ".join(f"{name}={tile}" for name, tile in zip(names, tiles))
"""


@pytest.mark.parametrize("challenges", ["double", "five"])
def test_match_with_challenged_plays_has_sound_records(
    plyhouse: Plyhouse, tmp_path: Path, challenges: str
) -> None:
    (tmp_path / "bluffer.py").write_text(BLUFFER)
    game = get_game(f"scrabble(challenges={challenges})")
    series = ("match", "bluffer.py", "scrabble(method=greedy)", "--game", game.spec)
    patient = ("--time-control", "move:60")  # a busy machine may need more than a second
    options = ("--games", "2", "--seed", "4", "--save", "games.jsonl", "--json", *patient)
    done = plyhouse(*series, *options)
    assert done.code == 0, done.err
    assert json.loads(done.out)["bots"][1]["wins"] == 2
    kinds = set()
    for line in (tmp_path / "games.jsonl").read_text().splitlines():
        state: Any = game.initial_state()
        for event in json.loads(line)["events"]:
            if event["kind"] == "chance":
                state = state.after(game.parse_chance(state, event["text"]))
            elif event["kind"] == "action":
                if state.laid:
                    kinds.add((event["text"], bool(state.wrong_words())))
                state = state.after(game.parse(state, event["text"]))
        assert state.to_move == TERMINAL
    assert ("challenge", True) in kinds
    assert ("accept", True) not in kinds, "the built-in bot has challenged every wrong word"
    verified = plyhouse("verify", "games.jsonl")
    assert (verified.code, verified.out) == (0, "All 2 records are sound.\n")


def test_series_of_one_repeated_game_warns(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(
        "from plyhouse.bots import Bot\n\n\nclass First(Bot):\n"
        "    def choose(self, turn):\n        return turn.legal[0]\n"
    )
    series = ("match", "first.py", "first.py", "--game", "tic_tac_toe", "--games", "6")
    assert "all pairings went alike" in plyhouse(*series).err
    assert "went alike" not in plyhouse(*series, "--opening-plies", "2", "--seed", "3").err
