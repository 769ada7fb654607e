"""Scenes drawn as text, from plain data alone."""

from __future__ import annotations

import random

import pytest

from plyhouse.clients.terminal.action_choice import labels_from, labels_of
from plyhouse.clients.terminal.board_drawing import sizes_of
from plyhouse.clients.terminal.canvas import Canvas
from plyhouse.clients.terminal.colours import Ink
from plyhouse.clients.terminal.pieces import draw_figure
from plyhouse.clients.terminal.scene_layout import ViewOptions, picture
from plyhouse.games.base import CHANCE
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.games.scene import scene_actions, scene_fields
from plyhouse.games.scene_text import draw_fields

FIVE = ("coin_guess", "connect_four", "kuhn_poker", "pig", "tic_tac_toe")


def test_a_grid_has_its_labels() -> None:
    game = get_game("tic_tac_toe")
    state = game.initial_state()
    state = state.after(game.parse(state, "b2"))
    drawn = draw_fields(scene_fields(game.scene(game.observe(state, 1))))
    rows = drawn.splitlines()
    assert any(row.split() == ["2", ".", "X", "."] for row in rows), drawn
    assert any(row.split() == ["a", "b", "c"] for row in rows), drawn


def test_colours_only_when_asked_for() -> None:
    game = get_game("connect_four")
    state = game.initial_state()
    state = state.after(state.actions()[3])
    scene = scene_fields(game.scene(game.observe(state, 1)))
    assert "\x1b" not in draw_fields(scene)
    assert "\x1b" in draw_fields(scene, colour=True)


@pytest.mark.parametrize("name", FIVE)
def test_every_legal_action_can_be_chosen_in_what_is_drawn(name: str) -> None:
    game = get_game(name)
    rng = random.Random(3)
    state = game.initial_state()
    for _ in range(40):
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
            continue
        if state.to_move < 0:
            break
        scene = game.scene(game.observe(state, state.to_move))
        fields = scene_fields(scene)
        assert set(labels_of(fields)) == scene_actions(scene)
        assert draw_fields(fields).splitlines()[-1] == scene.status
        state = state.after(rng.choice(state.actions()))


def test_what_is_not_known_is_left_out() -> None:
    scene = {
        "elements": [
            {"kind": "hologram", "label": "?"},
            {"kind": "hand", "label": "Hand", "cards": [{"text": None}, {"text": "K"}]},
            {"kind": "counter", "label": "Pot", "value": 3.0},
            {"kind": "counter", "label": "You", "value": 50.0, "target": 100.0, "seat": 0},
            {"kind": "dice", "label": "Die", "values": []},
            {"kind": "text", "text": "Hello"},
        ],
        "status": "Now",
    }
    assert draw_fields(scene).splitlines() == [
        "Hand: [?] [K]",
        "Pot: 3",
        "You: 50 / 100 ##########----------",
        "Die: -",
        "Hello",
        "Now",
    ]
    assert labels_of(scene) == {}


def test_plays_are_listed_with_their_points_where_these_may_be_known() -> None:
    placing = {"kind": "placing", "label": "Your tiles", "actions": ["8H CAT", "-C", "8H ACT"]}
    assert labels_of({"elements": [{**placing, "worth": [10, 0, 12]}]}) == {
        "8H CAT": "8H CAT for 10",
        "8H ACT": "8H ACT for 12",
    }
    assert labels_of({"elements": [{**placing, "worth": []}]}) == {}


def test_properties_beside_the_board_have_their_whole_names() -> None:
    pieces = [{"text": "Baltic Avenue (2 houses)"}, {"text": "Boardwalk"}]
    scene = {"elements": [{"kind": "tray", "label": "ann owns", "pieces": pieces}], "status": ""}
    shown = "ann owns: Baltic Avenue (2 houses), Boardwalk"
    assert draw_fields(scene) == shown
    plain = ViewOptions(ink=Ink(colours=False, unicode=False))
    assert picture(scene, plain).text() == shown


