"""Trees as deep as there is room and time."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from plyhouse.games.base import TERMINAL
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import BUILT_IN, get_game
from plyhouse.games.trees import tree_game
from plyhouse.search.teaching.deepest_tree import deepest, searches_for
from plyhouse.search.teaching.explain import explain


@pytest.mark.parametrize("spec", BUILT_IN)
def test_every_game_without_hidden_information_has_a_tree_that_fits(spec: str) -> None:
    game = get_game(spec)
    state = game.initial_state()
    while state.to_move < 0:
        state = state.after(state.chance_outcomes()[0][0])
    if not searches_for(game):
        with pytest.raises(GameMismatch):
            deepest(game, state)
        return
    found = deepest(game, state, depth=3, max_nodes=300)
    tree = found.tree
    assert tree.search == searches_for(game)[0]
    assert 2 <= tree.nodes <= 300
    assert len(tree.root.children) + len(tree.root.pruned) == len(state.actions())
    if tree.depth is not None:
        assert tree.json() == explain(game, state, tree.search, depth=tree.depth).json()


def test_it_is_the_deepest_that_fits() -> None:
    game = get_game("connect_four")
    state = game.initial_state()
    found = deepest(game, state, "minimax", max_nodes=500)
    assert (found.tree.depth, found.tree.nodes) == (3, 1 + 7 + 49 + 343)
    assert found.larger
    shallow = deepest(game, state, "minimax", depth=2, max_nodes=500)
    assert (shallow.tree.depth, shallow.larger) == (2, False)


def test_a_tree_to_the_end_needs_no_depth() -> None:
    game = tree_game("((4 2 7) (3 1)) ((5 8) (2 9))")
    found = deepest(game, game.initial_state(), "minimax")
    assert found.complete
    assert not found.larger
    assert found.tree.depth is None


def test_time_ends_a_tree_as_nodes_do() -> None:
    game = get_game("connect_four")
    ticks = itertools.count()
    found = deepest(game, game.initial_state(), "minimax", seconds=30.0, now=lambda: next(ticks))
    assert (found.tree.depth, found.larger) == (1, True)
    with pytest.raises(ValueError, match="too long"):
        deepest(game, game.initial_state(), seconds=3.0, now=lambda: next(ticks))


def test_of_too_many_actions_there_are_the_first() -> None:
    game = get_game("go(size=9)")
    found = deepest(game, game.initial_state(), max_nodes=20)
    assert (found.tree.nodes, found.tree.max_actions) == (20, 19)
    assert found.tree.root.left_out == 82 - 19
    assert not found.complete


def test_after_the_end_there_is_no_tree() -> None:
    game = tree_game("(1 2)")
    state: Any = game.initial_state()
    while state.to_move != TERMINAL:
        state = state.after(state.actions()[0])
    with pytest.raises(ValueError, match="over"):
        deepest(game, state)
