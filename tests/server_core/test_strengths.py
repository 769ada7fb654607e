"""Ratings of a field: exact cases, invariances, intervals that cover, and what is refused."""

from __future__ import annotations

import math
import re
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from plyhouse.server.results.fitted import Fitted, any_time_factor
from plyhouse.server.results.pair_results import (
    Played,
    ResultError,
    Units,
    collect,
    collect_arrays,
)
from plyhouse.server.results.strengths import fit_strengths

SCALE = 400 / math.log(10)


def games(first: str, second: str, wins: int, draws: int, losses: int) -> list[Played[str]]:
    """As many games in each seat order: what the first seat is worth cancels out."""
    made = []
    for score, count in ((1.0, wins), (0.5, draws), (0.0, losses)):
        made += [Played(first, second, score)] * count
        made += [Played(second, first, 1.0 - score)] * count
    return made


def rating(fitted: Fitted[str], name: str) -> float:
    return float(fitted.elo[fitted.index(name)])


# ---------------------------------------------------------------------------- exact cases


def test_two_players_have_the_closed_form() -> None:
    fitted = fit_strengths(collect(games("a", "b", 300, 0, 100)), spread=350_000.0)
    assert rating(fitted, "a") - rating(fitted, "b") == pytest.approx(400 * math.log10(3), abs=1e-3)
    assert fitted.seats[""][0].elo == pytest.approx(0.0, abs=1e-6)
    # The error of a logit is 1 / sqrt(n p q); each stands half of it from the average.
    error = SCALE / math.sqrt(800 * 0.75 * 0.25)
    assert fitted.difference("a", "b")[1] == pytest.approx(error, rel=1e-3)
    assert fitted.estimates()[0].error == pytest.approx(error / 2, rel=1e-3)


def test_draws_of_two_players_have_davidsons_closed_form() -> None:
    fitted = fit_strengths(collect(games("a", "b", 4000, 6000, 1000)), spread=350_000.0)
    gap = rating(fitted, "a") - rating(fitted, "b")
    assert gap == pytest.approx(400 * math.log10(4), abs=0.02)
    nu = 6000 / math.sqrt(4000 * 1000)
    assert fitted.draws[""] == pytest.approx(nu / (2 + nu), abs=1e-4)


def test_the_first_seats_advantage_has_the_closed_form() -> None:
    played = [Played("a", "b", 1.0)] * 750 + [Played("a", "b", 0.0)] * 250
    played += [Played("b", "a", 1.0)] * 750 + [Played("b", "a", 0.0)] * 250
    fitted = fit_strengths(collect(played), spread=350_000.0)
    assert fitted.seats[""][0].elo == pytest.approx(400 * math.log10(3), abs=0.5)
    assert rating(fitted, "a") == pytest.approx(rating(fitted, "b"))
    term = fitted.seats[""][0]
    assert term.high - term.elo == pytest.approx(1.96 * SCALE / math.sqrt(2000 * 3 / 16), rel=0.01)


def test_each_game_has_its_own_seat_and_draws() -> None:
    played = [Played("a", "b", 1.0, "go"), Played("b", "a", 1.0, "go")] * 50
    played += [Played("a", "b", 0.5, "chess"), Played("b", "a", 0.5, "chess")] * 50
    fitted = fit_strengths(collect(played))
    assert fitted.seats["go"][0].elo > 500
    assert fitted.seats["chess"][0].elo == pytest.approx(0.0, abs=1e-6)
    assert fitted.draws["chess"] > 0.9
    assert "go" not in fitted.draws


@pytest.mark.parametrize("draws", [0, 5])
def test_a_cycle_of_three_is_three_equals(draws: int) -> None:
    played = [each for one, other in ("ab", "bc", "ca") for each in games(one, other, 10, draws, 2)]
    fitted = fit_strengths(collect(played))
    assert fitted.elo == pytest.approx([1500.0] * 3)
    assert fitted.ranks() == [(1, 3)] * 3
    assert fitted.superiority("a", "b") == pytest.approx(0.5)
    assert fitted.notes == ()


