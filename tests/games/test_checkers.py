from __future__ import annotations

import random
from typing import Any

import pytest
from tests.harness.counting import divide

from plyhouse.games import (
    TERMINAL,
    AmbiguousAction,
    IllegalAction,
    InvalidAction,
    InvalidObservation,
    InvalidParameter,
    InvalidPosition,
    get_game,
)
from plyhouse.games.counting import perft
from plyhouse.games.deterministic.checkers.rules import Checkers
from plyhouse.games.native import COMPILED

GAME = get_game("checkers")


def at(position: str, **parameters: Any) -> tuple[Checkers, Any]:
    game = Checkers(position=position, **parameters)
    return game, game.initial_state()


def play(position: str, moves: str, **parameters: Any) -> Any:
    game, state = at(position, **parameters)
    for move in moves.split():
        state = state.after(game.parse(state, move))
    return state


def texts(position: str) -> set[str]:
    game, state = at(position)
    return set(game.legal_text(state, state.to_move))


@pytest.mark.parametrize(
    ("depth", "count"), [(1, 7), (2, 49), (3, 302), (4, 1469), (5, 7361), (6, 36768), (7, 179740)]
)
def test_perft(depth: int, count: int) -> None:
    state = GAME.initial_state()
    assert perft(state, depth) == count, divide(state, depth)


@pytest.mark.skipif(not COMPILED, reason="deep counts want the compiled games")
@pytest.mark.parametrize(("depth", "count"), [(8, 845_931), (9, 3_963_680)])
def test_deep_perft(depth: int, count: int) -> None:
    assert perft(GAME.initial_state(), depth) == count


def test_black_begins_towards_higher_squares() -> None:
    assert GAME.seat_name(0) == "Black"
    assert texts("") == {"9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16"}


def test_the_start_can_be_written_as_a_position() -> None:
    written = "B:W21-32:B1-12"
    assert GAME.describe(GAME.initial_state()).startswith("B:W21,22,23,24,25,26,27,28,29,30,31,32:")
    assert at(written)[1].key() == GAME.initial_state().key()  # type: ignore[attr-defined]


def test_captures_are_forced() -> None:
    assert texts("B:B1,11:W15,32") == {"11x18"}


def test_a_series_goes_on_as_long_as_it_can() -> None:
    game, state = at("B:B1:W6,15,24,32")
    assert game.legal_text(state, 0) == ("1x28",)
    reached = state.after(game.parse(state, "1x28"))
    assert game.describe(reached).startswith("W:W32:B28")


def test_any_of_several_series_may_be_chosen() -> None:
    assert texts("B:B2,12:W6,16,23") == {"2x9", "12x26"}


def test_longest_chain_takes_nine_pieces() -> None:
    game, state = at("B:BK1:W6,7,8,14,15,16,22,23,24")
    paths = {text.count("x"): text for text in game.legal_text(state, 0)}
    assert max(paths) == 9
    reached = state.after(game.parse(state, paths[9]))
    assert reached.to_move == TERMINAL
    assert reached.returns() == (1.0, -1.0)


def test_men_step_and_jump_ahead_only_and_kings_back_too() -> None:
    assert texts("B:B18:W14") == {"18-22", "18-23"}
    assert texts("B:BK18:W14") == {"18x9"}
    assert texts("W:W18:B12") == {"18-14", "18-15"}
    assert texts("W:WK18:BK30") == {"18-14", "18-15", "18-22", "18-23"}


def test_promotion_ends_the_move() -> None:
    game, state = at("B:B22:W26,27")
    assert game.legal_text(state, 0) == ("22x31",)
    reached = state.after(game.parse(state, "22x31"))
    assert game.describe(reached).startswith("W:W27:BK31")


def test_a_step_promotes_too() -> None:
    game, state = at("W:W5:B12")
    reached = state.after(game.parse(state, "5-1"))
    assert game.describe(reached).startswith("B:WK1:B12")


