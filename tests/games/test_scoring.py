"""The scoring of a match, and the bounds of returns behind it."""

from __future__ import annotations

import itertools

import pytest

from plyhouse.games import CHANCE, TERMINAL, Game, Scoring, State, game_names, get_game


def outcomes(state: State) -> list[tuple[float, ...]]:
    """The returns at the end of every line of play."""
    if state.to_move == TERMINAL:
        return [state.returns()]
    if state.to_move == CHANCE:
        following = [outcome for outcome, _ in state.chance_outcomes()]
    else:
        following = list(state.actions())
    return list(itertools.chain.from_iterable(outcomes(state.after(each)) for each in following))


def test_chips_and_cents_score_by_their_size_and_all_else_by_wins() -> None:
    by_returns = {name for name in game_names() if get_game(name).info.scoring is Scoring.RETURNS}
    assert by_returns == {"bridge", "coin_guess", "kuhn_poker", "leduc_poker", "texas_holdem"}


@pytest.mark.parametrize(
    ("spec", "bounds"),
    [
        ("tic_tac_toe", (-1, 1)),
        ("kuhn_poker", (-2, 2)),
        ("kuhn_poker(seats=3)", (-2, 4)),
        ("kuhn_poker(seats=4)", (-2, 6)),
        ("leduc_poker", (-13, 13)),
        ("coin_guess", (-5, 5)),
        ("coin_guess(variant=bag)", (-5, 5)),
        ("coin_guess(pennies=1.0,variant=bag)", (-1, 1)),
    ],
)
def test_the_bounds_of_returns_follow_the_parameters(
    spec: str, bounds: tuple[float, float]
) -> None:
    game: Game = get_game(spec)
    assert game.return_bounds == bounds
    assert game.info.min_return <= bounds[0] < bounds[1] <= game.info.max_return
    if game.info.scoring is Scoring.RETURNS:
        values = [value for returns in outcomes(game.initial_state()) for value in returns]
        assert (min(values), max(values)) == bounds
