"""``scrabble`` challenges words that are not in its list, and lays none."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots.reference.scrabble_bot import METHODS, ScrabbleBot
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.registry import get_game

VARIANTS = ("single", "double", "five")


def laid(game: Any, text: str) -> Any:
    """Return the state after a first play."""
    state = game.initial_state()
    for tile in "ACTZVW?EIOURST":
        state = state.after(game.parse_chance(state, tile))
    return state.after(game.parse(state, text))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("text", "answer"), [("8H CATZ", "challenge"), ("8H CAT", "accept")])
def test_only_a_word_that_is_not_in_the_list_is_challenged(
    variant: str, method: str, text: str, answer: str
) -> None:
    game: Any = get_game(f"scrabble(challenges={variant})")
    assert ScrabbleBot(method).choose(turn_at(game, laid(game, text))) == answer


@pytest.mark.parametrize("variant", VARIANTS)
def test_match_of_two_bots_has_no_wrong_word(variant: str) -> None:
    game: Any = get_game(f"scrabble(challenges={variant})")
    bots = ScrabbleBot("leave"), ScrabbleBot("simulation", simulations=2)
    rng = random.Random(variant)
    state = game.initial_state()
    answers = []
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            state = state.after(state.drawn(rng.random()))
            continue
        assert state.wrong_words() == []
        action = game.parse(state, bots[state.to_move].choose(turn_at(game, state)))
        answers += [action] if state.laid else []
        state = state.after(action)
    assert set(answers) == {"accept"}
    assert max(state.scores) > 150
