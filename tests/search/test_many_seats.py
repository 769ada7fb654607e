"""Max^n, paranoid and teams: values by definition, and pruning that changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.harness.positions import reachable

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.registry import get_game
from plyhouse.search import (
    Limit,
    SearchResult,
    alpha_beta,
    expectiminimax,
    maxn,
    minimax,
    paranoid,
    team_search,
)

Tree = Callable[..., tuple[Game, Any]]


def vector_of(state: Any, depth: int) -> list[float]:
    """Max^n by definition; the first action in the game's order among equals."""
    if state.to_move == TERMINAL:
        return [float(value) for value in state.returns()]
    if depth == 0:
        if hasattr(state, "heuristic"):
            return list(state.heuristic())
        raise AssertionError("deep enough for the whole tree")
    if state.to_move == CHANCE:
        parts = [
            [weight * value for value in vector_of(state.after(outcome), depth - 1)]
            for outcome, weight in state.chance_outcomes()
        ]
        return [sum(column) for column in zip(*parts, strict=True)]
    options = [vector_of(state.after(action), depth - 1) for action in state.actions()]
    return max(options, key=lambda vector: vector[state.to_move])


def guaranteed(state: Any, ours: set[int], seat: int, depth: int) -> float:
    """Return the guaranteed value of our side, by definition."""
    if state.to_move == TERMINAL:
        return float(state.returns()[seat])
    if depth == 0:
        return float(state.heuristic()[seat])
    if state.to_move == CHANCE:
        mean = 0.0
        for outcome, weight in state.chance_outcomes():
            mean += weight * guaranteed(state.after(outcome), ours, seat, depth - 1)
        return mean
    values: list[float] = [
        guaranteed(state.after(action), ours, seat, depth - 1) for action in state.actions()
    ]
    return max(values) if state.to_move in ours else min(values)


def test_every_seat_maximises_its_own_entry(seats_tree: Tree, turn: Any) -> None:
    """The course's kind of tree: three players, tuples at the leaves."""
    node = turn(
        0,
        turn(
            1,
            turn(2, (1.0, 2.0, 6.0), (4.0, 2.0, 3.0)),
            turn(2, (6.0, 1.0, 2.0), (7.0, 4.0, 1.0)),
        ),
        turn(
            1,
            turn(2, (5.0, 1.0, 1.0), (1.0, 5.0, 2.0)),
            turn(2, (7.0, 7.0, 1.0), (5.0, 4.0, 5.0)),
        ),
    )
    # Seat 2 takes 6, 2 | 2, 5; seat 1 takes (1 2 6) and (1 5 2); both give seat 0 one.
    result = maxn(*seats_tree(node))
    assert result.vector == (1.0, 2.0, 6.0)
    assert (result.action, result.value, result.pv) == (0, 1.0, (0, 0, 0))
    assert result.values == {0: 1.0, 1: 1.0}
    assert result.exact
    # The same tree for a coalition of the others: 1 and 1, too.
    assert paranoid(*seats_tree(node)).value == 1.0


def test_max_n_and_paranoid_differ_where_others_do_not_care(seats_tree: Tree, turn: Any) -> None:
    node = turn(0, turn(1, (9.0, 5.0, 0.0), (0.0, 4.0, 9.0)), turn(2, (3.0, 0.0, 0.0)))
    assert (maxn(*seats_tree(node)).action, maxn(*seats_tree(node)).value) == (0, 9.0)
    assert (paranoid(*seats_tree(node)).action, paranoid(*seats_tree(node)).value) == (1, 3.0)


@pytest.mark.parametrize("seats", [1, 2, 3, 5])
def test_random_general_sum_trees_with_dice(
    seats: int, seats_tree: Tree, random_seats_tree: Callable[..., Any]
) -> None:
    for seed in range(60):
        game, state = seats_tree(random_seats_tree(seed, seats), seats)
        result = maxn(game, state)
        assert list(result.vector) == pytest.approx(vector_of(state, 9), abs=1e-12)
        careful = paranoid(game, state, pruning=("star1", "star2")[seed % 2])
        assert careful.value == pytest.approx(guaranteed(state, {0}, 0, 9), abs=1e-12)
        assert careful.value <= result.value + 1e-12
        assert result.exact
        assert careful.exact


