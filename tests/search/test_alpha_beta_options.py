"""With all options, alpha-beta returns the value of minimax."""

from __future__ import annotations

import itertools
import math
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.harness.clocks import InterruptingClock

from plyhouse.games import native
from plyhouse.games.base import TERMINAL, Game
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, TranspositionTable, alpha_beta, minimax
from plyhouse.search.kernels.alpha_beta_full import successor

ROOT = Path(__file__).resolve().parents[2]
Tree = Callable[..., tuple[Game, Any]]

SOLVABLE = [
    "tic_tac_toe",
    "hexapawn",
    "hexapawn(size=4)",
    'nim(heaps="2,3,2")',
    'nim(heaps="1,2,4",misere=true)',
    "coins(coins=9)",
    "kalah(houses=2,seeds=2)",
    "kalah(houses=3,seeds=1)",
    "connect_four(columns=3,rows=3,connect=3)",
    "connect_four(columns=4,rows=3,connect=3)",
    "breakthrough(size=4)",
]
TRUE_VALUES: dict[tuple[str, Any], float] = {}


def all_options() -> list[dict[str, Any]]:
    """Every combination that keeps values exact, and tables of several sizes."""
    found: list[dict[str, Any]] = []
    for deepen, ordering, null_windows, size in itertools.product(
        (False, True), (False, True), (False, True), (None, 2, 1000)
    ):
        options: dict[str, Any] = {
            "deepen": deepen,
            "ordering": ordering,
            "null_windows": null_windows,
            "quiescence": False,
            **({"table": False} if size is None else {"table_size": size}),
        }
        possible = (False, True) if deepen and null_windows else (False,)
        found.extend({**options, "aspiration": aspiration} for aspiration in possible)
    return found


OPTIONS = all_options()


def true_value(spec: str, state: Any) -> float:
    """Return seat 0's value under perfect play, by plain recursion until a win is found."""
    if state.to_move == TERMINAL:
        return float(state.returns()[0])
    key = (spec, state.key())
    if key not in TRUE_VALUES:
        sign = 1.0 if state.to_move == 0 else -1.0
        best = -1.0
        for action in state.actions():
            best = max(best, sign * true_value(spec, state.after(action)))
            if best == 1.0:
                break
        TRUE_VALUES[key] = sign * best
    return TRUE_VALUES[key]


def walk(state: Any, plies: int, seed: int) -> Any:
    """A position after some random plies, before the game is over."""
    rng = random.Random(seed)
    for _ in range(plies):
        after = state.after(rng.choice(state.actions()))
        if after.to_move == TERMINAL:
            break
        state = after
    return state


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    spec=st.sampled_from(SOLVABLE),
    options=st.sampled_from(OPTIONS),
    reductions=st.booleans(),
    quiescence=st.booleans(),
    plies=st.integers(0, 8),
    seed=st.integers(0, 10**6),
)
def test_solved_values_are_right_with_all_options(
    spec: str, options: dict[str, Any], reductions: bool, quiescence: bool, plies: int, seed: int
) -> None:
    # Without a depth limit, not even reductions or quiescence may change the outcome.
    game = get_game(spec)
    if spec.startswith("breakthrough"):
        plies += 6
    state = walk(game.initial_state(), plies, seed)
    sign = 1.0 if state.to_move == 0 else -1.0
    options = {**options, "reductions": reductions, "quiescence": quiescence}
    result = alpha_beta(game, state, seed=seed, **options)
    value = true_value(spec, state)
    assert result.value == sign * value, (game.describe(state), options)
    assert true_value(spec, state.after(result.action)) == value, game.describe(state)


