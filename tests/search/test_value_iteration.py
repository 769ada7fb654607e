"""Value iteration and the solution of pig: published numbers, and each against the other."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from plyhouse.games.base import TERMINAL
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.games.stochastic.pig import HOLD, ROLL, PigState, rules_of
from plyhouse.search import Limit, expectiminimax, value_iteration
from plyhouse.search.tables.endgame_table import NotInTable
from plyhouse.search.tables.pig_solution import PigSolution, solve_pig
from plyhouse.search.tables.retrograde import TooManyPositions, solve
from plyhouse.search.tables.table_file import InvalidTable
from plyhouse.search.tables.value_iteration import PositionValues, iterate_values

SMALL = "pig(target=15)"


@pytest.fixture(scope="module")
def small() -> PositionValues:
    return iterate_values(get_game(SMALL), tolerance=1e-12)


@pytest.fixture(scope="module")
def pig() -> PigSolution:
    return solve_pig()


def positions_of(start: Any) -> dict[Any, Any]:
    found = {start.key(): start}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        moves = [o for o, _ in here.chance_outcomes()] or here.actions()
        for move in moves:
            child = here.after(move)
            if child.key() not in found:
                found[child.key()] = child
                waiting.append(child)
    return found


def test_the_first_player_of_pig_wins_as_often_as_published(pig: PigSolution) -> None:
    assert pig.win_probability(0, 0) == pytest.approx(0.5306, abs=0.00005)
    start = get_game("pig").initial_state()
    assert pig.probe(start) == pytest.approx(2 * 0.5306 - 1, abs=0.0001)
    assert pig.probe(start, 1) == -pig.probe(start)


def test_the_policy_of_pig_is_the_published_one(pig: PigSolution) -> None:
    # Neller and Presser: hold at 21 at the start; who is far behind rolls on, who leads holds
    # early, and against 99 points one rolls until the game is won.
    assert pig.hold_at(0, 0) == 21
    assert pig.hold_at(0, 60) > 21 > pig.hold_at(60, 0)
    assert all(pig.hold_at(own, 99) == 100 - own for own in range(100))


def test_the_values_of_pig_are_a_fixed_point(pig: PigSolution) -> None:
    rng = random.Random(3)
    rules = rules_of(2, 100, 6)
    for _ in range(400):
        scores = (rng.randrange(100), rng.randrange(100))
        turn = rng.randrange(2)
        state: Any = PigState(turn, scores, turn, rng.randrange(100 - scores[turn]), 0, rules)
        best = max(pig.values(state).values())
        assert pig.probe(state, turn) == pytest.approx(best, abs=1e-12)
        rolling = state.after(ROLL)
        mean = sum(p * pig.probe(rolling.after(face)) for face, p in rolling.chance_outcomes())
        assert pig.probe(rolling) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("spec", [SMALL, "pig(sides=4,target=20)", "pig(sides=2,target=7)"])
def test_both_ways_to_solve_pig_agree_everywhere(spec: str) -> None:
    game = get_game(spec)
    table = iterate_values(game, tolerance=1e-11)
    solution = solve_pig(game)
    positions = positions_of(game.initial_state())
    for state in positions.values():
        assert solution.probe(state) == pytest.approx(table.probe(state), abs=1e-10)
    assert len(table) == sum(state.to_move != TERMINAL for state in positions.values())


def test_the_error_is_known(small: PositionValues) -> None:
    rough = iterate_values(get_game(SMALL), tolerance=0.01)
    assert 0 < rough.error <= 0.005
    assert rough.sweeps < small.sweeps
    for state in positions_of(get_game(SMALL).initial_state()).values():
        assert abs(rough.probe(state) - small.probe(state)) <= rough.error + small.error


def test_expectiminimax_near_the_end_chooses_as_the_optimal_policy(pig: PigSolution) -> None:
    game = get_game("pig")
    rules = rules_of(2, 100, 6)
    wrong, tried = [], 0
    for own in range(84, 100, 2):
        for other in range(78, 100, 3):
            for at_risk in range(1, 100 - own):
                state: Any = PigState(0, (own, other), 0, at_risk, 0, rules)
                values = pig.values(state)
                if abs(values[ROLL] - values[HOLD]) < 0.02:
                    continue
                tried += 1
                found = expectiminimax(game, state, Limit(depth=3)).action
                if found != pig.best_action(state):
                    wrong.append(game.describe(state))
    assert tried > 400
    assert not wrong


def test_expectiminimax_with_the_solution_as_evaluation_gives_its_values(pig: PigSolution) -> None:
    game = get_game("pig")
    state: Any = PigState(1, (60, 45), 1, 14, 0, rules_of(2, 100, 6))
    for depth in (1, 2, 3, 4):
        result = expectiminimax(game, state, Limit(depth=depth), evaluate=pig.evaluate)
        assert result.value == pytest.approx(pig.probe(state, 1), abs=1e-12)


def test_on_a_game_without_dice_it_agrees_with_retrograde_analysis() -> None:
    game = get_game("tic_tac_toe")
    table, exact = iterate_values(game), solve(game)
    for state in positions_of(game.initial_state()).values():
        sign = -1.0 if state.to_move == 1 else 1.0
        assert table.probe(state) == sign * exact.probe(state).value


def test_as_a_search_it_gives_values_of_all_actions(small: PositionValues) -> None:
    game = get_game(SMALL)
    state: Any = game.initial_state().after(ROLL).after(6)
    result = value_iteration(game, state)
    assert set(result.values) == {ROLL, HOLD}
    assert result.value == max(result.values.values())
    assert result.value == pytest.approx(small.probe(state), abs=1e-8)
    assert result.action == small.best_action(state)
    assert value_iteration(game, state, table=small).value == small.probe(state)
    stopped = value_iteration(get_game("pig"), state, Limit(time=0.02))
    assert (stopped.depth, stopped.exact, stopped.action) == (0, False, ROLL)


def test_tables_are_the_same_after_being_saved(
    small: PositionValues, pig: PigSolution, tmp_path: Path
) -> None:
    game = get_game(SMALL)
    small.save(tmp_path / "small")
    loaded = PositionValues.load(tmp_path / "small", game)
    assert (loaded.error, loaded.sweeps) == (small.error, small.sweeps)
    for state in positions_of(game.initial_state()).values():
        assert loaded.probe(state) == small.probe(state)
    pig.save(tmp_path / "pig")
    again = PigSolution.load(tmp_path / "pig", get_game("pig"))
    assert (again.starts == pig.starts).all()
    assert (tmp_path / "pig").stat().st_size < 100_000
    with pytest.raises(InvalidTable, match=r"it is for pig, not for pig\(target=15\)"):
        PigSolution.load(tmp_path / "pig", game)
    with pytest.raises(InvalidTable, match="it holds 'pig', not 'values'"):
        PositionValues.load(tmp_path / "pig", get_game("pig"))


def test_misfits_are_told(pig: PigSolution) -> None:
    with pytest.raises(GameMismatch, match="it has 3 seats"):
        solve_pig(get_game("pig(seats=3)"))
    with pytest.raises(GameMismatch, match="it is not pig"):
        solve_pig(get_game("backgammon"))
    with pytest.raises(GameMismatch, match="its seats do not see the whole state"):
        iterate_values(get_game("kuhn_poker"))
    with pytest.raises(TooManyPositions, match="more than 100 positions"):
        iterate_values(get_game("pig"), most=100)
    with pytest.raises(ValueError, match="expected a number from 1e-14 to 1"):
        iterate_values(get_game("pig"), tolerance=0.0)
    with pytest.raises(TimeoutError, match="the limit was reached"):
        iterate_values(get_game("pig"), limit=Limit(nodes=500))
    with pytest.raises(NotInTable, match="of 50"):
        pig.probe(get_game("pig(target=50)").initial_state())


def test_progress_is_told() -> None:
    told: list[tuple[int, float]] = []
    table = iterate_values(get_game("pig(target=5)"), progress=lambda n, e: told.append((n, e)))
    assert [sweeps for sweeps, _ in told] == list(range(1, table.sweeps + 1))
    assert all(before[1] >= after[1] for before, after in itertools.pairwise(told))
