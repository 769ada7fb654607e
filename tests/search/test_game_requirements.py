from __future__ import annotations

from typing import Any

import pytest

from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.search import (
    alpha_beta,
    cfr_plus,
    expectimax,
    expectiminimax,
    fitting_algorithms,
    flat_monte_carlo,
    ismcts,
    maxn,
    mcts,
    minimax,
    paranoid,
    pimc,
    puct,
    random_action,
    team_search,
)

HIDDEN = ("ismcts", "pimc", "random_action")
ANY_SEATS = ("maxn", "paranoid", "expectimax", "mcts", "puct", "flat_monte_carlo", *HIDDEN)
ANY_SIDES = ("team_search", *ANY_SEATS)


@pytest.mark.parametrize(
    ("search", "spec", "why"),
    [
        (minimax, "pig", "it has chance nodes"),
        (alpha_beta, "pig", "it has chance nodes"),
        (alpha_beta, "kuhn_poker", "its seats do not see the whole state"),
        (expectiminimax, "coin_guess", "its seats do not see the whole state"),
        (expectiminimax, "pig(seats=3)", "it has 3 seats"),
        (minimax, "pacman", "it has 3 seats"),
        (expectiminimax, "pacman(ghosts=random)", "it has 1 seat and its returns"),
        (team_search, "pig(seats=3)", "it has 3 seats, which are not two teams"),
        (team_search, "prisoners_dilemma", "its returns do not sum to zero"),
        (maxn, "kuhn_poker(seats=3)", "its seats do not see the whole state"),
        (expectimax, "kuhn_poker", "its seats do not see the whole state"),
        (paranoid, "kuhn_poker", "its seats do not see the whole state"),
    ],
)
def test_a_game_that_does_not_fit_is_refused_with_the_reason(
    search: Any, spec: str, why: str
) -> None:
    game = get_game(spec)
    with pytest.raises(GameMismatch) as caught:
        search(game, game.initial_state())
    said = str(caught.value)
    assert why in said
    assert said.startswith(f"{search.__name__} cannot play {game.spec}: ")
    for name in fitting_algorithms(game):
        assert name in said


def test_the_refusal_names_what_the_algorithm_plays_and_what_plays_the_game() -> None:
    game = get_game("pig")
    with pytest.raises(GameMismatch) as caught:
        alpha_beta(game, game.initial_state())
    assert str(caught.value) == (
        "alpha_beta cannot play pig: it has chance nodes; it plays deterministic, two-seat, "
        "zero-sum games of perfect information; what can play pig: expectiminimax, "
        "team_search, maxn, paranoid, expectimax, mcts, puct, flat_monte_carlo, ismcts, "
        "pimc, random_action."
    )


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("connect_four", ("alpha_beta", "minimax", "expectiminimax", *ANY_SIDES)),
        ("pig", ("expectiminimax", *ANY_SIDES)),
        ("pig(seats=4)", ANY_SEATS),
        ("pacman", ANY_SIDES),
        ("pacman(layout=duel)", ("alpha_beta", "minimax", "expectiminimax", *ANY_SIDES)),
        ("pacman(ghosts=random)", ANY_SEATS),
        ("kuhn_poker", HIDDEN),
    ],
)
def test_fitting_algorithms_follow_from_what_a_game_declares(
    spec: str, names: tuple[str, ...]
) -> None:
    assert fitting_algorithms(get_game(spec)) == names


def test_only_a_seat_to_move_can_be_searched_for() -> None:
    pig = get_game("pig")
    rolling = pig.initial_state().after(0)
    with pytest.raises(ValueError, match="this is a chance node"):
        expectiminimax(pig, rolling)
    game = get_game("tic_tac_toe")
    over = game.initial_state()
    for action in (0, 3, 1, 4, 2):
        over = over.after(action)
    with pytest.raises(ValueError, match="this is the end of the game"):
        alpha_beta(game, over)
    with pytest.raises(ValueError, match="this is the end of the game"):
        random_action(game, over)


def test_a_search_of_what_a_seat_sees_refuses_a_state() -> None:
    kuhn = get_game("kuhn_poker")
    state: Any = kuhn.initial_state().after(0).after(1)
    for search in (ismcts, pimc):
        with pytest.raises(TypeError, match=r"not from a state .*game\.observe\(state, state"):
            search(kuhn, state)
        with pytest.raises(TypeError, match=r"an observation, not from \(int\)$"):
            search(kuhn, 3)  # type: ignore[arg-type]


def test_a_search_of_states_refuses_an_observation() -> None:
    game = get_game("tic_tac_toe")
    seen = game.observe(game.initial_state(), 0)
    for search in (alpha_beta, minimax, mcts):
        with pytest.raises(TypeError, match=r"from a state, not from an observation \(TicTacToeOb"):
            search(game, seen)


@pytest.mark.parametrize("search", [alpha_beta, minimax, maxn, mcts, puct, flat_monte_carlo])
def test_a_number_in_place_of_a_limit_is_refused_with_an_example(search: Any) -> None:
    game = get_game("tic_tac_toe")
    with pytest.raises(TypeError, match=r"^limit=4: expected a Limit, as in Limit\(time=1\)$"):
        search(game, game.initial_state(), 4)


@pytest.mark.parametrize("search", [ismcts, pimc])
def test_a_number_in_place_of_a_limit_is_refused_with_hidden_information(search: Any) -> None:
    game = get_game("kuhn_poker")
    seen = game.observe(game.initial_state().after(0).after(1), 0)
    with pytest.raises(TypeError, match=r"^limit=4: expected a Limit"):
        search(game, seen, 4)


def test_a_number_in_place_of_a_limit_is_refused_by_solvers() -> None:
    with pytest.raises(TypeError, match=r"^limit=4: expected a Limit"):
        cfr_plus(get_game("kuhn_poker"), 4)  # type: ignore[arg-type]


@pytest.mark.parametrize("search", [alpha_beta, minimax, mcts, puct, random_action])
def test_a_search_refuses_what_is_no_game(search: Any) -> None:
    game = get_game("tic_tac_toe")
    state = game.initial_state()
    with pytest.raises(TypeError, match=r"a game first, not 'tic_tac_toe': get_game\(\.\.\.\)"):
        search("tic_tac_toe", state)
    with pytest.raises(TypeError, match=r"a game first, not a state \(TicTacToeState\)"):
        search(state, game)


def test_solvers_refuse_what_is_no_game() -> None:
    name: Any = "kuhn_poker"
    with pytest.raises(TypeError, match=r"cfr_plus takes a game first, not 'kuhn_poker'"):
        cfr_plus(name)
    with pytest.raises(TypeError, match=r"ismcts takes a game first, not 'kuhn_poker'"):
        ismcts(name, name)
