"""The choice in solved positions: the shortest win, and the longest resistance."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.search.workload import full

from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, alpha_beta, mcts, retrograde
from plyhouse.search.equilibria.matrix_game import best_mixture
from plyhouse.search.tables.retrograde import PositionTable, solve
from plyhouse.search.trees.transpositions import TranspositionTable

SMALL = get_game("connect_four(columns=5,rows=4)")


@pytest.fixture(scope="module")
def truth() -> Callable[[Any], tuple[float, int]]:
    """Return the value of a small game for seat 0, and the plies to its end."""
    known: dict[Any, tuple[float, int]] = {}

    def found(state: Any) -> tuple[float, int]:
        if state.to_move == TERMINAL:
            return state.returns()[0], 0
        key = state.key()
        if key not in known:
            sign = 1 - 2 * state.to_move
            answers = [found(state.after(action)) for action in state.actions()]
            value, plies = max(
                answers,
                key=lambda each: (sign * each[0], each[1] if sign * each[0] < 0 else -each[1]),
            )
            known[key] = value, plies + 1
        return known[key]

    return found


def positions(game: Game, plies: int, count: int) -> list[Any]:
    rng = random.Random(1)
    found: list[Any] = []
    while len(found) < count:
        state: Any = game.initial_state()
        for _ in range(plies):
            if state.to_move >= 0:
                state = state.after(rng.choice(state.actions()))
        if state.to_move >= 0:
            found.append(state)
    return found


@pytest.mark.parametrize("warm", [False, True], ids=["fresh table", "table of a former search"])
def test_solved_position_is_won_soon_and_lost_late(
    truth: Callable[[Any], tuple[float, int]], warm: bool
) -> None:
    decided = 0
    for state in positions(SMALL, 8, 40):
        value, plies = truth(state)
        if value == 0.0:
            continue
        decided += 1
        table = TranspositionTable()
        if warm:
            alpha_beta(SMALL, state, Limit(nodes=100_000), table=table)
        found = alpha_beta(SMALL, state, Limit(nodes=100_000), table=table, seed=decided)
        assert found.exact
        assert truth(state.after(found.action)) == (value, plies - 1)
    assert decided > 10


def short_sighted(state: Any) -> Any:
    """Win at once, else let the opponent not win at once, else take the middle."""

    def won(here: Any, action: Any) -> bool:
        child = here.after(action)
        return bool(child.to_move == TERMINAL and child.returns()[here.to_move] > 0)

    def safe(action: Any) -> bool:
        child = state.after(action)
        return not any(won(child, reply) for reply in child.actions())

    actions = sorted(state.actions(), key=lambda action: abs(action - 4))
    wins = [action for action in actions if won(state, action)]
    return (wins or [action for action in actions if safe(action)] or actions)[0]


def test_lost_opening_is_won_against_an_opponent_who_looks_two_plies_ahead() -> None:
    game = get_game("connect_four")
    table = TranspositionTable()
    state: Any = game.initial_state()
    plies = 0
    while state.to_move != TERMINAL:
        if state.to_move == 0:
            state = state.after(short_sighted(state))
        else:
            found = alpha_beta(game, state, Limit(nodes=4000), table=table)
            state = state.after(found.action)
        plies += 1
    assert state.returns()[1] == 1.0
    assert plies > 15


@pytest.mark.parametrize("spec", ["connect_four", "kalah(houses=3,seeds=3)", "othello"])
def test_choice_keeps_the_proven_value(spec: str) -> None:
    game = get_game(spec)
    plies = {"connect_four": 26, "othello": 52}.get(spec, 10)
    proven = 0
    for state in positions(game, plies, 12):
        found = alpha_beta(game, state, Limit(nodes=20_000), seed=3)
        if not found.exact:
            continue
        proven += 1
        child = state.after(found.action)
        if child.to_move == TERMINAL:
            assert child.returns()[state.to_move] == found.value
            continue
        after = alpha_beta(game, child, Limit(nodes=100_000), practical=False)
        assert after.exact
        assert (after.value if child.to_move == state.to_move else -after.value) == found.value
    assert proven > 5


def test_tree_search_of_a_lost_position_takes_the_action_that_held_longest(
    truth: Callable[[Any], tuple[float, int]],
) -> None:
    chosen = 0
    for state in positions(SMALL, 11, 150):
        lengths = {truth(state.after(action))[1] for action in state.actions()}
        if truth(state)[0] == 2 * state.to_move - 1 and len(lengths) > 1:
            found = mcts(SMALL, state, Limit(simulations=3000), seed=1)
            assert found.exact
            assert truth(state.after(found.action))[1] == max(lengths)
            chosen += 1
    assert chosen > 5


def test_table_prefers_the_draw_in_which_more_replies_lose() -> None:
    game = get_game("tic_tac_toe")
    table = solve(game)
    assert isinstance(table, PositionTable)
    corner = {0, 2, 6, 8}
    found = retrograde(game, game.initial_state(), table=table)
    # After a corner seven of eight replies lose, after the centre four, after an edge four.
    assert found.action in corner
    assert (found.value, found.source) == (0.0, "table")


def test_mixture_of_a_matrix_game_gains_from_mistakes() -> None:
    assert best_mixture([[0, 0], [0, 1]]) == (0.0, [0.0, 1.0])
    assert best_mixture([[1, 1, 0], [1, 1, 5]]) == (1.0, [0.0, 1.0])
    value, shares = best_mixture([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    assert value == pytest.approx(0.0, abs=1e-9)
    assert shares == pytest.approx([1 / 3] * 3)


def test_result_names_where_its_value_comes_from() -> None:
    game = get_game("connect_four")
    state: Any = game.initial_state()
    assert alpha_beta(game, state, Limit(nodes=300)).source == "book"
    (state,) = positions(game, 26, 1)
    assert alpha_beta(game, state, Limit(nodes=20_000)).source == "endings"
    assert alpha_beta(game, state, Limit(depth=2)).source == "search"


@pytest.mark.parametrize("spec", ["connect_four", "kalah(seeds=1)", "othello", "checkers"])
def test_evaluation_of_the_user_decides_without_book_and_solver(spec: str) -> None:
    game = get_game(spec)
    state: Any = game.initial_state()
    calls = 0

    def evaluate(state: Any, seat: int) -> float:
        nonlocal calls
        calls += 1
        return 0.25 if seat == 0 else -0.25

    found = alpha_beta(game, state, Limit(nodes=400), evaluate=evaluate)
    assert (found.source, found.value, found.exact) == ("search", 0.25, False)
    assert calls > 50


@pytest.mark.parametrize("hook", ["heuristic", "order"])
def test_estimate_of_a_subclass_decides_without_book_and_solver(hook: str) -> None:
    game = get_game("connect_four")

    start = game.initial_state()
    inner = full(start)  # states of compiled games cannot be derived from

    def estimate(self: Any, *actions: Any) -> Any:
        return actions[0] if actions else (0.25, -0.25)

    mine = type("Mine", (inner,), {"__slots__": (), hook: estimate})
    assert alpha_beta(game, inner(start), Limit(nodes=400)).source == "book"
    assert alpha_beta(game, mine(start), Limit(nodes=400)).source == "search"
    assert alpha_beta(game, mine(start), Limit(nodes=400), endings=True).source == "book"


def test_book_and_solver_can_be_asked_for_with_an_evaluation() -> None:
    game = get_game("connect_four")
    found = alpha_beta(
        game, game.initial_state(), Limit(nodes=400), evaluate=lambda *_: 0.0, endings=True
    )
    assert (found.source, found.value) == ("book", 1.0)