def test_after_a_balanced_round_robin_ratings_rank_as_scores_do() -> None:
    rng = np.random.default_rng(5)
    played = []
    for one, other in permutations("abcdefg", 2):
        played += [Played(one, other, float(rng.choice([0, 0.5, 1]))) for _ in range(11)]
    fitted = fit_strengths(collect(played))
    order = np.argsort(fitted.elo)
    assert (np.diff(fitted.score[order]) >= 0).all()


def test_all_draws_are_equals_and_finite() -> None:
    fitted = fit_strengths(collect(games("a", "b", 0, 20, 0)))
    assert fitted.elo == pytest.approx([1500.0, 1500.0])
    assert np.isfinite(fitted.covariance).all()
    assert 0.5 < fitted.draws[""] < 1.0


def test_shares_of_points_are_fitted_by_their_mean() -> None:
    units = collect([Played("a", "b", 0.6), Played("b", "a", 0.4)] * 5000)
    fitted = fit_strengths(units, shares=[""], spread=350_000.0)
    gap = rating(fitted, "a") - rating(fitted, "b")
    assert gap == pytest.approx(400 * math.log10(1.5), abs=1e-3)
    # They never vary, which a law of wins would not know.
    wins = fit_strengths(units, shares=[""], errors="hessian", spread=350_000.0)
    assert fitted.difference("a", "b")[1] < 0.1 * wins.difference("a", "b")[1]


# --------------------------------------------------------------------------- invariances

ROWS = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 4),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.sampled_from(["x", "y"]),
        st.integers(0, 2),
    ).filter(lambda row: row[0] != row[1]),
    min_size=1,
    max_size=25,
)


def made(rows: list[tuple[int, int, float, str, int]]) -> list[Played[int]]:
    """Games of which some are of one pair: the same two and the same game."""
    return [
        Played(a, b, score, game, (min(a, b), max(a, b), game, pair) if pair else None)
        for a, b, score, game, pair in rows
    ]


def same(one: Fitted[int], other: Fitted[int], *, shift: float = 0.0) -> None:
    """Both give the same for every name, in any order."""
    place = [other.index(name) for name in one.names]
    assert one.elo + shift == pytest.approx(other.elo[place], abs=1e-5)
    assert one.covariance == pytest.approx(
        other.covariance[np.ix_(place, place)], rel=1e-6, abs=1e-4
    )
    assert one.games == pytest.approx(other.games[place])
    assert one.score == pytest.approx(other.score[place])


def words(fitted: Fitted[int]) -> set[frozenset[str]]:
    """Those of each note: groups and names are listed in the order of the entries."""
    return {frozenset(re.findall(r"\w+", note)) for note in fitted.notes}


@settings(max_examples=25, deadline=None)
@example(
    [(0, 2, 0.5, "x", 0), (1, 3, 0.0, "x", 0), (4, 0, 1.0, "x", 0), (4, 3, 1.0, "x", 0)],
    [1, 0, 2, 3, 4],
)
@given(ROWS, st.permutations(range(5)))
def test_names_and_their_order_do_not_matter(
    rows: list[tuple[int, int, float, str, int]], names: list[int]
) -> None:
    one = fit_strengths(collect(made(rows), entries=range(5)))
    other = fit_strengths(collect(reversed(made(rows)), entries=names))
    same(one, other)
    assert words(one) == words(other)


@settings(max_examples=25, deadline=None)
@given(ROWS, st.floats(-500, 500), st.floats(-300, 300))
def test_anchors_moved_together_move_everybody(
    rows: list[tuple[int, int, float, str, int]], constant: float, apart: float
) -> None:
    units = collect(made(rows), entries=range(5))
    one = fit_strengths(units, anchors={0: 1500.0, 1: 1500.0 + apart})
    other = fit_strengths(units, anchors={0: 1500.0 + constant, 1: 1500.0 + apart + constant})
    same(one, other, shift=constant)
    assert rating(one, 0) == 1500.0  # type: ignore[arg-type]
    assert one.covariance[one.index(0)] == pytest.approx(0.0)


def test_the_order_of_seats_does_not_matter_to_who_is_better() -> None:
    turned = [Played(b, a, 1 - score) for a, b, score, *_ in games("a", "b", 7, 2, 3)]
    one = fit_strengths(collect(games("a", "b", 7, 2, 3)))
    other = fit_strengths(collect(turned))
    assert rating(one, "a") == pytest.approx(rating(other, "a"))


