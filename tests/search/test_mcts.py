"""Monte Carlo tree search: proven and converging values, limits, reuse of the tree."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.harness.clocks import InterruptingClock
from tests.search.conftest import Roll, TreeGame, TreeState

from plyhouse.games.base import CHANCE, TERMINAL, ChanceKind, Game, GameInfo, Information, Utility
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, MonteCarloTree, SearchResult, mcts, minimax

Tree = Callable[..., tuple[Game, Any]]


def told(result: SearchResult) -> list[Any]:
    return [
        result.action,
        result.value,
        result.pv,
        result.depth,
        result.nodes,
        dict(result.values),
        dict(result.visits),
        result.simulations,
        result.exact,
    ]


def played(spec: str, *actions: Any) -> tuple[Game, Any]:
    game = get_game(spec)
    state: Any = game.initial_state()
    for action in actions:
        state = state.after(action)
    return game, state


# Values


@pytest.mark.parametrize("rave", [0.0, 300.0])
def test_proven_values_are_those_of_minimax(random_tree: Any, tree: Tree, rave: float) -> None:
    for seed in range(40):
        game, state = tree(random_tree(seed))
        exact = minimax(game, state)
        result = mcts(game, state, Limit(simulations=20_000), seed=seed, rave=rave)
        assert result.exact
        assert result.value == exact.value
        assert exact.values[result.action] == exact.value
        assert result.simulations < 20_000


def test_without_the_solver_visits_converge_to_the_best_action(
    random_tree: Any, tree: Tree
) -> None:
    for seed in range(20):
        game, state = tree(random_tree(seed))
        exact = minimax(game, state)
        result = mcts(
            game, state, Limit(simulations=6000), seed=seed, solve=False, exploration=0.05
        )
        assert not result.exact
        assert result.simulations == 6000
        assert exact.values[result.action] == exact.value
        assert result.value == pytest.approx(exact.value, abs=0.6)


def test_ends_of_tic_tac_toe_are_solved() -> None:
    rng = random.Random(5)
    game = get_game("tic_tac_toe")
    solved = 0
    for _ in range(30):
        state: Any = game.initial_state()
        for _ in range(rng.randint(3, 7)):
            if state.to_move >= 0:
                state = state.after(rng.choice(state.actions()))
        if state.to_move < 0:
            continue
        exact = minimax(game, state)
        # A proven draw draws simulations away from what is not proven: look around more.
        result = mcts(game, state, Limit(simulations=20_000), seed=1, exploration=1.4)
        assert result.exact
        assert result.value == exact.value
        assert exact.values[result.action] == exact.value
        solved += 1
    assert solved > 10


def test_nim_is_solved() -> None:
    game = get_game('nim(piles="1-2-3")') if False else get_game("nim")
    state: Any = game.initial_state()
    exact = minimax(game, state)
    result = mcts(game, state, Limit(simulations=60_000))
    assert exact.values[result.action] == exact.value


@pytest.mark.parametrize(
    ("moves", "best"),
    [
        ((4, 1, 4, 1, 4, 2), 4),  # win at once, four upright
        ((1, 4, 2, 4, 7, 4), 4),  # stop four upright
        ((4, 4, 3, 3), None),  # two open ends: 2 or 5 win by force
    ],
)
def test_tactics_in_connect_four(moves: tuple[int, ...], best: int | None) -> None:
    game, state = played("connect_four", *moves)
    result = mcts(game, state, Limit(simulations=3000))
    if best is None:
        assert result.action in (2, 5)
        assert (result.exact, result.value) == (True, 1.0)
    else:
        assert result.action == best


def test_a_win_at_once_needs_few_simulations() -> None:
    game, state = played("connect_four", 4, 1, 4, 1, 4, 2)
    result = mcts(game, state, Limit(simulations=1000))
    assert result.simulations <= 7
    assert (result.exact, result.value, result.pv) == (True, 1.0, (4,))


# Chance


def test_outcomes_are_sampled_by_their_probabilities(tree: Tree) -> None:
    node = (Roll((0.1, 10.0), (0.6, (1.0, 2.0)), (0.3, (5.0,))),)
    game, state = tree(node, chance=True)
    kept = MonteCarloTree(game, solve=False, exploration=0.02)
    result = kept.search(state, Limit(simulations=10_000))
    # After the die seat 1 is to move: 0.1 * 10 + 0.6 * 1 + 0.3 * 5 = 3.1
    assert result.value == pytest.approx(3.1, abs=0.15)
    assert result.pv == (0,)
    root = kept._kernel.root
    counts = {}
    child = root.first.first
    while child is not None:
        counts[child.index] = child.visits
        child = child.next
    assert counts[0] == pytest.approx(1000, abs=120)
    assert counts[1] == pytest.approx(6000, abs=200)
    assert counts[2] == pytest.approx(3000, abs=200)


def test_chance_nodes_are_proven_when_all_outcomes_are(tree: Tree) -> None:
    node = (Roll((0.25, 8.0), (0.75, (4.0, 6.0))), Roll((0.5, -100.0), (0.5, (100.0, 90.0))))
    result = mcts(*tree(node, chance=True), Limit(simulations=5000))
    assert result.exact
    assert (result.action, result.value) == (0, 5.0)
    assert result.values == {0: 5.0, 1: -5.0}


def test_pig_prefers_to_hold_when_that_wins() -> None:
    game = get_game("pig(target=10)")
    state: Any = game.initial_state()
    for action in (0, 6):
        state = state.after(action)
    while state.to_move == CHANCE:
        state = state.after(6)
    assert state.to_move == 0
    result = mcts(game, state, Limit(simulations=4000))
    assert result.visits.keys() == set(state.actions())
    assert result.value > 0.2


# Three seats


class ThreeState:
    """A nested tuple again, with returns of three seats at the leaves, who move in turn."""

    def __init__(self, node: Any, seat: int = 0) -> None:
        self.node = node
        self.to_move = seat if isinstance(node, tuple) else TERMINAL

    def actions(self) -> tuple[int, ...]:
        return tuple(range(len(self.node)))

    def after(self, action: int) -> ThreeState:
        return ThreeState(self.node[action], (self.to_move + 1) % 3)

    def chance_outcomes(self) -> tuple[Any, ...]:
        return ()

    def returns(self) -> tuple[float, ...]:
        return tuple(self.node)


class ThreeGame(TreeGame):
    info = GameInfo(
        name="three",
        title="Three",
        summary="A written tree for three.",
        min_seats=3,
        max_seats=3,
        chance=ChanceKind.DETERMINISTIC,
        information=Information.PERFECT,
        utility=Utility.GENERAL_SUM,
        min_return=0.0,
        max_return=10.0,
        max_plies=10,
    )


def test_every_seat_plays_for_itself() -> None:
    # By backward induction: seat 2 prefers the right leaf each time, seat 1 then the left
    # branch of the first and the right one of the second subtree, and seat 0 the second.
    node = (
        (([9.0, 0.0, 1.0], [3.0, 5.0, 2.0]), ([9.0, 9.0, 0.0], [9.0, 4.0, 1.0])),
        (([0.0, 1.0, 1.0], [0.0, 2.0, 2.0]), ([9.0, 9.0, 0.0], [4.0, 6.0, 1.0])),
    )
    result = mcts(ThreeGame(), ThreeState(node), Limit(simulations=8000), exploration=0.3)
    assert result.action == 1
    assert result.pv == (1, 1, 1)
    assert result.value == pytest.approx(4.0, abs=0.5)


def test_pig_for_three_is_played() -> None:
    game = get_game("pig(seats=3,target=20)")
    result = mcts(game, game.initial_state(), Limit(simulations=300))
    assert result.simulations == 300
    assert -1.0 <= result.value <= 1.0


# Limits


@pytest.mark.parametrize("spec", ["connect_four", "pig", "backgammon", "kalah"])
@pytest.mark.parametrize("rave", [0.0, 100.0])
def test_simulations_are_exact_and_repeatable(spec: str, rave: float) -> None:
    game = get_game(spec)
    state: Any = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[1][0])
    first = mcts(game, state, Limit(simulations=150), seed=4, rave=rave)
    again = mcts(game, state, Limit(simulations=150), seed=4, rave=rave)
    other = mcts(game, state, Limit(simulations=150), seed=5, rave=rave)
    assert told(first) == told(again)
    assert first.simulations == sum(first.visits.values()) == 150
    assert other.values != first.values
    assert list(first.values) == [action for action in state.actions() if action in first.values]


def test_limits_in_nodes_and_depth_hold() -> None:
    game = get_game("connect_four")
    result = mcts(game, game.initial_state(), Limit(nodes=500))
    assert 500 <= result.nodes <= 500 + result.depth
    shallow = mcts(game, game.initial_state(), Limit(simulations=2000, depth=2))
    assert shallow.depth == 2
    assert len(shallow.pv) <= 2


def test_without_any_bound_there_are_a_thousand_simulations() -> None:
    game = get_game("connect_four")
    assert mcts(game, game.initial_state()).simulations == 1000


def test_without_any_time_there_is_still_a_legal_action() -> None:
    game = get_game("connect_four")
    result = mcts(game, game.initial_state(), Limit(time=0))
    assert result.action in range(1, 8)
    assert (result.pv, result.depth, result.nodes, result.simulations) == (
        (result.action,),
        0,
        1,
        0,
    )


def test_time_ends_the_search_after_the_poll_that_saw_it(ticking_clock: Any) -> None:
    game = get_game("connect_four")
    clock = ticking_clock(1_000_000)
    result = mcts(game, game.initial_state(), Limit(time=0.02, clock=clock))
    # Every poll takes a millisecond on this clock and comes after one simulation, for more
    # would take too long.
    assert 10 <= result.simulations <= 40
    assert 0.02 <= result.time <= 0.03


def test_a_full_tree_grows_no_further_but_learns() -> None:
    game = get_game("connect_four")
    for rave in (0.0, 50.0):
        kept = MonteCarloTree(game, max_nodes=50, rave=rave)
        result = kept.search(game.initial_state(), Limit(simulations=2000))
        assert kept.size <= 50 + 7
        assert result.simulations == sum(result.visits.values()) == 2000
        assert result.action == 4
    alone = mcts(game, game.initial_state(), Limit(simulations=10), max_nodes=1)
    assert (alone.simulations, alone.visits, alone.action) == (10, {}, 1)


def test_reports_end_with_the_result() -> None:
    game = get_game("connect_four")
    heard: list[SearchResult] = []
    result = mcts(game, game.initial_state(), Limit(simulations=3000, report=heard.append))
    assert told(heard[-1]) == told(result)
    counts = [report.simulations for report in heard]
    assert counts == sorted(set(counts))
    assert counts[0] == 1
    assert all(
        later <= max(earlier + 1, earlier * 1.25) for earlier, later in itertools.pairwise(counts)
    )


def test_what_a_report_raises_reaches_the_caller() -> None:
    game = get_game("connect_four")

    def stop(result: SearchResult) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        mcts(game, game.initial_state(), Limit(simulations=100, report=stop))


def test_a_pending_interrupt_ends_the_search() -> None:
    game = get_game("connect_four")
    clock = InterruptingClock()
    kept = MonteCarloTree(game)
    with pytest.raises(KeyboardInterrupt):
        kept.search(game.initial_state(), Limit(time=1.0, clock=clock))
    assert clock.polls < 30
    assert kept.size == 0
    assert kept.search(game.initial_state(), Limit(simulations=10)).simulations == 10


def test_an_endless_game_is_cut_at_the_longest_match(tree: Tree) -> None:
    class Endless(TreeState):
        def __init__(self, ply: int = 0) -> None:
            self.ply = ply
            self.to_move = ply % 2

        def actions(self) -> tuple[int, ...]:
            return (0,)

        def after(self, action: int) -> Endless:
            return Endless(self.ply + 1)

        def returns(self) -> tuple[float, float]:
            raise AssertionError("never over")

    game, _ = tree(0.0)
    result = mcts(game, Endless(), Limit(simulations=400))
    assert result.value == 0.0
    assert result.depth == 256


# The tree between plies


def test_advancing_keeps_the_statistics_of_the_subtree() -> None:
    game = get_game("connect_four")
    state: Any = game.initial_state()
    kept = MonteCarloTree(game, seed=3)
    first = kept.search(state, Limit(simulations=3000))
    options = state.actions()
    child = next(c for c in kept._kernel.children() if options[c.index] == first.action)
    answers = state.after(first.action).actions()
    below = {}
    grandchild = child.first
    while grandchild is not None:
        below[answers[grandchild.index]] = int(grandchild.visits)
        grandchild = grandchild.next
    assert kept.advance(first.action)
    assert kept.size <= first.visits[first.action]
    after = kept.search(state.after(first.action), Limit(time=0))
    assert after.simulations == 0
    assert after.visits == dict(sorted(below.items()))
    assert sum(after.visits.values()) == first.visits[first.action] - 1
    more = kept.search(state.after(first.action), Limit(simulations=500))
    assert sum(more.visits.values()) == sum(below.values()) + 500


@pytest.mark.parametrize("spec", ["connect_four", "pig", "einstein"])
def test_a_search_finds_its_position_in_the_tree(spec: str) -> None:
    game = get_game(spec)
    state: Any = game.initial_state()
    kept = MonteCarloTree(game, seed=3)
    rng = random.Random(2)
    found = 0
    for _ in range(8):
        while state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
        if state.to_move < 0:
            break
        # The position as a bot gets it: rebuilt from an observation.
        seen = game.sample_state(game.observe(state, state.to_move), rng)
        before = kept.size
        known = kept.search(seen, Limit(time=0)).visits
        if before and sum(known.values()):
            found += 1
        result = kept.search(seen, Limit(simulations=1000))
        assert sum(result.visits.values()) == sum(known.values()) + result.simulations
        state = state.after(result.action)
    assert found >= 3


def test_a_position_outside_of_the_tree_begins_anew() -> None:
    game, state = played("connect_four", 1, 1, 1, 1)
    kept = MonteCarloTree(game)
    kept.search(game.initial_state(), Limit(simulations=50))
    result = kept.search(state, Limit(simulations=60))
    assert sum(result.visits.values()) == 60


def test_an_unknown_action_forgets_the_tree() -> None:
    game = get_game("connect_four")
    kept = MonteCarloTree(game)
    options: Any = game.initial_state().actions()
    kept.search(game.initial_state(), Limit(simulations=3))
    tried = {options[child.index] for child in kept._kernel.children()}
    untried = next(action for action in options if action not in tried)
    assert not kept.advance(untried)
    assert kept.size == 0


def test_a_large_tree_is_freed_in_the_background() -> None:
    game = get_game("tic_tac_toe")
    kept = MonteCarloTree(game, solve=False)
    kept.search(game.initial_state(), Limit(simulations=15_000))
    assert kept.size > 10_000
    kept.clear()
    assert kept.size == 0
    assert not kept._kernel.discarded()


# Leaves and options


def test_an_evaluation_takes_the_place_of_playouts() -> None:
    game = get_game("connect_four")
    seats = []

    def evaluate(state: Any, seat: int) -> float:
        seats.append(seat)
        return 0.25

    result = mcts(game, game.initial_state().after(4), Limit(simulations=30), evaluate=evaluate)
    assert seats == [1] * 30
    assert set(result.values.values()) == {0.25}
    with pytest.raises(ValueError, match="outside of the game's returns"):
        mcts(game, game.initial_state(), Limit(simulations=3), evaluate=lambda s, seat: 7.0)


def test_the_heuristic_and_several_playouts() -> None:
    game = get_game("connect_four")
    state: Any = game.initial_state()
    estimated = mcts(game, state, Limit(simulations=400), playouts=0)
    assert estimated.action == 4
    several = mcts(game, state, Limit(simulations=7), playouts=4)
    assert all(value * 4 == round(value * 4) for value in several.values.values())
    assert several.simulations == 7


def test_what_an_evaluation_raises_leaves_no_broken_tree() -> None:
    game = get_game("connect_four")
    calls = [0]

    def evaluate(state: Any, seat: int) -> float:
        calls[0] += 1
        if calls[0] == 8:
            raise RuntimeError("no idea")
        return 0.0

    kept = MonteCarloTree(game, evaluate=evaluate)
    with pytest.raises(RuntimeError, match="no idea"):
        kept.search(game.initial_state(), Limit(simulations=100))
    assert kept.size == 0
    assert kept.search(game.initial_state(), Limit(simulations=100)).simulations == 100


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"exploration": -1.0}, ValueError, r"mcts\(exploration=-1.0\): expected a number from 0"),
        ({"exploration": "much"}, TypeError, "expected a number"),
        ({"rave": float("nan")}, ValueError, "rave"),
        ({"playouts": -1}, ValueError, "at least 0"),
        ({"playouts": True}, TypeError, "whole number"),
        ({"max_nodes": 0}, ValueError, "at least 1"),
    ],
)
def test_options_out_of_range_are_refused(options: Any, error: Any, message: str) -> None:
    game = get_game("connect_four")
    with pytest.raises(error, match=message):
        mcts(game, game.initial_state(), **options)


def test_a_heuristic_is_needed_without_playouts(tree: Tree) -> None:
    with pytest.raises(ValueError, match=r"have no heuristic\(\)"):
        mcts(*tree(((1.0,), (2.0,))), playouts=0)


def test_hidden_information_is_refused() -> None:
    game = get_game("kuhn_poker")
    with pytest.raises(GameMismatch, match="its seats do not see the whole state"):
        mcts(game, game.initial_state())
