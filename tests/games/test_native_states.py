"""States of built-in games are plain slotted objects, interpreted and compiled."""

from __future__ import annotations

import random
import weakref
from typing import Any

import pytest

from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.registry import game_names, get_game


@pytest.mark.parametrize("name", game_names())
def test_states_take_no_weak_references(name: str) -> None:
    # Compiled, a weak reference would be freed with the state, and its owner crash later.
    rng = random.Random(1)
    state: Any = get_game(name).initial_state()
    for _ in range(20):
        with pytest.raises(TypeError, match="weak reference"):
            weakref.ref(state)
        assert not hasattr(state, "__dict__")
        if state.to_move == TERMINAL:
            break
        outcomes = state.chance_outcomes()
        actions = [each for each, _ in outcomes] if state.to_move == CHANCE else state.actions()
        state = state.after(rng.choice(list(actions)))