# ----------------------------------------------------------------------------- intervals

TRUTH = {"a": 1650.0, "b": 1560.0, "c": 1500.0, "d": 1440.0, "e": 1350.0}


def simulate(
    rng: np.random.Generator, pairs: int, *, luck: float = 0.0, nu: float = 0.8
) -> Units[str]:
    """A round robin of mirrored pairs; ``luck`` is the share of pairs that share their dice.

    With the same dice what the first seat gets is the same in both games: the luckier seat wins.
    """
    each = np.array(list(combinations(range(len(TRUTH)), 2)))
    one, other = np.repeat(each, pairs, axis=0).T
    dice = rng.random((2, len(one)))
    dice[1] = np.where(rng.random(len(one)) < luck, dice[0], dice[1])
    elo = np.array(list(TRUTH.values()))
    first, second = np.concatenate([one, other]), np.concatenate([other, one])
    t = (elo[first] - elo[second] + 40.0) / SCALE
    win, loss = np.exp(t / 2), np.exp(-t / 2)
    total, die = win + nu + loss, dice.ravel()
    scores = np.where(die < win / total, 1.0, np.where(die < (win + nu) / total, 0.5, 0.0))
    return collect_arrays(list(TRUTH), first, second, scores, pair=np.tile(np.arange(len(one)), 2))


@pytest.mark.parametrize("luck", [0.0, 1.0])
def test_errors_agree_with_a_bootstrap_over_pairs(luck: float) -> None:
    rng = np.random.default_rng(11)
    units = simulate(rng, 40, luck=luck)
    fitted = fit_strengths(units)
    drawn = np.array([fit_strengths(units.resampled(rng)).elo for _ in range(150)])
    errors = np.sqrt(fitted.covariance.diagonal())
    # They lean to the model a little, where units vary less than it says.
    ratio = errors / drawn.std(axis=0)
    assert ((ratio > 0.85) & (ratio < 1.3)).all()
    hessian = np.sqrt(fit_strengths(units, errors="hessian").covariance.diagonal())
    if luck:
        assert (hessian > 1.15 * errors).all()  # dice that both had even out within a pair
    else:
        assert errors == pytest.approx(hessian, rel=0.15)


@pytest.mark.parametrize(
    ("pairs", "luck", "errors"),
    [(3, 0.0, "hessian"), (15, 0.0, "hessian"), (15, 0.0, "pairs"), (15, 1.0, "pairs")],
)
def test_intervals_cover_the_truth(pairs: int, luck: float, errors: str) -> None:
    rng = np.random.default_rng(3)
    truth = np.array(list(TRUTH.values()))
    hits = 0
    runs = 120
    for _ in range(runs):
        fitted = fit_strengths(
            simulate(rng, pairs, luck=luck),
            errors="hessian" if errors == "hessian" else "pairs",
        )
        off = np.abs(fitted.elo - truth)
        hits += int((off <= 1.96 * np.sqrt(fitted.covariance.diagonal())).sum())
    assert 0.93 <= hits / (runs * len(truth)) <= 0.975


def field_of(
    rng: np.random.Generator, truth: NDArray[np.float64], pairs: int, *, luck: bool = False
) -> Units[int]:
    """A round robin of mirrored pairs; with ``luck``, most luck evens out in the second game."""
    one, other = np.repeat(np.array(list(combinations(range(len(truth)), 2))), pairs, axis=0).T
    dice = rng.random((2, len(one)))
    if luck:
        again = rng.random(len(one)) < 0.8
        dice[1] = np.where(again, 1.0 - dice[0], dice[1])
    gap = (truth[one] - truth[other]) / SCALE
    mine = (dice[0] < 1.0 / (1.0 + np.exp(-gap))).astype(np.float64)
    mirrored = (dice[1] < 1.0 / (1.0 + np.exp(-gap))).astype(np.float64)
    return collect_arrays(
        range(len(truth)),
        np.concatenate([one, other]),
        np.concatenate([other, one]),
        np.concatenate([mine, 1.0 - mirrored]),
        pair=np.tile(np.arange(len(one)), 2),
    )