def test_ambiguous_jumps_need_the_middle_squares() -> None:
    game, state = at("B:B2:W6,7,14,15")
    assert set(game.legal_text(state, 0)) == {"2x9x18", "2x11x18"}
    with pytest.raises(AmbiguousAction) as caught:
        game.parse(state, "2x18")
    assert set(caught.value.candidates) == {"2x9x18", "2x11x18"}
    one = state.after(game.parse(state, "2x9x18"))
    other = state.after(game.parse(state, "2x11x18"))
    assert game.describe(one).startswith("W:W7,15:B18")
    assert game.describe(other).startswith("W:W6,14:B18")


@pytest.mark.parametrize("text", ["15x8", " 15X8 ", "15x08"])
def test_a_path_written_in_full_is_meant_though_others_share_its_ends(text: str) -> None:
    game, state = at("W:WK15:B9,10,11,17,18")
    series = {"15x22x13x6x15x8", "15x8", "15x6x13x22x15x8"}
    assert set(game.legal_text(state, 1)) == series
    assert game.format(state, game.parse(state, text)) == "15x8"
    for written in series:
        assert game.format(state, game.parse(state, written)) == written


def test_middle_squares_may_be_written_where_they_are_not_needed() -> None:
    game, state = at("B:B1:W6,15,24,32")
    assert game.parse(state, "1x10x19x28") == game.parse(state, " 1X28 ")


def test_a_king_may_end_where_it_began_and_take_nothing_twice() -> None:
    game, state = at("B:BK10:W7,8,15,16")
    assert set(game.legal_text(state, 0)) == {"10x3x12x19x10", "10x19x12x3x10"}
    reached = state.after(game.parse(state, "10x3x12x19x10"))
    assert reached.to_move == TERMINAL
    assert game.describe(reached) == "W:W:BK10 (Black wins)"


def test_who_is_blocked_has_lost() -> None:
    state = play("B:B5,6:W13", "5-9")
    assert state.to_move == TERMINAL
    assert state.returns() == (1.0, -1.0)


def test_who_has_no_pieces_has_lost() -> None:
    state = play("W:W18:B14", "18x9")
    assert state.to_move == TERMINAL
    assert state.returns() == (-1.0, 1.0)


def test_quiet_moves_of_both_seats_draw() -> None:
    assert play("B:BK1:WK32", "1-6", quiet_moves=1).to_move == 1
    state = play("B:BK1:WK32", "1-6 32-27", quiet_moves=1)
    assert state.to_move == TERMINAL
    assert state.returns() == (0.0, 0.0)


def test_a_step_of_a_man_starts_the_count_anew() -> None:
    state = play("B:BK1,12:WK32", "1-6 32-27 12-16", quiet_moves=2)
    assert state.past == ()
    assert play("B:BK1,12:WK32", "1-6 32-27 12-16 27-32 6-1 32-27", quiet_moves=2).to_move == 0


def test_a_win_on_the_last_quiet_move_counts() -> None:
    game, state = at("B:BK10,9:W13", quiet_moves=1)
    assert "10-6" in game.legal_text(state, 0)
    state = state.after(game.parse(state, "10-6"))
    assert state.to_move == TERMINAL
    assert state.returns() == (1.0, -1.0)


def test_third_repetition_draws() -> None:
    there_and_back = "1-6 32-27 6-1 27-32 "
    twice = play("B:BK1:WK32", there_and_back)
    assert twice.to_move == 0
    thrice = play("B:BK1:WK32", there_and_back * 2)
    assert thrice.to_move == TERMINAL
    assert thrice.returns() == (0.0, 0.0)
    assert thrice.key() != twice.key()


def test_the_key_tells_how_often_a_position_has_stood() -> None:
    state = play("B:BK18:WK32", "18-14 32-27 14-18 27-32 18-15 32-27 15-18")
    assert state.to_move == 1
    assert state.key()[-1] == 2, "White to move, White on 27 and Black on 18: twice so far"


def test_counted_plies_are_observed_and_sampled() -> None:
    game, state = at("B:BK1:WK32")
    for move in ("1-6", "32-27", "6-1"):
        state = state.after(game.parse(state, move))
    seen = game.observe(state, 1)
    assert (seen.quiet, seen.quiet_limit, seen.occurrences) == (3, 80, 1)
    assert game.sample_state(seen, random.Random(0)).key() == state.key()


