"""Star1 and Star2: the values of expectiminimax at fewer nodes; sampled chance nodes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, SearchResult, alpha_beta, expectiminimax

Tree = Callable[..., tuple[Game, Any]]

PRUNINGS = ("star1", "star2")


def moves(state: Any) -> list[Any]:
    if state.to_move == CHANCE:
        return [outcome for outcome, _ in state.chance_outcomes()]
    return list(state.actions())


def positions(spec: str, count: int, longest: int, seed: int = 1) -> tuple[Game, list[Any]]:
    """Positions met in random play, in which a seat is to move."""
    game = get_game(spec)
    rng = random.Random(seed)
    found: list[Any] = []
    while len(found) < count:
        state: Any = game.initial_state()
        for _ in range(rng.randint(0, longest)):
            if state.to_move == TERMINAL:
                break
            state = state.after(rng.choice(moves(state)))
        while state.to_move == CHANCE:
            state = state.after(rng.choice(moves(state)))
        if state.to_move >= 0:
            found.append(state)
    return game, found


def assert_same(plain: SearchResult, pruned: SearchResult) -> None:
    assert pruned.value == pytest.approx(plain.value, abs=1e-12)
    assert plain.values[pruned.action] == pytest.approx(plain.value, abs=1e-12)
    assert pruned.exact or not plain.exact
    for action, bound in pruned.values.items():
        assert bound >= plain.values[action] - 1e-12, "an upper bound"


@pytest.mark.parametrize(
    ("spec", "longest", "depths"),
    [
        ("pig", 60, (1, 2, 4, 6)),
        ("pig(target=12)", 20, (3, 5, 7)),
        ("pig(sides=2,target=9)", 12, (7, 9)),
        ("einstein", 30, (2, 3, 4)),
        ("backgammon", 100, (1, 2)),
    ],
)
def test_pruning_does_not_change_values_but_saves_nodes(
    spec: str, longest: int, depths: tuple[int, ...]
) -> None:
    game, states = positions(spec, 8, longest)
    for depth in depths:
        nodes = dict.fromkeys(("none", *PRUNINGS), 0)
        for state in states:
            plain = expectiminimax(game, state, Limit(depth=depth))
            nodes["none"] += plain.nodes
            for pruning in PRUNINGS:
                pruned = expectiminimax(game, state, Limit(depth=depth), pruning=pruning)
                assert_same(plain, pruned)
                nodes[pruning] += pruned.nodes
        assert nodes["star2"] <= nodes["star1"] <= nodes["none"]
        if depth > 2:
            assert nodes["star2"] < nodes["star1"] < nodes["none"]


def test_star2_looks_at_less_than_half_of_a_backgammon_tree() -> None:
    game, states = positions("backgammon", 3, 60, seed=4)
    nodes = {
        pruning: sum(
            expectiminimax(game, state, Limit(depth=3), pruning=pruning).nodes for state in states
        )
        for pruning in ("none", *PRUNINGS)
    }
    assert 2 * nodes["star2"] < nodes["none"]
    assert nodes["star1"] < nodes["none"]


@settings(max_examples=40, deadline=None)
@given(data=st.data(), depth=st.integers(1, 4))
def test_einstein_positions_of_any_kind(data: st.DataObject, depth: int) -> None:
    game = get_game("einstein")
    state: Any = game.initial_state()
    for _ in range(data.draw(st.integers(0, 40))):
        if state.to_move == TERMINAL:
            break
        following = state.after(data.draw(st.sampled_from(moves(state))))
        if following.to_move == TERMINAL:
            break
        state = following
    while state.to_move == CHANCE:
        state = state.after(moves(state)[0])
    plain = expectiminimax(game, state, Limit(depth=depth))
    for pruning in PRUNINGS:
        assert_same(plain, expectiminimax(game, state, Limit(depth=depth), pruning=pruning))


def grown(rng: random.Random, roll: Any, depth: int, width: int, kinds: float) -> Any:
    """A tree of seats and dice in any order, with values that are often equal."""
    if depth == 0 or rng.random() < 0.08:
        return rng.choice((-100.0, 100.0, float(rng.randint(-3, 3))))
    children = [grown(rng, roll, depth - 1, width, kinds) for _ in range(rng.randint(1, width))]
    if rng.random() < kinds:
        weights = [rng.randint(0, 4) for _ in children]
        weights[0] += 1
        total = sum(weights)
        return roll(*[(w / total, child) for w, child in zip(weights, children, strict=True)])
    return tuple(children)


@pytest.mark.parametrize("kinds", [0.0, 0.3, 0.6])
def test_random_trees_with_dice_anywhere(tree: Tree, roll: Any, kinds: float) -> None:
    for seed in range(150):
        rng = random.Random(seed)
        node = tuple(grown(rng, roll, 5, 4, kinds) for _ in range(3))
        for depth in (2, 4, 8):
            root = tree(node, seed % 2, chance=True)
            limit = Limit(depth=depth)
            plain = expectiminimax(*root, limit, evaluate=lambda state, seat: 0.5 - seat)
            for pruning in PRUNINGS:
                pruned = expectiminimax(
                    *root, limit, evaluate=lambda state, seat: 0.5 - seat, pruning=pruning
                )
                assert_same(plain, pruned)
                # Deepened, it ends when the outcome is certain: the value is the same.
                deepened = expectiminimax(
                    *root,
                    Limit(depth=depth, nodes=10**8),
                    evaluate=lambda state, seat: 0.5 - seat,
                    pruning=pruning,
                )
                assert deepened.value == pytest.approx(plain.value, abs=1e-12)


def test_without_chance_nodes_it_is_alpha_beta() -> None:
    game = get_game("tic_tac_toe")
    result = expectiminimax(game, game.initial_state(), pruning="star1")
    assert (result.value, result.exact) == (0.0, True)
    assert result.nodes < 50_000
    assert alpha_beta(game, game.initial_state()).value == 0.0


def test_a_chance_node_is_left_when_the_rest_cannot_matter(tree: Tree, roll: Any) -> None:
    # The first action is worth 50; after -100 with 1/2 the second is worth 0 at most.
    node = (50.0, roll((0.5, -100.0), (0.5, (1.0, 2.0))))
    game, state = tree(node, chance=True)
    result = expectiminimax(game, state, pruning="star1")
    assert (result.action, result.value) == (0, 50.0)
    assert -100.0 in state.visits
    assert (1.0, 2.0) not in state.visits
    assert result.values[1] == 0.0


def test_one_answer_to_each_outcome_is_enough_for_star2(tree: Tree, roll: Any) -> None:
    # The opponent's first answer to either roll is worth -60: no need to see the others.
    node = (50.0, roll((0.5, (-60.0, 7.0)), (0.5, (-60.0, 8.0))))
    game, state = tree(node, chance=True)
    # Below the roll the opponent of seat 0 moves.
    expectiminimax(game, state, pruning="star2")
    assert 7.0 not in state.visits
    assert 8.0 not in state.visits
    game, state = tree(node, chance=True)
    expectiminimax(game, state, pruning="none")
    assert {7.0, 8.0} <= {visit for visit in state.visits if isinstance(visit, float)}


def test_tighter_bounds_prune_more_and_wrong_ones_are_noticed(tree: Tree, roll: Any) -> None:
    rng = random.Random(3)

    def node(depth: int) -> Any:
        if depth == 0:
            return rng.random()
        children = [node(depth - 1) for _ in range(3)]
        return tuple(children) if depth % 2 else roll(*[(1 / 3, child) for child in children])

    root = tree(tuple(node(4) for _ in range(3)), chance=True)
    wide = expectiminimax(*root, pruning="star1")
    tight = expectiminimax(*root, pruning="star1", bounds=(0.0, 1.0))
    assert tight.value == wide.value
    assert tight.nodes < wide.nodes
    with pytest.raises(ValueError, match=r"outside of the bounds 0.0 to 0.5"):
        expectiminimax(*root, pruning="star1", bounds=(0.0, 0.5))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pruning": "star3"}, "expected one of 'none', 'star1', 'star2'"),
        ({"bounds": (1.0, 1.0)}, "the least value first"),
        ({"bounds": (0.0, float("inf"))}, "two finite numbers"),
        ({"chance_samples": 0}, "expected at least 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: Any, said: str) -> None:
    game = get_game("pig")
    with pytest.raises(ValueError, match=said):
        expectiminimax(game, game.initial_state(), Limit(depth=2), **options)
    with pytest.raises(TypeError, match="a whole number"):
        expectiminimax(game, game.initial_state(), Limit(depth=2), chance_samples=2.5)  # type: ignore[arg-type]


def test_sampling_does_not_touch_nodes_with_few_outcomes() -> None:
    game, states = positions("pig", 5, 30)
    for state in states:
        plain = expectiminimax(game, state, Limit(depth=5))
        sampled = expectiminimax(game, state, Limit(depth=5), chance_samples=6, seed=9)
        assert sampled.value == plain.value
        assert sampled.exact == plain.exact


def test_a_sampled_chance_node_is_unbiased_but_a_choice_among_them_is_not(
    tree: Tree, roll: Any
) -> None:
    rng = random.Random(5)

    def dice() -> Any:
        return roll(*[(0.1, float(rng.randint(-50, 50))) for _ in range(10)])

    single = dice()
    true = sum(weight * value for weight, value in single.outcomes)

    def values(node: Any, count: int) -> list[float]:
        return [
            expectiminimax(*tree(node, chance=True), chance_samples=count, seed=seed).value
            for seed in range(1, 801)
        ]

    def mean_and_spread(numbers: list[float]) -> tuple[float, float]:
        mean = sum(numbers) / len(numbers)
        variance = sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
        return mean, (variance / len(numbers)) ** 0.5

    for count in (1, 3, 4):
        mean, spread = mean_and_spread(values((single,), count))
        assert abs(mean - true) < 3.5 * spread
    # Two rolls with the same faces in another order are worth the same; the better of two
    # samples is worth more.
    faces = [value for _, value in single.outcomes]
    rng.shuffle(faces)
    other = roll(*[(0.1, face) for face in faces])
    mean, spread = mean_and_spread(values((single, other), 3))
    assert mean > true + 4 * spread
    wider, _ = mean_and_spread(values((single, other), 8))
    assert true < wider < mean, "the more samples, the less bias"
    exact = expectiminimax(*tree((single, other), chance=True), chance_samples=10)
    assert exact.value == pytest.approx(true)
    assert exact.exact
    assert not expectiminimax(*tree((single, other), chance=True), chance_samples=9).exact


def test_sampled_searches_are_repeatable_and_prune_to_the_same_value() -> None:
    game, states = positions("backgammon", 3, 60, seed=2)
    for state in states:
        for seed in (1, 2):
            limit = Limit(depth=3)
            plain = expectiminimax(game, state, limit, chance_samples=4, seed=seed)
            again = expectiminimax(game, state, limit, chance_samples=4, seed=seed)
            assert (plain.value, plain.nodes) == (again.value, again.nodes)
            full = expectiminimax(game, state, limit, pruning="star2")
            for pruning in PRUNINGS:
                pruned = expectiminimax(
                    game, state, limit, chance_samples=4, seed=seed, pruning=pruning
                )
                assert_same(plain, pruned)
                assert pruned.nodes < full.nodes
