"""Games with other names: the same trees, and notation that reads back."""

from __future__ import annotations

import copy
import pickle
import random
import re
from typing import Any

import pytest

from plyhouse.games import CHANCE, TERMINAL, get_game
from plyhouse.games.errors import GameError, IllegalAction, InvalidParameter
from plyhouse.games.registry import BUILT_IN
from plyhouse.games.renaming import LETTERS, NUMBERS, WORDS
from plyhouse.games.rules import rules_text
from plyhouse.games.scene import Grid
from plyhouse.games.testing import check_game

GAMES = sorted(LETTERS | NUMBERS.keys() | WORDS.keys())
SEEDS = (1, 7)


@pytest.mark.parametrize("name", GAMES)
def test_renamed_game_keeps_the_laws_of_games(name: str) -> None:
    report = check_game(get_game(f"{name}(renamed=7)"), max_states=60)
    assert report.states > 5


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", GAMES)
def test_renamed_game_has_the_tree_of_the_usual_one_and_other_names(name: str, seed: int) -> None:
    usual, other = get_game(name), get_game(f"{name}(renamed={seed})")
    rng = random.Random(name)
    renamed = 0
    for _ in range(3):
        state: Any = usual.initial_state()
        mirror: Any = other.initial_state()
        for _ in range(60):
            assert state.to_move == mirror.to_move
            if state.to_move == TERMINAL:
                assert state.returns() == mirror.returns()
                break
            if state.to_move == CHANCE:
                assert state.chance_outcomes() == mirror.chance_outcomes()
                action = rng.choice([each for each, _ in state.chance_outcomes()])
                said = other.format_chance(mirror, action)
                assert other.parse_chance(mirror, said) == action
            else:
                assert state.actions() == mirror.actions()
                action = usual.random_action(state, rng)
                said = other.format(mirror, action)
                assert other.parse(mirror, said) == action
                assert said in other.observe(mirror, mirror.to_move).legal or name == "texas_holdem"
                renamed += said != usual.format(state, action)
            state, mirror = state.after(action), mirror.after(action)
    assert renamed > 0


@pytest.mark.parametrize("name", GAMES)
def test_rules_and_notation_state_the_new_names(name: str) -> None:
    game = get_game(f"{name}(renamed=7)")
    assert rules_text(get_game(name)) in rules_text(game)
    state: Any = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    said = game.format(state, game.some_action(state))
    names = rules_text(game).rpartition("this variant")[2]
    usual = WORDS.get(name, "12345678" if name in NUMBERS else "abcdefgh")
    for letter_number_or_word in usual:
        assert letter_number_or_word in names
    assert said
    assert names.partition(".")[0] in game.action_notation


def test_usual_names_are_refused_and_errors_speak_the_new_ones() -> None:
    game = get_game("kuhn_poker(renamed=3)")
    state: Any = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    legal = [game.format(state, each) for each in state.actions()]
    with pytest.raises(GameError) as caught:
        game.parse(state, "fold and call")
    for word in ("check", "bet"):
        assert f"'{word}'" not in str(caught.value)
    fold = game.other("fold")  # type: ignore[attr-defined]
    with pytest.raises(IllegalAction) as refused:
        game.parse(state, fold)
    assert refused.value.legal == tuple(legal)
    assert refused.value.text == fold


def test_spec_names_the_seed_among_the_other_parameters_and_reads_back() -> None:
    game = get_game("go(renamed=5, size=7)")
    assert game.spec == "go(renamed=5,size=7)"
    assert get_game(game.spec) == game
    for twin in (copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert twin == game
        assert hash(twin) == hash(game)
    assert game != get_game("go(size=7)")
    assert game != get_game("go(renamed=6,size=7)")


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("chess(renamed=0)", "whole number"),
        ("chess(renamed=true)", "whole number"),
        ("chess(renamed=1000000)", "999999"),
        ("coins(renamed=7)", "only these games"),
    ],
)
def test_bad_seeds_and_games_without_names_are_refused(spec: str, word: str) -> None:
    with pytest.raises(InvalidParameter, match=word):
        get_game(spec)


def test_games_without_other_names_are_those_of_amounts_and_of_a_dictionary() -> None:
    assert set(BUILT_IN) - set(GAMES) == {"coins", "matrix", "nim", "scrabble"}


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_exchanged_numbers_name_places_and_leave_amounts(name: str) -> None:
    usual, other = get_game(name), get_game(f"{name}(renamed=7)")
    state: Any = usual.initial_state()
    for _ in range(4):
        state = state.after(state.actions()[0])
    shown, mirrored = (g.scene(g.observe(state, state.to_move)) for g in (usual, other))
    drawn = [each for each in shown.elements if isinstance(each, Grid)]
    redrawn = [each for each in mirrored.elements if isinstance(each, Grid)]
    cells = [cell for grid in drawn for row in grid.rows for cell in row]
    recells = [cell for grid in redrawn for row in grid.rows for cell in row]
    assert [cell.text for cell in recells] == [cell.text for cell in cells]
    assert [cell.count for cell in recells] == [cell.count for cell in cells]
    names = [(cell.action, cell.name) for cell in cells], [*drawn[0].column_labels]
    renames = [(cell.action, cell.name) for cell in recells], [*redrawn[0].column_labels]
    assert names != renames


def test_streets_have_one_name_in_actions_fields_and_scene() -> None:
    game = get_game("monopoly(renamed=7)")
    state: Any = game.initial_state()
    state = state.after(state.actions()[0])
    while game.observe(state, 0).phase != "buy":  # type: ignore[attr-defined]
        options = state.actions() or [each for each, _ in state.chance_outcomes()]
        state = state.after(options[0])
    seen = game.observe(state, 0)
    said = repr((seen, game.scene(seen))).lower()
    for word in WORDS["monopoly"]:
        assert not re.search(rf"\b{word}\b", said), word
    assert game.other("boardwalk") in said  # type: ignore[attr-defined]