def test_a_spot_has_the_actions_that_begin_there() -> None:
    game = get_game("chess")
    scene = scene_fields(game.scene(game.observe(game.initial_state(), 0)))
    assert labels_from(scene, "G1") == {"g1f3": "Nf3", "g1h3": "Nh3"}
    assert labels_from(scene, "e5") == {}
    pig = get_game("pig")
    assert labels_from(scene_fields(pig.scene(pig.observe(pig.initial_state(), 0))), "roll") == {}


def drawn(name: str) -> list[str]:
    game = get_game(name)
    state = game.initial_state()
    while state.to_move == CHANCE:
        state = state.after(state.chance_outcomes()[0][0])
    return draw_fields(scene_fields(game.scene(game.observe(state, state.to_move)))).splitlines()


def test_squares_that_have_only_names_show_them() -> None:
    rows = drawn("checkers")[1:9]
    assert rows[0].split() == ["b1", "b2", "b3", "b4"]
    assert rows[3].split() == ["13", "14", "15", "16"]
    assert rows[7].split() == ["w29", "w30", "w31", "w32"]
    assert rows[0].index("b1") > rows[1].index("b5")


def test_deeds_show_the_short_name_and_what_is_on_it() -> None:
    deed = {"text": "Me", "shape": "deed", "name": "MED"}
    owned = {**deed, "text": "21", "name": "BAL", "owner": 1}
    token = {**deed, "text": "@1", "name": "JAIL", "tokens": [0]}
    scene = {"elements": [{"kind": "grid", "rows": [[deed, owned, token, {"text": " "}]]}]}
    assert draw_fields(scene).split() == ["MED", "BAL", "21", "JAIL@1"]
    top = drawn("monopoly")[1]
    assert top.split()[:3] == ["FREE", "KEN", "CH2"]


@pytest.mark.parametrize(("width", "height"), [(80, 50), (160, 50)])
def test_deeds_have_full_names_on_a_large_screen(width: int, height: int) -> None:
    game = get_game("monopoly")
    scene = scene_fields(game.scene(game.observe(game.initial_state(), 0)))
    options = ViewOptions(ink=Ink(colours=False, unicode=False), width=width, height=height)
    drawn = picture(scene, options).text()
    for row in scene["elements"][0]["rows"]:
        for cell in row:
            for word in cell.get("lines", [""])[0].split():
                assert word in drawn
    assert "North Carolina Avenue" in drawn, "in the middle of the ring"
    small = picture(scene, ViewOptions(ink=options.ink, width=80, height=24)).text()
    assert "KEN" in small, "short names where there is no room"


def test_a_double_label_stands_above_and_below() -> None:
    title, above, upper, lower, below, *_ = drawn("backgammon")
    assert title.startswith("Points")
    assert above.split()[:3] == ["13", "14", "15"]
    assert below.split()[:3] == ["12", "11", "10"]
    assert upper.split()[0] == "o5"
    assert lower.split()[0] == "x5"


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_board_fits_eighty_columns(name: str) -> None:
    assert max(map(len, drawn(name))) <= 80


@pytest.mark.parametrize("look", ["", "wells", "checkered", "lines", "hex"])
def test_discs_side_by_side_and_one_above_the_other_stay_apart(look: str) -> None:
    lower_half = set("\u2584\u2596\u2597\u2599\u259f\u2588\u258c\u2590\u259a\u259e\u259b\u259c")
    for width, height in sizes_of({"look": look}):
        cell = {"text": "x", "shape": "disc", "owner": 0}
        canvas = Canvas()
        draw_figure(canvas, (0, 0, width, height), cell, Ink())
        lines = canvas.text().splitlines()
        indents = [len(line) - len(line.lstrip()) for line in lines]
        assert max(map(len, lines)) < width or min(indents) > 0, (width, height, lines)
        if height > 1:
            assert len(lines) < height or not lower_half & set(lines[-1]), (width, height, lines)
