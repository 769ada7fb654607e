from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from plyhouse.games import (
    DuplicateGame,
    Game,
    GameError,
    InvalidGameSource,
    InvalidParameter,
    InvalidSpec,
    UnknownGame,
    game_class,
    game_names,
    get_game,
    load_game_class,
    parse_spec,
    registry,
)

BUILT_IN = ("coin_guess", "connect_four", "kuhn_poker", "pig", "tic_tac_toe")

GAME_FILE = """
from plyhouse.games import Parameter
from plyhouse.games.deterministic.tic_tac_toe import TicTacToe
import dataclasses

class Mine(TicTacToe):
    info = dataclasses.replace(
        TicTacToe.info, name="mine", parameters=(Parameter("size", 3, "size", 3, 5),)
    )
"""


@pytest.fixture
def fresh_registry() -> Iterator[None]:
    """Forget what was found, before and after."""
    for cached in (registry._sources, registry.game_class, registry._named_game):
        cached.cache_clear()
    yield
    for cached in (registry._sources, registry.game_class, registry._named_game):
        cached.cache_clear()


def announce(monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    """Pretend that installed packages announce these games."""
    monkeypatch.setattr(registry, "entry_points", lambda _: list(points.items()))


def test_the_built_in_games_are_there() -> None:
    assert set(BUILT_IN) <= set(game_names())
    for name in BUILT_IN:
        assert game_class(name).info.name == name


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("pig", "pig", {}),
        (" pig ( ) ", "pig", {}),
        ("pig(target=50)", "pig", {"target": 50}),
        ("x(a=1, b=2.5,c=true , d=bag)", "x", {"a": 1, "b": 2.5, "c": True, "d": "bag"}),
        ('x(a="1, (2)")', "x", {"a": "1, (2)"}),
        ("mygame.py:MyGame(size=4)", "mygame.py:MyGame", {"size": 4}),
        ("/some (odd)/mygame.py", "/some (odd)/mygame.py", {}),
        ("x(a=-3)", "x", {"a": -3}),
    ],
)
def test_specs_are_read(text: str, name: str, parameters: dict[str, object]) -> None:
    assert parse_spec(text) == (name, parameters)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("two words", "a name has letters, digits, _, . and - only"),
        ("two words(a=1)", "'two words' is not a name"),
        ("pig(", "parentheses do not match"),
        ("pig(target=50", "parentheses do not match"),
        ("pig)", "parentheses do not match"),
        ("pig(50)", "'50' is not of the form name=value"),
        ("pig(target=50,)", "ends in a comma"),
        ("pig(target=50,target=60)", "target is given twice"),
        ("pig(target=50 sides=6)", "not of the form name=value"),
        ('pig(target="\\q")', "not a well-formed text"),
        ("p" * 2000, "longer than 1000 characters"),
    ],
)
def test_malformed_specs_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        parse_spec(text)
    assert reason in str(caught.value)
    assert caught.value.code == "game/bad_parameter"
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("connect_four(rows=4, columns=5)", "connect_four(columns=5,rows=4)"),
        ("connect_four(rows=6)", "connect_four"),
        ("coin_guess(variant=bag,pennies=1)", "coin_guess(pennies=1.0,variant=bag)"),
    ],
)
def test_spec_is_canonical_and_reads_back(text: str, spec: str) -> None:
    game = get_game(text)
    assert game.spec == spec
    assert get_game(game.spec) == game
    assert hash(get_game(game.spec)) == hash(game)


def test_one_spec_gives_one_object() -> None:
    assert get_game("pig(target=50)") is get_game("pig(target=50)")


def test_games_survive_pickling() -> None:
    game = get_game("pig(target=50)")
    assert pickle.loads(pickle.dumps(game)) == game


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("conect_four", "connect_four"),
        ("TicTacToe", "tic_tac_toe"),
        ("connect-four", "connect_four"),
    ],
)
def test_unknown_games_are_answered_with_near_matches(name: str, near: str) -> None:
    with pytest.raises(UnknownGame) as caught:
        get_game(name)
    assert near in caught.value.near
    assert str(caught.value) == f"There is no game named {name!r}; did you mean {near}?"
    assert caught.value.code == "game/unknown"


