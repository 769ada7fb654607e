"""Features and linear evaluations: what they count, show, save and refuse."""

from __future__ import annotations

import math
import random
import tomllib
from pathlib import Path
from typing import Any

import chess
import pytest

from plyhouse.games.base import TERMINAL
from plyhouse.games.bits import BIT
from plyhouse.games.deterministic.checkers.rules import CheckersState
from plyhouse.games.deterministic.othello.rules import OthelloState
from plyhouse.games.deterministic.pawns import PawnState
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, alpha_beta
from plyhouse.search.evaluation.features import FEATURES, FeatureSet, features_of
from plyhouse.search.evaluation.linear_evaluation import InvalidWeights, LinearEvaluation


def walk(spec: str, seed: int) -> list[Any]:
    """The states of a random play in which a seat is to move."""
    rng = random.Random(seed)
    state: Any = get_game(spec).initial_state()
    states: list[Any] = []
    while state.to_move != TERMINAL and len(states) < 80:
        states.append(state)
        state = state.after(rng.choice(state.actions()))
    return states


def named(game: str, state: Any, seat: int = 0) -> dict[str, float]:
    features = FEATURES[game]
    return dict(zip(features.names, features.values(state, seat), strict=True))


def after(spec: str, *actions: str) -> Any:
    game = get_game(spec)
    state: Any = game.initial_state()
    for text in actions:
        state = state.after(game.parse(state, text))
    return state


@pytest.mark.parametrize("game", FEATURES)
def test_features_are_opposite_for_the_seats_and_of_moderate_size(game: str) -> None:
    features = FEATURES[game]
    assert len(features.names) == len(features.meanings) == len(features.default)
    seen = [set() for _ in features.names]  # type: list[set[float]]
    for seed in range(5):
        for state in walk(game, seed):
            values = list(features.values(state, 0))
            assert [-value for value in values] == list(features.values(state, 1))
            assert len(values) == len(features.names)
            assert all(abs(value) <= 4 for value in values)
            for numbers, value in zip(seen, values, strict=True):
                numbers.add(value)
    assert all(len(numbers) > 1 for numbers in seen)


@pytest.mark.parametrize("spec", ["tic_tac_toe", "connect_four(columns=5,rows=4)", "othello"])
def test_the_turn_is_a_feature(spec: str) -> None:
    game = spec.partition("(")[0]
    for state in walk(spec, 1):
        assert named(game, state)["turn"] == (1.0 if state.to_move == 0 else -1.0)


def turned(cells: int, size: int) -> int:
    """The set of squares with the board turned around."""
    last = size - 1
    return sum(BIT[last - square] for square in range(size) if cells & BIT[square])


def test_exchanging_sides_exchanges_signs() -> None:
    for state in walk("othello", 3):
        other = OthelloState(1 - state.to_move, state.white, state.black, state.open)
        assert list(FEATURES["othello"].values(other, 1)) == list(
            FEATURES["othello"].values(state, 0)
        )
    for size in (5, 6):
        for state in walk(f"breakthrough(size={size})", 3):
            squares = size * size
            white, black = turned(state.black, squares), turned(state.white, squares)
            pawns = PawnState(1 - state.to_move, white, black, -1, state.board)
            assert list(FEATURES["breakthrough"].values(pawns, 1)) == list(
                FEATURES["breakthrough"].values(state, 0)
            )
    for state in walk("checkers", 3):
        pieces = CheckersState(
            1 - state.to_move,
            turned(state.white, 35),
            turned(state.black, 35),
            turned(state.kings, 35),
        )
        assert list(FEATURES["checkers"].values(pieces, 1)) == list(
            FEATURES["checkers"].values(state, 0)
        )


def test_tic_tac_toe_counts_open_lines_as_the_course_does() -> None:
    # X in the centre, O in a corner: 5 lines are open for X, 4 for O.
    state = after("tic_tac_toe", "b2", "a1")
    assert named("tic_tac_toe", state)["open_lines"] == (5 - 4) / 8
    assert named("tic_tac_toe", state)["threats"] == 0
    assert named("tic_tac_toe", after("tic_tac_toe", "b2", "a1", "b1"))["threats"] == 1


def test_othello_counts_corners_and_what_gives_them_away() -> None:
    corner = OthelloState(0, BIT[0], BIT[9] | BIT[1], 0)
    values = named("othello", corner)
    assert (values["corners"], values["slanting"], values["beside"]) == (0.5, 0.0, 0.0)
    given = OthelloState(0, BIT[63], BIT[9] | BIT[1], 0)
    values = named("othello", given)
    assert (values["slanting"], values["beside"]) == (-0.5, -0.25)
    start: Any = get_game("othello").initial_state()
    assert named("othello", start)["mobility"] == 0
    state = after("othello", "d3")
    assert named("othello", state)["discs"] == 3 / 32


