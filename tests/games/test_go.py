from __future__ import annotations

import pickle
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.harness.counting import divide
from tests.harness.go_boards import board_of, position

from plyhouse.games import (
    TERMINAL,
    IllegalAction,
    InvalidAction,
    InvalidObservation,
    InvalidParameter,
    get_game,
)
from plyhouse.games.counting import perft
from plyhouse.games.deterministic.go.board import (
    area_lead,
    empty_board,
    nearness,
    place_of,
    steps_of,
)
from plyhouse.games.deterministic.go.rules import Go, GoState
from plyhouse.games.errors import InvalidPosition
from plyhouse.games.native import COMPILED
from plyhouse.games.scene import Button, Grid

SMALL = get_game("go(komi=0.5,size=5)")


def play(moves: str, game: Any = SMALL, state: Any = None) -> Any:
    state = game.initial_state() if state is None else state
    for move in moves.split():
        state = state.after(game.parse(state, move))
    return state


def legal(state: Any, game: Any = SMALL) -> set[str]:
    return {game.format(state, action) for action in state.actions()}


def rows(state: Any, game: Any = SMALL) -> tuple[str, ...]:
    found: tuple[str, ...] = game.observe(state, None).fields()["board"]
    return found


def test_perft_on_nine_lines() -> None:
    # Two passes end the game; it then counts as one leaf.
    state = get_game("go").initial_state()
    for depth, count in [(1, 82), (2, 6_643), (3, 531_523)]:
        found = perft(state, depth, finished_as_leaf=True)
        assert found == count, divide(state, depth)


# A slow and simple referee to compare with


class Plain:
    def __init__(self, size: int) -> None:
        self.size = size
        self.board: dict[tuple[int, int], int] = {}
        self.seen = [dict(self.board)]

    def around(self, at: tuple[int, int]) -> list[tuple[int, int]]:
        steps = ((0, 1), (0, -1), (1, 0), (-1, 0))
        near = [(at[0] + right, at[1] + up) for right, up in steps]
        return [p for p in near if 0 <= p[0] < self.size and 0 <= p[1] < self.size]

    def region(
        self, board: dict[tuple[int, int], int], at: tuple[int, int]
    ) -> tuple[set[tuple[int, int]], set[int | None]]:
        inside, edge, waiting = {at}, set(), [at]
        while waiting:
            for to in self.around(waiting.pop()):
                if board.get(to) != board.get(at):
                    edge.add(board.get(to))
                elif to not in inside:
                    inside.add(to)
                    waiting.append(to)
        return inside, edge

    def result(self, at: tuple[int, int], colour: int) -> dict[tuple[int, int], int] | None:
        if at in self.board:
            return None
        board = {**self.board, at: colour}
        for to in self.around(at):
            if board.get(to) == 1 - colour:
                chain, edge = self.region(board, to)
                if None not in edge:
                    for stone in chain:
                        del board[stone]
        if None not in self.region(board, at)[1] or board in self.seen:
            return None
        return board

    def lead(self) -> int:
        lead = sum([1 - 2 * colour for colour in self.board.values()])
        for column in range(self.size):
            for row in range(self.size):
                if (column, row) not in self.board:
                    edge = self.region(self.board, (column, row))[1]
                    lead += 1 if edge == {0} else -1 if edge == {1} else 0
        return lead


@settings(max_examples=30 if COMPILED else 10, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([5, 7]))
def test_random_games_go_as_a_simple_referee_says(rng: random.Random, size: int) -> None:
    game = get_game(f"go(komi=0.0,size={size})")
    plain = Plain(size)
    state: Any = game.initial_state()
    while state.to_move != TERMINAL:
        actions = state.actions()
        results = {
            row * size + column: plain.result((column, row), state.to_move)
            for row in range(size)
            for column in range(size)
        }
        expected = [action for action, board in results.items() if board is not None]
        assert list(actions) == [*expected, size * size]
        # To pass seldom, so that superko has to decide much.
        action = rng.choice(actions) if rng.random() < 0.3 else rng.choice(expected or actions)
        board = results.get(action)
        if board is not None:
            plain.board = board
            plain.seen.append(board)
        state = state.after(action)
        assert area_lead(state.board, steps_of(size)) == plain.lead()
    lead = plain.lead()
    assert state.returns() == (float((lead > 0) - (lead < 0)), float((lead < 0) - (lead > 0)))


# Rules by name


