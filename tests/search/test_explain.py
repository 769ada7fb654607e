"""Recorded trees: right by themselves, and an oracle for the compiled kernels."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest

from plyhouse.games.base import CHANCE
from plyhouse.games.errors import GameMismatch
from plyhouse.games.registry import get_game
from plyhouse.games.trees import tree_game
from plyhouse.games.values import number, probability_text
from plyhouse.search import (
    Limit,
    SearchResult,
    alpha_beta,
    expectimax,
    expectiminimax,
    maxn,
    minimax,
    paranoid,
    team_search,
)
from plyhouse.search.policies import mixed_policy, search_policy
from plyhouse.search.teaching.drawable_tree import Explanation, Kind, Node
from plyhouse.search.teaching.explain import SEARCHES, TreeTooLarge, UnknownSearch, explain

COURSE = "((4 2 7) (3 1)) ((5 8) (2 9) (5 6)) ((1 2) (3 5))"


def explained(text: str, search: str, **options: Any) -> Explanation:
    game = tree_game(text)
    return explain(game, game.initial_state(), search, **options)


def written(seed: int, *, chance: bool) -> str:
    """A random uneven tree, with equal values here and there."""
    rng = random.Random(seed)

    def grow(depth: int) -> str:
        if depth == 0 or (depth < 4 and rng.random() < 0.15):
            return str(rng.randint(-6, 6))
        inside = " ".join(grow(depth - 1) for _ in range(rng.randint(1, 4)))
        return f"{'?' if chance and rng.random() < 0.3 else ''}({inside})"

    return f"({grow(4)} {grow(4)} {grow(4)})"


# Alone


def test_the_value_of_a_decision_is_the_best_of_its_branches() -> None:
    tree = explained(COURSE, "minimax")
    assert [node.value for node in tree.root.children] == [3.0, 6.0, 2.0]
    lower = [[node.value for node in child.children] for child in tree.root.children]
    assert lower == [[7.0, 3.0], [8.0, 9.0, 6.0], [2.0, 5.0]]
    assert (tree.root.value, tree.best, tree.nodes) == (6.0, "2", 26)
    assert [node.action for node in tree.line()] == ["", "2", "3", "2"]


def test_alpha_beta_shows_its_windows_and_what_it_cuts() -> None:
    tree = explained(COURSE, "alpha_beta")
    third = tree.root.children[2]
    assert (third.alpha, third.beta) == (6.0, math.inf)
    assert (third.pruned, third.bound, third.value) == (("2",), "≤", 2.0)
    assert (tree.root.value, tree.best, tree.nodes) == (6.0, "2", 23)


def test_chance_is_worth_the_mean() -> None:
    tree = explained("?(1/2:8 1/3:24 1/6:-12)", "expectiminimax")
    assert tree.root.value == pytest.approx(10.0)
    assert [node.probability for node in tree.root.children] == [1 / 2, 1 / 3, 1 / 6]
    assert tree.best is None


def test_star1_cuts_outcomes_that_cannot_matter() -> None:
    # After the first branch is worth 5, a chance node with a 0 in half of it can reach 5
    # at most where nothing is worth more than 10: and equal is not better.
    text = "(5 ?(1/2:0 1/4:10 1/4:(10 3)))"
    plain, star = explained(text, "expectiminimax"), explained(text, "star1")
    assert star.root.children[1].pruned == ("1/4", "1/4'")
    assert (star.root.children[1].bound, star.root.children[1].value) == ("≤", 5.0)
    assert (star.root.value, star.best) == (plain.root.value, plain.best) == (5.0, "1")
    assert star.nodes < plain.nodes


def test_each_seat_of_max_n_takes_its_own_best() -> None:
    text = "(([1 2 6][4 1 2])([6 1 2][7 4 1])) (([5 1 1][1 5 2])([7 7 1][5 4 5]))"
    tree = explained(text, "maxn")
    assert tree.root.values == (1.0, 2.0, 6.0)
    assert tree.root.children[1].values == (1.0, 5.0, 2.0)
    assert "value (1, 2, 6)" in tree.title()


def test_paranoid_fears_that_all_others_join() -> None:
    text = "(([5 9 0][1 0 9])([4 0 0][3 0 0]))"
    tree = explained(text, "paranoid")
    assert (tree.root.value, tree.best) == (3.0, "2")
    assert [child.kind for child in tree.root.children] == [Kind.MIN, Kind.MIN]


def test_a_modelled_opponent_is_a_chance_node() -> None:
    text = "(a:(10 -8) b:(2 2))"
    assert explained(text, "minimax").best == "b"
    tree = explained(text, "expectimax")
    assert (tree.root.value, tree.best) == (2.0, "b")
    assert [child.value for child in tree.root.children] == [1.0, 2.0]

    def careless(state: Any) -> list[tuple[str, float]]:
        return [("1", 0.8), ("2", 0.2)]

    tree = explained(text, "expectimax", opponents=careless)
    assert tree.root.value == pytest.approx(6.4)
    assert tree.best == "a"
    assert tree.root.children[0].kind is Kind.MODEL


def test_the_seat_that_searches_may_be_another_than_the_one_to_move() -> None:
    game = tree_game("?(1/2:3 1/2:-1)")
    assert explain(game, game.initial_state(), "expectiminimax").root.value == 1.0
    assert explain(game, game.initial_state(), "expectiminimax", seat=1).root.value == -1.0
    with pytest.raises(ValueError, match="expected a seat from 0 to 1"):
        explain(game, game.initial_state(), "expectiminimax", seat=2)


def test_the_first_actions_only() -> None:
    tree = explained(COURSE, "minimax", max_actions=2)
    assert tree.root.left_out == 1
    assert len(tree.root.children) == 2
    assert "first 2 actions" in tree.title()


def test_what_lies_behind_cuts_is_shown_if_asked_for() -> None:
    plain = explained(COURSE, "alpha_beta")
    assert not any(node.unseen for node in plain.root.all())
    shown = explained(COURSE, "alpha_beta", show_cut=True)
    assert (shown.nodes, shown.json()) == (plain.nodes, plain.json())
    (behind,) = shown.root.children[2].unseen
    assert (behind.action, behind.kind) == ("2", Kind.MAX)
    assert [(leaf.action, leaf.value) for leaf in behind.children] == [("1", 3.0), ("2", 5.0)]
    with pytest.raises(TreeTooLarge):
        explained(COURSE, "alpha_beta", show_cut=True, max_nodes=25)
    assert explained(COURSE, "alpha_beta", show_cut=True, max_nodes=26).nodes == 23


@pytest.mark.parametrize("seed", range(10))
def test_what_was_seen_and_what_was_cut_is_the_whole_tree(seed: int) -> None:
    text = written(seed, chance=True)
    whole = explained(text, "expectiminimax")
    star = explained(text, "star1", show_cut=True)

    def count(node: Node) -> int:
        return 1 + sum(count(child) for child in [*node.children, *node.unseen])

    assert count(star.root) == whole.nodes


# Against the kernels


def positions(spec: str, plies: int, seeds: range) -> list[Any]:
    """Positions in which a seat is to move, after random play."""
    found = []
    for seed in seeds:
        rng = random.Random(seed)
        state: Any = get_game(spec).initial_state()
        for _ in range(plies):
            if state.to_move >= 0:
                state = state.after(rng.choice(state.actions()))
            elif state.to_move == CHANCE:
                state = state.after(rng.choice([o for o, _ in state.chance_outcomes()]))
        while state.to_move == CHANCE:
            state = state.after(rng.choice([o for o, _ in state.chance_outcomes()]))
        if state.to_move >= 0:
            found.append(state)
    assert found
    return found


def same(tree: Explanation, result: SearchResult, game: Any, state: Any) -> None:
    assert (tree.root.value, tree.best, tree.nodes) == (
        result.value,
        game.format(state, result.action),
        result.nodes,
    )


GAMES = {
    "tic_tac_toe": (3, 5),
    "connect_four": (4, 3),
    "connect_four(columns=4,rows=4)": (6, 4),
    "othello": (8, 3),
    "hexapawn": (2, 4),
    "coins(coins=9)": (1, 20),
    "breakthrough(size=5)": (6, 3),
    "kalah": (5, 3),
    "checkers": (10, 3),
}


@pytest.mark.parametrize("spec", GAMES)
def test_minimax_and_alpha_beta_look_at_the_same_trees(spec: str) -> None:
    plies, depth = GAMES[spec]
    game = get_game(spec)
    for state in positions(spec, plies, range(2)):
        limit = Limit(depth=depth)
        plain = explain(game, state, "minimax", depth=depth, max_nodes=10**6)
        same(plain, minimax(game, state, limit), game, state)
        pruned = explain(game, state, "alpha_beta", depth=depth, max_nodes=10**6)
        same(pruned, alpha_beta(game, state, limit, deepen=False), game, state)
        assert pruned.root.value == plain.root.value
        assert pruned.nodes <= plain.nodes


@pytest.mark.parametrize(
    ("spec", "plies", "depth"), [("pig(target=12)", 5, 6), ("einstein", 7, 4), ("backgammon", 3, 2)]
)
def test_expectiminimax_looks_at_the_same_tree(spec: str, plies: int, depth: int) -> None:
    game = get_game(spec)
    for state in positions(spec, plies, range(2)):
        tree = explain(game, state, "expectiminimax", depth=depth, max_nodes=10**6)
        same(tree, expectiminimax(game, state, Limit(depth=depth)), game, state)
        star = explain(game, state, "star1", depth=depth, max_nodes=10**6)
        assert star.root.value == pytest.approx(tree.root.value, abs=1e-12)
        assert star.nodes <= tree.nodes
        for pruning in ("star1", "star2"):
            result = expectiminimax(game, state, Limit(depth=depth), pruning=pruning)
            assert result.value == pytest.approx(star.root.value, abs=1e-12)


MANY = {
    "pig(seats=3,target=15)": (4, 6),
    "pacman": (6, 3),
    "tic_tac_toe": (4, 5),
    "einstein": (5, 3),
}


@pytest.mark.parametrize("spec", MANY)
def test_searches_for_more_seats_come_to_the_same(spec: str) -> None:
    plies, depth = MANY[spec]
    game = get_game(spec)
    limit = Limit(depth=depth)
    for state in positions(spec, plies, range(2)):
        tree = explain(game, state, "expectimax", depth=depth, max_nodes=10**6)
        same(tree, expectimax(game, state, limit), game, state)
        tree = explain(game, state, "maxn", depth=depth, max_nodes=10**6)
        found = maxn(game, state, limit)
        assert tree.root.values == found.vector
        assert (tree.best, tree.nodes) == (game.format(state, found.action), found.nodes)
        tree = explain(game, state, "paranoid", depth=depth, max_nodes=10**6)
        assert tree.root.value == pytest.approx(paranoid(game, state, limit).value, abs=1e-9)
        if "seats" not in spec:
            tree = explain(game, state, "team_search", depth=depth, max_nodes=10**6)
            assert tree.root.value == pytest.approx(team_search(game, state, limit).value, abs=1e-9)


def test_pacmans_ghosts_are_one_team() -> None:
    game = get_game("pacman")
    state: Any = game.initial_state()
    tree = explain(game, state, "team_search", depth=3, max_nodes=10**6)
    ghost = tree.root.children[0].children[0]
    assert (ghost.mover, ghost.kind) == (2, Kind.MIN)
    ghosts: Any = state.after(state.actions()[0])
    seen = explain(game, ghosts, "team_search", depth=3, max_nodes=10**6)
    assert [seen.root.children[0].mover, seen.root.children[0].kind] == [2, Kind.MAX]
    feared = explain(game, ghosts, "paranoid", depth=3, max_nodes=10**6)
    assert feared.root.children[0].kind is Kind.MIN


def test_a_model_that_searches_gives_the_same_tree() -> None:
    game = get_game("tic_tac_toe")
    for state in positions("tic_tac_toe", 5, range(3)):
        model = mixed_policy(search_policy(minimax, game, Limit(depth=2)), 0.8)
        tree = explain(game, state, "expectimax", opponents=model)
        found = expectimax(game, state, opponents=model)
        assert tree.root.value == pytest.approx(found.value)
        assert tree.nodes == found.nodes


def check_bounds(node: Node, true: Node) -> None:
    """Every value of a pruned tree is what it claims to be, against the whole tree."""
    assert node.low - 1e-9 <= true.value <= node.high + 1e-9
    match node.bound:
        case "":
            assert node.value == pytest.approx(true.value)
        case "≤":
            assert true.value <= node.value + 1e-9
        case "≥":
            assert true.value >= node.value - 1e-9
    named = {child.action: child for child in true.children}
    for child in node.children:
        check_bounds(child, named[child.action])
    assert {*node.pruned, *(child.action for child in node.children)} == set(named)


@pytest.mark.parametrize("seed", range(40))
def test_on_random_trees_every_bound_is_true(seed: int) -> None:
    text = written(seed, chance=False)
    game = tree_game(text)
    state = game.initial_state()
    whole, pruned = explained(text, "minimax"), explained(text, "alpha_beta")
    check_bounds(pruned.root, whole.root)
    same(whole, minimax(game, state), game, state)
    same(pruned, alpha_beta(game, state, deepen=False), game, state)


@pytest.mark.parametrize("seed", range(40))
def test_on_random_trees_with_chance_too(seed: int) -> None:
    text = written(seed, chance=True)
    game = tree_game(text)
    state = game.initial_state()
    whole, pruned = explained(text, "expectiminimax"), explained(text, "star1")
    check_bounds(pruned.root, whole.root)
    assert pruned.root.value == pytest.approx(whole.root.value)
    if state.to_move >= 0:
        same(whole, expectiminimax(game, state), game, state)


# Refusals


def test_an_unknown_search_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownSearch, match=r"did you mean alpha_beta\?"):
        explained(COURSE, "alphabeta")
    with pytest.raises(UnknownSearch, match="it is one of minimax, "):
        explained(COURSE, "zebra")


@pytest.mark.parametrize(
    ("spec", "search", "said"),
    [
        ("pig", "alpha_beta", "has chance nodes; .* what fits pig: expectiminimax, star1"),
        ("pig(seats=3)", "star1", r"has 3 seats; .* maxn, paranoid, expectimax\."),
        (
            "kuhn_poker",
            "expectiminimax",
            "do not see the whole state; .* no search that explain draws fits kuhn_poker; "
            "what can play it: ismcts, pimc, random_action",
        ),
    ],
)
def test_a_game_that_does_not_fit_is_refused(spec: str, search: str, said: str) -> None:
    game = get_game(spec)
    with pytest.raises(GameMismatch, match=said):
        explain(game, game.initial_state(), search)


def test_a_tree_too_large_to_draw_is_refused_with_what_would_fit() -> None:
    game = get_game("connect_four")
    state = game.initial_state()
    with pytest.raises(TreeTooLarge) as caught:
        explain(game, state, "minimax", depth=5, max_nodes=100)
    error = caught.value
    assert error.depth == (2, 57)
    assert error.actions == (2, 63)
    assert "has more than 100 nodes: depth=2 fits (57 nodes)" in str(error)
    assert explain(game, state, "minimax", depth=2, max_nodes=57).nodes == 57
    with pytest.raises(TreeTooLarge):
        explain(game, state, "minimax", depth=2, max_nodes=56)
    assert explain(game, state, "minimax", depth=5, max_actions=2, max_nodes=63).nodes == 63
    assert caught.value.max_nodes == 100


@pytest.mark.parametrize(
    "options", [{"depth": 0}, {"max_actions": 0}, {"max_nodes": -1}], ids=lambda o: next(iter(o))
)
def test_options_out_of_range_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected at least 1"):
        explained(COURSE, "minimax", **options)


def test_a_model_of_the_opponent_belongs_to_expectimax() -> None:
    with pytest.raises(ValueError, match="minimax has no model of an opponent; expectimax does"):
        explained(COURSE, "minimax", opponents=lambda state: [])


def test_after_the_end_there_is_no_tree() -> None:
    game = tree_game("(1 2)")
    with pytest.raises(ValueError, match="the game is over here"):
        explain(game, game.initial_state().after("1"))


def test_an_estimate_outside_of_the_returns_is_refused() -> None:
    with pytest.raises(ValueError, match=r"outside of the game's returns -9\.0 to 9\.0"):
        explained(COURSE, "minimax", depth=1, evaluate=lambda state, seat: 10.0)


# Other forms


@pytest.mark.parametrize("search", SEARCHES)
def test_json_has_the_whole_tree(search: str) -> None:
    tree = explained(COURSE, search)
    fields = json.loads(tree.json())
    assert (fields["search"], fields["nodes"]) == (search, tree.nodes)

    def count(node: dict[str, Any]) -> int:
        return 1 + sum(count(child) for child in node.get("children", ()))

    assert count(fields["root"]) == tree.nodes
    assert ("alpha" in fields["root"]) is SEARCHES[search].prunes


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (6.0, "6"),
        (-0.25, "−0.25"),
        (0.12345, "0.123"),
        (0.01234, "0.0123"),
        (-0.00001, "0"),
        (math.inf, "∞"),
        (30.0, "30"),
    ],
)
def test_numbers_as_people_write_them(value: float, text: str) -> None:
    assert number(value) == text


def test_probabilities_are_fractions_where_they_are() -> None:
    shown = [probability_text(p) for p in (1.0, 1 / 36, 1 / 18, 0.8, 0.137 / 3)]
    assert shown == ["1", "1/36", "1/18", "4/5", "0.0457"]


def test_a_cut_at_a_win_says_that_nothing_is_better() -> None:
    game = get_game("tic_tac_toe")
    state: Any = game.initial_state()
    for cell in (0, 3, 1, 5):
        state = state.after(cell)
    tree = explain(game, state, depth=2)
    assert tree.root.pruned
    assert (tree.root.value, tree.root.low, tree.root.high) == (1.0, 1.0, 1.0)
    assert "(no value is better than 100 %)" in tree.text()
    assert "≥" not in tree.text()


def test_a_limit_is_refused_with_what_to_write() -> None:
    game = get_game("tic_tac_toe")
    state: Any = game.initial_state()
    advice = r'write explain\(game, state, "alpha_beta", depth=2\)'
    with pytest.raises(TypeError, match=advice):
        explain(game, state, Limit(depth=2))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=advice):
        explain(game, state, depth=Limit(depth=2))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="max_nodes='many': expected a whole number"):
        explain(game, state, max_nodes="many")  # type: ignore[arg-type]


def test_values_are_chances_of_winning_where_a_match_is_won_or_lost() -> None:
    def title(game: Any, search: str) -> str:
        return explain(game, game.initial_state(), search, depth=1).title()

    assert "value 70 % for X" in title(get_game("tic_tac_toe"), "minimax")
    points = title(get_game("pig(seats=3)"), "maxn")
    assert "%" not in points
    written = title(tree_game("((1 -1) (0 1))"), "minimax")
    assert "%" not in written, "the numbers of a written tree are its own"
