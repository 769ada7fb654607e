"""Every legal action of every game has a number, and the number means that action."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from plyhouse.games import CHANCE, TERMINAL, get_game
from plyhouse.games.bridges.encoding import Encoding
from plyhouse.games.bridges.numbering import numbering_of
from plyhouse.games.errors import GameMismatch
from plyhouse.games.playthrough import VARIANTS
from plyhouse.games.registry import BUILT_IN

CHOMP = Path(__file__).resolve().parents[2] / "examples" / "chomp.py"
OTHERS = (
    "breakthrough(size=5)",
    "coins(coins=20,max_take=7)",
    "go(size=5)",
    "kalah(houses=9)",
    "leduc_poker",
    'matrix(payoffs="1 2 3; 4 5 6")',
    'nim(heaps="30,1")',
    "liars_dice(dice=6,faces=10,seats=6)",
    "hexapawn(size=8)",
)


@pytest.mark.parametrize("spec", [*BUILT_IN, *VARIANTS.values(), *OTHERS])
def test_numbers_of_legal_actions_mean_them(spec: str) -> None:
    game = get_game(spec)
    numbering = numbering_of(game)
    rng = random.Random(3)
    state: Any = game.initial_state()
    for _ in range(250):
        if state.to_move == TERMINAL:
            state = game.initial_state()
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
            continue
        numbers = numbering.legal(state)
        assert numbers == sorted(set(numbers))
        assert 0 <= numbers[0] <= numbers[-1] < numbering.size
        meant = [numbering.action(state, number) for number in numbers]
        assert sorted(meant) == sorted(state.actions())
        state = state.after(rng.choice(meant))


def test_only_whole_turns_have_no_fixed_numbers() -> None:
    loose = {name for name in BUILT_IN if not numbering_of(get_game(name)).fixed}
    assert loose == {"backgammon", "checkers", "scrabble"}


@pytest.mark.skipif(not CHOMP.is_file(), reason="the examples are not here")
def test_small_games_of_others_are_searched_for_actions() -> None:
    game = get_game(f"{CHOMP}(size=3)", files=True)
    numbering = numbering_of(game)
    start: Any = game.initial_state()
    assert numbering.size == 9
    texts = [game.format(start, numbering.action(start, number)) for number in range(9)]
    assert texts == ["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"]


@pytest.mark.skipif(not CHOMP.is_file(), reason="the examples are not here")
def test_large_games_of_others_are_refused_with_the_remedy() -> None:
    with pytest.raises(GameMismatch, match="action_count"):
        numbering_of(get_game(f"{CHOMP}(size=9)", files=True))


def test_encoding_separates_positions_and_hides_nothing_else() -> None:
    game = get_game("kuhn_poker")
    encoding = Encoding(game)
    start: Any = game.initial_state()
    dealt = {
        cards: start.after(int(cards[0])).after(int(cards[1])) for cards in ("01", "02", "10", "12")
    }
    seen = {cards: encoding.encode(game.observe(state, 0)) for cards, state in dealt.items()}
    assert (seen["01"] == seen["02"]).all()
    assert (seen["10"] == seen["12"]).all()
    assert not (seen["01"] == seen["10"]).all()
