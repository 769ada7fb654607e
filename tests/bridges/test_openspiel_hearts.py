"""Hearts beside OpenSpiel's: the same legal cards and the same points."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from tests.bridges.libraries import library

from plyhouse.games import CHANCE, TERMINAL, get_game
from plyhouse.games.hidden.hearts.state import direction_of
from plyhouse.games.native import COMPILED

if not TYPE_CHECKING:
    library("pyspiel", "openspiel")

import pyspiel

MATCHES = 100 if COMPILED else 5


def test_hearts_has_the_cards_and_points_of_openspiel() -> None:
    theirs = pyspiel.load_game("hearts(qs_breaks_hearts=false)")
    game: Any = get_game("hearts")
    rng = random.Random(1)
    decisions = 0
    for _ in range(MATCHES):
        state = game.initial_state()
        while state.to_move != TERMINAL:
            deal, before = state.deal, state.won
            other = theirs.new_initial_state()
            other.apply_action((0, 1, 2, 3)[direction_of(deal)])
            while state.to_move != TERMINAL and state.deal == deal:
                if state.to_move == CHANCE:
                    card = rng.choice(state.chance_outcomes())[0]
                else:
                    assert other.current_player() == state.to_move
                    assert other.legal_actions() == sorted(state.actions())
                    card = rng.choice(state.actions())
                    decisions += 1
                state = state.after(card)
                other.apply_action(card)
            points = [26 - one for one in other.returns()]
            assert points == [new - old for new, old in zip(state.won, before, strict=True)]
    assert decisions == MATCHES * (4 * 52 + 3 * 12)