def test_stones_without_liberties_are_taken() -> None:
    state = play("A1 A2 E5 B1")
    assert rows(state) == ("....x", ".....", ".....", "o....", ".o...")
    state = play("C3 B3 E5 D3 E1 C2 E3 C4")
    assert rows(state) == ("....x", "..o..", ".o.ox", "..o..", "....x")


def test_two_chains_are_taken_at_once() -> None:
    state = position("..... ..... xx.xx ooxoo oo.oo", 0, SMALL)
    assert rows(play("C1", state=state)) == (".....", ".....", "xx.xx", "..x..", "..x..")


def test_suicide_is_illegal_for_one_stone_and_for_chains() -> None:
    state = position("..... ..... ..... x.... .x...", 1, SMALL)
    assert "A1" not in legal(state)
    with pytest.raises(IllegalAction):
        SMALL.parse(state, "A1")
    state = position("..... ..... xx... oox.. o.x..", 1, SMALL)
    assert "B1" not in legal(state)
    assert "B1" in legal(position("..... ..... xx... oox.. o.x..", 0, SMALL))


def test_taking_is_not_suicide() -> None:
    state = position("..... ..... o.... xo... .xo..", 1, SMALL)
    assert rows(play("A1", state=state))[-1] == "o.o.."


def test_a_ko_cannot_be_taken_back_at_once() -> None:
    state = play("B3 C3 A2 D2 B1 C1 E5 B2 C2")
    assert rows(state)[3] == "x.xo."
    assert "B2" not in legal(state)
    state = play("A5 E4", state=state)  # a threat and its answer
    assert "B2" in legal(state)


SENDING_TWO = "A2 B2 A3 C2 B3 D2"


def test_superko_forbids_sending_two_and_returning_one() -> None:
    before = play(f"{SENDING_TWO} B1 D1")
    state = play("C1 A1", state=before)  # black sends two, white takes them
    assert rows(state)[4] == "o..o."
    # Black's capture would make the board as it was three plies ago: no simple ko.  White
    # would be to move then, not black as it was: superko is positional.
    assert "B1" not in legal(state)
    assert "B1" in legal(play("E5 pass", state=state))


def test_superko_forbids_repeating_without_a_capture() -> None:
    state = play(f"{SENDING_TWO} C1 D1 B1")
    state = play("A1 B1 pass", state=state)
    assert rows(state)[4] == ".x.o."
    assert "C1" not in legal(state)
    assert "C1" in legal(play("E5 pass", state=state))


def test_two_passes_end_the_game_and_one_does_not() -> None:
    assert play("C3 pass").to_move == 0
    assert play("C3 pass B2 pass").to_move == 0
    state = play("C3 pass pass")
    assert state.to_move == TERMINAL
    assert state.returns() == (1.0, -1.0)
    assert SMALL.scene(SMALL.observe(state, 0)).status == "Black wins by 24.5"


def test_the_empty_board_belongs_to_nobody() -> None:
    state = play("pass pass")
    assert state.lead() == -0.5
    assert get_game("go(komi=0.0,size=5)").initial_state().returns() == (0.0, 0.0)


def test_equal_scores_are_a_draw() -> None:
    game = get_game("go(komi=0.0,size=5)")
    walls = " ".join([f"B{row} D{row}" for row in range(1, 6)])
    state = play(f"{walls} pass pass", game)
    assert state.returns() == (0.0, 0.0)
    assert game.scene(game.observe(state, 1)).status == "Draw"
    assert play(f"{walls} pass pass").returns() == (-1.0, 1.0)


SEKI = "xxxoo xxxoo xxxoo xxxoo .x.o."


def test_in_a_seki_eyes_count_and_the_shared_liberty_does_not() -> None:
    state = position(SEKI, 0, SMALL)
    assert area_lead(state.board, steps_of(5)) == (13 + 1) - (9 + 1)
    # It is one: who fills the shared liberty is taken.
    assert "x" not in "".join(rows(play("C1 A1", state=state)))
    assert "o" not in "".join(rows(play("C1 E1", state=position(SEKI, 1, SMALL))))
    ended = play("pass pass", state=state)
    assert SMALL.scene(SMALL.observe(ended, 0)).status == "Black wins by 3.5"


def test_stones_left_in_the_enemys_area_are_not_taken_for_dead() -> None:
    assert area_lead(board_of("..... .x... ..... ...o. ....."), steps_of(5)) == 0
    assert area_lead(board_of("xxxxx x...x x.o.x x...x xxxxx"), steps_of(5)) == 15


