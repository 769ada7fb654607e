"""``plyhouse bot new`` and ``plyhouse bot check``."""

from __future__ import annotations

import ast
import itertools
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Plyhouse, clean_environment, forked_command
from tests.harness.bot_turns import turn_at

from plyhouse.bots.loading import load_bot
from plyhouse.clients.cli.new_bot import class_name, starter
from plyhouse.games.base import CHANCE
from plyhouse.games.registry import game_names, get_game


def test_a_new_bot_plays_and_passes_the_check(plyhouse: Plyhouse) -> None:
    assert plyhouse("bot", "new", "mybot.py", "--game", "tic_tac_toe").code == 0
    done = plyhouse("bot", "check", "mybot.py")
    assert done.code == 0, done.out + done.err
    assert done.out.endswith(": mybot.py is fit to play at total:60+1.\n")


@pytest.mark.parametrize("name", game_names())
def test_a_starter_for_every_game(name: str) -> None:
    source = starter(Path("my_bot.py"), get_game(name))
    tree = ast.parse(source)
    assert [node.name for node in tree.body if isinstance(node, ast.ClassDef)] == ["MyBot"]
    assert f'games = ("{name}",)' in source
    assert all(len(line) <= 100 for line in source.splitlines())


def test_starter_of_long_hidden_game_plays_to_the_end(plyhouse: Plyhouse) -> None:
    game = "texas_holdem(hands=4)"
    assert plyhouse("bot", "new", "mybot.py", "--game", game).code == 0
    done = plyhouse("match", "mybot.py", "random", "--game", game, "--games", "2", "--json")
    assert done.code == 0, done.out + done.err
    for bot in json.loads(done.out)["bots"]:
        assert not bot["forfeits"]


def test_starter_of_long_hidden_game_keeps_to_its_time(tmp_path: Path) -> None:
    game = get_game("texas_holdem(hands=4)")
    path = tmp_path / "mybot.py"
    path.write_text(starter(path, game), "utf-8")
    bot = load_bot(str(path))
    looks = itertools.count()
    vars(sys.modules[bot.__module__])["monotonic"] = lambda: next(looks) / 100
    rng, state = random.Random(1), game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(rng.choice(state.chance_outcomes())[0])
    bounds: dict[str, Any] = {"soft": 250_000_000, "hard": 1_000_000_000, "clock_ns": lambda: 0}
    turn = turn_at(game, state, rng=rng, **bounds)
    assert bot().choose(turn) in turn.legal
    assert next(looks) == 1 + 26, "at the clock: first, and until a quarter of a second was over"


def test_an_existing_file_is_kept(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text("precious\n")
    done = plyhouse("bot", "new", "mybot.py")
    assert done.code == 2
    assert "--force" in done.err
    assert (tmp_path / "mybot.py").read_text() == "precious\n"
    assert plyhouse("bot", "new", "mybot.py", "--force").code == 0
    assert "precious" not in (tmp_path / "mybot.py").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mybot.txt",), "mybot.py"),
        (("no/such/mybot.py",), "no folder"),
        (("mybot.py", "--game", "pgi"), "did you mean pig?"),
    ],
)
def test_bad_input(plyhouse: Plyhouse, arguments: tuple[str, ...], message: str) -> None:
    done = plyhouse("bot", "new", *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_bot_that_breaks_the_rules_fails_the_check(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(
        "from plyhouse.bots import Bot\n\n"
        "class Wrong(Bot):\n"
        '    games = ("tic_tac_toe",)\n\n'
        "    def choose(self, turn):\n"
        '        return "z99"\n'
    )
    done = plyhouse("bot", "check", "wrong.py")
    assert done.code == 1
    assert "FAILED" in done.out


def test_checking_what_is_not_there(plyhouse: Plyhouse) -> None:
    done = plyhouse("bot", "check", "missing.py")
    assert done.code == 2
    assert done.err.count("\n") == 1


def test_class_names() -> None:
    assert class_name("my_first-bot") == "MyFirstBot"
    assert class_name("2fast") == "My2fast"
    assert class_name("my_bot") == class_name("mybot") == class_name("MyBot") == "MyBot"
    assert class_name("deepbot") == "DeepBot"
    assert class_name("mystery") == "Mystery"
    assert class_name("robot") == "Robot"
    assert class_name("bot") == "MyBot"
    assert class_name("___") == "MyBot"


CRASHING = """
from plyhouse.bots import Bot

class Crashing(Bot):
    games = ("tic_tac_toe",)

    def choose(self, turn):
        print("thinking")
        return [][0]
"""


def test_what_a_failing_bot_said_stands_once_where_all_goes_to_one_place(tmp_path: Path) -> None:
    (tmp_path / "crashing.py").write_text(CRASHING)
    done = subprocess.run(
        [*forked_command(), "bot", "check", "crashing.py"],
        cwd=tmp_path,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    failed = done.stdout.count("FAILED")
    assert failed == 2, done.stdout
    assert done.stdout.count("the bot failed: IndexError") == failed


def test_a_report_in_a_file_has_the_traceback_with_each_failure(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    (tmp_path / "crashing.py").write_text(CRASHING)
    done = plyhouse("bot", "check", "crashing.py", traceback=True)
    assert done.out.count("FAILED") == done.out.count("the bot failed: IndexError") == 2
    assert "1 game claimed" in done.out
    found = json.loads(plyhouse("bot", "check", "crashing.py", "--json", traceback=True).out)
    failed = [each for each in found["checks"] if "plays" in each["name"]]
    assert len(failed) == 2
    assert all("IndexError" in each["explanation"] for each in failed)
