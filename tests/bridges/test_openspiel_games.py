"""Every game is one of OpenSpiel's, and passes its tests."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.bridges.libraries import library

from plyhouse.games import get_game
from plyhouse.games.registry import BUILT_IN

if not TYPE_CHECKING:
    library("pyspiel", "openspiel")

import pyspiel

from plyhouse.games.bridges.openspiel_game import register_games

LONG = {
    "battleship": "(columns=4,rows=3,fleet=2|2)",
    "pacman": "(layout=duel,steps=9)",
    "go": "(size=5)",
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_game_passes_the_simulation_of_openspiel(name: str) -> None:
    register_games(name)
    game = pyspiel.load_game(f"plyhouse_{name}{LONG.get(name, '')}")
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


def test_games_are_registered_once() -> None:
    assert register_games("nim") == register_games("nim") == ("plyhouse_nim",)


def test_parameters_are_those_of_the_game() -> None:
    register_games("nim")
    state = pyspiel.load_game("plyhouse_nim(heaps=1|2)").new_initial_state()
    texts = [state.action_to_string(action) for action in state.legal_actions()]
    assert texts == ["1:1", "2:1", "2:2"]


def test_openspiel_solves_our_kuhn_poker() -> None:
    register_games("kuhn_poker")
    game = pyspiel.load_game("plyhouse_kuhn_poker")
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(60):
        solver.evaluate_and_update_policy()
    assert pyspiel.exploitability(game, solver.average_policy()) < 0.05


@pytest.mark.parametrize("name", ["battleship", "coin_guess", "kuhn_poker", "liars_dice", "matrix"])
def test_views_of_states_that_differ_in_hidden_facts_are_equal(name: str) -> None:
    register_games(name)
    ours = get_game(name)
    game = pyspiel.load_game(f"plyhouse_{name}")
    public = game.make_py_observer(
        pyspiel.IIGObservationType(
            public_info=True, perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE
        )
    )
    rng = random.Random(4)
    state = game.new_initial_state()
    different = 0
    for _ in range(16):
        if state.is_terminal():
            state = game.new_initial_state()
        for seat in range(game.num_players()):
            other: Any = game.new_initial_state()
            other.position = ours.sample_state(ours.observe(state.position, seat), rng)
            different += str(state) != str(other)
            assert state.observation_string(seat) == other.observation_string(seat)
            assert state.observation_tensor(seat) == other.observation_tensor(seat)
            assert state.information_state_string(seat) == other.information_state_string(seat)
            assert public.string_from(state, seat) == public.string_from(other, seat)
        state.apply_action(rng.choice(state.legal_actions()))
    assert different
