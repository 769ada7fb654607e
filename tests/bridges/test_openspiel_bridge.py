"""Bridge beside OpenSpiel's: the same legal calls and cards, and the same points."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from tests.bridges.libraries import library

from plyhouse.games import CHANCE, TERMINAL, get_game
from plyhouse.games.hidden.bridge.scoring import is_vulnerable
from plyhouse.games.hidden.bridge.state import PASS
from plyhouse.games.native import COMPILED
from plyhouse.games.playing_cards import cards_by_suit

if not TYPE_CHECKING:
    library("pyspiel", "openspiel")

import pyspiel

MATCHES = 30 if COMPILED else 3
BOARDS = 16


def test_bridge_has_the_calls_cards_and_points_of_openspiel() -> None:
    game: Any = get_game(f"bridge(boards={BOARDS})")
    rng = random.Random(1)
    played = 0
    for _ in range(MATCHES):
        state = game.initial_state()
        while state.to_move != TERMINAL:
            while state.to_move == CHANCE:
                state = state.after(rng.choice(state.chance_outcomes())[0])
            board, before, dealer = state.board, state.points, state.dealer()
            terms = {
                "use_double_dummy_result": False,
                "dealer_vul": is_vulnerable(board, dealer % 2),
                "non_dealer_vul": is_vulnerable(board, 1 - dealer % 2),
            }
            # Their dealer is always their first player.
            other = pyspiel.load_game("bridge", terms).new_initial_state()
            hands = [list(cards_by_suit(hand)) for hand in state.hands]
            for number in range(52):
                other.apply_action(hands[(number + dealer) % 4].pop())
            while state.to_move != TERMINAL and state.board == board:
                assert (other.current_player() + dealer) % 4 == state.to_move
                assert other.legal_actions() == sorted(state.actions())
                action = rng.choice(state.actions())
                if action >= PASS and rng.random() < 0.55:
                    action = PASS
                state = state.after(action)
                other.apply_action(action)
            sign = 1 if dealer % 2 == 0 else -1
            assert other.returns()[0] == sign * (state.points - before)
            played += 1
    assert played == MATCHES * BOARDS
