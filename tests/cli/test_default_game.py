"""The game of a command that is given none: that of the bots."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Plyhouse

BOT = """\
from plyhouse.bots import Bot

class MyBot(Bot):
    games = {games}

    def choose(self, turn):
        return turn.legal[0]
"""


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    for name, games in (
        ("pig", ("pig",)),
        ("both", ("pig", "tic_tac_toe")),
        ("lines", ("tic_tac_toe", "connect_four")),
    ):
        (tmp_path / f"{name}.py").write_text(BOT.format(games=games))
    return tmp_path


@pytest.mark.parametrize(
    ("names", "game"),
    [(("pig.py", "random"), "pig"), (("both.py", "lines.py"), "tic_tac_toe")],
)
def test_match_without_game_plays_the_game_of_its_bots(
    plyhouse: Plyhouse, bots: Path, names: tuple[str, ...], game: str
) -> None:
    done = plyhouse("match", *names, "--games", "2", "--jobs", "1", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["game"] == game


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("random", "random"), "random plays any game: name one with --game."),
        (("pig.py", "lines.py"), "pig.py, lines.py have no game in common. Name one with --game."),
        (("both.py", "random"), "both.py plays 2 games, pig, tic_tac_toe: name one with --game."),
    ],
)
def test_match_without_one_common_game_says_what_to_name(
    plyhouse: Plyhouse, bots: Path, names: tuple[str, ...], message: str
) -> None:
    done = plyhouse("match", *names)
    assert (done.code, done.err) == (2, f"plyhouse: {message}\n")


def test_match_with_a_bot_that_does_not_import_names_the_line(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("import nothing\n")
    done = plyhouse("match", "broken.py", "random")
    assert done.code != 0
    assert "broken.py:1: import nothing" in done.err


def test_play_without_game_plays_the_game_of_the_opponent(plyhouse: Plyhouse, bots: Path) -> None:
    done = plyhouse("play", "--against", "pig.py", "--plain", stdin="quit\n")
    assert done.code == 0, done.err
    assert done.out.startswith("Pig: ")


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_play_against_a_level_works(plyhouse: Plyhouse, level: str) -> None:
    done = plyhouse(
        *("play", "tic_tac_toe", "--against", level, "--plain", "--bot-time", "0.2"),
        stdin="a1\nquit\n",
    )
    assert done.code == 0, done.err
    assert f"is {level}" in done.out
    assert "You lost (−1), by resignation" in done.out
