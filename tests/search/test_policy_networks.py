"""Networks with a policy and a value: views of boards, gradient, search trees, files."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plyhouse.games import get_game
from plyhouse.learning.alphazero_curve import chosen
from plyhouse.learning.board_views import view_of
from plyhouse.learning.policy_networks import (
    PolicyNetwork,
    evaluator_by,
    load_policy_network,
    search_together,
    shipped_network,
    write_policy_network,
)
from plyhouse.search import Limit, puct
from plyhouse.search.files import InvalidFile
from plyhouse.search.kernels import kernel_for
from plyhouse.search.kernels.self_play import SelfPlayTree

GAMES = (
    "tic_tac_toe",
    "connect_four",
    "connect_four(columns=5,rows=4)",
    "breakthrough",
    "breakthrough(size=5)",
)


def small_network(spec: str, seed: int = 1, *, direct: bool = False) -> PolicyNetwork:
    network = PolicyNetwork(view_of(get_game(spec)), 3, 5, direct=direct)
    network.randomize(seed)
    rng = np.random.default_rng(seed)
    network.weights[4][:] = rng.standard_normal(network.weights[4].shape)
    return network


def random_match(spec: str, seed: int) -> Iterator[tuple[Any, int]]:
    """Yield the positions of a match of random actions, each with its action."""
    rng = random.Random(seed)
    state: Any = get_game(spec).initial_state()
    while state.to_move >= 0:
        action = rng.choice(state.actions())
        yield state, action
        state = state.after(action)


@pytest.mark.parametrize("spec", GAMES)
def test_symmetry_shows_the_match_of_turned_actions(spec: str) -> None:
    view = view_of(get_game(spec))
    ways = view.symmetries
    assert len(ways) == (8 if spec == "tic_tac_toe" else 2)
    assert ways[0][0].tolist() == list(range(view.inputs))
    for seed in range(3):
        for cells, actions in ways:
            turned: Any = get_game(spec).initial_state()
            for state, action in random_match(spec, seed):
                shown = view.encode(view.words([state]))
                assert (view.encode(view.words([turned])) == shown[:, cells]).all()
                places = view.places[state.to_move]
                wanted = actions.tolist().index(places[action])
                turned = turned.after(
                    next(each for each in turned.actions() if places[each] == wanted)
                )


@pytest.mark.parametrize("spec", GAMES)
def test_places_of_legal_actions_are_distinct_logits(spec: str) -> None:
    view = view_of(get_game(spec))
    for state, _ in random_match(spec, 4):
        found = [view.places[state.to_move][action] for action in state.actions()]
        assert len(set(found)) == len(found)
        assert all(0 <= place < view.actions for place in found)


def test_connect_four_shows_own_other_and_next_discs() -> None:
    game = get_game("connect_four")
    state: Any = game.initial_state()
    for action in (4, 4, 1):
        state = state.after(action)
    view = view_of(game)
    own, other, free, *_ = view.encode(view.words([state])).reshape(8, 6, 7)
    assert np.argwhere(own).tolist() == [[1, 3]]
    assert np.argwhere(other).tolist() == [[0, 0], [0, 3]]
    assert np.argwhere(free).tolist() == [[0, 1], [0, 2], [0, 4], [0, 5], [0, 6], [1, 0], [2, 3]]


@pytest.mark.parametrize(
    "spec",
    ["connect_four", "connect_four(columns=5,rows=4,connect=3)", "connect_four(columns=8)"],
)
def test_connect_four_shows_the_cells_that_complete_a_line(spec: str) -> None:
    game = get_game(spec)
    start: Any = game.initial_state()
    rows, columns, connect = start.shape.rows, start.shape.columns, start.shape.connect
    view = view_of(game)
    seen = 0
    for seed in range(12):
        for state, _ in random_match(spec, seed):
            planes = view.encode(view.words([state])).reshape(8, rows, columns)
            own, other, _, mine, theirs = planes[:5]
            for pieces, shown in ((own, mine), (other, theirs)):
                found = np.zeros((rows, columns))
                for row in range(rows):
                    for column in range(columns):
                        if own[row, column] or other[row, column]:
                            continue
                        added = pieces.copy()
                        added[row, column] = 1
                        found[row, column] = has_line(added, row, column, connect)
                assert found.tolist() == shown.tolist()
                seen += int(found.sum())
    assert seen > 50


def test_connect_four_shows_lines_that_parity_gives_to_a_seat() -> None:
    game = get_game("connect_four")
    view = view_of(game)

    def shown(actions: tuple[int, ...]) -> list[list[list[int]]]:
        planes = view.encode(view.words([reached(game, actions)])).reshape(8, 6, 7)
        return [np.argwhere(plane).tolist() for plane in planes[3:7]]

    # The first seat has c1, d1 and e1, the second c2, d2 and e2. Both get their lines.
    ends = [[[0, 1], [0, 5]], [[1, 1], [1, 5]]]
    assert shown((3, 3, 4, 4, 5, 5)) == ends * 2
    # The second seat has c1, d1 and e1, but the first seat gets this row.
    assert shown((1, 3, 1, 4, 2, 5)) == [[], [[0, 5]], [], []]
    # The same for the second seat to move, as the first has a1, a2, b1 and a3.
    assert shown((1, 3, 1, 4, 2, 5, 1)) == [[[0, 5]], [[3, 0]], [], []]


@pytest.mark.parametrize("spec", ["connect_four", "connect_four(columns=5,rows=5)"])
def test_connect_four_shows_empty_cells_in_the_rows_of_the_mover(spec: str) -> None:
    view = view_of(get_game(spec))
    for state, _ in random_match(spec, 6):
        planes = view.encode(view.words([state])).reshape(8, view.rows, view.columns)
        own, other, _, mine, theirs, mine_got, theirs_got, got = planes
        rows = np.zeros((view.rows, view.columns))
        rows[state.to_move :: 2] = 1
        assert (got == rows * (1 - own) * (1 - other)).all()
        assert (mine_got == mine * rows).all()
        assert (theirs_got == theirs * (1 - rows)).all()


def has_line(pieces: Any, row: int, column: int, connect: int) -> bool:
    """Return whether a line of pieces, one cell after another, includes a cell."""
    for up, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        length = 1
        for way in (1, -1):
            at, beside = row + way * up, column + way * right
            while (
                0 <= at < len(pieces) and 0 <= beside < len(pieces[0]) and pieces[at, beside] == 1
            ):
                length += 1
                at, beside = at + way * up, beside + way * right
        if length >= connect:
            return True
    return False


def test_breakthrough_shows_both_seats_their_pawns_below() -> None:
    game = get_game("breakthrough(size=5)")
    view = view_of(game)
    white: Any = game.initial_state()
    black = white.after(game.parse(white, "a2a3"))
    own, other = view.encode(view.words([black])).reshape(2, 5, 5)
    assert own[:2].all()
    assert not own[2:].any()
    assert other[2].tolist() == [1, 0, 0, 0, 0]
    step = view.places[1][game.parse(black, "b4b3")]
    assert step == view.places[0][game.parse(white, "b2b3")]


def test_game_without_view_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no view of kalah for networks, only of these games: br"):
        view_of(get_game("kalah"))


@pytest.mark.parametrize("direct", [False, True])
def test_gradient_agrees_with_differences(direct: bool) -> None:
    network = small_network("connect_four(columns=5,rows=4)", direct=direct)
    network.weights = [np.asarray(weight, np.float64) for weight in network.weights]
    view = network.view
    rng = np.random.default_rng(2)
    states = [state for state, _ in random_match(view.spec, 3)][:6]
    inputs: Any = view.encode(view.words(states)).astype(np.float64)
    legal = np.array([[column + 1 in s.actions() for column in range(5)] for s in states])
    policies = rng.uniform(size=legal.shape) * legal
    policies /= policies.sum(axis=1, keepdims=True)
    values = rng.uniform(-1, 1, len(states))

    def loss() -> float:
        logits, found = network.function()(inputs)
        odds = np.exp(logits) * legal
        shares = odds / odds.sum(axis=1, keepdims=True)
        entropy = -(policies * np.log(shares + 1e-300)).sum(axis=1)
        wins = -((1 + values) * np.log1p(found) + (1 - values) * np.log1p(-found)) / 2
        return float((entropy + wins).mean())

    slopes = network.gradient(inputs, legal, policies, values)  # type: ignore[arg-type]
    step = 1e-6
    for weight, slope in zip(network.weights, slopes, strict=True):
        assert np.abs(slope).max() > 0
        flat = weight.reshape(-1)
        for index in range(0, flat.size, 1 + flat.size // 40):
            kept = flat[index]
            flat[index] = kept + step
            above = loss()
            flat[index] = kept - step
            below = loss()
            flat[index] = kept
            assert slope.reshape(-1)[index] == pytest.approx((above - below) / (2 * step), abs=1e-7)


@pytest.mark.parametrize("spec", GAMES)
def test_trees_searched_together_have_the_visits_of_puct(spec: str) -> None:
    game = get_game(spec)
    network = small_network(spec)
    view = network.view
    # One position a call: matrices of other shapes may round in another way.
    apply = network.function()
    for state, _ in list(random_match(spec, 5))[::6]:
        tree = kernel_for(SelfPlayTree, state)(view.places, 1.25)
        tree.plant(state)
        search_together([tree], 61, view, apply)
        found = puct(game, state, Limit(simulations=60), evaluator=evaluator_by(network))
        children = dict(zip(state.actions(), tree.root.children, strict=True))
        assert {a: each.visits for a, each in children.items() if each.visits} == found.visits
        assert found.action == chosen(network, [state], 60)[0]
        for action, value in found.values.items():
            child = children[action]
            if child.lower == child.upper:
                assert value == (child.lower if state.to_move == 0 else -child.lower)
            else:
                assert value == pytest.approx(child.total / child.visits, abs=1e-6)


def test_tree_keeps_the_part_after_the_action_played() -> None:
    network = small_network("connect_four")
    state: Any = get_game("connect_four").initial_state()
    tree = kernel_for(SelfPlayTree, state)(network.view.places, 1.25)
    tree.plant(state)
    search_together([tree], 101, network.view, network.function())
    visits = [child.visits for child in tree.root.children]
    place = int(np.argmax(visits))
    tree.advance(place)
    assert sum(child.visits for child in tree.root.children) == visits[place] - 1
    assert tree.root.state.key() == state.after(place + 1).key()
    tree.advance(int(np.argmin(tree.shares())))
    assert tree.root.mover == 0


def exact(state: Any) -> float:
    """Return the value of a position of tic-tac-toe for seat 0, by minimax."""
    if state.to_move < 0:
        return float(state.returns()[0])
    values = [exact(state.after(action)) for action in state.actions()]
    return max(values) if state.to_move == 0 else min(values)


def nodes(branch: Any) -> Iterator[Any]:
    """Yield the nodes of a tree of self-play."""
    yield branch
    for child in branch.children:
        yield from nodes(child)


def test_bounds_of_trees_hold_the_exact_value() -> None:
    network = small_network("tic_tac_toe")
    proven = set()
    for seed in range(8):
        for state, _ in list(random_match("tic_tac_toe", seed))[2:]:
            tree = kernel_for(SelfPlayTree, state)(network.view.places, 1.25)
            tree.plant(state)
            search_together([tree], 40, network.view, network.function())
            for node in nodes(tree.root):
                assert node.lower <= exact(node.state) <= node.upper
                if node.children and node.lower == node.upper:
                    proven.add(node.lower)
    assert proven == {-1.0, 0.0, 1.0}


@pytest.mark.parametrize(
    ("actions", "best", "value", "most"),
    [
        ((0, 3, 1, 4), 2, 1.0, 0),  # completes a line at once
        ((0, 3, 1), 2, None, 30),  # has to stop a line
        ((0, 1, 4), None, -1.0, 60),  # loses in any case
    ],
)
def test_search_ends_when_the_value_of_the_root_is_exact(
    actions: tuple[int, ...], best: int | None, value: float | None, most: int
) -> None:
    game = get_game("tic_tac_toe")
    network = small_network("tic_tac_toe")
    state = reached(game, actions)
    evaluator = evaluator_by(network)
    asked = []

    def counted(position: Any) -> Any:
        asked.append(position)
        return evaluator(position)

    found = puct(game, state, Limit(simulations=500), evaluator=counted)
    assert best is None or found.action == best
    assert value is None or found.value == value
    assert len(asked) <= most
    assert found.simulations < 500
    assert chosen(network, [state], 500) == [found.action]


def reached(game: Any, actions: tuple[int, ...]) -> Any:
    """Return the position after some actions."""
    state = game.initial_state()
    for action in actions:
        state = state.after(action)
    return state


def test_shares_of_an_exact_root_lie_on_best_actions() -> None:
    network = small_network("tic_tac_toe")
    state = reached(get_game("tic_tac_toe"), (0, 3, 1, 4))
    tree = kernel_for(SelfPlayTree, state)(network.view.places, 1.25)
    tree.plant(state)
    assert tree.descend() is None  # an action wins: no question to the network
    assert tree.value() == 1.0
    assert dict(zip(state.actions(), tree.shares(), strict=True))[2] == 1.0


def test_noise_is_mixed_into_the_priors_of_the_root() -> None:
    network = small_network("tic_tac_toe")
    state: Any = get_game("tic_tac_toe").initial_state()
    tree = kernel_for(SelfPlayTree, state)(network.view.places, 1.25)
    tree.plant(state)
    search_together([tree], 1, network.view, network.function())
    before = [child.prior for child in tree.root.children]
    assert sum(before) == pytest.approx(1)
    tree.add_noise([1.0, *[0.0] * 8], 0.25)
    after = [child.prior for child in tree.root.children]
    expected = [0.75 * before[0] + 0.25, *[0.75 * prior for prior in before[1:]]]
    assert after == pytest.approx(expected)


def written(path: Path, spec: str = "connect_four") -> str:
    text = write_policy_network(small_network(spec), "for a test", [(100, 0.5, 0.1)])
    path.write_text(text, encoding="utf-8")
    return text


def test_file_has_the_same_outputs_up_to_rounding(tmp_path: Path) -> None:
    path = tmp_path / "network.toml"
    written(path)
    network = load_policy_network(path, get_game("connect_four"))
    view = network.view
    states = [state for state, _ in random_match("connect_four", 1)]
    inputs = view.encode(view.words(states))
    for read, kept in zip(
        network.function()(inputs), small_network("connect_four").function()(inputs), strict=True
    ):
        assert read == pytest.approx(kept, abs=2e-2)
    assert tomllib.loads(path.read_text(encoding="utf-8"))["curve"] == [[100, 0.5, 0.1]]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("format = ", "format ", "this is not a network: "),
        ("plyhouse-policy-network-1", "other", "this is not a network of format"),
        ("direct = false", "direct = 1", "its direct is not true or false"),
        ("channels = 3", 'channels = "3"', "its channels is missing or of the wrong type"),
        ("hidden = 5", "", "its hidden is missing or of the wrong type"),
        ("hidden = 5", "hidden = 0", "3 channels and 0 hidden units, expected 1 to 4096"),
        ("hidden = 5", "hidden = 6", "weights, expected"),
        ('"connect_four"', '"kalah"', "its game does not fit: there is no view of kalah"),
        ('"connect_four"', '"connect_fur"', "its game does not fit: "),
        ("sha256", "sum", "its weights do not fit their checksum: it is damaged"),
        ('weights = """\\\n', 'weights = """\\\n*', "its weights cannot be decoded"),
    ],
)
def test_file_that_does_not_fit_is_refused_with_the_reason(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    path = tmp_path / "network.toml"
    text = written(path)
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InvalidFile) as refused:
        load_policy_network(path)
    assert str(path) in str(refused.value)
    assert reason in str(refused.value)


def test_file_with_weights_that_are_not_finite_is_refused(tmp_path: Path) -> None:
    network = small_network("tic_tac_toe")
    network.weights[1][0] = np.nan
    path = tmp_path / "network.toml"
    path.write_text(write_policy_network(network, "", []), encoding="utf-8")
    with pytest.raises(InvalidFile, match="its weights are not finite"):
        load_policy_network(path)


def test_file_of_another_board_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "network.toml"
    written(path, "breakthrough(size=5)")
    with pytest.raises(InvalidFile, match=r"plays breakthrough\(size=5\), not breakthrough$"):
        load_policy_network(path, get_game("breakthrough"))


def test_only_the_shipped_board_has_a_shipped_network() -> None:
    assert shipped_network(get_game("connect_four")) is not None
    assert shipped_network(get_game("connect_four(columns=8)")) is None
    assert shipped_network(get_game("kalah")) is None
