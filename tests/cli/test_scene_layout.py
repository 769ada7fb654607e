"""Scenes in character cells: every game, in the room of small and large terminals."""

from __future__ import annotations

import itertools

import pytest
from rich.color import Color
from tests.cli.scenes import scene_after

from plyhouse.clients.terminal.action_choice import (
    Choice,
    Move,
    moves_of,
    placed_action,
    plain_buttons,
)
from plyhouse.clients.terminal.colours import (
    BLACK,
    CHOSEN,
    GROUNDS,
    MARK,
    MARKS,
    PIECES,
    TARGET,
    WHITE,
    WON,
    Ink,
)
from plyhouse.clients.terminal.scene_layout import ViewOptions, picture
from plyhouse.clients.terminal.view_options import changed_spots
from plyhouse.games.registry import BUILT_IN, get_game

SMALL = (52, 21)
"""The board's share of a terminal of 80 by 24, with everything else visible."""
LARGE = (81, 35)
GAMES = (*sorted(BUILT_IN), "go(size=19)", "connect_four(columns=10,rows=5)")
BOARDS = [
    name
    for name in GAMES
    if any(
        each["kind"] == "grid" and each.get("look") != "table"
        for each in scene_after(name, 0)[0]["elements"]
    )
]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("plies", [0, 12, 400])
def test_every_game_fits_a_small_and_a_large_terminal(name: str, plies: int) -> None:
    scene, legal = scene_after(name, plies)
    for width, height in (SMALL, LARGE):
        drawn = picture(scene, ViewOptions(width, height, Ink(names=tuple(scene["seats"]))))
        assert (drawn.width <= width, drawn.height <= height) == (True, True), (
            drawn.width, drawn.height, drawn.text(),
        )  # fmt: skip
    boxes = [(s.x, s.y, s.width, s.height) for s in drawn.spots]
    names = [spot.name for spot in drawn.spots]
    assert len(set(names)) == len(names)
    for a, b in itertools.pairwise(sorted(boxes)):
        assert a != b, "two spots in one place"
    ways = {spot for move in moves_of(scene) for spot in move.via}
    assert ways <= set(names), "everything that can be chosen can be found"
    buttons = {button["action"] for button in plain_buttons(scene)}
    for element in scene["elements"]:
        buttons.update(element["actions"] if element["kind"] == "placing" else ())
    assert {move.action for move in moves_of(scene)} | buttons == set(legal)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_without_colours_and_unicode_there_are_none(name: str) -> None:
    scene, _ = scene_after(name, 12)
    moves = moves_of(scene)
    look = ViewOptions(*SMALL, Ink(colours=False, unicode=False), open=Choice(moves).open())
    drawn = picture(scene, look)
    for line in drawn.lines():
        for segment in line:
            assert segment.style is None or segment.style.color is None
            assert segment.style is None or segment.style.bgcolor is None
    game = get_game(name)
    if name not in ("chess", "pacman"):  # whose texts are no ASCII, as the game writes them
        assert drawn.text().isascii(), drawn.text()
    assert game.seats >= 1


@pytest.mark.parametrize("name", BOARDS)
def test_board_in_a_larger_window_has_larger_spots(name: str) -> None:
    scene, _ = scene_after(name, 4)
    areas = []
    for width, height in (SMALL, (160, 55)):
        drawn = picture(scene, ViewOptions(width, height, Ink(names=tuple(scene["seats"]))))
        assert (drawn.width <= width, drawn.height <= height) == (True, True)
        areas.append(max(spot.width * spot.height for spot in drawn.spots))
    assert areas[1] >= 2 * areas[0]


@pytest.mark.parametrize("size", [SMALL, LARGE, (160, 55)])
def test_discs_on_neighbouring_spots_leave_half_a_line_between_them(
    size: tuple[int, int],
) -> None:
    cell = {"text": "x", "owner": 0, "shape": "disc", "action": None}
    rows = [[{**cell, "name": f"{x}{y}"} for x in "ab"] for y in "12"]
    grid = {"kind": "grid", "rows": rows, "row_labels": [], "column_labels": ["a", "b"]}
    drawn = picture({"elements": [grid]}, ViewOptions(*size, Ink()))
    lines = drawn.text().splitlines()
    for spot in drawn.spots:
        lowest = lines[spot.y + spot.height - 1].ljust(drawn.width)
        assert set(lowest[spot.x : spot.x + spot.width]) <= set(" \u2580\u2598\u259d")
        side = [line.ljust(drawn.width)[spot.x] for line in lines[spot.y : spot.y + spot.height]]
        assert set(side) == {" "}


def test_checkers_of_a_backgammon_stack_stay_apart() -> None:
    scene, _ = scene_after("backgammon", 0)
    drawn = picture(scene, ViewOptions(*SMALL, Ink(names=tuple(scene["seats"]))))
    assert "\u2597\u2584\u2596" in drawn.text()
    assert "\u2588" not in drawn.text()


def test_cards_and_dice_are_large_where_there_is_room() -> None:
    die = {"kind": "dice", "label": "roll", "values": [5]}
    scene = {"elements": [die, {"kind": "hand", "label": "card", "cards": [{"text": None}]}]}
    assert picture(scene, ViewOptions(40, 6, Ink())).height == 6
    assert picture(scene, ViewOptions(40, 5, Ink())).height == 2
    assert picture(scene, ViewOptions(40, 6, Ink(colours=False))).height == 2
    assert picture(scene, ViewOptions(40, 6, Ink())).text().count("\u25cf") == 5


