"""Coins and nim."""

from __future__ import annotations

import functools
import itertools

import pytest

from plyhouse.games import TERMINAL, IllegalAction, InvalidAction, InvalidParameter, get_game
from plyhouse.games.deterministic.coins import Coins, CoinsState
from plyhouse.games.deterministic.nim import Nim, NimState
from plyhouse.games.scene import Grid, Hand


@functools.cache
def mover_wins_coins(coins: int, max_take: int, misere: bool) -> bool:
    state = CoinsState(0, coins, 1, max_take, misere)
    for action in state.actions():
        reached = state.after(action)
        if reached.to_move == TERMINAL:
            if reached.returns()[0] > 0:
                return True
        elif not mover_wins_coins(reached.coins, max_take, misere):
            return True
    return False


@functools.cache
def mover_wins_nim(heaps: tuple[int, ...], misere: bool) -> bool:
    state = NimState(0, heaps, 1, misere)
    for action in state.actions():
        reached = state.after(action)
        if reached.to_move == TERMINAL:
            if reached.returns()[0] > 0:
                return True
        elif not mover_wins_nim(reached.heaps, misere):
            return True
    return False


def test_with_four_coins_the_player_to_move_loses() -> None:
    assert Coins().spec == "coins"
    state = Coins().initial_state()
    assert (state.coins, state.max_take, state.misere) == (4, 2, True)
    assert not mover_wins_coins(4, 2, True)


@pytest.mark.parametrize("coins", range(1, 31))
def test_the_mover_loses_exactly_when_one_is_left_over_by_threes(coins: int) -> None:
    assert mover_wins_coins(coins, 2, True) == (coins % 3 != 1)


@pytest.mark.parametrize("max_take", [1, 2, 3, 5])
def test_other_numbers_to_take_and_normal_play(max_take: int) -> None:
    for coins in range(1, 25):
        assert mover_wins_coins(coins, max_take, True) == (coins % (max_take + 1) != 1)
        assert mover_wins_coins(coins, max_take, False) == (coins % (max_take + 1) != 0)


@pytest.mark.parametrize("misere", [False, True])
def test_boutons_theorem_on_all_heaps_up_to_five(misere: bool) -> None:
    for heaps in itertools.product(range(6), repeat=3):
        if not any(heaps):
            continue
        expected = (heaps[0] ^ heaps[1] ^ heaps[2]) != 0
        if misere and max(heaps) == 1:
            expected = not expected
        assert mover_wins_nim(heaps, misere) == expected, heaps


def test_nim_actions_name_heap_and_count() -> None:
    game = Nim(heaps="2,1")
    state = game.initial_state()
    assert game.legal_text(state, 0) == ("1:1", "1:2", "2:1")
    state = state.after(game.parse(state, "1:2"))
    assert state.heaps == (0, 1)
    assert game.describe(state) == "heaps 0,1, the last one wins, the second player to move"
    state = state.after(game.parse(state, "2:1"))
    assert state.to_move == TERMINAL
    assert state.returns() == (-1.0, 1.0)
    assert game.scene(game.observe(state, 0)).status == "second took the last one and wins"


def test_taking_the_last_coin_loses_or_wins() -> None:
    for misere, result in ((True, "loses"), (False, "wins")):
        game = Coins(coins=1, misere=misere)
        state = game.initial_state().after(1)
        status = game.scene(game.observe(state, None)).status
        assert status == f"first took the last one and {result}"


def test_taken_objects_are_drawn_faintly() -> None:
    nim = Nim(heaps="3,1")
    scene = nim.scene(
        nim.observe(nim.initial_state().after(nim.parse(nim.initial_state(), "1:2")), 1)
    )
    grid = scene.elements[0]
    assert isinstance(grid, Grid)
    assert [cell.faint for cell in grid.rows[0]] == [False, True, True]
    assert [(cell.shape, cell.text) for cell in grid.rows[1]] == [
        ("match", "o"),
        ("", " "),
        ("", " "),
    ]
    coins = Coins()
    hand = coins.scene(coins.observe(coins.initial_state().after(1), 1)).elements[0]
    assert isinstance(hand, Hand)
    assert [card.faint for card in hand.cards] == [False, False, False, True]


def test_no_more_can_be_taken_than_there_is() -> None:
    game = Coins(coins=1)
    assert game.legal_text(game.initial_state(), 0) == ("1",)
    with pytest.raises(IllegalAction, match="legal here: 1"):
        game.parse(game.initial_state(), "2")
    with pytest.raises(InvalidAction, match="how many coins to take, from 1 to 2"):
        game.parse(game.initial_state(), "one")


def test_choosing_an_object_takes_all_to_its_right() -> None:
    game = Nim(heaps="3,1")
    grid = game.scene(game.observe(game.initial_state(), 0)).elements[0]
    actions = [[cell.action for cell in row] for row in grid.rows]  # type: ignore[union-attr]
    assert actions == [["1:3", "1:2", "1:1"], ["2:1", None, None]]


@pytest.mark.parametrize("heaps", ["", "3,,4", "0", "31", "3;4", "-1", "three", "1.5", "100"])
def test_heaps_that_cannot_be_are_refused(heaps: str) -> None:
    with pytest.raises(InvalidParameter, match="every heap must be a number from 1 to 30"):
        Nim(heaps=heaps)


def test_too_many_heaps_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="10 heaps at most, not 11"):
        Nim(heaps=",".join("1" * 11))


def test_words_are_no_actions_of_nim() -> None:
    game = get_game("nim")
    with pytest.raises(InvalidAction, match="like 2:3"):
        game.parse(game.initial_state(), "2")
    with pytest.raises(IllegalAction):
        game.parse(game.initial_state(), "1:4")
