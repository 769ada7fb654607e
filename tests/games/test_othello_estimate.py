"""Parts of the othello solver: stable discs, the estimate, and the table of known positions."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plyhouse.games import get_game
from plyhouse.games.bits import BIT, count_bits
from plyhouse.games.deterministic.othello.board import placeable
from plyhouse.games.deterministic.othello.evaluation import (
    SQUARE_WORTHS,
    phase_of,
    shared_evaluation,
)
from plyhouse.games.deterministic.othello.known_positions import KnownPositions
from plyhouse.games.deterministic.othello.stability import stable_discs
from plyhouse.search import Limit, alpha_beta

WORD = (1 << 64) - 1


def signed(cells: int) -> int:
    """The set as games keep it: bit 63 is the sign."""
    cells &= WORD
    return cells - (1 << 64) if cells >> 63 else cells


def played(plies: int, rng: random.Random) -> Any:
    """The position after so many random actions, or at the end of the game."""
    state: Any = get_game("othello").initial_state()
    while plies and state.to_move >= 0:
        state = state.after(rng.choice(state.actions()))
        plies -= 1
    return state


def images(cells: int) -> list[int]:
    """The set on the board as it is, mirrored, and turned over the diagonal."""
    squares = [divmod(n, 8) for n in range(64) if cells >> n & 1]
    return [
        signed(sum(1 << 8 * row + column for row, column in squares)),
        signed(sum(1 << 8 * row + 7 - column for row, column in squares)),
        signed(sum(1 << 8 * (7 - row) + column for row, column in squares)),
        signed(sum(1 << 8 * column + row for row, column in squares)),
    ]


@pytest.mark.parametrize("seed", range(10))
def test_stable_discs_are_never_turned_by_random_play(seed: int) -> None:
    rng = random.Random(seed)
    start = played(rng.randint(30, 55), rng)
    for own, other, seat in ((start.black, start.white, 0), (start.white, start.black, 1)):
        stable = stable_discs(own, other)
        assert stable & ~own == 0
        for _ in range(20):
            state = start
            while state.to_move >= 0:
                state = state.after(rng.choice(state.actions()))
                assert stable & ~(state.white if seat else state.black) == 0


def test_a_full_board_is_stable() -> None:
    own = signed(0x00FF_00FF_AA55_1234)
    assert stable_discs(own, signed(~own)) == own


def test_a_corner_makes_its_edge_stable() -> None:
    assert stable_discs(0b0000_0111, 0b1110_0000) == 0b0000_0111
    assert stable_discs(0b0000_0110, 0b1110_0000) == 0
    bottom = signed(0xC000_0000_0000_0000)
    assert stable_discs(bottom, 0) == bottom


@pytest.mark.parametrize("plies", [3, 9, 15, 21, 27, 33, 39, 46])
def test_the_estimate_is_the_same_for_mirror_images(plies: int) -> None:
    state = played(plies, random.Random(plies))
    evaluation = shared_evaluation()
    found = {
        evaluation.value(mine, theirs, 60 - plies)
        for mine, theirs in zip(images(state.black & WORD), images(state.white & WORD), strict=True)
    }
    assert len(found) == 1


def test_the_estimate_tells_who_wins_more_often_than_not() -> None:
    # From a seed on every second position; the score itself varies by about 20 discs.
    right = asked = 0
    for seed in range(60):
        state = played(50, random.Random(seed))
        if state.to_move < 0:
            continue
        seat = state.to_move
        mine, theirs = (state.white, state.black) if seat else (state.black, state.white)
        estimate = shared_evaluation().value(mine, theirs, 10)
        while state.to_move >= 0:
            children = [state.after(action) for action in state.actions()]
            values = [child.heuristic()[state.to_move] for child in children]
            state = children[values.index(max(values))]
        discs = (state.black & WORD).bit_count() - (state.white & WORD).bit_count()
        asked += 1
        right += (estimate > 0) == ((-discs if seat else discs) > 0)
    assert asked > 40
    assert right > 0.7 * asked


def test_known_positions_keep_the_larger_and_the_last_of_a_place() -> None:
    table = KnownPositions()
    table.make_room(0)
    assert table.find(1, 2) == 0
    table.keep(1, 2, 20, -4, 6, 63)
    table.keep(4, 8, 10, 2, 2, 5)
    table.keep(16, 32, 11, -64, 64, 64)
    assert table.find(1, 2) == 60 | 70 << 8 | 63 << 16 | 20 << 24
    assert table.find(4, 8) == 0
    assert table.find(16, 32) == 0 | 128 << 8 | 64 << 16 | 11 << 24
    table.keep(1, 2, 20, 0, 6, 62)
    assert table.find(1, 2) == 64 | 70 << 8 | 62 << 16 | 20 << 24
    table.keep(4, 8, 21, 2, 2, 5)
    assert table.find(1, 2) != 0
    assert table.find(16, 32) == 0


def test_known_positions_forget_when_they_grow() -> None:
    table = KnownPositions()
    table.make_room(2)
    table.keep(1, 2, 20, -4, 6, 63)
    table.make_room(1)
    assert table.find(1, 2) != 0
    table.make_room(3)
    assert table.find(1, 2) == 0


def test_phases_grow_with_the_empty_squares() -> None:
    phases = [phase_of(empties) for empties in range(61)]
    assert phases == sorted(phases)
    assert [phases.index(phase) for phase in range(8)] == [0, 15, 21, 27, 33, 39, 45, 51]


def squares_and_mobility(state: Any, seat: int) -> float:
    """Count the worth of the squares held, and six for each square where a seat could place."""
    if state.to_move < 0:
        return float(state.returns()[seat])
    mine, theirs = (state.black, state.white)[:: 1 if seat == 0 else -1]
    balance = 6 * int(count_bits(placeable(mine, theirs)) - count_bits(placeable(theirs, mine)))
    for bit, worth in zip(BIT, SQUARE_WORTHS, strict=True):
        balance += worth * (bool(mine & bit) - bool(theirs & bit))
    return 0.999 * balance / (64 * 6 + sum([abs(worth) for worth in SQUARE_WORTHS]))


def test_the_fitted_estimate_beats_the_hand_made_one_at_equal_depth() -> None:
    game = get_game("othello")
    points = 0.0
    for match in range(12):
        state = played(8, random.Random(match // 2))
        fitted = match % 2
        while state.to_move >= 0:
            evaluate = None if state.to_move == fitted else squares_and_mobility
            limit = Limit(depth=2)
            state = state.after(
                alpha_beta(game, state, limit, evaluate=evaluate, endings=False).action
            )
        points += state.returns()[fitted]
    assert points >= 6