def brightness(name: str) -> float:
    def linear(value: int) -> float:
        part = value / 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = Color.parse(name).get_truecolor()
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def test_figures_stand_out_from_every_ground() -> None:
    grounds = [each for pair in GROUNDS.values() for each in pair]
    grounds += [MARK, WON, TARGET, CHOSEN, *MARKS.values()]
    for ground, figure in itertools.product(grounds, (*PIECES, BLACK, WHITE)):
        pair = sorted((brightness(ground), brightness(figure)))
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 3, (ground, figure)


def test_boards_are_shown_from_the_side_of_the_viewer_until_flipped() -> None:
    scene, _ = scene_after("chess", 1)
    look = ViewOptions(*SMALL, Ink(names=tuple(scene["seats"])))
    black = {spot.name: spot for spot in picture(scene, look).spots}
    white = {spot.name: spot for spot in picture({**scene, "viewer": 0}, look).spots}
    assert black["e8"].y > black["e1"].y
    assert black["a8"].x > black["h8"].x
    assert white["e8"].y < white["e1"].y
    flipped = ViewOptions(*SMALL, look.ink, flipped=True)
    again = {spot.name: spot for spot in picture({**scene, "viewer": 0}, flipped).spots}
    assert {name: (s.x, s.y) for name, s in again.items()} == {
        name: (s.x, s.y) for name, s in black.items()
    }


def test_marks_are_told_without_colours_too() -> None:
    cell = {"text": "X", "owner": 0, "name": "a1", "action": None, "label": "a1"}
    rows = [[{**cell, "highlight": True}, {**cell, "name": "b1"}]]
    rows += [[{**cell, "name": "a2", "won": True}, {**cell, "name": "b2", "text": ""}]]
    grid = {"kind": "grid", "rows": rows, "row_labels": ["", ""], "column_labels": ["", ""]}
    scene = {"elements": [grid], "seats": ["X", "O"]}
    choice = Choice([Move("m", ("b1", "b2")), Move("n", ("b1", "a2"))])
    choice.pick("b1")
    ink = Ink(colours=False, unicode=False)
    drawn = picture(scene, ViewOptions(10, 4, ink, open=choice.open(), path=choice.path, cursor=""))
    assert drawn.text().replace(" ", "").split() == ["(X){X}", "<X><+>"]
    named = picture(scene, ViewOptions(10, 4, ink, cursor="a1")).text()
    assert named.startswith("[X]")


def test_seats_without_a_name_have_that_of_who_plays() -> None:
    scene, _ = scene_after("kuhn_poker", 1)
    drawn = picture(scene, ViewOptions(60, 20, Ink(colours=False), holders=("alice", "bob")))
    assert "Bet of alice" in drawn.text()
    assert "seat 0" not in drawn.text()


def test_pairs_may_be_chosen_in_any_order() -> None:
    moves = [
        Move("8/5 6/5", ("8", "5", "6", "5"), pairs=True),
        Move("8/5 5/3", ("8", "5", "5", "3"), pairs=True),
    ]
    choice = Choice(moves)
    assert set(choice.open()) == {"8", "6"}, "what comes to 5 leaves it later"
    assert choice.pick("6") is None
    assert choice.pick("5") == "8/5 6/5", "nothing else begins so"
    choice.clear()
    assert choice.pick("8") is None
    assert choice.pick("5") is None
    assert set(choice.open()) == {"6", "5"}
    assert choice.pick("5") is None, "who takes a checker puts it down, too"
    assert choice.pick("9") is None
    assert choice.path == ["8", "5"], "pairs that are complete stay"
    assert choice.pick("9") is None
    assert choice.path == []


def test_words_decide_where_spots_do_not() -> None:
    choice = Choice([Move("a7a8q", ("a7", "a8"), "queen"), Move("a7a8n", ("a7", "a8"), "knight")])
    assert choice.pick("a7") is None
    assert choice.pick("a8") is None
    assert [move.label for move in choice.asked] == ["queen", "knight"]
    assert choice.open() == {}


def test_the_last_action_is_what_changed() -> None:
    before, _ = scene_after("tic_tac_toe", 1)
    after, _ = scene_after("tic_tac_toe", 2)
    changed = changed_spots(after, before)
    assert len(changed) == 1
    drawn = picture(after, ViewOptions(*SMALL, Ink(colours=False), changed=changed)).text()
    assert drawn.count("(") == 1
    assert changed_spots(after, after) == frozenset()


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("I8=T H8=A", "H8=A I8=T"),
        ("h8=A i8=z", "H8=A I8=z"),
        ("H8=A J8=T", None),
        ("H8=A I8=A", None),
        ("H8=A I8=?", None),
        ("H8=z I8=z", None),
        ("H8=A", None),
        ("hello", None),
        ("", None),
    ],
)
def test_typed_pieces_are_an_action_where_any_may_lie(text: str, action: str | None) -> None:
    pieces = [{"text": tile} for tile in "AT?"]
    scene = {"elements": [{"kind": "placing", "pieces": pieces, "spots": ["H8 I8", "H8 H9"]}]}
    assert placed_action(scene, text) == action
    del scene["elements"][0]["spots"]
    assert placed_action(scene, text) is None
