"""Recommended searches fit the game, and agree with the course."""

from __future__ import annotations

import pytest

from plyhouse.games.registry import game_names, get_game
from plyhouse.search.game_requirements import fitting_algorithms, fitting_solvers, recommended
from plyhouse.search.tree_size import SOLVABLE, histories, positions


@pytest.mark.parametrize("name", [*game_names(), "pig(seats=3)", "pacman(ghosts=random)"])
def test_what_is_recommended_can_play_the_game(name: str) -> None:
    game = get_game(name)
    choice = recommended(game)
    assert choice.algorithm in {*fitting_algorithms(game), *fitting_solvers(game)}
    assert choice.reason.endswith(".")


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("chess", "alpha_beta"),
        ("nim", "alpha_beta"),
        ("go", "mcts"),
        ("backgammon", "expectiminimax"),
        ("pig(seats=3)", "maxn"),
        ("pacman", "team_search"),
        ("pacman(ghosts=random)", "expectimax"),
        ("kuhn_poker", "cfr_plus"),
        ("rock_paper_scissors", "cfr_plus"),
        ("liars_dice", "ismcts"),
        ("battleship", "ismcts"),
    ],
)
def test_each_kind_of_game_gets_its_kind_of_search(name: str, algorithm: str) -> None:
    assert recommended(get_game(name)).algorithm == algorithm


def test_sizes_are_exact_up_to_the_limit() -> None:
    # 3 + 6 nodes of dealing, and after each of 6 deals 1 + 2 + 4 + 2 of betting; and the root.
    assert histories(get_game("kuhn_poker")) == 1 + 3 + 6 * 9
    assert positions(get_game("tic_tac_toe")) == 5478
    assert histories(get_game("tic_tac_toe"), 1000) == 1001
    assert positions(get_game("connect_four")) > SOLVABLE
