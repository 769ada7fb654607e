"""Written trees: what the notation means, what is wrong in it, and that they are lawful games."""

from __future__ import annotations

import pickle

import pytest

from plyhouse.games.base import CHANCE, TERMINAL, ChanceKind, Utility
from plyhouse.games.errors import InvalidTree
from plyhouse.games.testing import check_game
from plyhouse.games.tree_notation import Branches, Leaf, parse_tree
from plyhouse.games.trees import tree_game

COURSE = "((4 2 7) (3 1)) ((5 8) (2 9) (5 6)) ((1 2) (3 5))"


def test_seats_take_turns_from_the_root() -> None:
    root, seats = parse_tree("((4 2) 3)")
    assert seats == 2
    assert root == Branches(
        0,
        ("1", "2"),
        (Branches(1, ("1", "2"), (Leaf((4.0, -4.0)), Leaf((2.0, -2.0)))), Leaf((3.0, -3.0))),
    )


def test_several_trees_in_a_row_have_a_root_above_them() -> None:
    assert parse_tree("(4 2) (3 1)") == parse_tree("((4 2) (3 1))")
    assert parse_tree("(4 2), (3 1) # a comment\n") == parse_tree("((4,2),(3,1))")


def test_a_chance_node_uses_up_no_turn() -> None:
    root, _ = parse_tree("?(1/2:(1 2) 30%:4 0.2:-1)")
    assert isinstance(root, Branches)
    assert (root.mover, root.names, root.weights) == (
        CHANCE,
        ("1/2", "30%", "0.2"),
        (0.5, 0.3, 0.2),
    )
    below = root.children[0]
    assert isinstance(below, Branches)
    assert below.mover == 0


def test_equal_outcomes_keep_names_of_their_own() -> None:
    root, _ = parse_tree("?(8 24 -12 1)")
    assert isinstance(root, Branches)
    assert root.names == ("1/4", "1/4'", "1/4''", "1/4'''")
    assert root.weights == (0.25,) * 4


def test_actions_may_have_names_and_movers_may_be_said() -> None:
    root, _ = parse_tree("max(left:max(1 2) right:min(3 4))")
    assert isinstance(root, Branches)
    assert root.names == ("left", "right")
    assert [child.mover for child in root.children if isinstance(child, Branches)] == [0, 1]


def test_leaves_for_more_seats_name_a_return_for_each() -> None:
    game = tree_game("(([1 2 6] [4 1 2]) s0([6 1 2] [7 4 1]))")
    assert game.seats == 3
    assert game.info.utility is Utility.GENERAL_SUM
    state = game.initial_state()
    assert [state.to_move, state.after("1").to_move, state.after("2").to_move] == [0, 1, 0]
    assert state.after("2").after("1").returns() == (6.0, 1.0, 2.0)


def test_the_facts_of_the_game_are_those_of_the_tree() -> None:
    info = tree_game(COURSE).info
    assert (info.chance, info.utility) == (ChanceKind.DETERMINISTIC, Utility.ZERO_SUM)
    assert (info.min_return, info.max_return, info.max_plies) == (-9.0, 9.0, 3)
    assert tree_game("?(1 2)").info.chance is ChanceKind.STOCHASTIC


@pytest.mark.parametrize(
    "text",
    [
        COURSE,
        "a:?(1/2:8 1/3:24 1/6:-12) b:(3 4)",
        "(([1 2 6][4 1 2])([6 1 2][7 4 1])) (([5 1 1][1 5 2])([7 7 1][5 4 5]))",
        "max(?(1/4:1 3/4:max(2 -1)) 0)",
        "([5] [7])",
    ],
)
def test_a_written_tree_keeps_every_law_of_games(text: str) -> None:
    game = tree_game(text)
    check_game(game)
    assert pickle.loads(pickle.dumps(game)) == game


def test_play_ends_at_a_leaf() -> None:
    state = tree_game("(a:1 b:(2 3))").initial_state().after("b").after("2")
    assert state.to_move == TERMINAL
    assert state.returns() == (3.0, -3.0)
    assert state.actions() == ()


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("", 1, "there is no tree"),
        ("  # nothing", 1, "there is no tree"),
        ("5", 1, "a leaf alone"),
        ("(4 2", 1, "never closed"),
        ("4 2)", 4, "closes nothing"),
        ("(4 x2)", 4, "'x2' is not a number"),
        ("(4 1/0)", 4, "'1/0' is not a number"),
        ("()", 1, "() is empty"),
        ("(4 ?)", 4, "after ? come the outcomes"),
        ("(]4)", 2, "closes nothing"),
        ("([1 2 (3 4))", 2, "this '[' is never closed"),
        ("(4 [])", 4, "[] is empty"),
        ("(: 3)", 2, "before ':'"),
        ("(a:)", 4, "after a: there must be"),
        ("(a:b:3)", 4, "two names"),
        ("(a:3 b:4 a:5)", 10, "two branches here have the name a"),
        ("?(1/2:3 4)", 9, "its probability is missing"),
        ("?(half:3 1/2:4)", 3, "'half' is not a probability"),
        ("?(0:3 1:4)", 3, "not above 0"),
        ("(1 ?(1/2:3 1/3:4))", 4, "sum to 5/6, not to 1"),
        ("([1 2 3] [1 2])", 10, "[1 2] has 2 returns, [1 2 3] has 3"),
        ("([1 2 3] 4)", 10, "needs 3 returns, like [1 2 3]"),
        ("(foo(3 4) 5)", 2, "'foo' names nobody"),
        ("(s3(1 2) 3)", 2, "there is no seat 3"),
        ("(min([1 2 3]))", 2, "min is for two seats"),
        ("(" * 300 + "1" + ")" * 300, 202, "deeper than 200 levels"),
    ],
)
def test_what_is_wrong_is_told_with_its_column(text: str, column: int, said: str) -> None:
    with pytest.raises(InvalidTree) as caught:
        tree_game(text)
    assert said in str(caught.value)
    assert f"column {column}:" in str(caught.value)
    assert (caught.value.line, caught.value.code) == (None, "game/bad_tree")


def test_in_a_file_the_line_is_told_as_well() -> None:
    with pytest.raises(InvalidTree, match=r"line 3, column 4: 'x' is not a number"):
        tree_game("# the tree\n((4 2)\n  (x 1))\n")
