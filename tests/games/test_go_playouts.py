"""Playouts and priors of go: laws of play, and what priors say of known shapes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.harness.go_boards import board_of, position

from plyhouse.games import get_game
from plyhouse.games.deterministic.go.board import place_of, steps_of
from plyhouse.games.deterministic.go.patterns import shapes
from plyhouse.games.deterministic.go.playouts import Playout
from plyhouse.games.deterministic.go.priors import escapes
from plyhouse.games.deterministic.go.scratch import Scratch

NINE = get_game("go")
Points = dict[tuple[int, int], int]


def random_state(size: int, plies: int, seed: int) -> Any:
    state: Any = get_game(f"go(size={size})").initial_state()
    rng = random.Random(seed)
    for _ in range(plies):
        following = state.after(rng.choice(state.actions()))
        if following.to_move < 0:
            break
        state = following
    return state


def stones_of(board: bytes, size: int) -> Points:
    """The colour of each point, by column and row; 0 for empty points."""
    return {
        (action % size, action // size): board[place_of(action, size)]
        for action in range(size * size)
    }


def around(point: tuple[int, int]) -> list[tuple[int, int]]:
    x, y = point
    return [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]


def chain_of(points: Points, start: tuple[int, int]) -> tuple[set[Any], set[Any]]:
    """The points of a chain or region, and the other points that touch it."""
    chain, edge, waiting = {start}, set(), [start]
    while waiting:
        for near in around(waiting.pop()):
            if near not in points or near in chain:
                continue
            if points[near] == points[start]:
                chain.add(near)
                waiting.append(near)
            else:
                edge.add(near)
    return chain, edge


def liberties(points: Points, start: tuple[int, int]) -> set[Any]:
    return {near for near in chain_of(points, start)[1] if points[near] == 0}


def put(points: Points, at: tuple[int, int], colour: int) -> set[Any]:
    """Put a stone by the rules; return the stones taken."""
    points[at] = colour
    taken: set[Any] = set()
    for near in around(at):
        if points.get(near) == 3 - colour and not liberties(points, near):
            taken |= chain_of(points, near)[0]
    for near in taken:
        points[near] = 0
    return taken


def is_eye(points: Points, at: tuple[int, int], colour: int) -> bool:
    if any(points.get(near, colour) != colour for near in around(at)):
        return False
    x, y = at
    corners = [points.get((x + dx, y + dy)) for dx in (1, -1) for dy in (1, -1)]
    return corners.count(3 - colour) + (None in corners) < 2


def area(points: Points) -> int:
    lead = 0
    for point, colour in points.items():
        reached = {colour} if colour else {points[edge] for edge in chain_of(points, point)[1]}
        lead += (reached == {1}) - (reached == {2})
    return lead


def point_of(place: int, size: int) -> tuple[int, int]:
    action = next(action for action in range(size * size) if place_of(action, size) == place)
    return action % size, action // size


@given(
    size=st.sampled_from([5, 7, 9]),
    plies=st.integers(0, 60),
    seed=st.integers(0, 1000),
)
@settings(max_examples=40, deadline=None)
def test_playout_obeys_rules_and_notes_first_players(size: int, plies: int, seed: int) -> None:
    state = random_state(size, plies, seed)
    points = stones_of(state.board, size)
    scratch = Scratch(state.board, steps_of(size))
    number = random.Random(seed)
    playout = Playout(scratch, int(number.random() * 2**32))
    last = 0 if state.last in (-1, size * size) else place_of(state.last, size)
    colour, passes, banned = state.to_move + 1, state.passes, None
    first = [0] * (size * size + 1)
    for _ in range(4 * size * size - state.plies):
        place = playout.put_stone(colour, last)
        if place:
            at = point_of(place, size)
            assert points[at] == 0
            assert at != banned
            assert not is_eye(points, at, colour)
            taken = put(points, at, colour)
            assert liberties(points, at)
            lone = len(taken) == 1 and len(chain_of(points, at)[0]) == 1
            banned = taken.pop() if lone and len(liberties(points, at)) == 1 else None
            action = at[1] * size + at[0]
            first[action] = first[action] or colour
            passes = 0
        else:
            scratch.ko, banned = 0, None
            passes += 1
            if passes == 2:
                break
        assert stones_of(bytes(scratch.colours), size) == points
        last, colour = place, 3 - colour
    assert scratch.lead() == area(points)
    if state.earlier is None or state.earlier.stones != state.stones:  # no ko at the start
        noted = [0] * (size * size + 1)
        result = state.noted_playout(random.Random(seed), noted)
        assert noted == first
        assert result[0] == (1.0 if area(points) > 7.5 else -1.0)


@pytest.mark.parametrize("size", [5, 9, 19])
def test_noted_playout_returns_the_same_as_playout(size: int) -> None:
    state = random_state(size, 10, 1)
    for seed in range(10):
        noted = [0] * state.action_count()
        assert state.noted_playout(random.Random(seed), noted) == state.playout(random.Random(seed))
        assert {1, 2} <= set(noted)


def test_playout_does_not_retake_a_ko_at_once() -> None:
    game = get_game("go(size=5)")
    state: Any = game.initial_state()
    for move in ("B3", "C3", "A2", "D2", "B1", "C1", "C2", "B2"):  # white takes C2
        state = state.after(game.parse(state, move))
    retake = game.parse(state.after(25), "pass")
    assert retake == 25
    scratch = state._scratch()
    assert scratch.ko == place_of(7, 5)
    assert all(
        Playout(state._scratch(), seed).put_stone(1, place_of(6, 5)) != place_of(7, 5)
        for seed in range(50)
    )


# Shapes


def code(rows: str) -> int:
    """The code of nine points, rows from the top; "#" is beyond the board."""
    near = [".xo#".index(mark) for mark in rows if mark != " "]
    order = [5, 3, 1, 7, 2, 0, 8, 6]  # of the steps: right, left, up, down, diagonals
    return sum(near[place] << (2 * turn) for turn, place in enumerate(order))


@pytest.mark.parametrize(
    ("rows", "is_shape"),
    [
        ("xox ... ...", True),  # hane
        ("oxo ... ...", True),
        ("x.. o.. x..", True),
        ("xo. o.. ...", True),  # cut
        ("xo. o.o ...", False),  # protected
        ("... ... ...", False),
        ("xxx xxx xxx", False),
    ],
)
def test_shapes_are_known_in_every_orientation(rows: str, is_shape: bool) -> None:
    table = shapes()
    grid = [list(row) for row in rows.split()]
    for _ in range(2):
        for _ in range(4):
            grid = [list(row) for row in zip(*grid[::-1], strict=True)]
            assert table[code(" ".join("".join(row) for row in grid))] == is_shape, grid
        grid = [row[::-1] for row in grid]


def test_a_code_has_two_bits_for_each_neighbour_in_the_order_of_steps() -> None:
    scratch = Scratch(board_of("..... .xo.. .x.o. ..o.. ....."), steps_of(5))
    assert scratch.code_at(place_of(12, 5)) == code("xo. x.o .o.")
    assert scratch.code_at(place_of(0, 5)) == code("#.. #.. ###")


# Ladders


@pytest.mark.parametrize(
    ("breaker", "runs"), [(None, False), ("G6", True), ("H7", True), ("A9", False)]
)
def test_ladder_works_unless_a_stone_breaks_it(breaker: str | None, runs: bool) -> None:
    # White's stone D3 has one liberty; a white stone on its way up to the right saves it.
    rows = [list("." * 9) for _ in range(5)]
    rows += [list("...x....."), list("..xo....."), list("..xxx...."), list("." * 9)]
    if breaker:
        column = "ABCDEFGHJ".index(breaker[0])
        rows[9 - int(breaker[1])][column] = "o"
    drawing = " ".join("".join(row) for row in rows)
    scratch = Scratch(board_of(drawing), steps_of(9))
    start = place_of(2 * 9 + 3, 9)
    assert scratch.only_liberty(start) == place_of(2 * 9 + 4, 9)
    assert escapes(scratch, start, 0) is runs
    assert stones_of(bytes(scratch.colours), 9) == stones_of(board_of(drawing), 9)


# Priors


def means(state: Any, game: Any = NINE) -> dict[str, float]:
    actions = state.actions()
    visits, found = state.priors(actions)
    assert min(visits) > 0
    assert all(-1.0 <= mean <= 1.0 for mean in found)
    return {game.format(state, action): mean for action, mean in zip(actions, found, strict=True)}


ATARI = "......... ......... ......... ......... ...x..... ..xo..... ...x..... ......... ........."


@pytest.mark.parametrize("to_move", [0, 1])
def test_priors_favour_taking_and_running(to_move: int) -> None:
    known = means(position(ATARI, to_move, NINE))
    # Black takes at E4, and white runs there unless a ladder catches it.
    assert known["E4"] == max(known.values())


def test_priors_are_against_eyes_self_atari_and_the_empty_edge() -> None:
    drawing = (
        ".x....... xx....... ......... ......... ......... ......... ......... .......oo .......x."
    )
    known = means(position(drawing, 0, NINE))
    assert known["A9"] < 0  # the eye
    assert known["J1"] < 0  # a stone there would have no second liberty
    assert known["A4"] < 0 < known["C4"]  # the first and the third line
    assert known["pass"] < 0


def test_priors_favour_the_neighbourhood_of_the_last_stone() -> None:
    state: Any = NINE.initial_state()
    known = means(state.after(NINE.parse(state, "E5")))
    assert known["E6"] > known["C7"] > known["A1"]


@pytest.mark.parametrize(("drawing", "mean"), [("x", 1.0), ("o", -1.0)])
def test_prior_of_the_pass_that_ends_the_match_is_its_result(drawing: str, mean: float) -> None:
    rows = ["........."] * 8 + [f"{drawing}........"]
    state = position(" ".join(rows), 1, NINE).after(81)
    assert means(state)["pass"] == mean
