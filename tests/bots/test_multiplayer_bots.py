"""Bots for dice and for more than two seats choose by their searches, within their options."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots.loading import load_bot
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game


def chosen(bot: str, spec: str, state: Any = None, **options: Any) -> Any:
    game = get_game(spec)
    state = game.initial_state() if state is None else state
    turn = turn_at(game, state, rng=random.Random(5))
    return load_bot(bot)(**options).choose(turn)


@pytest.mark.parametrize("bot", ["expectiminimax", "maxn", "paranoid", "team_search", "expectimax"])
def test_who_can_win_at_once_does(bot: str) -> None:
    game = get_game("tic_tac_toe")
    state: Any = game.initial_state()
    for text in ("a1", "b2", "a2", "b3"):
        state = state.after(game.parse(state, text))
    assert game.format(state, chosen(bot, "tic_tac_toe", state, depth=2)) == "a3"


@pytest.mark.parametrize("bot", ["maxn", "paranoid", "expectimax"])
def test_three_seats_are_played(bot: str) -> None:
    assert chosen(bot, "pig(seats=3)", depth=4) == 0


def test_the_ghosts_play_as_a_team() -> None:
    game = get_game("pacman(layout=trapped)")
    state: Any = game.initial_state().after(4)
    assert state.to_move == 1
    assert chosen("team_search", "pacman(layout=trapped)", state, depth=4) in state.actions()


def test_a_model_of_the_opponent_is_an_option() -> None:
    game = get_game("tic_tac_toe")
    state: Any = game.initial_state()
    for text in ("a1", "b2", "a2"):
        state = state.after(game.parse(state, text))
    block = chosen("expectimax", "tic_tac_toe", state, depth=3, minimax_share=1.0)
    assert game.format(state, block) == "a3"
    with pytest.raises(ValueError, match="a share from 0 to 1"):
        load_bot("expectimax")(minimax_share=1.5)  # type: ignore[call-arg]
    with pytest.raises(GameMismatch):
        chosen("expectimax", "pig(seats=3)", depth=4, minimax_share=0.5)
