from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from plyhouse.games import get_game
from plyhouse.games.base import CHANCE, Game
from plyhouse.games.scene import (
    Button,
    Card,
    Cell,
    Counter,
    Dice,
    Element,
    Grid,
    Hand,
    Scene,
    Text,
    scene_actions,
    scene_faults,
    scene_fields,
)
from plyhouse.games.scene_svg import DARK, draw_svg
from plyhouse.games.scene_text import render_text

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
        "Score: 7 / 10 ##############------",
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


BOARD = Grid(((Cell("x", 0, name="a1"), Cell(name="b1")),))


def test_buttons_lead_over_named_cells() -> None:
    good = Scene((BOARD, Button("go", "a1b1", ("a1", "b1"))), "", 0)
    assert scene_faults(good) == []
    assert scene_fields(good)["elements"][1]["via"] == ["a1", "b1"]
    lost = Scene((BOARD, Button("go", "a1c1", ("a1", "c1"))), "", 0)
    assert scene_faults(lost) == ["button 'a1c1' goes via 'c1', which names no cell"]
    twice = Scene((BOARD, BOARD), "", 0)
    assert scene_faults(twice) == [
        "two cells have the name 'a1'",
        "two cells have the name 'b1'",
    ]


def test_buttons_with_the_same_spots_differ_in_words() -> None:
    ways = ("a1", "b1")
    told = Scene((BOARD, Button("queen", "q", ways), Button("rook", "r", ways)), "", 0)
    assert scene_faults(told) == []
    mute = Scene((BOARD, Button("go", "q", ways), Button("go", "r", ways)), "", 0)
    assert scene_faults(mute) == ["buttons 'q' and 'r' have the same spots and the same label"]


@pytest.mark.parametrize(
    ("spec", "action", "via"),
    [
        ("chess", "e2e4", ("e2", "e4")),
        ('chess(fen="7k/P7/8/8/8/8/8/K7 w - - 0 1")', "a7a8q", ("a7", "a8")),
        ("breakthrough", "a2b3", ("a2", "b3")),
        ("hexapawn", "b1b2", ("b1", "b2")),
        ("checkers", "11-15", ("11", "15")),
        ('checkers(position="B:W6,7,14,15:B2")', "2x9x18", ("2", "9", "18")),
        ('checkers(position="B:W6,14:B2")', "2x18", ("2", "9", "18")),  # the text is shorter
        ("battleship", "a1-a5", ("a1", "a5")),
    ],
)
def test_actions_of_several_spots_say_which(spec: str, action: str, via: tuple[str, ...]) -> None:
    game = get_game(spec)
    scene = game.scene(game.observe(game.initial_state(), 0))
    assert scene_faults(scene) == []
    ways = [each.via for each in scene.elements if isinstance(each, Button)]
    chosen = [each for each in scene.elements if isinstance(each, Button) and each.via == via]
    assert action in [each.action for each in chosen]
    assert () not in ways


def test_every_field_of_a_scene_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "scenes.md").read_text(encoding="utf-8")
    for kind in (Scene, Grid, Cell, Card, Hand, Dice, Counter, Button, Text):
        for field in dataclasses.fields(kind):
            assert f"`{field.name}`" in page, f"{kind.__name__}.{field.name}"


def test_later_fields_are_sent_only_where_they_are_used() -> None:
    plain = scene_fields(SCENE)
    assert "viewer" not in plain
    grid = plain["elements"][0]
    assert set(grid) == {"kind", "rows", "row_labels", "column_labels", "label", "look"}
    assert "count" not in grid["rows"][0][0]
    board = Grid(
        ((Cell("3", 0, "seeds", count=3),),), theme="wood", bottom=0, ends=(Cell(), Cell())
    )
    shown = scene_fields(Scene((board,), "", 0, viewer=1))
    assert shown["viewer"] == 1
    grid = shown["elements"][0]
    assert (grid["theme"], grid["bottom"], len(grid["ends"])) == ("wood", 0, 2)
    assert grid["rows"][0][0]["count"] == 3


def test_stores_can_carry_actions() -> None:
    board = Grid(((Cell(),),), ends=(Cell(action="left"), Cell(action="right")))
    assert scene_actions(Scene((board,), "", 0)) == {"left", "right"}


