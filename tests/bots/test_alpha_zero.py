"""The bot ``alpha_zero``: its networks, shipped and given, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots import Turn
from plyhouse.bots.reference.alpha_zero_bot import AlphaZeroBot
from plyhouse.games import get_game
from plyhouse.learning.board_views import view_of
from plyhouse.learning.policy_networks import PolicyNetwork, write_policy_network
from plyhouse.search.files import InvalidFile


def turn_after(spec: str, *actions: str) -> Turn:
    game = get_game(spec)
    state: Any = game.initial_state()
    for text in actions:
        state = state.after(game.parse(state, text))
    return turn_at(game, state, ply=len(actions))


def test_shipped_network_takes_the_win_and_stops_the_loss() -> None:
    bot = AlphaZeroBot(simulations=200)
    assert bot.choose(turn_after("connect_four", "1", "7", "1", "7", "1", "6")) == 1
    assert bot.choose(turn_after("connect_four", "1", "7", "2", "7", "3", "7")) == 4
    assert bot.choose(turn_after("connect_four", "4", "1", "4", "1", "4")) == 4


def test_one_bot_plays_all_games_with_a_shipped_network() -> None:
    bot = AlphaZeroBot(simulations=20)
    for spec in AlphaZeroBot.claims():
        turn = turn_after(spec)
        assert bot.choose(turn) in turn.state.actions()


def test_game_without_network_is_refused_with_the_way_to_one() -> None:
    with pytest.raises(ValueError, match=r"no network for breakthrough comes .* plyhouse learn"):
        AlphaZeroBot(simulations=5).choose(turn_after("breakthrough"))


def test_file_of_another_game_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "network.toml"
    network = PolicyNetwork(view_of(get_game("breakthrough(size=4)")), 2, 2)
    path.write_text(write_policy_network(network, "", []), encoding="utf-8")
    bot = AlphaZeroBot(str(path), simulations=5)
    turn = turn_after("breakthrough(size=4)")
    assert bot.choose(turn) in turn.state.actions()
    with pytest.raises(InvalidFile, match=r"plays breakthrough\(size=4\), not connect_four$"):
        bot.choose(turn_after("connect_four"))
