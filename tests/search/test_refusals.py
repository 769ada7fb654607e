"""A refusal names only searches that accept the game."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from plyhouse import search
from plyhouse.games.base import CHANCE, Game
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.search import Limit, best_response, explain, matrix_of, mccfr
from plyhouse.search.game_requirements import (
    ALGORITHMS,
    EQUILIBRIUM_SOLVERS,
    SOLVERS,
    require_game,
)
from plyhouse.search.policies import uniform_policy
from plyhouse.search.tables.pig_solution import solve_pig
from plyhouse.search.teaching.explain import SEARCHES

NAMES = (*ALGORITHMS, *EQUILIBRIUM_SOLVERS, *SOLVERS)
MORE = ("pig(seats=3)", "pacman(layout=duel)", "liars_dice(dice=2)", "bridge(boards=1)")
BRIEF = Limit(time=0.05)


def use(game: Game, name: str, **options: Any) -> None:
    """Begin a search or solver; raises its refusal."""
    function = getattr(search, name)
    state: Any = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    if name == "mccfr":
        function(game, BRIEF)
    elif name in EQUILIBRIUM_SOLVERS:
        function(game, iterations=1, **options)
    elif name in SOLVERS:
        require_game(name, game)  # whether its positions fit into memory is another question
    elif name == "random_action":
        function(game, state)
    else:
        hidden = name in ("ismcts", "pimc")
        function(game, game.observe(state, state.to_move) if hidden else state, BRIEF)


def advice(game: Game) -> list[str]:
    """Return what all that refuse a game advise."""
    small = {name: {"max_nodes": 1000} for name in EQUILIBRIUM_SOLVERS}
    attempts: list[Callable[[], Any]] = [
        *[partial(use, game, name, **small.get(name, {})) for name in NAMES],
        *[partial(explain, game, game.initial_state(), name, depth=1) for name in SEARCHES],
        partial(matrix_of, game),
        partial(best_response, game, uniform_policy, 0, max_nodes=1000),
        lambda: mccfr(game, BRIEF, max_nodes=1000).exploitability(),
        partial(solve_pig, game),
    ]
    found = []
    for attempt in attempts:
        try:
            attempt()
        except GameMismatch as error:
            found.append(error.fits)
        except ValueError:  # it does not fit the position
            pass
    return found


@pytest.mark.parametrize("spec", [*BUILT_IN, *MORE])
def test_refusal_names_only_searches_that_accept_the_game(spec: str) -> None:
    game = get_game(spec)
    text = "\n".join(advice(game))
    for name in sorted({*NAMES} - {"cfr", "discounted_cfr"}):  # they need what cfr_plus needs
        if re.search(rf"\b{name}\b", text):
            use(game, name)


def test_solver_that_samples_does_not_advise_itself() -> None:
    solution = mccfr(get_game("leduc_poker"), iterations=1, max_nodes=1000)
    with pytest.raises(GameMismatch, match="choose smaller parameters, or raise max_nodes"):
        solution.exploitability()


def test_game_too_long_is_refused_at_once_by_every_solver() -> None:
    for name in EQUILIBRIUM_SOLVERS:
        with pytest.raises(GameMismatch, match="may take more than 256 plies") as caught:
            use(get_game("hearts"), name)
        assert caught.value.fits.endswith("what can play hearts: ismcts, pimc, random_action")