@pytest.mark.parametrize("spec", ["tic_tac_toe", "connect_four(columns=8)", "othello"])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_at_a_depth_limit_the_value_is_that_of_minimax(spec: str, depth: int) -> None:
    # In these games a position tells how many plies were played, so that the table never
    # knows one to another depth than the one asked for.
    game = get_game(spec)
    for seed in range(2):
        state = walk(game.initial_state(), 3 + seed, seed)
        plain = minimax(game, state, Limit(depth=depth))
        for options in OPTIONS:
            result = alpha_beta(game, state, Limit(depth=depth), **options)
            assert result.value == plain.value, options
            assert plain.values[result.action] == plain.value, options
            assert result.exact == plain.exact, options
            if result.depth == depth:  # not stopped early by a certain win
                for action, bound in result.values.items():
                    assert bound >= plain.values[action], options
                if result.value < game.return_bounds[1]:
                    assert result.values.keys() == plain.values.keys(), options


@pytest.mark.parametrize("seed", range(25))
def test_random_trees_with_jumping_estimates(
    seed: int, tree: Tree, random_tree: Callable[[int], Any]
) -> None:
    # Estimates up and down by the whole range: aspiration windows miss most of the time.
    def wild(state: Any, seat: int) -> float:
        return 90.0 * math.sin(13.0 * len(repr(state.node)))

    node = random_tree(seed)
    for seat in (0, 1):
        for depth in (2, 3, 4, 6):
            plain = minimax(*tree(node, seat), Limit(depth=depth), evaluate=wild)
            for options in OPTIONS:
                found = alpha_beta(*tree(node, seat), Limit(depth=depth), evaluate=wild, **options)
                assert found.value == plain.value, options
                assert plain.values[found.action] == plain.value, options


def test_the_expected_line_is_as_long_as_the_search_is_deep_and_leads_to_its_value() -> None:
    game = get_game("connect_four(columns=8)")
    state: Any = walk(game.initial_state(), 6, 3)
    for options in OPTIONS:
        result = alpha_beta(game, state, Limit(depth=5), **options)
        here = state
        for action in result.pv:
            assert action in here.actions()
            here = here.after(action)
        # A table of two positions cannot know what follows one that was looked up.
        assert len(result.pv) == 5 or options.get("table_size") == 2 or here.to_move == TERMINAL
        if len(result.pv) == 5:
            assert here.heuristic()[state.to_move] == result.value


def test_the_table_saves_nodes() -> None:
    game = get_game("connect_four(columns=8)")
    state: Any = walk(game.initial_state(), 4, 1)
    off = {"table": False, "ordering": False, "null_windows": False, "quiescence": False}
    limit = Limit(depth=7)
    plain = alpha_beta(game, state, limit, deepen=True, **off).nodes  # type: ignore[arg-type]
    table = alpha_beta(game, state, limit, deepen=True, **{**off, "table": True}).nodes  # type: ignore[arg-type]
    full = alpha_beta(game, state, limit, deepen=True).nodes
    assert plain > 1.5 * table
    assert plain > 1.5 * full


def test_the_plain_search_is_the_default_without_a_limit_of_time_or_nodes() -> None:
    game = get_game("connect_four(columns=8)")
    state = game.initial_state()
    off = {"table": False, "ordering": False, "null_windows": False, "quiescence": False}
    plain = alpha_beta(game, state, Limit(depth=5), deepen=False, **off)  # type: ignore[arg-type]
    assert alpha_beta(game, state, Limit(depth=5)).nodes == plain.nodes
    assert alpha_beta(game, state, Limit(depth=5, nodes=10**9)).nodes != plain.nodes


def test_without_the_heuristic_positions_at_the_limit_count_nothing() -> None:
    game = get_game("connect_four(columns=8)")
    state = game.initial_state()
    for deepen in (False, True):
        result = alpha_beta(game, state, Limit(depth=4), heuristic=False, deepen=deepen)
        assert (result.value, result.exact) == (0.0, False)


def test_contradicting_options_are_refused() -> None:
    game = get_game("tic_tac_toe")
    state = game.initial_state()
    with pytest.raises(ValueError, match="aspiration=True needs deepen=True and null_windows"):
        alpha_beta(game, state, aspiration=True)
    with pytest.raises(ValueError, match="table=False contradicts table_size=50"):
        alpha_beta(game, state, table=False, table_size=50)
    with pytest.raises(ValueError, match="table_size=50: the table given has its own size"):
        alpha_beta(game, state, table=TranspositionTable(10), table_size=50)


