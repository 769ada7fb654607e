"""The bot ``mcts`` resigns after turns without hope, if it is told to."""

from __future__ import annotations

from typing import Any

import pytest
from tests.harness.bot_turns import turn_at
from tests.harness.go_boards import position

from plyhouse.bots import Turn
from plyhouse.bots.api import Resignation
from plyhouse.bots.reference.mcts_bot import MctsBot
from plyhouse.games import get_game

GAME = get_game("go(size=5)")
LOST = "xxxxx x.x.x xxxxx xxxx. ...x."
"""White has no stone left, and no place to live."""
OPEN = "..... ..... ..x.. ..... ....."


def turn(drawing: str, to_move: int) -> Turn:
    state: Any = position(drawing, to_move, GAME)
    return turn_at(GAME, state, ply=40)


def test_bot_resigns_in_the_third_hopeless_turn() -> None:
    bot = MctsBot(simulations=100, resign=0.05)
    assert bot.choose(turn(LOST, 1)) in turn(LOST, 1).legal
    bot.choose(turn(LOST, 1))
    with pytest.raises(Resignation):
        bot.choose(turn(LOST, 1))


def test_a_turn_with_hope_starts_the_count_again() -> None:
    bot = MctsBot(simulations=100, resign=0.05)
    for _ in range(2):
        for _ in range(2):
            bot.choose(turn(LOST, 1))
        bot.choose(turn(OPEN, 0))
    assert bot.hopeless == 0


def test_bot_never_resigns_by_default() -> None:
    bot = MctsBot(simulations=50)
    for _ in range(5):
        bot.choose(turn(LOST, 1))


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="from 0 to less than 1"):
        MctsBot(resign=share)