@pytest.mark.parametrize(("seats", "total"), [(2, 0.0), (3, 0.0), (3, 12.0), (4, 6.0)])
def test_shallow_pruning_finds_the_same_tuple_at_fewer_nodes(
    seats: int, total: float, seats_tree: Tree, random_seats_tree: Callable[..., Any]
) -> None:
    nodes = pruned_nodes = 0
    for seed in range(120):
        root = seats_tree(random_seats_tree(seed, seats, total, 6), seats)
        plain = maxn(*root)
        low = (total - 12) / seats
        pruned = maxn(*root, pruning="shallow", sum_bound=total, bounds=(low, low + 12))
        assert pruned.vector == plain.vector
        assert (pruned.action, pruned.pv) == (plain.action, plain.pv)
        for action, bound in pruned.values.items():
            assert bound >= plain.values[action] - 1e-9
        nodes += plain.nodes
        pruned_nodes += pruned.nodes
    assert pruned_nodes < nodes


def test_korfs_condition_cuts_where_it_should(seats_tree: Tree, turn: Any) -> None:
    # Sum 9, nothing below 0.  Seat 0 has 3; when seat 1 is sure of 7, at most 2 are left.
    node = turn(0, (3.0, 3.0, 3.0), turn(1, (1.0, 7.0, 1.0), (9.0, 0.0, 0.0), (0.0, 9.0, 0.0)))
    plain = maxn(*seats_tree(node))
    pruned = maxn(*seats_tree(node), pruning="shallow", sum_bound=9.0, bounds=(0.0, 9.0))
    assert (plain.nodes, pruned.nodes) == (6, 4)
    assert pruned.vector == plain.vector == (3.0, 3.0, 3.0)
    assert pruned.values[1] == 2.0


def test_shallow_pruning_checks_what_it_relies_on(seats_tree: Tree, turn: Any) -> None:
    node = turn(0, (3.0, 3.0, 3.0), turn(1, (1.0, 7.0, 2.0), (9.0, 0.0, 0.0)))
    with pytest.raises(ValueError, match="needs sum_bound"):
        maxn(*seats_tree(node), pruning="shallow")
    with pytest.raises(ValueError, match=r"sum to 10.0, more than the 9.0"):
        maxn(*seats_tree(node), pruning="shallow", sum_bound=9.0, bounds=(0.0, 9.0))
    with pytest.raises(ValueError, match=r"not within the bounds 0.0 to 8.0"):
        maxn(*seats_tree(node), pruning="shallow", sum_bound=12.0, bounds=(0.0, 8.0))
    with pytest.raises(ValueError, match="'none' or 'shallow'"):
        maxn(*seats_tree(node), pruning="deep")
    with pytest.raises(ValueError, match="a finite number"):
        maxn(*seats_tree(node), sum_bound=float("inf"))
    game = get_game("pig(seats=3)")
    with pytest.raises(ValueError, match=r"sum to 1.5, more than the 0.0"):
        maxn(
            game,
            game.initial_state(),
            Limit(depth=2),
            evaluate=lambda state, seat: 0.5,
            pruning="shallow",
        )


def test_a_position_has_a_value_for_every_seat(seats_tree: Tree, turn: Any) -> None:
    with pytest.raises(ValueError, match="not one value for each of 3 seats"):
        maxn(*seats_tree(turn(0, (1.0, 2.0))))


@pytest.mark.parametrize("spec", ["tic_tac_toe", "connect_four", "pig(target=15)", "einstein"])
def test_with_two_seats_all_are_minimax(spec: str) -> None:
    game = get_game(spec)
    state: Any = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    for depth in (1, 2, 3):
        expected = expectiminimax(game, state, Limit(depth=depth))
        for search in (paranoid, team_search):
            assert search(game, state, Limit(depth=depth)).value == pytest.approx(expected.value)
        for pruning in ("none", "shallow"):
            result = maxn(game, state, Limit(depth=depth), pruning=pruning)
            assert result.value == pytest.approx(expected.value, abs=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 6])
def test_three_seats_of_pig_at_a_depth_limit(depth: int) -> None:
    game = get_game("pig(seats=3,target=12)")
    state: Any = game.initial_state()
    for action in (0, 6, 1, 0, 4, 0, 5):
        state = state.after(action)
    assert state.to_move == 1
    plain = maxn(game, state, Limit(depth=depth))
    assert list(plain.vector) == pytest.approx(vector_of(state, depth), abs=1e-12)
    pruned = maxn(game, state, Limit(depth=depth), pruning="shallow")
    assert pruned.vector == plain.vector
    assert pruned.nodes <= plain.nodes
    careful = paranoid(game, state, Limit(depth=depth))
    assert careful.value == pytest.approx(guaranteed(state, {1}, 1, depth), abs=1e-12)
    assert careful.value <= plain.value + 1e-12


