"""A proven win ends a search: no value can pass the bounds of the game's returns."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.registry import get_game
from plyhouse.games.trees import tree_game
from plyhouse.search import Limit, TranspositionTable, alpha_beta, explain, minimax

Tree = Callable[..., tuple[Game, Any]]

BEST = 100.0
"""The bounds of the returns of the written trees in conftest.py."""
MODES: list[dict[str, Any]] = [
    {},
    {"deepen": True},
    {"deepen": True, "table": False},
    {"deepen": False, "table": True, "ordering": True, "null_windows": True},
    {"deepen": True, "reductions": True},
]


def extreme_tree(seed: int) -> Any:
    """A random uneven tree in which most leaves are won, lost or drawn."""
    rng = random.Random(seed)

    def grow(depth: int) -> Any:
        if depth == 0 or (depth < 4 and rng.random() < 0.25):
            return rng.choice((-BEST, -BEST, 0.0, 3.0, BEST, BEST))
        return tuple(grow(depth - 1) for _ in range(rng.randint(1, 4)))

    return tuple(grow(4) for _ in range(3))


def true_value(node: Any, seat: int) -> float:
    """Return the maximiser's value under perfect play, by plain recursion."""
    if not isinstance(node, tuple):
        return float(node)
    values = [true_value(child, 1 - seat) for child in node]
    return max(values) if seat == 0 else min(values)


@pytest.mark.parametrize("options", MODES)
def test_the_root_looks_no_further_than_the_first_win(tree: Tree, options: dict[str, Any]) -> None:
    game, state = tree((0.0, BEST, (1.0, (2.0, 3.0)), 5.0))
    result = alpha_beta(game, state, **options)
    assert (result.action, result.value, result.exact) == (1, BEST, True)
    # The win is looked at twice where it was only asked whether it is better than the best.
    assert result.nodes == (4 if options else 3)
    assert result.values == {0: 0.0, 1: BEST}


@pytest.mark.parametrize("options", MODES)
def test_every_seat_below_looks_no_further_than_its_win(
    tree: Tree, options: dict[str, Any]
) -> None:
    # The first answer to each action wins for MIN: the others need not be looked at.
    lost = (-BEST, 1.0, (2.0, 3.0))
    game, state = tree((lost, lost, lost))
    result = alpha_beta(game, state, **options)
    assert (result.value, result.exact) == (-BEST, True)
    visited = 4 if options.get("deepen") else 1
    assert result.nodes == visited + 6


def test_deepening_ends_with_the_proof() -> None:
    # The row is completed at once: no action after it is looked at, no depth after the first.
    game = get_game("connect_four")
    state: Any = game.initial_state()
    for column in (4, 1, 5, 1, 3, 2):
        state = state.after(column)
    result = alpha_beta(game, state, Limit(nodes=1_000_000))
    assert (result.value, result.exact, result.action) == (1.0, True, 6)
    assert result.depth == 1
    assert result.nodes <= 1 + len(state.actions())


@pytest.mark.parametrize("options", MODES)
def test_exact_is_what_full_minimax_says(tree: Tree, options: dict[str, Any]) -> None:
    for seed, seat in itertools.product(range(40), (0, 1)):
        node = extreme_tree(seed)
        sign = 1.0 if seat == 0 else -1.0
        value = sign * true_value(node, seat)
        for depth in (1, 2, 3, 4, 5):
            case = seed, seat, depth
            plain = minimax(*tree(node, seat), Limit(depth=depth))
            found = alpha_beta(*tree(node, seat), Limit(depth=depth), **options)
            if not options.get("reductions"):
                assert found.value == plain.value or (found.exact and found.value == value), case
            if found.exact:
                assert found.value == value, case
            if abs(found.value) == BEST:  # no estimate is as good as that: it is 0
                assert found.exact, case
            if abs(plain.value) == BEST or depth == 5:
                assert plain.exact, case
                assert found.exact or options.get("reductions"), case


@pytest.mark.parametrize("options", MODES)
def test_an_estimate_as_good_as_a_win_proves_nothing(tree: Tree, options: dict[str, Any]) -> None:
    hopes = ((((0.0, 1.0),), ((2.0, 3.0),)), 4.0)
    for hope in (BEST, -BEST):

        def hopeful(state: Any, seat: int, hope: float = hope) -> float:
            return hope

        game, state = tree(hopes)
        result = alpha_beta(game, state, Limit(depth=2), evaluate=hopeful, **options)
        assert not result.exact


