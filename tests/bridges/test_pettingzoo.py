"""Every game is an environment of PettingZoo, and a seat of it one of Gymnasium."""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.bridges.libraries import library

from plyhouse.games import get_game
from plyhouse.games.base import Game, Observation
from plyhouse.games.registry import BUILT_IN

if not TYPE_CHECKING:
    library("gymnasium", "pettingzoo")
    library("pettingzoo", "pettingzoo")

import gymnasium
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from plyhouse.games.bridges.gymnasium_env import SeatEnv
from plyhouse.games.bridges.pettingzoo_env import PlyhouseEnv

HIDDEN = ["battleship", "coin_guess", "kuhn_poker", "leduc_poker", "liars_dice", "matrix"]


@pytest.fixture(autouse=True)
def known_warnings() -> Iterator[None]:
    """PettingZoo warns of observations with a mask of actions, which its own games have, too."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        yield


@pytest.mark.parametrize("name", BUILT_IN)
def test_game_passes_the_test_of_pettingzoo(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    api_test(PlyhouseEnv(name), num_cycles=20)
    assert "Passed" in capsys.readouterr().out


@pytest.mark.parametrize("name", BUILT_IN)
def test_seat_passes_the_test_of_gymnasium(name: str) -> None:
    made = gymnasium.make("Plyhouse/Seat-v0", game=name, illegal="first", render_mode="ansi")
    check_env(made.unwrapped)


@pytest.mark.parametrize("name", ["pig", "kuhn_poker"])
def test_seed_determines_chance(name: str) -> None:
    seed_test(lambda: PlyhouseEnv(name), num_cycles=20)


def play(env: PlyhouseEnv, seed: int) -> Iterator[tuple[str, dict[str, Any], float]]:
    """Play at random; yield each agent with what it saw and got."""
    env.reset(seed=seed)
    rng = random.Random(seed)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        yield agent, observation, reward
        over = termination or truncation
        env.step(None if over else rng.choice(list(info["legal"])))


def test_agent_may_act_several_times_in_a_row() -> None:
    agents = [agent for agent, _, _ in play(PlyhouseEnv("kalah"), 1)]
    assert any(one == other for one, other in itertools.pairwise(agents))


def test_rewards_are_the_returns() -> None:
    env = PlyhouseEnv("kuhn_poker")
    for seed in range(20):
        last = {agent: reward for agent, _, reward in play(env, seed)}
        assert set(map(abs, last.values())) in ({1.0}, {2.0})
        assert sum(last.values()) == 0


def test_action_that_is_not_legal_is_refused() -> None:
    env = PlyhouseEnv("tic_tac_toe")
    env.reset()
    env.step(4)
    with pytest.raises(ValueError, match="action_mask"):
        env.step(4)


@pytest.mark.parametrize("name", HIDDEN)
def test_observations_of_states_that_differ_in_hidden_facts_are_equal(name: str) -> None:
    game = get_game(name)
    env = PlyhouseEnv(game)
    rng = random.Random(5)
    different = 0
    for seed in range(6):
        for _ in play(env, seed):
            real = env._state
            for agent in env.agents:
                seat = env.possible_agents.index(agent)
                env._state = real
                one = env.observe(agent)
                env._state = game.sample_state(game.observe(real, seat), rng)
                other = env.observe(agent)
                different += game.describe(real) != game.describe(env._state)
                assert (one["observation"] == other["observation"]).all()
                assert (one["action_mask"] == other["action_mask"]).all()
            env._state = real
            if env._plies > 24:
                break
    assert different


def test_policy_plays_the_other_seats_by_what_they_see() -> None:
    seats = set()

    def policy(game: Game, observation: Observation, rng: random.Random) -> str:
        seats.add(observation.seat)
        return observation.legal[-1]

    env = SeatEnv("kuhn_poker(seats=3)", seat=1, policy=policy)
    env.reset(seed=2)
    over, reward = False, 0.0
    while not over:
        _, reward, over, _, _ = env.step(next(iter(env.match.infos[env.agent]["legal"])))
    assert seats == {0, 2}
    assert reward != 0


def test_policy_that_names_no_legal_action_is_refused() -> None:
    env = SeatEnv("tic_tac_toe", seat=1, policy=lambda *_: "z9")
    with pytest.raises(ValueError, match="seat_0 played 'z9'"):
        env.reset(seed=1)


def test_view_is_drawn_as_text() -> None:
    env = PlyhouseEnv("tic_tac_toe", render_mode="ansi")
    env.reset()
    env.step(4)
    assert "2 . X ." in str(env.render())
