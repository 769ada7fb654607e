"""`Game.restarted`: games whose matches may begin in a position that a rule ended."""

from __future__ import annotations

import random

import pytest

from plyhouse.games import get_game
from plyhouse.games.base import TERMINAL


@pytest.mark.parametrize(
    "spec", ["chess", "chess(start=11)", "checkers(quiet_moves=3)", "go(size=5)"]
)
@pytest.mark.parametrize("seed", range(3))
def test_restarted_position_has_the_same_actions(spec: str, seed: int) -> None:
    game, rng = get_game(spec), random.Random(seed)
    state = game.initial_state()
    for _ in range(60):
        seat = state.to_move
        if seat == TERMINAL:
            break
        fresh = game.restarted(state, seat)
        assert fresh is not None
        begin = fresh.initial_state()
        assert begin.to_move == seat
        ours = set(map(str.lower, game.legal_text(state, seat)))
        theirs = set(map(str.lower, fresh.legal_text(begin, seat)))
        assert ours <= theirs  # superko forbids nothing at the start
        assert get_game(fresh.spec).initial_state().to_move == seat
        state = state.after(rng.choice(state.actions()))


@pytest.mark.parametrize(
    ("spec", "plies", "seat"),
    [
        ("chess", "f2f3 e7e5 g2g4 d8h4", 0),
        ("chess", "e2e4", 0),
        ('checkers(position="B:W15:B11")', "11x18", 1),
        ("othello", "", 0),
    ],
)
def test_position_without_a_start_has_no_game(spec: str, plies: str, seat: int) -> None:
    game = get_game(spec)
    state = game.initial_state()
    for text in plies.split():
        state = state.after(game.parse(state, text))
    assert game.restarted(state, seat) is None