def test_an_unknown_game_near_to_none_is_answered_with_all_names() -> None:
    with pytest.raises(UnknownGame, match=r"known games: .*pig.*tic_tac_toe"):
        get_game("zzzzzz")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pig(target=1)", "pig cannot have target='1': it must be a whole number from 2 to 1000."),
        ("pig(target=2.5)", "it must be a whole number from 2 to 1000"),
        ("pig(target=true)", "it must be a whole number from 2 to 1000"),
        ("pig(targt=50)", "there is no such parameter, the nearest is target"),
        ("pig(zzz=50)", "there is no such parameter, it has seats, target, sides"),
        ("tic_tac_toe(size=4)", "the game has no parameters"),
        ("coin_guess(variant=box)", "it must be one of adversary, bag"),
        ("coin_guess(pennies=nan)", "it must be a number from 0 to 1"),
        ("kuhn_poker(seats=5)", "it must be a whole number from 2 to 4"),
    ],
)
def test_bad_parameters_are_refused(spec: str, message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        get_game(spec)
    assert message in str(caught.value)
    assert caught.value.code == "game/bad_parameter"


def test_a_game_is_loaded_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(GAME_FILE)
    for source in (f"{path}:Mine", str(path)):
        game = get_game(f"{source}(size=4)", files=True)
        assert game.info.name == "mine"
        assert game.parameters == {"size": 4}
        assert game.spec == f"{source}(size=4)"
        state = game.initial_state()
        assert game.describe(pickle.loads(pickle.dumps(state))) == game.describe(state)
        copy = pickle.loads(pickle.dumps(game))
        assert copy.spec == game.spec


def test_files_are_refused_where_specs_may_come_from_strangers(tmp_path: Path) -> None:
    path = tmp_path / "trap.py"
    path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(InvalidGameSource, match="files are not allowed here"):
        get_game(f"{path}:Mine")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        (None, ":Mine", "there is no file"),
        ("def f(:", ":Mine", "SyntaxError"),
        ("1 / 0", ":Mine", "ZeroDivisionError: division by zero"),
        ("import not_there_at_all", "", "No module named 'not_there_at_all'"),
        ("x = 1", ":Mine", "the file has no class Mine nor any other game"),
        (GAME_FILE, ":Mime", "the file has no class Mime, it has Mine"),
        ("class Mine: pass", ":Mine", "it is not a game"),
        ("Mine = 5", ":Mine", "it is not a game"),
        ("x = 1", "", "it defines no game"),
        (
            "from plyhouse.games import Game\nclass Mine(Game): pass",
            ":Mine",
            "class Mine must define describe, initial_state, observe, sample_state, scene, "
            "info, observation_type",
        ),
        (
            "from plyhouse.games import Game\nclass Mine(Game): pass",
            "",
            "class Mine must define describe, initial_state",
        ),
        (GAME_FILE + "\nclass Other(Mine): pass", "", "it defines Mine and Other; say which"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str | None, name: str, reason: str) -> None:
    path = tmp_path / "game.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InvalidGameSource) as caught:
        load_game_class(f"{path}{name}")
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.code == "game/bad_source"


def test_something_that_is_no_file_is_refused() -> None:
    with pytest.raises(InvalidGameSource, match=r"like mygame\.py:MyGame"):
        load_game_class("mygame")


def test_installed_games_are_found(monkeypatch: pytest.MonkeyPatch, fresh_registry: None) -> None:
    announce(monkeypatch, noughts="plyhouse.games.deterministic.tic_tac_toe:TicTacToe")
    assert "noughts" in game_names()
    assert game_class("noughts") is game_class("tic_tac_toe")


def test_two_games_of_one_name_are_an_error(
    monkeypatch: pytest.MonkeyPatch, fresh_registry: None
) -> None:
    announce(monkeypatch, pig="other_package.rules:OtherPig")
    with pytest.raises(DuplicateGame) as caught:
        get_game("pig")
    assert "plyhouse.games.stochastic.pig:Pig" in str(caught.value)
    assert "other_package.rules:OtherPig" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("not_there_at_all:Game", "No module named"),
        ("plyhouse.games.stochastic.pig:Hog", "the module has no Hog"),
        ("plyhouse.games.stochastic.pig:PigState", "it is not a game"),
    ],
)
def test_broken_installed_games_are_named(
    monkeypatch: pytest.MonkeyPatch, fresh_registry: None, source: str, reason: str
) -> None:
    announce(monkeypatch, broken=source)
    with pytest.raises(InvalidGameSource, match=reason):
        get_game("broken")


def test_every_error_has_a_code_of_its_kind() -> None:
    def all_kinds(kind: type[GameError]) -> list[type[GameError]]:
        return [kind, *[more for sub in kind.__subclasses__() for more in all_kinds(sub)]]

    for kind in all_kinds(GameError):
        assert kind.code.split("/")[0] in ("game", "action", "position", "match")


def test_a_game_without_parameters_has_no_brackets_in_its_spec() -> None:
    assert isinstance(get_game("tic_tac_toe"), Game)
    assert get_game("tic_tac_toe()").spec == "tic_tac_toe"