def test_captured_pieces_are_counted() -> None:
    game = get_game("chess")
    state = game.initial_state()
    assert "Taken" not in render_text(game.scene(game.observe(state, None)))
    for text in ("e2e4", "d7d5", "e4d5", "d8d5"):
        state = state.after(game.parse(state, text))
    lines = render_text(game.scene(game.observe(state, None))).splitlines()
    assert "Taken by White: \u265f" in lines
    assert "Taken by Black: \u2659" in lines


@pytest.mark.parametrize(
    ("spec", "actions", "cells"),
    [
        ("tic_tac_toe", "a1 b1 a2 b2 a3", {"a1, X", "a2, X", "a3, X"}),
        (
            "connect_four",
            "1 2 1 2 1 2 1",
            {f"column 1, row {n}, disc of first" for n in range(1, 5)},
        ),
        ("chess", "f2f3 e7e5 g2g4 d8h4", {"e1, white king"}),
    ],
)
def test_what_decided_the_game_is_marked(spec: str, actions: str, cells: set[str]) -> None:
    game = get_game(spec)
    state = game.initial_state()
    for text in actions.split():
        assert not any(won_cells(game.scene(game.observe(state, None))))
        state = state.after(game.parse(state, text))
    assert won_cells(game.scene(game.observe(state, None))) == cells


def won_cells(scene: Scene) -> set[str]:
    grids = [element for element in scene.elements if isinstance(element, Grid)]
    return {cell.label for grid in grids for row in grid.rows for cell in row if cell.won}


def bets_and_pot(spec: str, actions: str) -> tuple[list[float], float, int | None]:
    """By seat the chips before it after these actions, the pot, and the seat that has it."""
    game = get_game(spec)
    state = game.initial_state()
    for text in actions.split():
        parse = game.parse_chance if state.to_move == CHANCE else game.parse
        state = state.after(parse(state, text))
    elements = game.scene(game.observe(state, None)).elements
    heaps = [each for each in elements if isinstance(each, Counter) and each.look == "chips"]
    [pot] = [each for each in heaps if each.label == "Pot"]
    return [each.value for each in heaps if each is not pot], pot.value, pot.seat


@pytest.mark.parametrize(
    ("spec", "actions", "bets", "pot", "winner"),
    [
        ("kuhn_poker", "K Q", [0, 0], 2, None),
        ("kuhn_poker", "K Q bet", [1, 0], 2, None),
        ("kuhn_poker", "K Q bet call", [0, 0], 4, 0),
        ("kuhn_poker", "K Q bet fold", [0, 0], 3, 0),
        ("leduc_poker", "Js Kh raise raise", [2, 4], 2, None),
        ("leduc_poker", "Js Kh raise raise call Qs", [0, 0], 10, None),
        ("leduc_poker", "Js Kh raise raise call Qs check raise", [0, 4], 10, None),
        ("leduc_poker", "Js Kh raise raise call Qs check raise fold", [0, 0], 14, 1),
        ("leduc_poker", "Ks Kh check check Qs check check", [0, 0], 2, None),
    ],
)
def test_bets_lie_before_their_seats_until_the_round_is_over(
    spec: str, actions: str, bets: list[float], pot: float, winner: int | None
) -> None:
    assert bets_and_pot(spec, actions) == (bets, pot, winner)


def test_bids_of_liars_dice_stay_on_the_table_after_the_top_bid() -> None:
    game = get_game("liars_dice")
    state = game.initial_state()
    for text in ("5", "2"):
        state = state.after(game.parse_chance(state, text))
    for viewer, text in ((1, "1x1"), (None, "2x6")):
        state = state.after(game.parse(state, text))
        elements = game.scene(game.observe(state, viewer)).elements
        assert [each.look for each in elements if isinstance(each, Grid)] == ["table"]
    state = state.after(game.parse(state, "liar"))
    scene = game.scene(game.observe(state, None))
    hands = [
        each.cards for each in scene.elements if isinstance(each, Hand) and each.seat is not None
    ]
    assert [card.highlight for cards in hands for card in cards] == [False, False], "no six"