@pytest.mark.parametrize("gap", [600.0, 1000.0, -600.0])
def test_one_entry_far_from_the_others_leaves_all_covered(gap: float) -> None:
    rng = np.random.default_rng(1)
    truth = np.array([gap, *[0.0] * 7])
    truth -= truth.mean()
    hits, runs = 0, 40
    for _ in range(runs):
        fitted = fit_strengths(field_of(rng, truth, 20))
        assert fitted.elo.mean() == pytest.approx(1500.0)
        off = np.abs(fitted.elo - 1500.0 - truth)
        hits += int((off <= 1.96 * np.sqrt(fitted.covariance.diagonal())).sum())
    assert 0.92 <= hits / (8 * runs) <= 0.985


def test_wide_field_of_few_games_is_covered() -> None:
    rng = np.random.default_rng(1)
    hits, runs = 0, 120
    for _ in range(runs):
        truth = rng.normal(0.0, 600.0, 8)
        truth -= truth.mean()
        fitted = fit_strengths(field_of(rng, truth, 3))
        off = np.abs(fitted.elo - 1500.0 - truth)
        hits += int((off <= 1.96 * np.sqrt(fitted.covariance.diagonal())).sum())
    assert hits / (8 * runs) > 0.91


def test_seat_interval_covers_where_luck_evens_out() -> None:
    rng = np.random.default_rng(3)
    hits, runs = 0, 80
    for _ in range(runs):
        truth = rng.normal(0.0, 150.0, 12)
        term = fit_strengths(field_of(rng, truth, 1, luck=True)).seats[""][0]
        hits += term.low <= 0.0 <= term.high
    assert hits / runs > 0.89


def test_any_time_intervals_hold_for_all_looks_together() -> None:
    rng = np.random.default_rng(8)
    looks = [16, 24, 36, 54, 80, 120, 180, 270, 400, 600, 900, 1350, 2000]
    names = ["a", "b"]
    fixed = anytime = 0
    runs = 50
    seats = np.arange(looks[-1]) % 2
    for _ in range(runs):
        scores = (rng.random(looks[-1]) < 0.5).astype(np.float64)
        missed = [False, False]
        for count in looks:
            units = collect_arrays(names, seats[:count], 1 - seats[:count], scores[:count])
            best = fit_strengths(units).estimates()[0]
            missed[0] |= not best.low <= 1500 <= best.high
            missed[1] |= not best.any_low <= 1500 <= best.any_high
        fixed += missed[0]
        anytime += missed[1]
    assert fixed / runs > 0.12  # looking often and believing once is what it guards against
    assert anytime / runs <= 0.05


def test_the_any_time_factor_is_that_of_the_normal_mixture() -> None:
    # sqrt((v + r) log((v + r) / (r alpha^2))) / sqrt(v), with r = v here.
    spent = -2 * math.log(0.05)
    sharpest = 1 / math.sqrt(spent + math.log(1 + spent))  # makes r = 1
    assert any_time_factor(1.0, sharpest=sharpest) == pytest.approx(
        math.sqrt(2 * (spent + math.log(2)))
    )
    factors = [any_time_factor(error) for error in (300, 100, 30, 10, 3)]
    assert min(factors) == factors[2]
    assert factors[2] == pytest.approx(3.03, abs=0.01)
    assert any_time_factor(0.0) == 0.0
    with pytest.raises(ValueError, match="no error rate"):
        any_time_factor(1.0, alpha=1.5)


def test_rank_ranges_hold_the_true_ranks_and_shrink() -> None:
    rng = np.random.default_rng(2)
    hits = total = 0
    for _ in range(60):
        for rank, (low, high) in enumerate(fit_strengths(simulate(rng, 10)).ranks(), start=1):
            hits += low <= rank <= high
            total += 1
    assert hits / total >= 0.95
    few, many = (fit_strengths(simulate(rng, pairs)).ranks() for pairs in (2, 200))
    assert many == [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]
    assert sum(high - low for low, high in few) > 5


def test_superiority_is_calibrated_and_adds_up() -> None:
    fitted = fit_strengths(simulate(np.random.default_rng(4), 20))
    for one, other in combinations(TRUTH, 2):
        both = fitted.superiority(one, other) + fitted.superiority(other, one)
        assert both == pytest.approx(1.0)
    assert fitted.superiority("a", "e") > 0.999
    assert 0.5 < fitted.superiority("a", "b") < 1.0
    with pytest.raises(KeyError, match="'nobody' has no rating"):
        fitted.superiority("a", "nobody")