@pytest.mark.parametrize("options", [{}, {"table_size": 5}, {"aspiration": False}])
@pytest.mark.parametrize(("plies", "seed"), [(4, 3), (5, 7)])
def test_stopped_anywhere_it_is_no_worse_than_the_depth_before(
    plies: int, seed: int, options: dict[str, Any]
) -> None:
    game = get_game("connect_four(columns=5,rows=4)")
    state: Any = walk(game.initial_state(), plies, seed)
    deep = {depth: minimax(game, state, Limit(depth=depth)) for depth in range(1, 7)}
    best = {
        depth: alpha_beta(game, state, Limit(depth=depth), deepen=True, **options).action
        for depth in range(1, 7)
    }
    changed = 0
    for nodes in [*range(1, 150), *range(150, 2500, 37)]:
        result = alpha_beta(game, state, Limit(nodes=nodes, depth=6), **options)
        assert result.action in state.actions()
        assert result.pv[0] == result.action
        if result.depth and result.action != best[result.depth]:
            changed += 1
            values = deep[result.depth + 1].values
            assert values[result.action] >= values[best[result.depth]]
    assert changed


def test_an_interrupt_ends_a_search_with_all_options_and_frees_its_table() -> None:
    game = get_game("connect_four(columns=8)")
    table = TranspositionTable()
    clock = InterruptingClock()
    with pytest.raises(KeyboardInterrupt):
        alpha_beta(game, game.initial_state(), Limit(clock=clock), deepen=True, table=table)
    assert clock.polls < 30
    assert len(table) > 0
    assert alpha_beta(game, game.initial_state(), Limit(nodes=500), table=table).depth > 0


def test_the_table_of_the_notes_can_be_made_again() -> None:
    few = ["--games", "connect_four", "othello", "--deeper", "-5", "--positions", "1"]
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "alpha_beta_options.py", *few],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    names = [line.split("|")[1].strip() for line in done.stdout.splitlines()]
    page = (ROOT / "benchmarks" / "NOTES.md").read_text(encoding="utf-8")
    assert len(names) == 10
    assert "<!--" not in done.stdout
    for name in names[2:]:
        assert f"\n| {name} |" in page


@given(st.floats(allow_nan=False, min_value=-1e300, max_value=1e300))
def test_the_window_of_a_value_and_its_successor_is_all_but_empty(value: float) -> None:
    above = successor(value)
    assert value < above <= math.nextafter(math.nextafter(value, math.inf), math.inf)


@pytest.mark.parametrize(
    ("columns", "rows"), [(4, 4), (4, 5), (5, 4), (5, 5)] if native.COMPILED else [(4, 4)]
)
def test_connect_four_is_a_draw_on_small_boards(columns: int, rows: int) -> None:
    # J. Tromp, "John's Connect Four playground": all four are draws.
    game = get_game(f"connect_four(columns={columns},rows={rows})")
    # The largest takes a fortieth of the time that way; the others go straight to the end.
    deepen = (columns, rows) == (5, 5)
    result = alpha_beta(game, game.initial_state(), table_size=1 << 20, deepen=deepen)
    assert (result.value, result.exact) == (0.0, True)


def test_connect_four_on_4_by_5_equals_brute_force_everywhere() -> None:
    spec = "connect_four(columns=4,rows=5)"
    game = get_game(spec)
    if not native.COMPILED:
        pytest.skip("minutes when interpreted; the smaller boards above are solved there, too")
    start: Any = game.initial_state()
    assert true_value(spec, start) == 0.0
    assert alpha_beta(game, start, table_size=100_000, deepen=True).value == 0.0
    for seed in range(len(OPTIONS)):
        state = walk(start, 9 + seed % 4, seed)
        sign = 1.0 if state.to_move == 0 else -1.0
        found = alpha_beta(game, state, **OPTIONS[seed])
        assert found.value == sign * true_value(spec, state), OPTIONS[seed]
