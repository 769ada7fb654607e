"""``plyhouse explain``."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.cli.conftest import Plyhouse

from plyhouse.clients.cli.explain import replayed
from plyhouse.clients.shared.errors import CommandError
from plyhouse.games import get_game

COURSE = "((4 2 7)(3 1)) ((5 8)(2 9)(5 6)) ((1 2)(3 5))"


def test_a_tree_is_drawn(plyhouse: Plyhouse, tmp_path: Path) -> None:
    done = plyhouse("explain", "connect_four", "--moves", "44", "--depth", "3", "-o", "tree.svg")
    assert done.code == 0, done.err
    assert done.out.startswith("connect_four after 4 4: alpha_beta to depth 3: value ")
    assert done.err == "Wrote tree.svg.\n"
    root = ElementTree.parse(tmp_path / "tree.svg").getroot()
    assert root.tag.endswith("svg")


def test_without_a_file_it_is_text(plyhouse: Plyhouse) -> None:
    done = plyhouse("explain", "--tree", COURSE, "--search", "minimax")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[:2] == [
        "written tree",
        "minimax to the end: value 6 for MAX, best 2, 26 nodes",
    ]
    assert len(lines) == 2 + 26


def test_a_tree_may_stand_in_a_file_and_come_out_as_json(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    (tmp_path / "course.tree").write_text(f"# the course's\n{COURSE}\n", encoding="utf-8")
    done = plyhouse("explain", "--tree", "course.tree", "-o", "tree.json")
    assert done.code == 0, done.err
    fields = json.loads((tmp_path / "tree.json").read_text(encoding="utf-8"))
    assert (fields["search"], fields["best"], fields["nodes"]) == ("alpha_beta", "2", 23)


def test_at_a_roll_of_dice_the_seat_that_rolled_is_explained(plyhouse: Plyhouse) -> None:
    arguments = ("explain", "pig", "--moves", "roll 4 hold roll", "--depth", "1")
    done = plyhouse(*arguments, "--search", "expectimax")
    assert done.code == 0, done.err
    assert done.out.startswith("pig after roll 4 hold roll\nexpectimax to depth 1: value ")
    assert " for seat 2, 7 nodes" in done.out


def test_the_others_may_be_good_players_most_of_the_time(plyhouse: Plyhouse) -> None:
    arguments = ("explain", "--tree", "safe:(10 11) bold:(8 60 60)", "--search", "expectimax")
    done = plyhouse(*arguments, "--minimax-share", "0.8")
    assert done.code == 0, done.err
    assert "value 14.933 for MAX, best bold" in done.out
    assert "├─ 1 (13/15)  end = 8" in done.out
    assert "value 10 for MAX, best safe" in plyhouse(*arguments, "--minimax-share", "1").out


def test_a_game_of_a_file_is_drawn_under_its_name(plyhouse: Plyhouse) -> None:
    chomp = Path(__file__).resolve().parents[2] / "examples" / "chomp.py"
    done = plyhouse("explain", f"{chomp}:Chomp(size=2)", "--moves", "b2", "-o", "chomp.svg")
    assert done.code == 0, done.err
    assert done.out.startswith(
        "chomp(size=2) after b2: alpha_beta to the end: value 0 % for seat 2"
    )


def test_a_folder_that_is_not_there_is_named(plyhouse: Plyhouse) -> None:
    done = plyhouse("explain", "coins", "-o", "nowhere/coins.svg")
    assert (done.code, done.out) == (2, "")
    assert done.err == "plyhouse: nowhere/coins.svg: no such file or directory\n"


def test_a_game_with_positions_starts_from_one(plyhouse: Plyhouse) -> None:
    fen = "4k3/8/8/8/8/8/8/4K2R w - - 0 1"
    done = plyhouse("explain", "chess", "--position", fen, "--depth", "1")
    assert done.code == 0, done.err
    assert "alpha_beta to depth 1: value " in done.out
    assert "15 nodes" in done.out, "14 moves"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["conect_four"], "did you mean connect_four?"),
        (["connect_four", "--search", "alphabeta"], "did you mean alpha_beta?"),
        (["connect_four"], "has more than 500 nodes: --depth 4 fits (234 nodes)"),
        (["connect_four", "--moves", "49"], "Move 2, '9', cannot be read after 4"),
        (["tic_tac_toe", "--moves", "a1b1a2b2a3"], "The game is over here"),
        (["tic_tac_toe", "--moves", "a1b1a2b2a3c3"], "The game is over after a1 b1 a2 b2 a3"),
        (["tic_tac_toe", "--position", "x"], "has no text for positions"),
        (["pig"], "alpha_beta cannot play pig: it has chance nodes"),
        (["kuhn_poker", "--search", "maxn"], "its seats do not see the whole state"),
        (["coins", "-o", "tree.png"], "it must end in .svg, .txt or .json"),
        (["--tree", "((4 2)"], "column 1: this '(' is never closed"),
        (["--tree", "nowhere"], "neither a file nor a tree"),
        (["coins", "--tree", "(1 2)"], "leave a game away"),
        (["coins", "--minimax-share", "0.5"], "has no model of an opponent; expectimax does"),
        ([], "Say what to explain"),
    ],
)
def test_what_is_wrong_is_one_sentence(plyhouse: Plyhouse, arguments: list[str], said: str) -> None:
    done = plyhouse("explain", *arguments)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""


@pytest.mark.parametrize(
    ("spec", "text", "names"),
    [
        ("connect_four", "44", ("4", "4")),
        ("connect_four", " 4,4; 3 ", ("4", "4", "3")),
        ("connect_four(columns=10,rows=4)", "10 1", ("10", "1")),
        ("connect_four(columns=10,rows=4)", "101", ("10", "1")),
        ("othello", "d3 C5", ("d3", "c5")),
        ("tic_tac_toe", "b2a1c3", ("b2", "a1", "c3")),
        ("chess", "e4 e5 Nf3", ("e2e4", "e7e5", "g1f3")),
        ("pig", "roll 4 hold roll 1", ("roll", "4", "hold", "roll", "1")),
        ("backgammon", "61 13/7 8/7", ("61", "13/7 8/7")),
        ("nim", "1:2, 2:1", ("1:2", "2:1")),
        ("go(size=9)", "D4 pass d5", ("D4", "pass", "D5")),
        ("coins", "", ()),
    ],
)
def test_moves_are_read_in_the_games_own_notation(
    spec: str, text: str, names: tuple[str, ...]
) -> None:
    game = get_game(spec)
    assert replayed(game, text).names == names


def test_a_move_that_cannot_be_read_is_answered_with_near_ones() -> None:
    with pytest.raises(CommandError, match=r"did you mean f5 or c4\? Possible: d3, c4,"):
        replayed(get_game("othello"), "f4 e5")
    with pytest.raises(CommandError, match=r"^Move 2, '9', cannot be read after 4, where it is "):
        replayed(get_game("connect_four"), "49")


def test_a_position_of_a_match_is_explained(plyhouse: Plyhouse, tmp_path: Path) -> None:
    played = ("match", "random", "random", "--game", "tic_tac_toe", "--games", "2", "--seed", "7")
    assert plyhouse(*played, "--jobs", "1", "--save", "lost.jsonl").code == 0
    dice = ("match", "random", "random", "--game", "pig", "--games", "1", "--seed", "7")
    assert plyhouse(*dice, "--jobs", "1", "--save", "dice.jsonl").code == 0
    record = json.loads((tmp_path / "lost.jsonl").read_text("utf-8").splitlines()[0])
    actions = [event["text"] for event in record["events"] if event["kind"] == "action"]
    asked = ("explain", "--record", "lost.jsonl", "--match", "1", "--ply", "5")
    done = plyhouse(*asked, "--depth", "2", "--search", "minimax")
    assert done.code == 0, done.err
    assert done.out.startswith("tic_tac_toe, ply 5\nminimax to depth 2: value ")
    found = json.loads(plyhouse(*asked, "--json").out)
    assert (found["played"], found["seat"], found["nodes"] <= 500) == (actions[4], 0, True)
    below = json.loads(plyhouse(*asked, "--then", actions[4], "--json").out)
    assert (below["played"], below["seat"]) == ("", 1)
    rolled = plyhouse("explain", "--record", "dice.jsonl", "--ply", "2", "--then", "roll", "--json")
    assert (json.loads(rolled.out)["seat"], json.loads(rolled.out)["root"]["kind"]) == (0, "chance")
    wrong = plyhouse(*asked, "--then", actions[0])
    assert wrong.code == 2
    assert wrong.err.startswith("plyhouse: Action 1 from ply 5 on: ")
    both = plyhouse("explain", "pig", "--record", "lost.jsonl")
    assert both.err == "plyhouse: --record names game and position: leave a game away.\n"
    lonely = plyhouse("explain", "pig", "--ply", "4")
    assert lonely.err == "plyhouse: --ply, --then and --match belong to --record.\n"
