"""The fast playouts of board games play by the same rules as the states."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plyhouse.games import get_game

SPECS = [
    "breakthrough",
    "breakthrough(size=4)",
    "checkers",
    'checkers(position="W:WK1,K10,27:BK32,K5,12")',
    'checkers(position="B:WK32,K31:BK1,K2",quiet_moves=5)',
    "coins(coins=30,max_take=4)",
    "hexapawn",
    "hexapawn(size=8)",
    "kalah",
    "kalah(houses=2,seeds=1)",
    "kalah(houses=3,seeds=9)",
    "kalah(houses=6,seeds=10)",
    "kalah(houses=7,seeds=4)",
    "othello",
]


@pytest.mark.parametrize("spec", SPECS)
def test_a_playout_is_play_with_the_same_random_numbers(spec: str) -> None:
    game = get_game(spec)
    for seed in range(25):
        state: Any = game.initial_state()
        rng = random.Random(seed)
        for _ in range(seed % 5):  # also from later positions
            if state.to_move >= 0:
                state = state.after(rng.choice(state.actions()))
        expected = state.playout(random.Random(seed))
        same = random.Random(seed)
        while state.to_move >= 0:
            actions = state.actions()
            state = state.after(actions[int(same.random() * len(actions))])
        assert state.returns() == expected
        assert state.playout(same) == expected