def test_a_game_is_scored_as_it_stands_after_four_plies_for_each_point() -> None:
    game = get_game("go(size=5)")
    rng = random.Random(4)
    state: Any = game.initial_state()
    while state.to_move != TERMINAL:
        plays = state.actions()[:-1]  # to pass only where nothing else is left
        state = state.after(rng.choice(plays) if plays and state.plies < 99 else 25)
    assert state.plies <= 100
    limit = play("C3 D3 C4 D4")
    late = GoState(0, limit.rules, limit.board, None, -1, 99, 0, 4, False)
    ended = late.after(0)
    assert ended.to_move == TERMINAL
    assert ended.actions() == ()
    assert get_game("go(size=19)").info.max_plies == 4 * 19 * 19


# Notation, views, parameters


def test_columns_leave_out_i() -> None:
    game = get_game("go(size=19)")
    state = game.initial_state()
    assert game.format(state, 8) == "J1"
    assert game.format(state, 360) == "T19"
    assert game.parse(state, "t19") == 360
    assert game.parse(state, " q16 ") == 15 * 19 + 15
    assert len(state.actions()) == 362


@pytest.mark.parametrize("text", ["I5", "A0", "A20", "resign", "", "55"])
def test_what_is_no_point_is_invalid(text: str) -> None:
    with pytest.raises(InvalidAction, match="expected a point like D4, or pass"):
        SMALL.parse(SMALL.initial_state(), text)


def test_points_off_the_board_and_taken_ones_are_illegal() -> None:
    state = play("C3")
    for text in ("C3", "F1", "A6"):
        with pytest.raises(IllegalAction):
            SMALL.parse(state, text)


@pytest.mark.parametrize("spec", ["go(size=4)", "go(size=8)", "go(komi=1000.0)", "go(handicap=2)"])
def test_bad_parameters_are_refused(spec: str) -> None:
    with pytest.raises(InvalidParameter):
        get_game(spec)


def test_the_observation_holds_all_that_superko_needs() -> None:
    state = play(f"{SENDING_TWO} B1 D1 C1 A1")
    seen = SMALL.observe(state, 0)
    fields = seen.fields()
    assert (fields["last"], fields["plies"], fields["forbidden"]) == ("A1", 10, ("B1",))
    again: Any = SMALL.sample_state(seen, random.Random(0))
    for copy in (again, pickle.loads(pickle.dumps(state)), pickle.loads(pickle.dumps(again))):
        assert copy.actions() == state.actions()
        assert copy.key() == state.key()
    # A move forbidden by ko is legal again after the board has changed.
    assert "B1" in legal(play("E5 pass", state=again))


def test_a_play_that_takes_nothing_can_be_forbidden_in_a_sampled_state() -> None:
    state = play(f"{SENDING_TWO} C1 D1 B1 A1 B1 pass")
    seen = SMALL.observe(state, 0)
    assert seen.fields()["forbidden"] == ("C1",)
    again = SMALL.sample_state(seen, random.Random(0))
    assert again.actions() == state.actions()


def test_a_pass_is_remembered_by_a_sampled_state() -> None:
    state = play("C3 pass")
    again = SMALL.sample_state(SMALL.observe(state, 0), random.Random(0))
    assert play("pass", state=again).to_move == TERMINAL


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"forbidden": ("Z9",)}, "'Z9' is not a point"),
        ({"last": "e9"}, "'e9' is not a point"),
        ({"board": (".....",)}, "is not a board of 5 lines"),
        ({"board": (".....", "..?..", ".....", ".....", ".....")}, "is not a board"),
    ],
)
def test_an_observation_of_no_position_is_refused(changed: Any, reason: str) -> None:
    seen = SMALL.observe(SMALL.initial_state(), 0)
    bad = SMALL.decode_observation({**seen.fields(), **changed})
    with pytest.raises(InvalidObservation, match=reason):
        SMALL.sample_state(bad, random.Random(0))


def test_long_games_can_be_pickled_and_forgotten() -> None:
    game = get_game("go(size=19)")
    rng = random.Random(1)
    state: Any = game.initial_state()
    for _ in range(700):
        if state.to_move == TERMINAL:
            break
        empty = [i for i in range(361) if state.board[place_of(i, 19)] == 0]
        plays = state.actions()[:-1] if len(empty) < 60 else [rng.choice(empty)]
        legal_plays = set(state.actions()) if len(empty) < 60 else set(plays)
        choice = [a for a in plays if a in legal_plays]
        state = state.after(rng.choice(choice) if choice else 361)
    assert pickle.loads(pickle.dumps(state)).board == state.board


