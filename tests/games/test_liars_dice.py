from __future__ import annotations

import pytest
from tests.harness.positions import position_after

from plyhouse.games import TERMINAL, IllegalAction, InvalidAction, State, get_game
from plyhouse.games.scene import Button, Grid


def play(spec: str, text: str) -> State:
    return position_after(get_game(spec), text)


@pytest.mark.parametrize(
    ("spec", "moves", "returns"),
    [
        ("liars_dice", "5 5 2x5 liar", (1.0, -1.0)),
        ("liars_dice", "5 4 2x5 liar", (-1.0, 1.0)),
        ("liars_dice", "5 4 1x4 2x2 liar", (1.0, -1.0)),
        ("liars_dice(wild=highest)", "5 6 2x5 liar", (1.0, -1.0)),
        ("liars_dice(wild=lowest)", "5 1 2x5 liar", (1.0, -1.0)),
        ("liars_dice(wild=lowest)", "5 6 2x5 liar", (-1.0, 1.0)),
        ("liars_dice(seats=3)", "1 2 3 1x1 1x2 1x5 liar", (0.5, 0.5, -1.0)),
        ("liars_dice(seats=3)", "1 2 3 1x1 1x2 1x3 liar", (-1.0, 0.5, 0.5)),
        ("liars_dice(dice=2)", "3 3 3 1 3x3 liar", (1.0, -1.0)),
    ],
)
def test_who_loses(spec: str, moves: str, returns: tuple[float, ...]) -> None:
    state = play(spec, moves)
    assert state.to_move == TERMINAL
    assert state.returns() == returns


def test_bids_must_rise_and_nobody_has_lied_before_the_first() -> None:
    game = get_game("liars_dice")
    start = play("liars_dice", "1 2")
    assert len(start.actions()) == 12
    with pytest.raises(IllegalAction):
        game.parse(start, "liar")
    state = play("liars_dice", "1 2 1x5")
    names = [game.format(state, action) for action in state.actions()]
    assert names == ["1x6", "2x1", "2x2", "2x3", "2x4", "2x5", "2x6", "liar"]
    with pytest.raises(IllegalAction):
        game.parse(state, "1x5")
    with pytest.raises(InvalidAction):
        game.parse(state, "five")


def test_after_the_highest_bid_only_the_call_is_left() -> None:
    state = play("liars_dice", "1 2 2x6")
    assert [get_game("liars_dice").format(state, a) for a in state.actions()] == ["liar"]


def test_dice_are_seen_by_their_seat_until_the_call() -> None:
    game = get_game("liars_dice(dice=2)")
    start = game.initial_state()
    assert [game.visible(start, 3, viewer) for viewer in (0, 1, None)] == ["3", None, None]
    state = play(game.spec, "5 2 6 6 1x5")
    assert game.observe(state, 0).fields()["dice"] == (2, 5)
    assert game.observe(state, 1).fields()["dice"] == (6, 6)
    assert game.observe(state, None).fields()["dice"] == ()
    over = play(game.spec, "5 2 6 6 1x5 liar")
    assert game.observe(over, None).fields()["shown"] == ((2, 5), (6, 6))


def test_bid_table_stays_in_sight_at_the_top_bid() -> None:
    game = get_game("liars_dice")
    state = play("liars_dice", "1 2 2x6")
    assert [game.format(state, action) for action in state.actions()] == ["liar"]
    for seat in (0, 1):
        elements = game.scene(game.observe(state, seat)).elements
        (table,) = [each for each in elements if isinstance(each, Grid)]
        assert table.look == "table"
        assert [cell.text for row in table.rows for cell in row if cell.highlight] == ["2x6"]
        assert all(cell.action is None for row in table.rows for cell in row)
    assert any(isinstance(each, Button) and each.action == "liar" for each in elements)
