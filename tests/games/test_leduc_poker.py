from __future__ import annotations

import pytest
from tests.harness.positions import position_after

from plyhouse.games import TERMINAL, IllegalAction, InvalidAction, State, get_game
from plyhouse.search import TabularPolicy, cfr_plus, exploitability

GAME = get_game("leduc_poker")


def play(text: str) -> State:
    """Play words: "Js Kh check raise call Qs ..."."""
    return position_after(GAME, text)


def legal(state: State) -> str:
    return " ".join(GAME.format(state, action) for action in state.actions())


def test_published_counts_and_value() -> None:
    solution = cfr_plus(GAME, iterations=1000)
    assert solution.information_states == 936
    assert solution.form.nodes == 9457, "nodes of the tree"
    uniform = exploitability(GAME, TabularPolicy(GAME, {}))
    assert uniform == pytest.approx(4.747222222222222 / 2), "of uniform play"
    gap = solution.exploitability()
    assert gap < 0.0015
    assert solution.value(0) == pytest.approx(-0.0856, abs=gap)
    assert round(solution.value(0), 4) == pytest.approx(-0.0856, abs=0.00015)


@pytest.mark.parametrize(
    ("moves", "returns"),
    [
        ("Js Kh check check Qs check check", (-1.0, 1.0)),
        ("Js Kh check check Jh check check", (1.0, -1.0)),
        ("Ks Kh raise call Qs check check", (0.0, 0.0)),
        ("Js Kh raise fold", (1.0, -1.0)),
        ("Js Kh raise raise fold", (-3.0, 3.0)),
        ("Js Kh raise raise call Qs raise raise call", (-13.0, 13.0)),
        ("Qs Qh check raise call Js check raise raise fold", (7.0, -7.0)),
    ],
)
def test_who_wins_what(moves: str, returns: tuple[float, ...]) -> None:
    state = play(moves)
    assert state.to_move == TERMINAL
    assert state.returns() == returns


def test_two_raises_in_a_round_and_no_more() -> None:
    assert legal(play("Js Kh")) == "check raise"
    assert legal(play("Js Kh raise")) == "fold call raise"
    assert legal(play("Js Kh raise raise")) == "fold call"
    assert legal(play("Js Kh raise raise call Qs")) == "check raise"


def test_raises_cost_two_and_then_four() -> None:
    seen = GAME.observe(play("Js Kh raise raise call Qs check raise"), None).fields()
    assert seen["paid"] == (5, 9)


def test_seat_0_begins_both_rounds() -> None:
    assert play("Js Kh").to_move == 0
    assert play("Js Kh check raise call Qs").to_move == 0


def test_a_dealt_card_is_not_dealt_again() -> None:
    state = play("Js Kh check check")
    names = [GAME.format_chance(state, card) for card, _ in state.chance_outcomes()]
    assert names == ["Jh", "Qs", "Qh", "Ks"]
    with pytest.raises(IllegalAction):
        GAME.parse_chance(state, "Js")


def test_each_seat_sees_its_card_and_all_see_the_table() -> None:
    start = GAME.initial_state()
    assert [GAME.visible(start, 0, viewer) for viewer in (0, 1, None)] == ["Js", None, None]
    dealt = start.after(0)
    assert [GAME.visible(dealt, 5, viewer) for viewer in (0, 1, None)] == [None, "Kh", None]
    turned = play("Js Kh check check")
    assert [GAME.visible(turned, 2, viewer) for viewer in (0, 1, None)] == ["Qs"] * 3


def test_cards_are_shown_after_a_showdown_only() -> None:
    folded = GAME.observe(play("Js Kh raise fold"), 1).fields()
    assert folded["shown"] == (None, None)
    shown = GAME.observe(play("Js Kh check check Qs check check"), None).fields()
    assert shown["shown"] == ("Js", "Kh")


def test_a_check_is_not_a_call() -> None:
    with pytest.raises(IllegalAction):
        GAME.parse(play("Js Kh"), "call")
    with pytest.raises(InvalidAction):
        GAME.parse(play("Js Kh"), "bet")