def test_true_values_of_three_seats_of_pig_are_a_fixed_point() -> None:
    """Value iteration over all positions, apart from the search, for a small target."""
    game = get_game("pig(seats=3,target=5,sides=4)")
    start: Any = game.initial_state()
    known = reachable(start)
    values: dict[Any, tuple[float, ...]] = {
        key: state.returns() if state.to_move == TERMINAL else (0.0, 0.0, 0.0)
        for key, state in known.items()
    }
    change = 1.0
    while change > 1e-13:
        change = 0.0
        for key, state in known.items():
            if state.to_move == TERMINAL:
                continue
            if state.to_move == CHANCE:
                new = tuple(
                    sum(w * values[state.after(o).key()][seat] for o, w in state.chance_outcomes())
                    for seat in range(3)
                )
            else:
                options = [values[state.after(action).key()] for action in state.actions()]
                new = max(options, key=lambda vector: vector[state.to_move])
            change = max(change, *(abs(a - b) for a, b in zip(new, values[key], strict=True)))
            values[key] = new
    assert sum(values[start.key()]) == pytest.approx(0.0, abs=1e-9)
    first, second, third = values[start.key()]
    assert first > second > third, "who rolls earlier has more of it"
    seats_to_move = [state for state in known.values() if state.to_move >= 0]
    for state in seats_to_move[::3]:
        result = maxn(
            game,
            state,
            Limit(depth=3),
            evaluate=lambda state, seat: values[state.key()][seat],
        )
        assert result.value == pytest.approx(values[state.key()][state.to_move], abs=1e-9)


def test_max_n_does_not_stop_at_a_win_that_others_may_take_away(
    seats_tree: Tree, turn: Any
) -> None:
    # At depth 2 seat 1 seems to play into 100 for seat 0; at depth 3 it has something better.
    node = turn(0, turn(1, (100.0, 0.0, 0.0), turn(1, (0.0, 50.0, 0.0))), (1.0, 1.0, 1.0))
    result = maxn(*seats_tree(node), Limit(nodes=1000))
    assert (result.action, result.value, result.exact) == (1, 1.0, True)


# Teams


def ghosts_at_work(steps: int) -> tuple[Game, list[Any]]:
    """Positions of two ghosts hunting Pacman in the trap, every seat to move by turns."""
    game = get_game(f"pacman(layout=trapped,steps={steps})")
    state: Any = game.initial_state()
    found = []
    while state.to_move != TERMINAL:
        found.append(state)
        state = state.after(state.actions()[len(found) % len(state.actions())])
    return game, found


def told(result: SearchResult) -> tuple[Any, ...]:
    return result.action, result.value, result.pv, result.depth, result.nodes, result.values


def test_the_ghosts_of_pacman_are_one_side() -> None:
    game, states = ghosts_at_work(20)
    assert [game.team(seat) for seat in range(game.seats)] == [0, 1, 1]
    assert {state.to_move for state in states} == {0, 1, 2}
    for state in states:
        ours = {0} if state.to_move == 0 else {1, 2}
        for depth in (1, 3, 4):
            result = team_search(game, state, Limit(depth=depth))
            assert result.value == guaranteed(state, ours, state.to_move, depth)
            # Max^n comes to the same, as the members of a team have equal returns.
            assert maxn(game, state, Limit(depth=depth)).value == result.value
            if state.to_move == 0:
                # All others are one team anyway.
                assert told(paranoid(game, state, Limit(depth=depth))) == told(result)


def test_a_ghost_that_fears_its_friend_is_not_of_the_team() -> None:
    game, states = ghosts_at_work(20)
    differ = 0
    for state in states:
        if state.to_move > 0:
            alone = paranoid(game, state, Limit(depth=4)).value
            together = team_search(game, state, Limit(depth=4)).value
            assert alone <= together
            differ += alone < together
    assert differ > 0


def test_pacman_and_one_ghost_are_two_seats_of_a_zero_sum() -> None:
    game = get_game("pacman(layout=duel,steps=20)")
    state: Any = game.initial_state()
    for _ in range(4):
        for depth in (2, 5, 6):
            plain = minimax(game, state, Limit(depth=depth))
            assert alpha_beta(game, state, Limit(depth=depth)).value == plain.value
            assert team_search(game, state, Limit(depth=depth)).value == plain.value
            assert plain.value == guaranteed(state, {state.to_move}, state.to_move, depth)
        state = state.after(state.actions()[-1])