# -------------------------------------------------------------- degenerate and bad input


def test_nothing_played_is_the_prior() -> None:
    assert fit_strengths(collect([], entries=["alone"])).elo == pytest.approx([1500.0])
    fitted = fit_strengths(collect([], entries=["a", "b"]))
    assert fitted.elo == pytest.approx([1500.0, 1500.0])
    assert fitted.ranks() == [(1, 2), (1, 2)]
    assert "2 groups have not met" in fitted.notes[0]
    nobody: list[Played[str]] = []
    assert fit_strengths(collect(nobody)).estimates() == []


def test_who_won_everything_is_finite_and_named() -> None:
    fitted = fit_strengths(collect([*games("a", "b", 50, 0, 0), *games("b", "c", 5, 0, 5)]))
    assert 1500 < rating(fitted, "a") < 4000
    assert fitted.notes == (
        "'a' won everything: its results give no upper bound, only the prior keeps its rating "
        "finite.",
    )
    assert any(
        "'c' lost everything" in note
        for note in fit_strengths(collect(games("a", "c", 1, 0, 0))).notes
    )


def test_groups_that_never_met_are_named() -> None:
    fitted = fit_strengths(collect([*games("a", "b", 3, 0, 2), *games("x", "y", 2, 0, 3)]))
    assert fitted.notes == (
        "2 groups have not met, not even through others, so only the prior puts them on one "
        "scale: 'a', 'b'; 'x', 'y'.",
    )
    assert rating(fitted, "a") == pytest.approx(rating(fitted, "y"))


def test_a_group_that_took_every_point_from_another_is_named() -> None:
    upper = games("a", "b", 3, 1, 2)
    lower = games("x", "y", 3, 0, 2)
    fitted = fit_strengths(collect([*upper, *lower, *games("a", "x", 4, 0, 0)]))
    assert fitted.notes == (
        "'a', 'b': lost nothing to those below whom they met, so only the prior says how far "
        "above them they stand.",
    )
    joined = [*upper, *lower, *games("a", "x", 4, 0, 0), Played("y", "b", 0.5)]
    assert fit_strengths(collect(joined)).notes == ()


def test_anchors_compare_what_never_met() -> None:
    played = [*games("a", "b", 3, 0, 2), *games("x", "y", 2, 0, 3)]
    fitted = fit_strengths(collect(played), anchors={"a": 1600.0, "x": 1400.0})
    assert fitted.notes == ()
    assert (rating(fitted, "a"), rating(fitted, "x")) == (1600.0, 1400.0)


@pytest.mark.parametrize(
    ("played", "message"),
    [
        ([Played("a", "b", math.nan)], r"Result 0 \('a' against 'b'\): nan is no number"),
        ([Played("a", "b", 1.5)], r"1\.5 is no score: scores go from 0 to 1"),
        ([Played("a", "b", 1.0), Played("c", "c", 1.0)], "Result 1: 'c' cannot have played"),
        (
            [Played("a", "b", 1.0, pair=1), Played("a", "c", 1.0, pair=1)],
            "a mirrored pair has the same two and one game",
        ),
    ],
)
def test_wrong_results_are_refused(played: list[Played[str]], message: str) -> None:
    with pytest.raises(ResultError, match=message):
        collect(played)


def test_what_cannot_be_fitted_is_refused() -> None:
    units = collect([Played("a", "b", 0.3)])
    with pytest.raises(
        ResultError, match="not only wins, draws and losses: name it among `shares`"
    ):
        fit_strengths(units)
    units = collect([Played("a", "b", 1.0)])
    with pytest.raises(ResultError, match="The anchor 'z' is not among the entries"):
        fit_strengths(units, anchors={"z": 1500.0})
    with pytest.raises(ResultError, match="The anchor 'a' at nan"):
        fit_strengths(units, anchors={"a": math.nan})
    with pytest.raises(ResultError, match="A spread of 0 Elo points"):
        fit_strengths(units, spread=0)
    with pytest.raises(ResultError, match="the same name"):
        collect_arrays(["a", "a"], np.array([0]), np.array([1]), np.array([1.0]))
