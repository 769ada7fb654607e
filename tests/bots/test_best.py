"""``best`` plays every game by the bot of the algorithm that is recommended."""

from __future__ import annotations

import importlib
import random
from concurrent.futures import Future
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots import Bot, Turn
from plyhouse.bots.reference import best_bot
from plyhouse.bots.reference.best_bot import BOTS, BestBot, bot_for, bot_of
from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.registry import game_names, get_game
from plyhouse.search.game_requirements import recommended

SPECS = [*game_names(), "pig(seats=3,target=20)", "pacman(ghosts=random)"]


def timed_turn(game: Game, state: Any, ply: int, rng: random.Random) -> Turn:
    bounds: dict[str, Any] = {
        "soft": 1_020_000_000,
        "hard": 2_000_000_000,
        "clock_ns": lambda: 1_000_000_000,
    }
    return turn_at(game, state, ply=ply, rng=rng, **bounds)


def test_it_has_an_action_to_play_before_its_bot_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = get_game("connect_four")
    turn = timed_turn(game, game.initial_state(), 0, random.Random(1))
    reported: list[Any] = []
    never: Future[type[Bot]] = Future()
    monkeypatch.setattr(turn, "report", reported.append)
    monkeypatch.setattr(best_bot, "bot_of", lambda _: never)
    assert BestBot().choose(turn) in turn.legal
    assert reported == [turn.legal[0]]


def drawn(state: Any, rng: random.Random) -> Any:
    outcomes = state.chance_outcomes()
    return rng.choices([outcome for outcome, _ in outcomes], [share for _, share in outcomes])[0]


@pytest.mark.parametrize("spec", SPECS)
def test_it_plays_every_game_of_the_house(spec: str) -> None:
    game = get_game(spec)
    bot_of(game).result()
    rng = random.Random(7)
    bots = [BestBot(depth=1, simulations=20) for _ in range(game.seats)]
    state: Any = game.initial_state()
    plies, moved = 0, set()
    while state.to_move != TERMINAL and plies < 6:
        if state.to_move == CHANCE:
            state = state.after(drawn(state, rng))
            continue
        turn = timed_turn(game, state, plies, rng)
        action = bots[state.to_move].choose(turn)
        text, problem = turn.text_of(action)
        assert not problem
        moved.add(state.to_move)
        state = state.after(game.parse(state, text))
        plies += 1
    assert moved
    for seat, bot in enumerate(bots):
        assert (type(bot.bot) is bot_for(game)) if seat in moved else bot.bot is None


def test_there_is_a_bot_for_whatever_may_be_recommended() -> None:
    for target in BOTS.values():
        module, _, name = target.partition(":")
        found = getattr(importlib.import_module(f"plyhouse.bots.reference.{module}"), name)
        assert issubclass(found, Bot)
    for spec in SPECS:
        assert recommended(get_game(spec)).algorithm in BOTS


def test_its_options_reach_the_search() -> None:
    game = get_game("connect_four")
    state = game.initial_state()
    bot_of(game).result()
    turn = timed_turn(game, state, 0, random.Random(1))
    BestBot(depth=2).choose(turn)
    assert turn.said is not None
    assert turn.said["depth"] == 2
    with pytest.raises(ValueError, match="depth=0"):
        BestBot(depth=0)