def test_points_on_the_board_and_a_button_are_offered() -> None:
    state = play("C3")
    scene = SMALL.scene(SMALL.observe(state, 1))
    grid = scene.elements[0]
    assert isinstance(grid, Grid)
    assert grid.rows[2][2].action is None
    assert grid.rows[2][2].highlight
    assert grid.rows[0][0].action == "A5"
    assert Button("pass", "pass") in scene.elements
    assert scene.status == "White to move"
    passed = play("pass", state=state)
    assert SMALL.scene(SMALL.observe(passed, 0)).status == "White passed, Black to move"


# Hooks of search


def test_the_key_tells_apart_what_superko_forbids() -> None:
    with_ko = play("B3 C3 A2 D2 B1 C1 E5 B2 C2")
    without = position(" ".join(rows(with_ko)), 1, SMALL)
    assert with_ko.board == without.board
    assert with_ko.key() != without.key()
    one, other = play("A1 B2 C3 D4"), play("C3 D4 A1 B2")
    assert one.key() == other.key()


def test_nearer_points_count_in_the_heuristic() -> None:
    assert nearness(board_of("..... ..... .x.o. ..... ....."), steps_of(5)) == 0
    assert nearness(board_of("..... ..... ..x.o ..... ....."), steps_of(5)) == 10
    first, second = play("C3").heuristic()
    assert first == -second
    assert 0 < first < 1


def test_captures_come_first_and_to_pass_last() -> None:
    state = play("B3 C3 A2 D2 B1 C1 E5 B2")
    ordered = state.order(state.actions())
    assert SMALL.format(state, ordered[0]) == "C2"
    assert SMALL.format(state, ordered[-1]) == "pass"
    assert [SMALL.format(state, action) for action in state.noisy_actions()] == ["C2"]


@pytest.mark.parametrize("size", [5, 9, 19])
def test_playouts_are_seeded_and_leave_the_state_alone(size: int) -> None:
    game = get_game(f"go(komi=0.0,size={size})")
    assert isinstance(game, Go)
    state = game.initial_state()
    found = [state.playout(random.Random(seed)) for seed in range(10)]
    assert found == [state.playout(random.Random(seed)) for seed in range(10)]
    assert len(set(found)) > 1
    assert state.board == empty_board(size)


def test_playouts_do_not_fill_eyes() -> None:
    # Black keeps two of its eyes, so that white can never take it.
    alive = position(".x.x. xxxxx xxxxx xxxxx xxxx.", 0, SMALL)
    for seed in range(20):
        assert alive.playout(random.Random(seed)) == (1.0, -1.0)


def test_match_may_begin_with_stones() -> None:
    game = Go(size=5, komi=0.5, position="w: b C3,d4 : w E5")
    state = game.initial_state()
    assert state.to_move == 1
    assert game.observe(state, None).board == ("....o", "...x.", "..x..", ".....", ".....")
    assert game.parse(state, "A1") in state.actions()
    assert "C3" not in game.legal_text(state, 1)
    again: Any = game.restarted(state, 1)
    assert again.spec == 'go(komi=0.5,position="W:BC3,D4:WE5",size=5)'
    assert again.initial_state().board == state.board


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("BC3", "write who is to move"),
        ("W:WC3:BC4", "write who is to move"),
        ("W:BC3,C3:W", "two stones stand on C3"),
        ("W:BZ9:W", "'Z9' is not a point of this board"),
        ("W:Bpass:W", "'PASS' is not a point"),
        ("W:BA1:WA2,B1", "the stone on A1 has no liberty"),
    ],
)
def test_position_that_cannot_be_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidPosition, match=reason):
        Go(size=5, position=text)


def test_restarted_position_forgets_passes_and_earlier_boards() -> None:
    state = play("B3 C3 A2 D2 B1 C1 C2 B2")
    seen: Any = SMALL.observe(state, None)
    assert seen.forbidden
    fresh: Any = SMALL.restarted(state, 0)
    assert fresh.observe(fresh.initial_state(), None).forbidden == ()
    assert fresh.initial_state().plies == 0