@pytest.mark.parametrize(
    "spec",
    [
        "tic_tac_toe",
        "hexapawn(size=4)",
        "connect_four(columns=4,rows=3,connect=3)",
        "kalah(houses=2,seeds=2)",
        "breakthrough(size=4)",
    ],
)
def test_the_line_of_a_proven_win_is_played_to_its_end(spec: str) -> None:
    game = get_game(spec)
    for seed in range(6):
        rng = random.Random(seed)
        state: Any = game.initial_state()
        for _ in range(rng.randint(0, 6)):
            after = state.after(rng.choice(state.actions()))
            if after.to_move == TERMINAL:
                break
            state = after
        for options in MODES:
            result = alpha_beta(game, state, **options)
            assert result.exact
            here = state
            for action in result.pv:
                assert action in here.actions()
                here = here.after(action)
            # Quiescence may prove a win behind the end of the line.
            value = result.value
            if here.to_move == TERMINAL:
                value = here.returns()[state.to_move]
            else:
                value = alpha_beta(game, here, table=True).value
                value = value if here.to_move == state.to_move else -value
            assert value == result.value, (seed, options)


def test_a_lost_game_is_told_as_such_at_the_depth_that_shows_it() -> None:
    game = get_game("connect_four")
    state: Any = game.initial_state()
    for column in (4, 1, 5, 1, 3):
        state = state.after(column)
    result = alpha_beta(game, state, Limit(nodes=1_000_000))
    assert (result.value, result.exact, result.depth) == (-1.0, True, 2)


def test_a_win_is_exact_at_a_depth_limit_too() -> None:
    game = get_game("connect_four")
    state: Any = game.initial_state()
    for column in (4, 1, 5, 1, 3, 2):
        state = state.after(column)
    for search in (alpha_beta, minimax):
        result = search(game, state, Limit(depth=4))
        assert (result.value, result.exact) == (1.0, True)


def test_a_win_that_a_forgotten_past_might_undo_is_not_called_exact() -> None:
    # Chess knows its positions without their past: what the table knows of a mate may hold
    # for another past only.
    game = get_game('chess(fen="7k/8/8/8/8/8/R7/1R5K w - - 0 1")')
    state = game.initial_state()
    table = TranspositionTable(10_000)
    plain = alpha_beta(game, state, Limit(depth=3))
    assert (plain.value, plain.exact) == (1.0, True)
    first = alpha_beta(game, state, Limit(depth=3), deepen=True, table=table)
    assert first.value == 1.0
    again = alpha_beta(game, state, Limit(depth=3), deepen=True, table=table)
    assert (again.value, again.exact) == (1.0, False)


def test_a_written_tree_is_searched_as_in_a_textbook() -> None:
    # 9 is the best leaf, but who searches does not know that before.
    game = tree_game("(9 9 9) (1 2 3) (4 5 6)")
    state = game.initial_state()
    for options in ({}, {"deepen": True}):
        result = alpha_beta(game, state, **options)  # type: ignore[arg-type]
        assert result.values.keys() == {"1", "2", "3"}
    assert alpha_beta(game, state).nodes == explain(game, state).nodes == 9
    assert minimax(game, state).nodes == 13


@pytest.mark.parametrize(("seed", "at_most"), [(0, 5_000), (1, 1_100), (4, 1_300)])
def test_othello_stops_when_it_is_proven(seed: int, at_most: int) -> None:
    # With windows up to infinity these three positions of 11 empty squares took 15,228, 10,456
    # and 11,668 nodes.
    game = get_game("othello")
    rng = random.Random(seed)
    state: Any = game.initial_state()
    while empties(state) > 11:
        state = state.after(rng.choice(state.actions()))
    result = alpha_beta(game, state)
    assert (abs(result.value), result.exact) == (1.0, True)
    assert result.nodes <= at_most


def empties(state: Any) -> int:
    """Empty squares of a position of othello."""
    taken: int = (state.black | state.white) % 2**64
    return 64 - taken.bit_count()
