"""Matrix games: equilibria by linear programming, and what pure strategies tell."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest

from plyhouse.games import Game, GameMismatch, get_game
from plyhouse.search import (
    NormalForm,
    cfr_plus,
    dominated,
    matrix_game,
    matrix_of,
    pure_equilibria,
    undominated,
)

pytest.importorskip("scipy")

DILEMMA = matrix_of(get_game("prisoners_dilemma"))


def matrix(payoffs: str) -> Game:
    return type(get_game("matrix"))(payoffs=payoffs)


def test_the_coin_is_hidden_five_times_in_six() -> None:
    found = matrix_game(get_game("coin_guess"))
    assert found.value == pytest.approx(0)
    assert found.rows == pytest.approx({"penny": 5 / 6, "nickel": 1 / 6})
    assert found.columns == pytest.approx({"lincoln": 1 / 2, "jefferson": 1 / 2})


@pytest.mark.parametrize(
    ("pennies", "value", "guess"), [(0.5, 2.0, "jefferson"), (1, 1, "lincoln")]
)
def test_against_a_bag_one_guess_is_best(pennies: float, value: float, guess: str) -> None:
    game = get_game(f"coin_guess(variant=bag,pennies={pennies})")
    assert matrix_of(game).rows == ("-",)
    found = matrix_game(game)
    assert found.value == pytest.approx(-value)
    assert found.columns[guess] == pytest.approx(1)


@pytest.mark.parametrize(
    ("payoffs", "value", "rows", "columns"),
    [
        ("0 -1 1; 1 0 -1; -1 1 0", 0.0, [1 / 3] * 3, [1 / 3] * 3),
        ("1 -1; -1 1", 0.0, [0.5, 0.5], [0.5, 0.5]),
        ("0 -1 2; 1 0 -1; -2 1 0", 0.0, [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]),
        ("3 1; 0 2", 1.5, [0.5, 0.5], [0.25, 0.75]),
        ("2 3; 1 4", 2.0, [1.0, 0.0], [1.0, 0.0]),  # a saddle point
        ("5", 5.0, [1.0], [1.0]),
    ],
)
def test_mixed_equilibria(
    payoffs: str, value: float, rows: list[float], columns: list[float]
) -> None:
    found = matrix_game(matrix(payoffs))
    assert found.value == pytest.approx(value)
    assert list(found.rows.values()) == pytest.approx(rows)
    assert list(found.columns.values()) == pytest.approx(columns)
    cells = [[float(cell) for cell in row.split()] for row in payoffs.split(";")]
    assert matrix_game(cells) == found


@pytest.mark.parametrize("seed", range(8))
def test_random_matrices_satisfy_the_minimax_theorem(seed: int) -> None:
    rng = random.Random(seed)
    rows, columns = rng.randint(1, 7), rng.randint(1, 7)
    cells = [[rng.uniform(-9, 9) for _ in range(columns)] for _ in range(rows)]
    found = matrix_game(cells)
    x, y = list(found.rows.values()), list(found.columns.values())
    assert sum(x) == pytest.approx(1)
    assert sum(y) == pytest.approx(1)
    assert min(x) >= 0
    assert min(y) >= 0
    worst = min(sum(x[i] * cells[i][j] for i in range(rows)) for j in range(columns))
    best = max(sum(y[j] * cells[i][j] for j in range(columns)) for i in range(rows))
    assert worst == pytest.approx(found.value)
    assert best == pytest.approx(found.value)


def test_cfr_finds_the_same() -> None:
    game = matrix("4 -2 1; -3 5 0; 1 1 -1")
    assert cfr_plus(game, iterations=2000).value(0) == pytest.approx(
        matrix_game(game).value, abs=1e-3
    )


# General sums


def test_the_prisoners_dilemma() -> None:
    assert not DILEMMA.zero_sum
    assert pure_equilibria(DILEMMA) == (("deny", "deny"), ("deny", "accept"), ("accept", "deny"))
    assert dominated(DILEMMA, 0) == dominated(DILEMMA, 1) == {"accept": "deny"}
    assert dominated(DILEMMA, 0, strictly=True) == {}
    assert undominated(DILEMMA) == (("deny",), ("deny",))
    assert undominated(DILEMMA, strictly=True) == (DILEMMA.rows, DILEMMA.columns)


def test_domination_comes_in_steps() -> None:
    # Nothing dominates a row until the third column is gone.
    game = matrix_of(matrix("1,0 1,2 0,1; 0,3 0,1 2,0"))
    assert dominated(game, 0) == {}
    assert dominated(game, 1, strictly=True) == {"3": "2"}
    assert undominated(game, strictly=True) == (("1",), ("2",))
    assert pure_equilibria(game) == (("1", "2"),)


def test_matching_pennies_have_no_pure_equilibrium() -> None:
    assert pure_equilibria(matrix_of(matrix("1 -1; -1 1"))) == ()


# What is refused


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("rock_paper_scissors(rounds=2)", "seat 0 chooses in 10 information states"),
        ("kuhn_poker", "seat 0 chooses in 6 information states"),
        ("kuhn_poker(seats=3)", "it has 3 seats"),
        ("tic_tac_toe", "its seats see the whole state"),
    ],
)
def test_games_that_are_no_matrix_are_refused(spec: str, words: str) -> None:
    with pytest.raises(GameMismatch) as caught:
        matrix_of(get_game(spec))
    assert words in str(caught.value)


def test_general_sums_are_refused_by_the_linear_program() -> None:
    with pytest.raises(GameMismatch, match="its returns do not sum to zero"):
        matrix_game(get_game("prisoners_dilemma"))
    with pytest.raises(ValueError, match="the returns do not sum to zero"):
        matrix_game(DILEMMA)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([[1.0, 2.0], [3.0]], "row 2 of first has 1 cells, but 2 columns are named"),
        ([], "first has 0 rows"),
        ([[float("nan")]], "row 1 of first has nan"),
    ],
)
def test_bad_tables(cells: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        matrix_game(cells)
    with pytest.raises(ValueError, match="seat=2"):
        dominated(DILEMMA, 2)


def test_a_missing_scipy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError, match=r"pip install 'plyhouse\[equilibria\]'"):
        matrix_game([[1.0]])


def test_a_normal_form_of_ones_own() -> None:
    game = NormalForm(("up", "down"), ("left",), ((1.0,), (2.0,)), ((-1.0,), (-2.0,)))
    assert matrix_game(game).rows == {"up": 0.0, "down": 1.0}
