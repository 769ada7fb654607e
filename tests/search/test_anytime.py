"""Limits, reports, seeds and interruption, for every search alike."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.harness.clocks import InterruptingClock

from plyhouse.games.base import CHANCE, Game
from plyhouse.games.registry import get_game
from plyhouse.search import (
    Limit,
    SearchResult,
    alpha_beta,
    expectimax,
    expectiminimax,
    maxn,
    minimax,
    paranoid,
    random_action,
    team_search,
)
from plyhouse.search.limit import MAX_DEPTH

Tree = Callable[..., tuple[Game, Any]]

TREE_SEARCHES = [
    (minimax, "connect_four"),
    (alpha_beta, "connect_four(columns=8)"),
    (expectiminimax, "connect_four"),
    (expectiminimax, "pig"),
    (partial(expectiminimax, pruning="star2"), "einstein"),
    (expectimax, "pig(seats=3)"),
    (maxn, "pig(seats=3)"),
    (partial(maxn, pruning="shallow"), "connect_four"),
    (paranoid, "connect_four"),
    (team_search, "pacman"),
]


def search_name(pair: tuple[Any, str]) -> str:
    function = pair[0].func if isinstance(pair[0], partial) else pair[0]
    return f"{function.__name__}-{pair[1]}"


@pytest.fixture(params=TREE_SEARCHES, ids=search_name)
def search(request: pytest.FixtureRequest) -> Callable[..., SearchResult]:
    function, spec = request.param
    game = get_game(spec)

    def run(limit: Limit, **keywords: Any) -> SearchResult:
        state: Any = game.initial_state()
        while state.to_move == CHANCE:
            state = state.after(state.chance_outcomes()[0][0])
        result = function(game, state, limit, **keywords)
        assert isinstance(result, SearchResult)
        return result

    return run


def test_without_any_time_there_is_still_a_legal_action(
    search: Callable[..., SearchResult],
) -> None:
    result = search(Limit(time=0))
    assert result.action is not None
    assert result.pv == (result.action,)
    assert result.depth == 0
    assert result.nodes == 1


def test_the_node_limit_is_exact_whatever_the_clock_does(
    search: Callable[..., SearchResult], ticking_clock: Any
) -> None:
    results = [
        search(Limit(nodes=3000, clock=ticking_clock(step))) for step in (1, 400_000, 3_000_000)
    ]
    assert [result.nodes for result in results] == [3000] * 3
    for result in results[1:]:
        assert result.pv == results[0].pv
        assert result.values == results[0].values


def test_time_out_keeps_the_last_completed_depth(
    search: Callable[..., SearchResult], ticking_clock: Any
) -> None:
    # Every poll takes a millisecond on this clock, so there are about 40.
    result = search(Limit(time=0.04, clock=ticking_clock(1_000_000)))
    assert result.depth >= 1
    assert not result.exact
    same = search(Limit(depth=result.depth, nodes=10**9))
    deeper = search(Limit(depth=result.depth + 1, nodes=10**9))
    assert same.nodes <= result.nodes <= deeper.nodes
    # The choice is that of the completed depth, or one that beat it in the next.
    assert result.action in {same.action} | {
        action for action in deeper.values if deeper.values[action] >= deeper.values[same.action]
    }


def test_the_time_spent_is_that_of_the_injected_clock(
    search: Callable[..., SearchResult], ticking_clock: Any
) -> None:
    clock = ticking_clock(1_000_000)
    result = search(Limit(time=0.02, clock=clock))
    assert 0.02 <= result.time <= clock.now / 1e9


def test_reports_only_get_better_and_end_with_the_result(
    search: Callable[..., SearchResult],
) -> None:
    heard: list[SearchResult] = []
    result = search(Limit(nodes=4000, depth=3, report=heard.append))
    assert heard
    assert heard[-1].action == result.action
    assert heard[-1].value == result.value
    assert heard[-1].depth == result.depth
    assert [report.depth for report in heard] == sorted(report.depth for report in heard)
    assert [report.nodes for report in heard] == sorted(report.nodes for report in heard)
    assert {report.depth for report in heard} >= set(range(1, result.depth + 1))


def test_what_a_report_raises_reaches_the_caller(search: Callable[..., SearchResult]) -> None:
    def stop(result: SearchResult) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        search(Limit(depth=3, report=stop))


def test_the_same_seed_gives_the_same_result(search: Callable[..., SearchResult]) -> None:
    for seed in (0, 1, 12345):
        first = search(Limit(depth=3), seed=seed)
        second = search(Limit(depth=3), seed=seed)
        assert (first.action, first.value, first.pv, first.nodes, first.values) == (
            second.action,
            second.value,
            second.pv,
            second.nodes,
            second.values,
        )


def test_seeds_choose_among_equal_actions(tree: Tree) -> None:
    for function in (minimax, alpha_beta, expectiminimax):
        chosen = {
            function(*tree((1.0, 3.0, 3.0, 2.0, 3.0)), seed=seed).action for seed in range(40)
        }
        assert chosen == {1, 2, 4}
        assert function(*tree((1.0, 3.0, 3.0))).action == 1


def test_random_action_is_uniform_and_repeatable() -> None:
    game = get_game("connect_four")
    state = game.initial_state()
    chosen = [random_action(game, state, seed=seed).action for seed in range(1400)]
    assert chosen == [random_action(game, state, seed=seed).action for seed in range(1400)]
    for action in state.actions():
        assert 140 < chosen.count(action) < 260
    heard: list[SearchResult] = []
    random_action(game, state, Limit(report=heard.append), seed=3)
    assert [report.action for report in heard] == [chosen[3]]


def test_a_pending_interrupt_ends_the_search(search: Callable[..., SearchResult]) -> None:
    clock = InterruptingClock()
    with pytest.raises(KeyboardInterrupt):
        search(Limit(clock=clock))
    assert clock.polls < 30


def test_other_threads_run_while_a_search_does(search: Callable[..., SearchResult]) -> None:
    ran = threading.Event()
    thread = threading.Thread(target=ran.set)
    started = [False]

    def runs_out_when_the_other_ran() -> int:
        if not started[0]:
            started[0] = True
            return 0
        if thread.ident is None:
            thread.start()
        return 10**12 if ran.is_set() else 1

    # Ten million nodes would take seconds: ample time for the other thread.
    search(Limit(time=1.0, nodes=10**7, clock=runs_out_when_the_other_ran))
    thread.join()
    assert ran.is_set()


def test_searches_in_threads_do_not_disturb_each_other() -> None:
    game = get_game("connect_four")
    state = game.initial_state()
    expected = alpha_beta(game, state, Limit(depth=5))
    results: list[SearchResult] = []

    def work() -> None:
        results.append(alpha_beta(game, state, Limit(depth=5)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        assert (result.pv, result.nodes) == (expected.pv, expected.nodes)


def test_a_search_never_recurses_deeper_than_the_guard(tree: Tree) -> None:
    class Endless:
        """A game with one action that never ends."""

        __slots__ = ("ply", "to_move")

        def __init__(self, ply: int = 0) -> None:
            self.ply = ply
            self.to_move = ply % 2

        def actions(self) -> tuple[int, ...]:
            return (0,)

        def after(self, action: int) -> Endless:
            return Endless(self.ply + 1)

        def chance_outcomes(self) -> tuple[Any, ...]:
            return ()

        def returns(self) -> tuple[float, float]:
            raise AssertionError("never over")

    game, _ = tree(0.0)
    for function in (minimax, alpha_beta, expectiminimax, expectimax, maxn, paranoid, team_search):
        result = function(game, Endless(), Limit(depth=10**6))
        assert result.depth == MAX_DEPTH
        assert result.nodes == MAX_DEPTH + 1
        assert not result.exact


def test_deepening_stops_when_the_outcome_is_certain(tree: Tree) -> None:
    forced = ((-100.0,), ((1.0, 2.0), (3.0, 4.0)))
    win = (100.0, ((((1.0,),),),))
    for function in (minimax, alpha_beta, expectiminimax):
        result = function(*tree(win), Limit(nodes=10**6))
        assert (result.action, result.value, result.depth) == (0, 100.0, 1)
        result = function(*tree(forced), Limit(nodes=10**6))
        assert (result.depth, result.exact, result.value) == (3, True, 2.0)


def test_an_estimate_as_good_as_a_win_does_not_stop_the_deepening(tree: Tree) -> None:
    node = (((1.0,), (2.0,)), ((3.0,), (4.0,)))
    result = alpha_beta(*tree(node), Limit(nodes=10**6), evaluate=lambda state, seat: 100.0)
    assert (result.exact, result.value) == (True, 3.0)


@pytest.mark.parametrize("estimate", [100.5, -1e9, float("inf"), float("nan")])
def test_an_estimate_outside_of_the_returns_is_refused(tree: Tree, estimate: float) -> None:
    for function in (minimax, alpha_beta, expectiminimax, expectimax, maxn, paranoid, team_search):
        with pytest.raises(ValueError, match=r"outside of the game's returns -100.0 to 100.0"):
            function(*tree(((1.0,), (2.0,))), Limit(depth=1), evaluate=lambda state, seat: estimate)


def test_evaluation_comes_before_the_heuristic_and_that_before_nothing(tree: Tree) -> None:
    game = get_game("tic_tac_toe")
    state = game.initial_state()
    assert alpha_beta(game, state, Limit(depth=1)).value == pytest.approx(
        max(state.after(a).heuristic()[0] for a in state.actions())  # type: ignore[attr-defined]
    )
    assert alpha_beta(game, state, Limit(depth=1), evaluate=lambda s, seat: 0.25).value == 0.25
    assert alpha_beta(*tree(((1.0,), (2.0,))), Limit(depth=1)).value == 0.0
