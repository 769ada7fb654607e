from __future__ import annotations

import json

from plyhouse.games import get_game
from plyhouse.games.scene import (
    Button,
    Card,
    Cell,
    Counter,
    Dice,
    Grid,
    Hand,
    Scene,
    Text,
    render_text,
    scene_actions,
    scene_fields,
)

SCENE = Scene(
    (
        Grid(
            ((Cell("x", 0), Cell(action="b2")), (Cell(), Cell("o", 1))),
            ("2", "1"),
            ("a", "b"),
            "Board",
        ),
        Hand("Hand", (Card("K", "play K"), Card(None)), 0),
        Hand("Nothing", ()),
        Dice("Dice", (3, 4)),
        Counter("Score", 7, 10, 0),
        Counter("Pot", 2.5),
        Text("Some words."),
        Button("Stop here", "stop"),
        Button("Pass", "pass"),
    ),
    "your turn",
    0,
)


def test_actions_are_collected_from_cells_cards_and_buttons() -> None:
    assert scene_actions(SCENE) == {"b2", "play K", "stop", "pass"}


def test_fields_are_plain_and_tagged() -> None:
    fields = scene_fields(SCENE)
    assert json.loads(json.dumps(fields)) == fields
    assert [element["kind"] for element in fields["elements"]] == [
        "grid",
        "hand",
        "hand",
        "dice",
        "counter",
        "counter",
        "text",
        "button",
        "button",
    ]
    assert fields["status"] == "your turn"
    assert fields["seat_to_move"] == 0
    assert fields["elements"][0]["rows"][0][1]["action"] == "b2"


def test_scenes_are_drawn_as_text() -> None:
    assert render_text(SCENE).splitlines() == [
        "Board",
        "2 x .",
        "1 . o",
        "  a b",
        "Hand: [K] [?]",
        "Nothing: -",
        "Dice: [3] [4]",
        "Score: 7 / 10",
        "Pot: 2.5",
        "Some words.",
        "your turn",
        "Actions: b2, play K, stop (Stop here), pass",
    ]


def test_a_column_is_offered_once() -> None:
    game = get_game("connect_four")
    text = render_text(game.scene(game.observe(game.initial_state(), 0)))
    assert text.splitlines()[-1] == "Actions: 1, 2, 3, 4, 5, 6, 7"


def test_spectators_are_offered_nothing() -> None:
    game = get_game("pig")
    assert scene_actions(game.scene(game.observe(game.initial_state(), None))) == frozenset()
