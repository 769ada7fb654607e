"""Bots that know the game: they never give away what they have."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots import Bot
from plyhouse.bots.loading import load_bot
from plyhouse.bots.reference.perfect_bot import PerfectBot
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.endgames import Meter
from plyhouse.games.registry import get_game
from plyhouse.games.stochastic.pig import HOLD, ROLL
from plyhouse.search import solve
from plyhouse.search.tables.pig_solution import solve_pig


@pytest.mark.parametrize(
    ("spec", "seat"),
    [("hexapawn", 1), ("hexapawn(size=4)", 0), ("coins(coins=5)", 0), ("nim", 0)],
)
def test_the_perfect_bot_wins_what_is_won(spec: str, seat: int) -> None:
    game = get_game(spec)
    table = solve(game)
    bot: Bot = load_bot("perfect")()
    won = 0
    for seed in range(15):
        rng = random.Random(seed)
        state: Any = game.initial_state()
        expected = table.probe(state).value * (1 if seat == 0 else -1)
        while state.to_move != TERMINAL:
            if state.to_move == seat:
                state = state.after(bot.choose(turn_at(game, state, rng=random.Random(seed))))
            else:
                state = state.after(rng.choice(state.actions()))
        assert state.returns()[seat] >= expected
        won += state.returns()[seat] > 0
    assert won == 15


def test_the_perfect_bot_wins_an_endgame_of_checkers_in_the_fewest_plies() -> None:
    game = get_game('checkers(position="B:WK32:BK1,K5")')
    state: Any = game.initial_state()
    distance = state.endings(Meter()).code(state) - 1
    assert distance > 20
    bot: Bot = PerfectBot(depth=4)
    plies = 0
    while state.to_move != TERMINAL:
        if state.to_move == 0:
            state = state.after(bot.choose(turn_at(game, state)))
        else:
            state = state.after(state.endings(Meter()).best(state))
        plies += 1
    assert state.returns()[0] == 1.0
    assert plies == distance


def test_the_optimal_bot_of_pig_follows_the_solution() -> None:
    game = get_game("pig(target=40)")
    solution = solve_pig(game)
    bot: Bot = load_bot("pig_optimal")()
    rng = random.Random(1)
    decisions = 0
    for _ in range(5):
        state: Any = game.initial_state()
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                state = state.after(rng.randint(1, 6))
                continue
            action = bot.choose(turn_at(game, state))
            values = solution.values(state)
            assert values[action] == max(values.values())
            decisions += len(values) == 2
            state = state.after(action)
    assert decisions > 20


def test_the_optimal_bot_of_pig_holds_at_twenty_until_the_game_is_solved() -> None:
    game = get_game("pig(target=61)")  # no other test solves it in this process
    state: Any = game.initial_state().after(ROLL).after(1)
    for roll in (6,) * 10:
        state = state.after(ROLL).after(roll)
    state = state.after(HOLD)  # the opponent lacks one point now, so no total is worth holding
    for roll in (6,) * 3:
        state = state.after(ROLL).after(roll)
    bot: Bot = load_bot("pig_optimal")()
    assert bot.choose(turn_at(game, state, hard=0)) == ROLL
    state = state.after(ROLL).after(6)
    assert bot.choose(turn_at(game, state, hard=0)) == HOLD  # no time is left
    assert bot.choose(turn_at(game, state)) == ROLL
