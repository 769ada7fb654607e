"""Naming a bot, and everything that can be wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bots.conftest import BotFile

from plyhouse.bots.loading import (
    REFERENCE_BOTS,
    BotLoadError,
    bot_names,
    check_spec,
    default_name,
    load_bot,
)

GOOD = "class MyBot(Bot):\n    def choose(self, turn): return turn.legal[0]\n"
TWO = GOOD + GOOD.replace("MyBot", "Other")


@pytest.mark.parametrize("name", REFERENCE_BOTS)
def test_every_reference_bot_loads_by_name(name: str) -> None:
    assert default_name(load_bot(name)) == name
    assert name in bot_names()


def test_a_file_with_one_bot_needs_no_class(bot_file: BotFile) -> None:
    assert load_bot(bot_file(GOOD)).__name__ == "MyBot"


def test_a_class_of_several_can_be_chosen(bot_file: BotFile) -> None:
    assert load_bot(bot_file(TWO) + ":Other").__name__ == "Other"


def test_a_bot_defined_elsewhere_is_found(bot_file: BotFile) -> None:
    bot_file(GOOD, name="elsewhere_bot.py")
    assert load_bot(bot_file("from elsewhere_bot import MyBot\n")).__name__ == "MyBot"


def test_a_bot_may_have_the_name_of_a_library_module(bot_file: BotFile) -> None:
    import random

    load_bot(bot_file(GOOD, name="random.py"))
    import random as after

    assert after is random


def test_a_relative_path_becomes_absolute(
    bot_file: BotFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(bot_file(GOOD))
    monkeypatch.chdir(path.parent)
    assert check_spec("mybot.py:MyBot") == f"{path.resolve()}:MyBot"


@pytest.mark.parametrize(
    ("body", "suffix", "message"),
    [
        ("import nothing_of_the_kind\n", "", "mybot.py does not import: ModuleNotFoundError"),
        ("x = (1,\n", "", "mybot.py does not import: SyntaxError"),
        ("import sys; sys.exit(3)\n", "", "mybot.py does not import: SystemExit: 3"),
        ("x = 1\n", "", "mybot.py has no bot: define a class"),
        (TWO, "", "mybot.py has several bots, MyBot and Other: say which, like mybot.py:MyBot"),
        (GOOD, ":MyBto", "mybot.py has no class MyBto; did you mean MyBot?"),
        (GOOD + "x = 1\n", ":x", "mybot.py:x is not a bot"),
        ("class MyBot(Bot): pass\n", "", "mybot.py has no choose(self, turn): write one"),
        (
            GOOD + "    def __init__(self, depth): pass\n",
            "",
            "mybot.py takes arguments: a bot is made without any",
        ),
        (GOOD + "    games = 'pig'\n", "", "games must be a tuple"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    bot_file: BotFile, body: str, suffix: str, message: str
) -> None:
    with pytest.raises(BotLoadError) as error:
        load_bot(bot_file(body) + suffix)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_failing_import_shows_the_line_of_the_author(bot_file: BotFile) -> None:
    with pytest.raises(BotLoadError) as error:
        load_bot(bot_file("def table():\n    return {}['gone']\nTABLE = table()\n"))
    assert str(error.value).endswith("KeyError: 'gone' (mybot.py:4: return {}['gone'])")
    assert "TABLE = table()" in error.value.details


def test_a_missing_file_names_its_neighbour(bot_file: BotFile) -> None:
    path = bot_file(GOOD)
    with pytest.raises(BotLoadError, match=r"there is no file .*mybott.py; did you mean mybot.py"):
        check_spec(path.replace("mybot", "mybott"))


def test_a_folder_is_no_bot(tmp_path: Path) -> None:
    with pytest.raises(BotLoadError, match="is a folder"):
        check_spec(f"{tmp_path}/")


def test_an_unknown_name_shows_near_ones() -> None:
    with pytest.raises(BotLoadError, match="no bot named 'alphabeta'; did you mean alpha_beta"):
        check_spec("alphabeta")


def test_a_name_without_its_py_is_explained(
    bot_file: BotFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(bot_file(GOOD)).parent)
    with pytest.raises(BotLoadError, match=r"to run the file, write mybot\.py"):
        check_spec("mybot")