def test_choices_of_a_round_are_open_together_and_only_then() -> None:
    game = get_game("rock_paper_scissors(rounds=2)")

    def shown(viewer: int | None) -> list[list[str | None]]:
        elements = game.scene(game.observe(state, viewer)).elements
        return [[card.text for card in each.cards] for each in elements if isinstance(each, Hand)]

    state = game.initial_state().after(game.parse(game.initial_state(), "rock"))
    assert shown(0) == [["rock"], []]
    assert shown(1) == shown(None) == [[None], []]
    state = state.after(game.parse(state, "paper"))
    assert shown(0) == shown(1) == shown(None) == [["rock"], ["paper"]]
    state = state.after(game.parse(state, "paper"))
    assert shown(1) == [[None], []]


def test_territory_and_scores_of_go_are_shown_at_the_end() -> None:
    game = get_game("go(size=5,komi=0.5)")
    state = game.initial_state()
    for text in ["B1", "E1", "B2", "E2", "B3", "E3", "B4", "E4", "B5", "E5", "pass", "pass"]:
        texts = [each.text for each in drawn(game, state) if isinstance(each, Text)]
        assert texts == ["Komi 0.5"]
        state = state.after(game.parse(state, text))
    [grid] = [each for each in drawn(game, state) if isinstance(each, Grid)]
    dots = [[cell.owner for cell in row if cell.shape == "dot"] for row in grid.rows]
    assert dots == [[0]] * 5, "column A is Black's; C and D reach both"
    texts = [each.text for each in drawn(game, state) if isinstance(each, Text)]
    assert texts == [
        "Black: 5 stones + 5 territory = 10",
        "White: 5 stones + 0 territory + 0.5 komi = 5.5",
    ]


def drawn(game: Game, state: Any, viewer: int | None = None) -> tuple[Element, ...]:
    return game.scene(game.observe(state, viewer)).elements


def test_ships_are_joined_and_those_of_the_opponent_only_once_sunk() -> None:
    game = get_game('battleship(rows=3,columns=3,fleet="2")')
    state = game.initial_state()

    def shapes(viewer: int | None, owner: int) -> dict[str, tuple[str, str]]:
        label = f"Board of {game.seat_name(owner)}"
        [grid] = [
            each
            for each in drawn(game, state, viewer)
            if isinstance(each, Grid) and each.label == label
        ]
        cells = {cell.label[:2]: cell for row in grid.rows for cell in row}
        return {name: (cell.shape, cell.joins) for name, cell in cells.items() if cell.shape}

    for text in ("a1-b1", "c2-c3", "c2"):
        state = state.after(game.parse(state, text))
    assert shapes(0, 0) == {"a1": ("ship", "e"), "b1": ("ship", "w")}
    assert shapes(0, 1) == shapes(None, 1) == {"c2": ("hit", "")}
    assert shapes(1, 1) == {"c2": ("hit", "s"), "c3": ("ship", "n")}
    for text in ("a3", "c3"):
        state = state.after(game.parse(state, text))
    assert shapes(0, 1) == {"c2": ("sunk", "s"), "c3": ("sunk", "n")}


def test_picture_draws_pieces_in_the_colours_of_the_names_of_their_seats() -> None:
    for spec, dark in (("go(size=5)", 1), ("chess", 16)):
        game = get_game(spec)
        state = game.initial_state()
        if spec != "chess":
            state = state.after(state.actions()[0])  # black's first stone
        names = tuple(game.seat_name(seat) for seat in range(2))
        scene = dataclasses.replace(game.scene(game.observe(state, 0)), seats=names)
        drawn = draw_svg(scene_fields(scene))
        assert drawn.count(f'fill="{DARK}"') == dark


def test_picture_of_pacman_draws_one_character_for_a_ghost() -> None:
    game = get_game("pacman")
    drawn = draw_svg(scene_fields(game.scene(game.observe(game.initial_state(), 0))))
    assert ">\N{GHOST}</text>" in drawn
    assert "b</text>" not in drawn


def test_picture_has_its_status_as_title() -> None:
    drawn = draw_svg(scene_fields(Scene((), "1 < 2", 0)))
    assert "<title>1 &lt; 2</title>" in drawn
    assert 'role="img"' in drawn


def test_picture_has_every_card_label_and_status_escaped() -> None:
    hand = Hand("your <hand>", (Card("Q&A"), Card(None)))
    drawn = draw_svg(scene_fields(Scene((hand, Counter("pot", 7, 10)), "1 < 2", 0)))
    for text in ("your &lt;hand&gt;:", "Q&amp;A", "?", "pot: 7 / 10", "1 &lt; 2"):
        assert f">{text}</text>" in drawn
