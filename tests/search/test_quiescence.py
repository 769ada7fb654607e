"""The horizon effect: what a depth limit gets wrong, and quiescence right."""

from __future__ import annotations

from typing import Any

import pytest

from plyhouse.games.deterministic.chess.tuned_evaluation import MOST_CENTIPAWNS
from plyhouse.games.deterministic.pawns import PawnState, pawn_board, read_pawns
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, alpha_beta


def choice(game: Any, depth: int, quiescence: bool) -> tuple[str, float]:
    state = game.initial_state()
    result = alpha_beta(game, state, Limit(depth=depth), quiescence=quiescence)
    return game.format(state, result.action), result.value


DEFENDED_KNIGHT = 'chess(fen="6k1/1p3ppp/p3p3/3n4/8/P7/1P3PPP/3R2K1 w - - 0 1")'
"""White's rook can take a knight, and be taken."""


def test_the_rook_takes_a_defended_knight_unless_it_is_seen_to_be_retaken() -> None:
    game = get_game(DEFENDED_KNIGHT)
    taken, value = choice(game, 1, quiescence=False)
    assert taken == "d1d5"
    calm, estimate = choice(game, 1, quiescence=True)
    assert calm != "d1d5"
    assert estimate < value
    # Plain search sees it when the horizon is behind the recapture, not in front of it.
    assert choice(game, 2, quiescence=False)[0] != "d1d5"


FORK = 'chess(fen="r3k3/pp3ppp/8/3N4/8/8/PP3PPP/4K3 w - - 0 1")'
"""A check of the knight on c7 attacks the rook as well."""


def test_in_check_nobody_stands_pat() -> None:
    game = get_game(FORK)
    blind = choice(game, 1, quiescence=False)[1]
    # Black, in check, has to move the king, also where nothing can be taken: then the
    # rook falls.  Standing pat there would hide it.
    action, seen = choice(game, 1, quiescence=True)
    assert action == "d5c7"
    assert (seen - blind) * MOST_CENTIPAWNS > 200
    state: Any = game.initial_state()
    assert not state.forced()
    assert state.after(game.parse(state, "d5c7")).forced()


def test_a_capture_that_loses_is_seen_through_in_breakthrough() -> None:
    white, black = read_pawns(("...b.", "b...b", "bwwbb", ".ww..", "....."))
    game = get_game("breakthrough(size=5)")
    state = PawnState(0, white, black, -1, pawn_board(5, True))
    greedy = alpha_beta(game, state, Limit(depth=1)).action
    calm = alpha_beta(game, state, Limit(depth=1), quiescence=True).action
    assert (game.format(state, greedy), game.format(state, calm)) == ("b2a3", "b3a4")
    # Black wins after the one, White after the other.
    for action, outcome in ((greedy, 1.0), (calm, -1.0)):
        assert alpha_beta(game, state.after(action), Limit(nodes=100_000)).value == outcome


def test_forced_jumps_are_played_out_in_checkers() -> None:
    game = get_game("checkers")
    state: Any = game.initial_state()
    seen = set()
    for action in state.actions():
        for reply in state.after(action).actions():
            for third in state.after(action).after(reply).actions():
                here = state.after(action).after(reply).after(third)
                jumps = len(here.noisy_actions()) > 0
                assert here.forced() == jumps
                assert not jumps or here.noisy_actions() == here.actions()
                seen.add(jumps)
    assert seen == {False, True}


@pytest.mark.parametrize("spec", ["tic_tac_toe", "connect_four", "othello"])
def test_games_without_noisy_actions_are_searched_as_ever(spec: str) -> None:
    game = get_game(spec)
    state = game.initial_state()
    plain = alpha_beta(game, state, Limit(depth=3))
    assert not hasattr(state, "noisy_actions")
    assert alpha_beta(game, state, Limit(depth=3), quiescence=True).nodes == plain.nodes


def test_quiescence_needs_an_estimate() -> None:
    game = get_game(DEFENDED_KNIGHT)
    state = game.initial_state()
    plain = alpha_beta(game, state, Limit(depth=2), heuristic=False)
    asked = alpha_beta(game, state, Limit(depth=2), heuristic=False, quiescence=True)
    assert (asked.value, asked.nodes) == (plain.value, plain.nodes)


def test_a_restless_game_comes_to_an_end(tree: Any) -> None:
    class Noise:
        """Every action is noisy, for ever."""

        __slots__ = ("ply", "to_move")

        def __init__(self, ply: int = 0) -> None:
            self.ply = ply
            self.to_move = ply % 2

        def actions(self) -> tuple[int, ...]:
            return (0,)

        def noisy_actions(self) -> tuple[int, ...]:
            return (0,)

        def forced(self) -> bool:
            return True

        def heuristic(self) -> tuple[float, float]:
            return (float(self.ply), float(-self.ply))

        def after(self, action: int) -> Noise:
            return Noise(self.ply + 1)

    result = alpha_beta(tree(0.0)[0], Noise(), Limit(depth=2), quiescence=True)
    assert result.value == 2.0 + 32.0
    assert not result.exact


def test_noisy_actions_of_the_root_are_asked_for_once() -> None:
    class Root:
        """The first position of a game, which counts."""

        asked = 0

        def __init__(self, state: Any) -> None:
            self.state = state

        def __getattr__(self, name: str) -> Any:
            return getattr(self.state, name)

        def noisy_actions(self) -> Any:
            self.asked += 1
            return self.state.noisy_actions()

    game = get_game("chess")
    root = Root(game.initial_state())
    assert alpha_beta(game, root, Limit(depth=4), null_windows=True, reductions=True).depth == 4
    assert root.asked == 1
