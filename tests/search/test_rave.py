"""RAVE with noted playouts and priors: what the search learns from them, and finds in go."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.harness.go_boards import position

from plyhouse.games import get_game
from plyhouse.games.base import TERMINAL
from plyhouse.search import Limit, MonteCarloTree, mcts
from plyhouse.search.kernels.mcts_tree import Node, back_up_noted, open_all, selected_rave

# Credits


def tree_of_two_plies() -> list[Node]:
    """A root of seat 0 whose option 7 leads to a node of seat 1, whose option 8 leads to a leaf."""
    root, answer, leaf = Node(0, -1, 0), Node(1, 0, 1), Node(0, 1, 2)
    for node, options in ((root, (5, 7, 8)), (answer, (5, 7, 8))):
        node.options, node.count = options, len(options)
        open_all(node, None, None)
    return [root, answer, leaf]


def credited(node: Node) -> dict[Any, tuple[float, float]]:
    """Visits and mean of RAVE, by action with any."""
    found = {}
    child = node.first
    while child is not None:
        if child.rave_visits:
            found[node.options[child.index]] = (child.rave_visits, child.rave_mean)
        child = child.next
    return found


def test_credits_go_to_actions_that_the_mover_played_first() -> None:
    root, answer, leaf = tree_of_two_plies()
    first = [0] * 9
    first[5], first[7] = 1, 2  # in the playout seat 0 played 5 first, and seat 1 played 7
    back_up_noted([root, answer, leaf], (1.0, -1.0), first)
    # Seat 1 played 8 in the tree and 7 in the playout; 7 was seat 0's before, but not from here.
    assert credited(answer) == {7: (1.0, -1.0), 8: (1.0, -1.0)}
    assert credited(root) == {5: (1.0, 1.0), 7: (1.0, 1.0)}


def test_virtual_visits_decide_before_true_visits_do() -> None:
    node = Node(0, -1, 0)
    node.options, node.count, node.visits = (4, 5, 6), 3, 1.0
    open_all(node, [10.0, 10.0, 20.0], [0.5, -0.5, 0.6])
    best = selected_rave(node, 0.0, 100.0)
    assert node.options[best.index] == 6
    best.visits, best.total = 40.0, -40.0  # the mean with virtual visits is -28 / 60
    assert node.options[selected_rave(node, 0.0, 100.0).index] == 4


def test_rave_weighs_less_from_its_number_of_visits_on() -> None:
    node = Node(0, -1, 0)
    node.options, node.count, node.visits = (4, 5), 2, 1000.0
    open_all(node, None, None)
    children = {4: Node(0, 0, 0), 5: Node(0, 0, 1)}
    node.first = children[4]
    children[4].next = children[5]
    for action, mean in ((4, -1.0), (5, 1.0)):
        child = children[action]
        child.rave_visits, child.rave_mean = 1e9, -mean
        child.visits, child.total, child.mean, child.width = 90.0, mean * 90.0, mean, 0.1
    assert selected_rave(node, 0.0, 100.0) is children[4]  # RAVE's share is over a half
    for action, mean in ((4, -1.0), (5, 1.0)):
        children[action].visits, children[action].total = 110.0, mean * 110.0
    assert selected_rave(node, 0.0, 100.0) is children[5]


# Hooks


class Noted:
    """Take 1 or 2 of some matches, the last one wins: with the hooks of RAVE."""

    def __init__(self, left: int = 7, to_move: int = 0) -> None:
        self.left = left
        self.to_move = to_move if left else TERMINAL
        self.mover = to_move

    def actions(self) -> Any:
        return tuple(range(1, min(2, self.left) + 1)) if self.left else ()

    def after(self, action: int) -> Noted:
        return Noted(self.left - action, 1 - self.mover)

    def chance_outcomes(self) -> Any:
        return ()

    def returns(self) -> tuple[float, float]:
        return (-1.0, 1.0) if self.mover == 0 else (1.0, -1.0)

    def action_count(self) -> int:
        return 3

    def noted_playout(self, rng: random.Random, first: list[int]) -> tuple[float, ...]:
        state = self
        while state.to_move >= 0:
            action = rng.choice(state.actions())
            first[action] = first[action] or state.to_move + 1
            state = state.after(action)
        return state.returns()

    def priors(self, actions: Any) -> tuple[list[float], list[float]]:
        return [4.0] * len(actions), [0.5 if action == 2 else -0.5 for action in actions]


def test_states_with_noted_playouts_are_searched_by_rave() -> None:
    game = get_game('nim(heaps="7")')

    class Hooked(type(game)):  # type: ignore[misc]
        def initial_state(self) -> Any:
            return Noted()

    hooked = Hooked()
    tree = MonteCarloTree(hooked, solve=False, seed=1)
    assert (tree.rave, tree.exploration) == (2000.0, 0.0)
    result = tree.search(Noted(), Limit(simulations=300))
    assert result.simulations == sum(result.visits.values()) == 300
    assert result.action == 1  # leaves six, a multiple of three
    plain = MonteCarloTree(hooked, rave=0.0)
    assert (plain.rave, plain.exploration) == (0.0, 0.7)
    assert MonteCarloTree(get_game("connect_four")).rave == 0.0
    assert MonteCarloTree(hooked, evaluate=lambda state, seat: 0.0).rave == 0.0


# Go

ALIVE = "......... ..o...o.. ......... ..o.o.o.. ......... o...o.o.. oooo..... xxxxo.... ...xo...."
"""Black's corner has three points in a row for its eyes: B1 decides whether it lives."""


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("to_move", [0, 1])
def test_vital_point_of_three_in_a_row_is_found(to_move: int, seed: int) -> None:
    game = get_game("go(komi=-73.5)")
    state = position(ALIVE, to_move, game)
    result = mcts(game, state, Limit(simulations=300), seed=seed)
    assert game.format(state, result.action) == "B1"


def test_a_won_match_ends_when_the_opponent_passes() -> None:
    game = get_game("go(size=5)")
    # Black has the whole board but for its two eyes.
    state = position(".x.x. xxxxx xxxxx xxxxx xxxxx", 1, game).after(25)
    result = mcts(game, state, Limit(simulations=50), seed=1)
    assert (game.format(state, result.action), result.exact, result.value) == ("pass", True, 1.0)


def test_simulations_in_go_are_repeatable() -> None:
    game = get_game("go(size=7)")
    state = game.initial_state()
    found = [mcts(game, state, Limit(simulations=200), seed=seed) for seed in (3, 3, 4)]
    assert found[0].visits == found[1].visits != found[2].visits
    assert found[0].simulations == sum(found[0].visits.values()) == 200
