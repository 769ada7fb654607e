"""Naming a bot, and everything that can be wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bots.conftest import BotFile

from plyhouse.bots.loading import (
    REFERENCE_BOTS,
    BotLoadError,
    bot_names,
    bot_options,
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


def test_a_traceback_begins_in_the_file_of_its_author(bot_file: BotFile) -> None:
    """Where our loader stood is of no use to authors, and no business of theirs on a server."""
    for body, last in (
        ("def late():\n    import nothing_of_the_kind\nlate()\n", "No module named"),
        ("x = (1,\n", "SyntaxError"),
    ):
        with pytest.raises(BotLoadError) as error:
            load_bot(bot_file(body))
        lines = error.value.details.splitlines()
        assert "mybot.py" in lines[1 if lines[0].startswith("Traceback") else 0]
        assert last in lines[-1]
        assert "loading.py" not in error.value.details
        assert "importlib" not in error.value.details


@pytest.mark.parametrize(
    ("body", "suffix", "message"),
    [
        ("import nothing_of_the_kind\n", "", "mybot.py does not import: ModuleNotFoundError"),
        ("import nothing_here\n", "", "; nothing_here must be installed beside plyhouse"),
        ("x = (1,\n", "", "mybot.py does not import: SyntaxError"),
        ("import sys; sys.exit(3)\n", "", "mybot.py does not import: SystemExit: 3"),
        ("x = 1\n", "", "mybot.py has no bot: define a class"),
        (TWO, "", "mybot.py has several bots, MyBot and Other: say which, like mybot.py:MyBot"),
        (GOOD, ":MyBto", "mybot.py has no class MyBto; did you mean MyBot?"),
        (GOOD + "x = 1\n", ":x", "mybot.py:x is not a bot"),
        ("class MyBot(Bot): pass\n", "", "mybot.py has no choose(self, turn): write one"),
        (
            "from plyhouse.bots import SearchBot\nclass MyBot(SearchBot): pass\n",
            "",
            "mybot.py has no choose(self, turn): write one, or name a search",
        ),
        (
            GOOD + "    def __init__(self, depth): pass\n",
            "",
            "mybot.py takes arguments without a default",
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
    with pytest.raises(BotLoadError, match=r"There is no file .*mybott.py; did you mean mybot.py"):
        check_spec(path.replace("mybot", "mybott"))


def test_empty_folder_is_no_bot(tmp_path: Path) -> None:
    with pytest.raises(BotLoadError, match="is empty"):
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


OPTIONS = """
class MyBot(Bot):
    def __init__(self, depth: int = 4, bold: float = 0.5, plan: str | None = None) -> None:
        if depth < 1:
            raise ValueError("depth must be at least 1")
        self.depth = depth
    def choose(self, turn): return turn.legal[0]
"""


def test_options_follow_the_name(bot_file: BotFile, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(bot_file(OPTIONS))
    monkeypatch.chdir(path.parent)
    for written in ("mybot.py:MyBot(depth=6, bold=1)", "mybot.py(depth=6,bold=1.0)"):
        spec = check_spec(written)
        assert spec.startswith(str(path.resolve()))
        bot = load_bot(spec)
        options = bot_options(spec, bot)
        assert options == {"depth": 6, "bold": 1.0}
        assert isinstance(options["bold"], float)
        assert vars(bot(**options))["depth"] == 6
    assert bot_options(str(path), load_bot(str(path))) == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("(dept=6)", "mybot.py has no option dept; did you mean depth?"),
        ("(x=6)", "mybot.py has no option x; it has depth, bold, plan"),
        ("(depth=deep)", "mybot.py takes a whole number as depth, not 'deep'"),
        ("(depth=1.5)", "mybot.py takes a whole number as depth, not 1.5"),
        ("(depth=true)", "mybot.py takes a whole number as depth, not True"),
        ("(plan=3)", "mybot.py takes a text as plan, not 3"),
        ("(depth=0)", "mybot.py refuses its options: ValueError: depth must be at least 1"),
        ("(depth)", "cannot be read"),
        ("(depth=1))", "cannot be read"),
    ],
)
def test_what_is_wrong_with_options_is_one_sentence(
    bot_file: BotFile, options: str, message: str
) -> None:
    path = bot_file(OPTIONS)
    with pytest.raises(BotLoadError) as error:
        bot_options(path + options, load_bot(path + options))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_bot_without_options_says_so() -> None:
    with pytest.raises(BotLoadError, match="random has no option depth; it has none"):
        bot_options("random(depth=3)", load_bot("random"))


@pytest.mark.parametrize(
    ("bot", "words"),
    [
        ("alpha_zero", "alpha_zero cannot read half.file: this is not a network"),
        ("td_gammon", "td_gammon cannot read half.file: this is not a network for backgammon: "),
        ("cfr_holdem", "cfr_holdem cannot read half.file: is no policy"),
        ("policy", "policy refuses its options: ValueError: half.file is no policy file"),
        ("resolving", "resolving refuses its options: ValueError: half.file is no policy file"),
    ],
)
def test_damaged_file_is_refused_when_the_bot_is_loaded(
    bot: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("half.file").write_text("format = ", encoding="utf-8")
    spec = f'{bot}(file="half.file")'
    with pytest.raises(BotLoadError) as refused:
        bot_options(spec, load_bot(spec))
    assert str(refused.value).startswith(words)


@pytest.mark.parametrize("spec", ['policy(file="gone.policy")', 'book(file="gone.json")', "book"])
def test_a_file_that_is_not_there_is_told_at_once(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BotLoadError, match=r"reads file='\w+\.\w+', and there is no such file"):
        bot_options(spec, load_bot(spec))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_bot_in_another_encoding_is_loaded_or_names_the_fix(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / f"encoded_{encoding.replace('-', '_')}.py"
    code = (
        "from plyhouse.bots import Bot\nclass Mine(Bot):\n"
        "    def choose(self, turn):\n        return turn.legal[0]  # naïve\n"
    )
    file.write_text(code, encoding)
    if encoding == "utf-8-sig":
        assert load_bot(str(file)).__name__ == "Mine"
        return
    with pytest.raises(BotLoadError, match="it is not in UTF-8: save it as UTF-8"):
        load_bot(str(file))
