"""Rankings of three seats and more."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plyhouse.server.results.pair_results import Played, ResultError, collect
from plyhouse.server.results.plackett_luce import Ranked, fit_rankings
from plyhouse.server.results.strengths import fit_strengths

SCALE = 400 / math.log(10)
TRUTH = {"a": 1650.0, "b": 1550.0, "c": 1500.0, "d": 1450.0, "e": 1350.0}


def simulate(rng: np.random.Generator, matches: int) -> list[Ranked[str]]:
    """Three of five at a time; the first seat is worth 60 points more than the last."""
    made = []
    for _ in range(matches):
        seats = tuple(list(TRUTH)[i] for i in rng.permutation(5)[:3])
        worth = [
            TRUTH[name] / SCALE + more / SCALE
            for name, more in zip(seats, (60, 20, 0), strict=True)
        ]
        made.append(Ranked(seats, tuple(float(each + rng.gumbel()) for each in worth)))
    return made


def test_two_seats_are_bradley_and_terrys_model() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(200):
        i, j = rng.permutation(4)[:2]
        rows.append((f"p{i}", f"p{j}", float(rng.choice([0.0, 0.5, 1.0]))))
    pairs = fit_strengths(collect([Played(*row) for row in rows]), shares=[""], errors="hessian")
    ranks = fit_rankings([Ranked((one, other), (s, 1 - s)) for one, other, s in rows])
    place = [ranks.index(name) for name in pairs.names]
    assert pairs.elo == pytest.approx(ranks.elo[place])
    assert pairs.covariance == pytest.approx(ranks.covariance[np.ix_(place, place)])
    assert pairs.seats[""][0] == pytest.approx(ranks.seats[""][0])
    assert pairs.score == pytest.approx(ranks.score[place])


def test_every_order_once_makes_equals() -> None:
    orders = list(permutations((2.0, 1.0, 0.0)))
    every = [Ranked(seats, order) for seats in permutations("xyz") for order in orders]
    circle = [Ranked(tuple("xyz"), order) for order in (orders[0], orders[3], orders[4])]
    for rows in (every, circle):
        fitted = fit_rankings(rows)
        assert fitted.elo == pytest.approx([1500.0] * 3)
        assert fitted.notes == ()


def test_a_first_choice_among_three_has_the_closed_form() -> None:
    # Only the winner is known: the others share the place.  a wins half, b and c a quarter each.
    rows = []
    for seats in permutations("abc"):
        for winner, count in (("a", 2000), ("b", 1000), ("c", 1000)):
            rows += [Ranked(seats, tuple(float(name == winner) for name in seats))] * count
    fitted = fit_rankings(rows, spread=11_000.0)
    # Sharing the last place is a draw with the other, which pulls towards equals: less than ten
    # times log10(2) of the odds alone, and in the same order.
    gap = float(fitted.elo[fitted.index("a")] - fitted.elo[fitted.index("b")])
    assert 0 < gap < 400 * math.log10(2)
    assert fitted.elo[fitted.index("b")] == pytest.approx(fitted.elo[fitted.index("c")])
    assert fitted.seats[""][0].elo == pytest.approx(0.0, abs=1e-6)


def test_strengths_and_seats_are_found_and_covered() -> None:
    rng = np.random.default_rng(6)
    truth = np.array(list(TRUTH.values()))
    hits = seats = 0
    runs = 80
    for _ in range(runs):
        fitted = fit_rankings(simulate(rng, 50), entries=TRUTH)
        off = np.abs(fitted.elo - truth)
        hits += int((off <= 1.96 * np.sqrt(fitted.covariance.diagonal())).sum())
        seats += sum(
            term.low <= known <= term.high
            for term, known in zip(fitted.seats[""], (60.0, 20.0), strict=True)
        )
    assert 0.93 <= hits / (5 * runs) <= 0.975
    assert 0.9 <= seats / (2 * runs) <= 0.99  # of few, correlated terms


def test_errors_from_pairs_agree_with_a_bootstrap() -> None:
    rng = np.random.default_rng(9)
    # Every match twice in its pair: the second tells nothing new.
    rows = [[each._replace(pair=number)] * 2 for number, each in enumerate(simulate(rng, 150))]
    fitted = fit_rankings([each for row in rows for each in row], entries=TRUTH)
    drawn = []
    for _ in range(60):
        some = rng.integers(0, len(rows), len(rows))
        sample = [each._replace(pair=None) for i in some for each in rows[i]]
        drawn.append(fit_rankings(sample, entries=TRUTH).elo)
    errors = np.sqrt(fitted.covariance.diagonal())
    assert errors == pytest.approx(np.std(drawn, axis=0), rel=0.3)
    naive = fit_rankings([each for row in rows for each in row], entries=TRUTH, errors="hessian")
    assert (errors > 1.2 * np.sqrt(naive.covariance.diagonal())).all()


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(st.permutations(range(4)), st.lists(st.integers(0, 3), min_size=3, max_size=3)),
        min_size=1,
        max_size=10,
    ),
    st.floats(-300, 300),
)
def test_laws(rows: list[tuple[list[int], list[int]]], constant: float) -> None:
    matches = [Ranked(tuple(names[:3]), tuple(map(float, values))) for names, values in rows]
    fitted = fit_rankings(matches, entries=range(4))
    again = fit_rankings(reversed(matches), entries=reversed(range(4)))
    assert fitted.elo == pytest.approx(again.elo[::-1], abs=1e-5)
    scaled = [m._replace(returns=tuple(3 * v + 1 for v in m.returns)) for m in matches]
    assert fit_rankings(scaled, entries=range(4)).elo == pytest.approx(fitted.elo, abs=1e-5)
    low = fit_rankings(matches, entries=range(4), anchors={0: 1500.0})
    high = fit_rankings(matches, entries=range(4), anchors={0: 1500.0 + constant})
    assert low.elo + constant == pytest.approx(high.elo, abs=1e-5)
    assert fitted.score.sum() == pytest.approx(1.5 * len(matches))


def test_who_won_everything_is_finite_and_named() -> None:
    fitted = fit_rankings(
        [Ranked(("a", "b", "c"), (2.0, 1.0, 0.0)), Ranked(("a", "c", "b"), (2.0, 1.0, 0.0))]
    )
    assert "'a' won everything" in fitted.notes[0]
    assert np.isfinite(fitted.elo).all()
    assert fit_rankings([], entries=["x"]).elo == pytest.approx([1500.0])


@pytest.mark.parametrize(
    ("match", "message"),
    [
        (Ranked(("a",), (1.0,)), "Match 1 has no two entries to compare"),
        (Ranked(("a", "b"), (1.0,)), "Match 1: 1 returns for 2 seats"),
        (Ranked(("a", "b", "c"), (1.0, math.nan, 0.0)), r"Match 1: .* are not all numbers"),
        (Ranked(("a", "b"), (1.0, 0.0)), "'the game' has 3 seats in others, and 2 here"),
        (Ranked(tuple("abcdefghijklm"), (0.0,) * 13, "big"), "more than 12 share a place"),
    ],
)
def test_what_is_no_ranking_is_refused(match: Ranked[str], message: str) -> None:
    with pytest.raises(ResultError, match=message):
        fit_rankings([Ranked(("a", "b", "c"), (1.0, 2.0, 3.0)), match])
