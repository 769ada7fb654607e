"""The network of chess: lanes hold what each unit sums, whoever moves and wherever the king is."""

from __future__ import annotations

import random
import struct
from importlib.resources import files
from typing import Any

import pytest

from plyhouse.games import get_game
from plyhouse.games.deterministic.chess.board import BLACK, KING, SIDE_AT
from plyhouse.games.deterministic.chess.network import (
    HIDDEN,
    INPUTS,
    MOST,
    SCALE,
    STAGES,
    UNIT,
    correction,
    network_table,
    read_network,
    sums_of,
)

DATA = files("plyhouse.games.deterministic.chess").joinpath("network.bin").read_bytes()
NUMBERS = read_network(DATA)


def positions(seed: int) -> list[bytes]:
    """The positions of a match at random."""
    rng = random.Random(seed)
    state: Any = get_game("chess").initial_state()
    found: list[bytes] = []
    while state.to_move >= 0 and len(found) < 150:
        found.append(state.position)
        state = state.after(rng.choice(state.actions()))
    return found


def plain_correction(position: bytes, stage: int) -> int:
    """The correction, a unit at a time."""
    pieces = [
        (8 * rank + file, code)
        for rank in range(8)
        for file in range(8)
        if (code := position[21 + file + 10 * rank])
    ]
    thresholds = NUMBERS[INPUTS * HIDDEN :][:HIDDEN]
    last = NUMBERS[(INPUTS + 1) * HIDDEN + (2 * HIDDEN + 1) * stage :]
    total = last[2 * HIDDEN] * UNIT * UNIT
    for place, side in enumerate((position[SIDE_AT], 1 - position[SIDE_AT])):
        turned = 56 * side
        (king,) = [square for square, code in pieces if code == KING + BLACK * side]
        if king % 8 >= 4:
            turned ^= 7
        inputs = [
            64 * ((code & 7) - 1 + 6 * (code // BLACK != side)) + (square ^ turned)
            for square, code in pieces
        ]
        for unit in range(HIDDEN):
            summed = thresholds[unit] + sum(NUMBERS[HIDDEN * each + unit] for each in inputs)
            total += last[HIDDEN * place + unit] * min(max(summed, 0), UNIT) ** 2
    return max(min(total // SCALE, MOST), -MOST)


def fast_correction(position: bytes, stage: int) -> int:
    """The correction by sums in lanes."""
    return correction(sums_of(position), position[SIDE_AT], stage)


def test_lanes_hold_what_each_unit_sums() -> None:
    corrections = [
        (fast_correction(position, stage), plain_correction(position, stage))
        for seed in range(6)
        for position in positions(seed)
        for stage in range(STAGES)
    ]
    assert all(fast == plain for fast, plain in corrections)
    assert len({fast for fast, _ in corrections}) > 100


def test_board_and_its_mirror_image_have_the_same_correction() -> None:
    for fen in ("4k3/2p5/8/8/8/5N2/8/1K6 w - - 0 1", "8/1k6/3q4/8/8/2P5/5K2/7R b - - 0 1"):
        board, rest = fen.split(" ", 1)
        mirrored = "/".join(row[::-1] for row in board.split("/"))
        states: list[Any] = [
            get_game(f'chess(fen="{each} {rest}")').initial_state() for each in (board, mirrored)
        ]
        one, other = [fast_correction(each.position, 0) for each in states]
        assert one == other


STARTS = {
    "standard": "chess",
    "castling and capturing en passant": (
        'chess(fen="r3k2r/p2pqpb1/bn2pnp1/2pPN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq c6 0 1")'
    ),
    "promotions": 'chess(fen="n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1")',
    "kings": 'chess(fen="8/2k5/3p4/3P4/4p3/4P3/3K4/8 w - - 0 1")',
}


@pytest.mark.parametrize("spec", STARTS.values(), ids=STARTS)
def test_sums_kept_from_ply_to_ply_are_those_of_the_position(spec: str) -> None:
    rng = random.Random(1)
    kept = 0
    for _ in range(40):
        state: Any = get_game(spec).initial_state()
        for _ in range(40):
            if state.to_move < 0:
                break
            if rng.random() < 0.5:
                state.heuristic()
            for child in (state.after(rng.choice(state.actions())), state.passed()):
                if child is not None:
                    kept += child.known_sums is not None
                    assert child.sums() == sums_of(child.position)
            state = state.after(rng.choice(state.actions()))
    assert kept > 500


def test_network_of_a_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="is 3 bytes, not"):
        read_network(b"abc")


def test_network_whose_sums_could_leave_their_lanes_is_refused() -> None:
    with pytest.raises(ValueError, match="has a weight of 1024, too large"):
        read_network(struct.pack("<h", -1024) + DATA[2:])


def test_table_has_the_same_weights_where_both_boards_are_mirrored() -> None:
    table = network_table(NUMBERS)
    views = [sorted(filter(None, table[2048 * each : 2048 * (each + 1)])) for each in range(4)]
    assert len(views[0]) > 700
    assert views[0] == views[3]
    assert views[1] == views[2]
    assert views[0] != views[1]
