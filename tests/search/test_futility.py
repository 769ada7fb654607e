"""Futility: estimates far outside of the window are believed near the depth limit."""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any, Final

import pytest

from plyhouse.games import get_game
from plyhouse.games.base import TERMINAL
from plyhouse.search import Limit, alpha_beta

MIDDLE = "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 9"
SMOTHERED = "r6k/6pp/7N/8/2Q5/8/6PP/6K1 w - - 0 1"
"""White mates by two quiet moves: Qg8+ Rxg8 Nf7#."""


def searched(fen: str, depth: int, **options: Any) -> Any:
    game = get_game(f'chess(fen="{fen}")')
    return alpha_beta(game, game.initial_state(), Limit(depth=depth), deepen=True, **options)


def test_futility_searches_fewer_positions_to_nearly_the_same_value() -> None:
    full = searched(MIDDLE, 4)
    found = searched(MIDDLE, 4, futility=True)
    assert found.nodes < 0.6 * full.nodes
    start: Any = get_game("chess").initial_state()
    margin = start.quiet_margin()
    assert found.value == pytest.approx(full.value, abs=2 * margin)


@pytest.mark.parametrize("reductions", [False, True])
def test_futility_skips_no_check_that_leads_to_mate(reductions: bool) -> None:
    full = searched(SMOTHERED, 4, reductions=reductions)
    found = searched(SMOTHERED, 4, reductions=reductions, futility=True)
    assert full.value == found.value == 1.0
    assert found.nodes != full.nodes  # something was skipped


LAST: Final = 6
"""Ply at which a random game ends at the latest."""


class Position:
    """A position of a random game, in which estimates and margins are often wrong."""

    __slots__ = ("ply", "seed", "to_move", "which")

    def __init__(self, seed: int, ply: int = 0, which: int = 0) -> None:
        self.seed = seed
        self.ply = ply
        self.which = which
        over = ply == LAST or (ply > 1 and self.drawn("over") < 0.15)
        self.to_move = TERMINAL if over else ply % 2

    def drawn(self, what: object) -> float:
        return zlib.crc32(f"{self.seed} {self.ply} {self.which} {what}".encode()) / 2**32

    def key(self) -> tuple[int, int]:
        return self.ply, self.which

    def actions(self) -> tuple[int, ...]:
        return () if self.to_move == TERMINAL else tuple(range(2 + int(8 * self.drawn("actions"))))

    def after(self, action: int) -> Position:
        # Only so many positions of a ply, so that they are met again.
        return Position(self.seed, self.ply + 1, int(40 * self.drawn(action)))

    def returns(self) -> tuple[float, float]:
        first = float(int(3 * self.drawn("returns")) - 1)
        return first, -first

    def heuristic(self) -> tuple[float, float]:
        first = 1.8 * self.drawn("heuristic") - 0.9
        return first, -first

    def noisy_actions(self) -> tuple[int, ...]:
        return tuple([each for each in self.actions() if self.drawn(f"noisy {each}") < 0.2])

    def forced(self) -> bool:
        return self.drawn("forced") < 0.1

    def quiet_margin(self) -> float:
        return 0.1


def solved(start: Position) -> float:
    """Return the exact value for the mover of a position."""

    @cache
    def value(ply: int, which: int) -> float:
        state = Position(start.seed, ply, which)
        if state.to_move == TERMINAL:
            return state.returns()[ply % 2]
        return max([-value(*state.after(action).key()) for action in state.actions()])

    return value(*start.key())


@pytest.mark.parametrize("reductions", [False, True])
def test_wins_losses_and_exact_values_are_true_where_margins_are_wrong(reductions: bool) -> None:
    game = get_game("tic_tac_toe")  # of its returns
    fewer = 0
    certain = {1.0: 0, 0.0: 0, -1.0: 0}
    for seed in range(80):
        start = Position(seed)
        truth = solved(start)
        for depth in range(2, LAST + 8):
            full, found = [
                alpha_beta(
                    game,
                    start,
                    Limit(depth=depth),
                    deepen=True,
                    reductions=reductions,
                    futility=futility,
                )
                for futility in (False, True)
            ]
            fewer += found.nodes < full.nodes
            if found.exact or abs(found.value) == 1.0:
                assert found.value == truth, (seed, depth)
                certain[truth] += 1
    assert fewer > 100
    assert min(certain.values()) > 10


def test_futility_needs_quiescence() -> None:
    plain = searched(MIDDLE, 3, quiescence=False)
    asked = searched(MIDDLE, 3, quiescence=False, futility=True)
    assert (asked.nodes, asked.value, asked.pv) == (plain.nodes, plain.value, plain.pv)


def test_futility_changes_nothing_where_no_margin_is_known() -> None:
    game = get_game("othello")
    state = game.initial_state()
    plain = alpha_beta(game, state, Limit(depth=5), deepen=True)
    asked = alpha_beta(game, state, Limit(depth=5), deepen=True, futility=True)
    assert (asked.nodes, asked.value, asked.pv) == (plain.nodes, plain.value, plain.pv)