def test_chess_counts_pieces_and_moves() -> None:
    start = get_game("chess").initial_state()
    assert list(named("chess", start).values()) == [0, 0, 0, 0, 0, 0, 1]
    state = after("chess", "e2e4", "d7d5", "e4d5")
    values = named("chess", state)
    assert values["pawns"] == 1 / 4
    # White's moves if it were its turn, by another program.
    board = chess.Board("rnbqkbnr/ppp1pppp/8/3P4/8/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    assert values["mobility"] == (board.legal_moves.count() - len(state.actions())) / 20


def test_checkers_and_breakthrough_count_material() -> None:
    state: Any = get_game('checkers(position="B:W18,K31:B1,K2,K3")').initial_state()
    values = named("checkers", state)
    assert (values["men"], values["kings"], values["home"]) == (0.0, 0.25, 0.25)
    state = after("breakthrough(size=5)", "a2a3", "b4b3", "a3b4")
    assert named("breakthrough", state)["pawns"] == 0.0
    assert named("breakthrough", state)["foremost"] == pytest.approx((3 - 2) / 5)


def test_the_estimate_is_the_expected_return_of_the_log_odds() -> None:
    game = get_game("othello")
    evaluation = LinearEvaluation(game)
    for state in walk("othello", 2):
        odds = evaluation.log_odds(state, 0)
        chance = 1 / (1 + math.exp(-odds))
        assert evaluation(state, 0) == pytest.approx(2 * chance - 1, abs=1e-5)
        assert evaluation(state, 1) == pytest.approx(-evaluation(state, 0))
        assert -1 < evaluation(state, 0) < 1
    wild = evaluation.with_weights([1e6] * len(evaluation.weights))
    assert all(abs(wild(state, 0)) < 1 for state in walk("othello", 2))
    result = alpha_beta(game, game.initial_state(), Limit(depth=2), evaluate=evaluation)
    assert result.action in game.initial_state().actions()


def test_contributions_show_why() -> None:
    game = get_game("tic_tac_toe")
    evaluation = LinearEvaluation(
        game, weights={"open_lines": 8, "threats": 2, "centre": 1, "turn": 0}
    )
    state = after("tic_tac_toe", "b2", "a1")
    shown = evaluation.contributions(state)
    assert [row.product for row in shown.rows] == [1.0, 0.0, 1.0, 0.0]
    assert shown.total == 2.0
    assert shown.estimate == pytest.approx(math.tanh(1.0), abs=1e-5)
    assert str(shown).splitlines()[:2] == [
        "feature        value    weight   product",
        "open_lines     0.125     8.000     1.000",
    ]
    assert str(shown).splitlines()[-1].split() == ["estimate", "0.762"]
    assert evaluation.contributions(state, 1).total == -2.0


def test_own_features_are_functions_by_name() -> None:
    game = get_game("coins")
    evaluation = LinearEvaluation(
        game, {"left": lambda state, seat: state.coins % 3 - 1.0}, {"left": 3.0}
    )
    assert evaluation.features.names == ("left",)
    assert evaluation.log_odds(game.initial_state(), 0) == 0.0


def test_weights_are_the_same_after_being_saved(tmp_path: Path) -> None:
    game = get_game("othello")
    weights = [0.1 * n - 1 / 3 for n in range(7)]
    evaluation = LinearEvaluation(game, weights=weights, tuned='by "hand"\nfor a test')
    path = tmp_path / "othello.toml"
    evaluation.save(path)
    loaded = LinearEvaluation.load(path, game)
    assert loaded.weights == tuple(weights)
    assert loaded.tuned == evaluation.tuned
    content = tomllib.loads(path.read_text())
    assert content["game"] == "othello"
    assert set(content["weights"]) == set(FEATURES["othello"].names)
    # Weights of one size of board serve for another.
    small = LinearEvaluation(get_game("breakthrough(size=5)"))
    small.save(path)
    assert LinearEvaluation.load(path, get_game("breakthrough")).weights == small.weights


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("weights = [", "it is not TOML"),
        ("a = 1", "its format is None, not 'plyhouse-weights-1'"),
        ('format = "plyhouse-weights-1"\ngame = "chess"', "it is for chess, not for tic_tac_toe"),
        ('format = "plyhouse-weights-1"\ngame = "tic_tac_toe"', r"it has no table \[weights\]"),
        (
            'format = "plyhouse-weights-1"\ngame = "tic_tac_toe"\n[weights]\nopen_line = 1\n',
            "there is no feature 'open_line'; did you mean open_lines?",
        ),
        (
            'format = "plyhouse-weights-1"\ngame = "tic_tac_toe"\n[weights]\nopen_lines = 1\n',
            "there is no weight for threats, centre, turn",
        ),
        (
            'format = "plyhouse-weights-1"\ngame = "tic_tac_toe"\n[weights]\nopen_lines = "1"\n',
            "the weight of open_lines is '1', not a number",
        ),
        (
            'format = "plyhouse-weights-1"\ngame = "tic_tac_toe"\n[weights]\nopen_lines = nan\n'
            "threats = 1\ncentre = 1\nturn = 1\n",
            "the weight of open_lines is nan",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "weights.toml"
    path.write_text(text)
    with pytest.raises(InvalidWeights, match=why):
        LinearEvaluation.load(path, get_game("tic_tac_toe"))


def test_what_does_not_fit_is_told() -> None:
    with pytest.raises(GameMismatch, match="there are no features for it"):
        features_of("pig")
    game = get_game("coins")
    features = FeatureSet.of({"a": lambda state, seat: 0.0, "b": lambda state, seat: 0.0})
    with pytest.raises(ValueError, match="1 weights for 2 features"):
        LinearEvaluation(game, features, [1.0])
    with pytest.raises(ValueError, match="there is no feature 'c'; there are a, b"):
        LinearEvaluation(game, features, {"a": 1.0, "c": 1.0})