def test_a_sampled_state_sees_the_present_position_stand_for_the_third_time() -> None:
    there_and_back = "1-6 32-27 6-1 27-32 "
    game, state = at("B:BK1:WK32")
    for move in there_and_back.split():
        state = state.after(game.parse(state, move))
    seen = game.observe(state, 0)
    assert seen.occurrences == 2
    again = game.sample_state(seen, random.Random(0))
    assert again.key() == state.key()
    for move in there_and_back.split():
        again = again.after(game.parse(again, move))
    assert (again.to_move, again.winner) == (TERMINAL, -1)
    assert game.observe(again, 0).occurrences == 3


@pytest.mark.parametrize(
    "changed", [{"occurrences": 0}, {"occurrences": 2}, {"quiet": -1}, {"quiet": 10**9}]
)
def test_an_observation_that_cannot_be_is_refused(changed: dict[str, int]) -> None:
    seen = GAME.observe(GAME.initial_state(), 0)
    bad = GAME.decode_observation({**seen.fields(), **changed})
    with pytest.raises(InvalidObservation):
        GAME.sample_state(bad, random.Random(0))


def test_players_may_agree_on_a_draw() -> None:
    assert GAME.info.draw_offers


def test_order_puts_long_chains_first_and_noise_is_jumps() -> None:
    state = at("B:B2,12:W6,16,23")[1]
    ordered = state.order(state.actions())
    assert [Checkers().format(state, a).split("x")[0] for a in ordered] == ["12", "2"]
    assert set(state.noisy_actions()) == set(state.actions())
    assert GAME.initial_state().noisy_actions() == ()  # type: ignore[attr-defined]


def test_heuristic_counts_men_and_kings() -> None:
    assert at("B:BK18:W30,31")[1].heuristic()[0] < 0 < at("B:BK18:W30")[1].heuristic()[0]
    full = at("B:BK5-16:WK32")[1].heuristic()[0]
    assert 0.8 < full < 1.0


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        ("nonsense", "write who is to move"),
        ("B:W1:W2", "write who is to move"),
        ("X:W21:B1", "'X' is to move; write B or W"),
        ("B:W33:B1", "33 is not within squares 1 to 32"),
        ("B:W0:B1", "0 is not within squares"),
        ("B:Wz:B1", "'Z' is not a square"),
        ("B:W18:B18", "two pieces stand on 18"),
        ("B:W4:B18", "a man of White stands on 4, where it would be a king"),
        ("B:W18:B32", "a man of Black stands on 32"),
        ("B:W18:B", "Black has 0 pieces, not 1 to 12"),
        ("B:W18-30:B1", "White has 13 pieces, not 1 to 12"),
        ("W:W13:B6,9", "White is to move but cannot"),
    ],
)
def test_impossible_positions_are_refused(position: str, reason: str) -> None:
    with pytest.raises(InvalidPosition, match=reason) as caught:
        Checkers(position=position)
    assert caught.value.code == "position/invalid"


@pytest.mark.parametrize("text", ["", "11", "11-15-18", "a1-b2", "11x", "111-115"])
def test_what_is_not_pdn_is_invalid(text: str) -> None:
    with pytest.raises(InvalidAction, match="squares from 1 to 32"):
        GAME.parse(GAME.initial_state(), text)


@pytest.mark.parametrize("text", ["11x15", "1-5", "99-1", "22-18", "11-20"])
def test_what_the_rules_forbid_is_illegal(text: str) -> None:
    with pytest.raises(IllegalAction, match="legal here: 9-13"):
        GAME.parse(GAME.initial_state(), text)


def test_parameters_have_ranges() -> None:
    with pytest.raises(InvalidParameter, match="from 1 to 50"):
        get_game("checkers(quiet_moves=51)")


def test_a_position_is_part_of_the_spec() -> None:
    game = get_game('checkers(position="B:BK1:WK32")')
    assert game.spec == 'checkers(position="B:BK1:WK32")'
    assert get_game(game.spec) == game


def test_squares_are_named_in_the_scene() -> None:
    observation = GAME.observe(GAME.initial_state(), 0)
    grid: Any = GAME.scene(observation).elements[0]
    numbers = [cell.label.split(",")[0] for cell in grid.rows[0]]
    assert numbers == ["", "1", "", "2", "", "3", "", "4"]
    assert grid.rows[7][0].label == "29, white man"
