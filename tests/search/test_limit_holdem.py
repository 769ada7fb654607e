"""Policies for limit hold'em: the tree, the walks, buckets, training, files."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from plyhouse.games.hidden.texas_holdem.expected_strength import PAIRS
from plyhouse.learning.limit_holdem import (
    SHIPPED,
    Buckets,
    betting_tree,
    decisions,
    load_limit_policy,
    places,
    preflop_class,
    stored_rows,
)
from plyhouse.learning.limit_holdem_training import (
    LimitSettings,
    LimitTraining,
    canonical,
)
from plyhouse.search.files import InvalidFile
from plyhouse.search.kernels.betting_walks import (
    FOLDED,
    SHOWN,
    BettingKernel,
    BettingNode,
    fade,
)

SMALL = LimitSettings(seed=3, parts=(2, 2, 3), finer=(2, 1, 1), deals=20, boards=2)


def test_tree_has_all_bets_of_the_limit_game() -> None:
    found = decisions(betting_tree((1, 1, 1, 1)))
    counts = [sum([node.street == street for node in found]) for street in range(4)]
    # Eight decisions before the flop, ten later; seven ways to the flop, nine to each next round.
    assert counts == [8, 7 * 10, 7 * 9 * 10, 7 * 9 * 9 * 10]
    ends = [kid for node in found for kid in node.kids if kid.mover < 0]
    assert max([kid.stake for kid in ends]) == 48
    assert {kid.mover for kid in ends} == {FOLDED, SHOWN}
    assert len(places()) == len(found)


def test_classes_before_the_flop_are_those_of_the_chart() -> None:
    sizes: dict[int, int] = {}
    for pair in PAIRS:
        found = preflop_class(*pair)
        sizes[found] = sizes.get(found, 0) + 1
    assert len(sizes) == 169
    assert sorted(sizes.values()) == [4] * 78 + [6] * 13 + [12] * 78


def test_flops_are_1755() -> None:
    rng = random.Random(2)
    flops = [tuple(rng.sample(range(52), 3)) for _ in range(300)]
    found = {canonical(flop) for flop in flops}
    assert {canonical(flop) for flop in found} == found
    assert all(sorted(card // 4 for card in flop) for flop in found)
    assert len({canonical((a, b, c)) for a in (0, 1) for b in (5, 6) for c in (8, 11)}) < 8


def kuhn() -> tuple[BettingKernel, list[BettingNode]]:
    """Kuhn poker: an ante of one chip, a bet of one, three cards."""

    def end(mover: int, stake: float) -> BettingNode:
        return BettingNode(mover, 0, stake)

    def decision(mover: int, kids: list[BettingNode]) -> BettingNode:
        node = BettingNode(mover, 0, 0.0)
        node.spread(kids, 3)
        return node

    answer = decision(0, [end(FOLDED, -1.0), end(SHOWN, 2.0)])
    checked = decision(1, [end(SHOWN, 1.0), answer])
    bet = decision(1, [end(FOLDED, 1.0), end(SHOWN, 2.0)])
    root = decision(0, [checked, bet])
    return BettingKernel(root), [root, checked, answer, bet]


def test_walks_find_an_equilibrium_of_kuhn_poker() -> None:
    kernel, nodes = kuhn()
    cards = [0, 1, 2]
    for period in range(1, 41):
        kernel.run(cards, [9, 8, 7], cards, [cards] * 4, 4000, period)
        fade(nodes[0], period / (period + 1))
    chance: list[list[list[float]]] = []
    for node in nodes:
        rows = [node.totals[2 * card : 2 * card + 2] for card in cards]
        chance.append([[each / sum(row) for each in row] for row in rows])
    root, checked, answer, bet = chance
    assert bet[0][1] < 0.02  # the jack never calls
    assert bet[2][0] < 0.02  # the king never folds
    assert bet[1][1] == pytest.approx(1 / 3, abs=0.06)
    assert checked[0][1] == pytest.approx(1 / 3, abs=0.06)
    assert checked[2][1] > 0.98
    assert root[2][1] == pytest.approx(3 * root[0][1], abs=0.12)
    assert answer[1][1] == pytest.approx(root[0][1] + 1 / 3, abs=0.08)


def test_buckets_are_equally_likely_and_the_same_one_by_one() -> None:
    rng = random.Random(5)
    sample = [(rng.random(), rng.random()) for _ in range(3000)]
    buckets = Buckets.of_samples([sample] * 3, (5, 4, 3), (2, 1, 1))
    assert buckets.counts() == (169, 10, 4, 3)
    found = [buckets.bucket(1, mean, square) for mean, square in sample]
    assert all(280 < found.count(bucket) < 320 for bucket in range(10))
    import numpy as np

    means, squares = np.array(sample).T
    assert buckets.of_all(1, means, squares).tolist() == found


def test_training_continues_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    whole = LimitTraining(SMALL)
    whole.run(160)
    begun = LimitTraining(SMALL)
    begun.run(80)
    begun.save(tmp_path / "kept")
    again = LimitTraining.load(tmp_path / "kept")
    assert (again.played, again.settings) == (80, SMALL)
    again.run(160)
    assert again.text() == whole.text()


def test_policy_is_the_same_after_a_file(tmp_path: Path) -> None:
    training = LimitTraining(SMALL)
    training.run(160)
    path = tmp_path / "policy.toml"
    path.write_text(training.text())
    policy = load_limit_policy(path)
    assert (policy.deals, policy.seed, policy.rows) == (160, 3, stored_rows(training.root))
    shares = policy.shares(((),), preflop_class(50, 51))
    assert set(shares) == {0, 1, 2}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert set(policy.shares((("c", "c"), ()), 0)) == {1, 2}
    with pytest.raises(KeyError):
        policy.shares((("f",),), 0)
    path.write_text(training.text().replace("table = '''\n", "table = '''\nAAAA"))
    with pytest.raises(InvalidFile, match="damaged"):
        load_limit_policy(path)
    path.write_text("format = 1")
    with pytest.raises(InvalidFile, match="no policy"):
        load_limit_policy(path)


def test_shipped_policy_plays_strong_hands_and_folds_weak_ones() -> None:
    policy = load_limit_policy(SHIPPED)
    assert SHIPPED.stat().st_size < 1_000_000
    aces = policy.shares((("r",),), preflop_class(50, 51))
    worst = policy.shares((("r",),), preflop_class(0, 21))
    assert aces[2] > 0.7
    assert aces[0] < 0.05
    assert worst[2] < aces[2]
    assert worst[0] > aces[0]
