from __future__ import annotations

from fractions import Fraction

import pytest

from plyhouse.games import CHANCE, TERMINAL, get_game
from plyhouse.games.hidden.coin_guess import GUESSER, HOLDER, JEFFERSON, LINCOLN, NICKEL, PENNY

ADVERSARY = get_game("coin_guess")
BAG = get_game("coin_guess(variant=bag)")


def guesser_wins(coin: int, guess: int) -> float:
    return ADVERSARY.initial_state().after(coin).after(guess).returns()[GUESSER]


def worth(pennies: float, guess: int) -> float:
    """Expected winnings of a guess against the bag."""
    game = get_game(f"coin_guess(variant=bag,pennies={pennies})")
    start = game.initial_state()
    return sum(
        probability * start.after(coin).after(guess).returns()[GUESSER]
        for coin, probability in start.chance_outcomes()
    )


@pytest.mark.parametrize(
    ("coin", "guess", "wins"),
    [(PENNY, LINCOLN, 1), (PENNY, JEFFERSON, -1), (NICKEL, LINCOLN, -5), (NICKEL, JEFFERSON, 5)],
)
def test_right_wins_the_worth_and_wrong_pays_it(coin: int, guess: int, wins: float) -> None:
    assert guesser_wins(coin, guess) == wins


def test_a_bag_with_half_pennies() -> None:
    assert worth(0.5, LINCOLN) == -2.0
    assert worth(0.5, JEFFERSON) == 2.0


def test_lincoln_is_better_only_above_five_sixths_pennies() -> None:
    assert worth(0.83, LINCOLN) < worth(0.83, JEFFERSON)
    assert worth(5 / 6, LINCOLN) == pytest.approx(worth(5 / 6, JEFFERSON), abs=1e-12)
    assert worth(0.84, LINCOLN) > worth(0.84, JEFFERSON)


def test_equilibrium_against_an_adversary() -> None:
    penny, lincoln = Fraction(5, 6), Fraction(1, 2)
    for guess in (LINCOLN, JEFFERSON):
        value = penny * int(guesser_wins(PENNY, guess))
        value += (1 - penny) * int(guesser_wins(NICKEL, guess))
        assert value == 0, "hiding the penny 5 times in 6 leaves the guesser nothing to choose"
    for coin in (PENNY, NICKEL):
        value = lincoln * int(guesser_wins(coin, LINCOLN))
        value += (1 - lincoln) * int(guesser_wins(coin, JEFFERSON))
        assert value == 0, "guessing each face half of the time leaves the holder nothing to choose"


def test_the_choice_is_hidden_until_the_end() -> None:
    start = ADVERSARY.initial_state()
    for coin in (PENNY, NICKEL):
        hidden = start.after(coin)
        assert ADVERSARY.observe(hidden, GUESSER).fields()["coin"] is None
        assert ADVERSARY.observe(hidden, None).fields()["coin"] is None
        assert ADVERSARY.observe(hidden, HOLDER).fields()["coin"] is not None
        shown = hidden.after(LINCOLN)
        assert ADVERSARY.observe(shown, GUESSER).fields()["coin"] is not None


def test_actions_are_told_to_those_who_may_know() -> None:
    start = ADVERSARY.initial_state()
    told = [ADVERSARY.visible(start, PENNY, viewer) for viewer in (HOLDER, GUESSER, None)]
    assert told == ["penny", None, None]
    guessing = start.after(PENNY)
    told = [ADVERSARY.visible(guessing, LINCOLN, viewer) for viewer in (HOLDER, GUESSER, None)]
    assert told == ["lincoln"] * 3


def test_nobody_sees_a_draw_from_the_bag() -> None:
    start = BAG.initial_state()
    assert start.to_move == CHANCE
    assert [BAG.visible(start, PENNY, viewer) for viewer in (HOLDER, GUESSER, None)] == [None] * 3
    drawn = start.after(PENNY)
    assert drawn.to_move == GUESSER
    assert BAG.observe(drawn, HOLDER).fields()["coin"] is None
    assert drawn.after(LINCOLN).to_move == TERMINAL


@pytest.mark.parametrize(("pennies", "coin"), [(0.0, NICKEL), (1.0, PENNY)])
def test_a_coin_that_is_not_in_the_bag_is_not_drawn(pennies: float, coin: int) -> None:
    game = get_game(f"coin_guess(variant=bag,pennies={pennies})")
    assert game.initial_state().chance_outcomes() == ((coin, 1.0),)
