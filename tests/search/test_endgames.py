"""Alpha-beta asks games what they know of their last plies; only the speed may change."""

from __future__ import annotations

import math
import random
from typing import Any, ClassVar

import pytest

from plyhouse.games import get_game
from plyhouse.games.base import Game
from plyhouse.games.endgames import Endings, Meter
from plyhouse.games.native import COMPILED
from plyhouse.search import Limit, SearchResult, alpha_beta

FFO = {
    40: ("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X", 38),
    41: ("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O- X", 0),
    42: ("--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO-- X", 6),
    43: ("--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX- O", -12),
    44: ("--O-X-O---O-XO-O-OOXXXOOOOOOXXXOOOOOXX--XXOOXO----XXXX-----XXX-- O", -14),
}
"""Problems of the French othello federation, and their published scores."""
QUICK = (40,)
"""Those solved within about ten seconds; benchmarks/endgames.py solves all."""


@pytest.mark.skipif(not COMPILED, reason="millions of positions want the compiled games")
@pytest.mark.parametrize("number", FFO)
def test_published_scores_of_othello_endings(number: int) -> None:
    if number not in QUICK:
        pytest.skip("takes up to minutes: benchmarks/endgames.py solves it")
    position, score = FFO[number]
    game = get_game(f'othello(score=true,position="{position}")')
    result = alpha_beta(game, game.initial_state(), deepen=True)
    assert (result.value, result.exact) == (score, True)


def random_position(game: Game, plies: int, seed: int) -> Any:
    """A position after so many random plies in which nobody can end the game at once."""
    rng = random.Random(seed)
    while True:
        state: Any = game.initial_state()
        for _ in range(plies):
            state = state.after(rng.choice(state.actions()))
            if any(state.after(action).to_move < 0 for action in state.actions()):
                break
        else:
            return state


@pytest.mark.parametrize("seed", range(20))
def test_connect_four_endings_have_the_values_of_a_plain_search(seed: int) -> None:
    game = get_game("connect_four")
    state = random_position(game, 30 if COMPILED else 34, seed)
    plain = alpha_beta(game, state)
    solved = alpha_beta(game, state, deepen=True)
    assert (solved.value, solved.exact) == (plain.value, True)
    child = state.after(solved.action)
    if child.to_move >= 0:
        assert alpha_beta(game, child).value == -plain.value


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("score", ["false", "true"])
def test_othello_endings_have_the_values_of_a_plain_search(seed: int, score: str) -> None:
    game = get_game(f"othello(score={score})")
    rng = random.Random(seed)
    state: Any = game.initial_state()
    while 64 - ((state.black | state.white) % 2**64).bit_count() > (10 if COMPILED else 7):
        state = state.after(rng.choice(state.actions()))
    plain = alpha_beta(game, state)
    solved = alpha_beta(game, state, deepen=True)
    assert (solved.value, solved.exact) == (plain.value, True)
    child = state.after(solved.action)
    if child.to_move >= 0:
        sign = 1.0 if child.to_move == state.to_move else -1.0
        assert alpha_beta(game, child).value == sign * plain.value


def test_a_textbook_search_does_not_ask() -> None:
    game = get_game("connect_four")
    state = random_position(game, 33, 1)
    assert alpha_beta(game, state) == replaced_time(alpha_beta(game, state, endings=False))
    asked = alpha_beta(game, state, endings=True)
    assert asked.nodes < alpha_beta(game, state).nodes
    told = alpha_beta(game, state, Limit(nodes=10**6), endings=False)
    quick = alpha_beta(game, state, Limit(nodes=10**6), practical=False)
    assert told.nodes > quick.nodes


class AnyTime(float):
    """Equal to every time."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float)

    __hash__ = float.__hash__


def replaced_time(result: SearchResult) -> SearchResult:
    """The result without the time that it took."""
    from dataclasses import replace

    return replace(result, time=AnyTime())


@pytest.mark.parametrize("spec", ["connect_four", "othello(score=true)"])
def test_a_limit_of_nodes_is_exact_inside_of_an_ending(spec: str) -> None:
    game = get_game(spec)
    state = random_position(game, 22 if spec == "connect_four" else 48, 3)
    whole = alpha_beta(game, state, deepen=True, practical=False)
    assert whole.exact
    for nodes in (whole.nodes // 2, whole.nodes - 1):
        cut = alpha_beta(game, state, Limit(nodes=nodes))
        assert cut.nodes == nodes
        assert cut.action in state.actions()
    more = alpha_beta(game, state, Limit(nodes=whole.nodes + 1), practical=False)
    assert more == replaced_time(whole)


def test_a_limit_of_time_is_kept_inside_of_an_ending() -> None:
    # A clock that goes on by a millisecond each time it is read.
    ticks = iter(range(0, 10**15, 10**6))
    game = get_game("othello")
    state = random_position(game, 46, 5)
    nodes = alpha_beta(game, state, endings=True, deepen=False).nodes
    assert nodes > 4000
    cut = alpha_beta(
        game,
        state,
        Limit(time=0.02, clock=lambda: next(ticks)),
        endings=True,
        deepen=False,
    )
    assert not cut.exact
    assert 1 < cut.nodes < nodes


def test_an_interrupt_gets_through() -> None:
    game = get_game("othello")
    state = random_position(game, 46, 5)
    readings = 0

    def clock() -> int:
        nonlocal readings
        readings += 1
        if readings > 12:
            raise KeyboardInterrupt
        return 0

    with pytest.raises(KeyboardInterrupt):
        alpha_beta(game, state, Limit(time=60.0, clock=clock))


class Fives:
    """Take one to five from a heap; who takes the last wins.  Written without any base class."""

    asked: ClassVar[list[int]] = []

    def __init__(self, left: int, to_move: int, winner: int = -1) -> None:
        self.left, self.to_move, self.winner = left, to_move, winner

    def actions(self) -> tuple[int, ...]:
        return tuple(range(1, min(5, self.left) + 1))

    def after(self, action: int) -> Fives:
        if action == self.left:
            return Fives(0, -2, self.to_move)
        return Fives(self.left - action, 1 - self.to_move)

    def chance_outcomes(self) -> tuple[tuple[Any, float], ...]:
        return ()

    def returns(self) -> tuple[float, ...]:
        return (1.0, -1.0) if self.winner == 0 else (-1.0, 1.0)

    def endings(self, meter: Meter) -> Endings:
        return Remainders(meter)


class Remainders(Endings):
    """The remainder modulo six determines the winner."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter

    def value(self, state: Any, depth: int, alpha: float, beta: float) -> float | None:
        Fives.asked.append(state.left)
        if state.left > 60:
            return None
        self.meter.visit()
        return 1.0 if state.left % 6 else -1.0


def test_a_game_in_plain_python_may_offer_it() -> None:
    game = get_game("coins")  # its rules are not used: the state brings its own
    Fives.asked.clear()
    result = alpha_beta(game, Fives(63, 0), deepen=True)
    assert (result.action, result.value, result.exact) == (3, 1.0, True)
    assert {60, 62} & set(Fives.asked)
    Fives.asked.clear()
    alpha_beta(game, Fives(12, 0))
    assert not Fives.asked


def test_a_state_may_have_nothing_to_offer() -> None:
    game = get_game("connect_four(columns=5,rows=4,connect=3)")
    result = alpha_beta(game, game.initial_state(), deepen=True)
    assert (result.value, result.exact) == (1.0, True)
    assert math.isfinite(result.value)
