"""The rating fit agrees with a slow one that looks at every game and every outcome by itself."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from plyhouse.server.results.fitted import Fitted
from plyhouse.server.results.intervals import Z95
from plyhouse.server.results.pair_results import Played, ResultError, collect, sum_up
from plyhouse.server.results.spread import (
    Field,
    common,
    covariance_of,
    degrees_used,
    fit_field,
    leaning,
)
from plyhouse.server.results.strengths import check_anchors, fit_strengths

Floats = NDArray[np.float64]
SCALE = 400.0 / math.log(10.0)
GAMES = ("rare", "wins", "draws", "more", "points")
"""Games by their results: one draw in all, none, many, more, and shares of points."""
NAMES = ("a", "b", "c", "d", "e")
SCORES = {
    "wins": [0.0, 1.0, 1.0],
    "draws": [0.0, 0.5, 0.5, 1.0],
    "more": [0.5, 0.5, 1.0],
    "points": [0.0, 0.2, 0.5, 0.8, 1.0],
}


class Reference:
    """The model, term by term: each game has two or three outcomes, and units add them up."""

    def __init__(self, played: list[Played[str]], fixed: Mapping[str, float]) -> None:
        self.fixed = dict(fixed)
        self.centre = sum(fixed.values()) / len(fixed) if fixed else 1500.0
        self.free = [name for name in NAMES if name not in fixed]
        self.drawn = [
            game
            for game in GAMES
            if game != "points" and any(p.score == 0.5 for p in played if p.game == game)
        ]
        terms = [*self.free, *GAMES, *(f"draws of {game}" for game in self.drawn)]
        self.place = {term: number for number, term in enumerate(terms)}
        by_pair: dict[object, list[Played[str]]] = defaultdict(list)
        for number, each in enumerate(played):
            by_pair[number if each.pair is None else f"pair {each.pair}"].append(each)
        self.cells: dict[tuple[str, ...], list[list[Played[str]]]] = defaultdict(list)
        for unit in by_pair.values():
            one, other = sorted((unit[0].first, unit[0].second))
            order = "".join(sorted(each.first for each in unit))
            self.cells[unit[0].game, one, other, order].append(unit)

    def strength(self, name: str, at: Floats) -> float:
        if name in self.fixed:
            return (self.fixed[name] - self.centre) / SCALE
        return float(at[self.place[name]])

    def outcomes(self, each: Played[str], at: Floats) -> list[tuple[float, float, float]]:
        """Score, draws and probability of each outcome of a game."""
        t = self.strength(each.first, at) - self.strength(each.second, at)
        t += at[self.place[each.game]]
        found = [(1.0, 0.0, math.exp(t / 2)), (0.0, 0.0, math.exp(-t / 2))]
        if each.game in self.drawn:
            found.append((0.5, 1.0, math.exp(at[self.place[f"draws of {each.game}"]])))
        total = sum(weight for *_, weight in found)
        return [(score, draws, weight / total) for score, draws, weight in found]

    def moments(self, unit: list[Played[str]], at: Floats) -> tuple[Floats, Floats]:
        """Mean and covariance of a unit's points of the one, of first seats, and draws."""
        mean, covariance = np.zeros(3), np.zeros((3, 3))
        for each in unit:
            rows, weights = [], []
            for score, draws, probability in self.outcomes(each, at):
                mine = score if each.first < each.second else 1.0 - score
                rows.append([mine, score, draws])
                weights.append(probability)
            vectors, shares = np.array(rows), np.array(weights)
            middle = shares @ vectors
            mean += middle
            covariance += (vectors - middle).T @ ((vectors - middle) * shares[:, None])
        return mean, covariance

    def seen(self, unit: list[Played[str]]) -> Floats:
        total = np.zeros(3)
        for each in unit:
            mine = each.score if each.first < each.second else 1.0 - each.score
            draw = each.game in self.drawn and each.score == 0.5
            total += [mine, each.score, float(draw)]
        return total

    def slopes(self, unit: list[Played[str]]) -> Floats:
        """How the terms move a unit's three sums."""
        slopes = np.zeros((3, len(self.place)))
        one, other = sorted((unit[0].first, unit[0].second))
        for name, sign in ((one, 1.0), (other, -1.0)):
            if name in self.place:
                slopes[0, self.place[name]] = sign
        slopes[1, self.place[unit[0].game]] = 1.0
        if unit[0].game in self.drawn:
            slopes[2, self.place[f"draws of {unit[0].game}"]] = 1.0
        return slopes

    def log_of_game(self, each: Played[str], at: Floats) -> float:
        """A share counts as so much of a win and the rest of a loss."""
        chances = {score: math.log(p) for score, _, p in self.outcomes(each, at)}
        if each.score in chances:
            return chances[each.score]
        return each.score * chances[1.0] + (1.0 - each.score) * chances[0.0]

    def objective(self, at: Floats, /, precision: float) -> tuple[float, Floats, Floats]:
        value = 0.0
        gradient, information = np.zeros(len(at)), np.zeros((len(at), len(at)))
        for unit in (unit for cell in self.cells.values() for unit in cell):
            value += sum(self.log_of_game(each, at) for each in unit)
            mean, covariance = self.moments(unit, at)
            slopes = self.slopes(unit)
            gradient += slopes.T @ (self.seen(unit) - mean)
            information += slopes.T @ covariance @ slopes
        for name in self.free:
            place = self.place[name]
            value -= precision * at[place] ** 2 / 2
            gradient[place] -= precision * at[place]
            information[place, place] += precision
        return self.with_prior(at, value, gradient, information)

    def with_prior(
        self, at: Floats, value: float, gradient: Floats, information: Floats
    ) -> tuple[float, Floats, Floats]:
        """Add a drawn game between equals for each seat, and a third of each result for draws."""
        for game in GAMES:
            place = self.place[game]
            win = 1.0 / (1.0 + math.exp(-at[place]))
            value += 0.5 * math.log(win) + 0.5 * math.log(1.0 - win)
            gradient[place] += 0.5 - win
            information[place, place] += win * (1.0 - win)
        for game in self.drawn:
            place = self.place[f"draws of {game}"]
            draw = math.exp(at[place]) / (2.0 + math.exp(at[place]))
            value += math.log(draw) / 3 + 2 * math.log((1.0 - draw) / 2) / 3
            gradient[place] += 1.0 / 3.0 - draw
            information[place, place] += draw * (1.0 - draw)
        return value, gradient, information

    def squares(self, at: Floats) -> tuple[list[Floats], list[Floats], Floats]:
        """By cell: sums of squares about expectations, the model's for a unit, and units."""
        seen, model, count = [], [], []
        for cell in self.cells.values():
            mean, covariance = self.moments(cell[0], at)
            off = [self.seen(unit) - mean for unit in cell]
            seen.append(sum((np.outer(each, each) for each in off), np.zeros((3, 3))))
            model.append(covariance)
            count.append(float(len(cell)))
        return seen, model, np.array(count)

    def dispersion_of(self, term: int, field: Field, used: float) -> tuple[float, float]:
        seen, model, count = self.squares(field.at)
        total = sum(float(each[term, term]) for each in seen)
        return common(total, count, np.array([each[term, term] for each in model]), used)

    def dispersion(self, field: Field) -> float:
        return self.dispersion_of(0, field, degrees_used(field, len(self.free)))[0]

    def variation(self, field: Field) -> Floats:
        used = degrees_used(field, len(self.free)), float(len(GAMES)), float(len(self.drawn))
        found = [self.dispersion_of(term, field, used[term]) for term in range(3)]
        factors = np.sqrt(np.array([factor for factor, _ in found]))
        count = next((rests for _, rests in found if rests), 0.0)
        seen, model, units = self.squares(field.at)
        weight, cautious, pooled = leaning(units, count)
        size = len(self.place)
        result = np.zeros((size, size))
        for number, cell in enumerate(self.cells.values()):
            slopes = self.slopes(cell[0])
            kept = cautious[number] + pooled[number] * np.outer(factors, factors)
            result += slopes.T @ (weight[number] * seen[number] + kept * model[number]) @ slopes
        zero = np.zeros((size, size))
        pull = self.with_prior(field.at, 0.0, np.zeros(size), zero)[2]
        return result + pull


def results(seed: int, *, paired: bool = True) -> list[Played[str]]:
    """Some games of every kind, of which most are in mirrored pairs."""
    rng = np.random.default_rng(seed)
    played = [Played("a", "b", score, "rare") for score in (1.0, 1.0, 0.5, 0.0)]
    played += [Played("e", "a", score, "rare") for score in (1.0, 0.0, 0.0)]
    for number in range(80):
        i, j = rng.choice(len(NAMES), 2, replace=False)
        game = GAMES[1 + number % 4]
        scores = {
            "wins": [0.0, 1.0, 1.0],
            "draws": [0.0, 0.5, 0.5, 1.0],
            "more": [0.5, 0.5, 1.0],
        }.get(game)
        both = rng.choice(scores or [0.0, 0.2, 0.5, 0.8, 1.0], 2)
        pair = number if paired and number % 5 else None
        played.append(Played(NAMES[i], NAMES[j], float(both[0]), game, pair))
        if pair is not None:
            played.append(Played(NAMES[j], NAMES[i], float(both[1]), game, pair))
    return played


ANCHORS = {"b": 1400.0, "d": 1750.0}


@pytest.mark.parametrize("anchors", [{}, ANCHORS, {"a": 1500.0, **ANCHORS}])
@pytest.mark.parametrize("spread", [None, 250.0])
@pytest.mark.parametrize("errors", ["hessian", "pairs"])
def test_fit_agrees_with_the_model_computed_game_by_game(
    anchors: dict[str, float], spread: float | None, errors: Any
) -> None:
    played = results(3)
    fitted = fit_strengths(
        collect(played, entries=NAMES),
        shares=["points"],
        anchors=anchors,
        spread=spread,
        errors=errors,
    )
    model = Reference(played, anchors)
    paired = errors == "pairs"
    field = fit_field(
        model.objective,
        np.zeros(len(model.place)),
        len(model.free),
        spread=None if spread is None else spread / SCALE,
        dispersion=model.dispersion if paired else None,
    )
    varied = model.variation(field) if paired else None
    covariance = covariance_of(field, len(model.free), varied, centred=not anchors)
    elo = [model.centre + SCALE * model.strength(name, field.at) for name in NAMES]
    assert fitted.names == NAMES
    assert fitted.elo == pytest.approx(np.array(elo), abs=1e-6)
    for i, one in enumerate(NAMES):
        for j, other in enumerate(NAMES):
            expected = 0.0
            if one in model.free and other in model.free:
                expected = covariance[model.place[one], model.place[other]] * SCALE**2
            assert fitted.covariance[i, j] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    # Games are in the order of their first results.
    assert set(fitted.seats) == set(GAMES)
    for game, (term,) in fitted.seats.items():
        place = model.place[game]
        assert term.elo == pytest.approx(field.at[place] * SCALE, abs=1e-6)
        half = Z95 * math.sqrt(covariance[place, place]) * SCALE
        assert (term.elo - term.low, term.high - term.elo) == pytest.approx((half, half), rel=1e-6)
    draws = {game: field.at[model.place[f"draws of {game}"]] for game in model.drawn}
    assert model.drawn == ["rare", "draws", "more"]
    assert fitted.draws == pytest.approx(
        {game: math.exp(d) / (2 + math.exp(d)) for game, d in draws.items()}
    )
    assert fitted.steps == field.steps


def test_games_and_scores_of_each_entry_are_those_played() -> None:
    played = results(4)
    fitted = fit_strengths(collect(played, entries=NAMES), shares=["points"])
    for number, name in enumerate(NAMES):
        own = [p.score for p in played if p.first == name]
        own += [1.0 - p.score for p in played if p.second == name]
        assert fitted.games[number] == len(own)
        assert fitted.score[number] == pytest.approx(sum(own))


def same(one: Fitted[str], other: Fitted[str]) -> bool:
    return bool(np.allclose(one.covariance, other.covariance, rtol=1e-9))


def test_default_errors_are_of_pairs_for_pairs_or_shares_and_else_of_the_model() -> None:
    single = [p for p in results(5, paired=False) if p.game != "points"]
    paired = [p for p in results(5) if p.game != "points"]
    shares = [p for p in results(5, paired=False) if p.game == "points"]
    for played, expected in ((single, "hessian"), (paired, "pairs"), (shares, "pairs")):
        units = collect(played, entries=NAMES)
        default = fit_strengths(units, shares=["points"])
        found = {
            errors: same(default, fit_strengths(units, shares=["points"], errors=errors))
            for errors in ("hessian", "pairs")
        }
        assert found == {"hessian": expected == "hessian", "pairs": expected == "pairs"}


def test_sums_of_units_give_the_fit_of_the_units() -> None:
    units = collect(results(6), entries=NAMES)
    whole, summed = (fit_strengths(each, shares=["points"]) for each in (units, sum_up(units)))
    assert np.array_equal(whole.elo, summed.elo)
    assert same(whole, summed)


def test_entries_far_apart_are_fitted_without_overflow() -> None:
    fitted = fit_strengths(
        collect([Played("a", "b", 1.0), Played("b", "a", 0.5), Played("c", "a", 0.5)]),
        anchors={"a": 100_000.0, "b": -100_000.0},
    )
    assert np.isfinite(fitted.elo).all()
    assert np.isfinite(fitted.covariance).all()
    assert 0.99 < fitted.draws[""] <= 1.0


@pytest.mark.parametrize("elo", [100_000.0, -100_000.0, 1500.0])
def test_anchor_within_the_bounds_is_kept(elo: float) -> None:
    assert check_anchors(("a", "b"), {"b": elo}, 0.5) == {1: elo}


@pytest.mark.parametrize("elo", [100_001.0, -100_001.0, math.nan, math.inf])
def test_anchor_out_of_bounds_is_refused(elo: float) -> None:
    with pytest.raises(ResultError, match=r"The anchor 'b' at .*: give a rating such as 1500"):
        check_anchors(("a", "b"), {"b": elo}, None)


@pytest.mark.parametrize("spread", [0.0, -1.0, math.nan, math.inf])
def test_spread_that_is_no_positive_number_is_refused(spread: float) -> None:
    with pytest.raises(ResultError, match=f"A spread of {spread} Elo points"):
        check_anchors(("a",), {}, spread)


def test_share_in_a_game_of_wins_names_the_first_such_game() -> None:
    played = [Played("a", "b", 0.3, game) for game in ("x", "c", "b")]
    with pytest.raises(ResultError, match="Scores of 'b' are not only wins"):
        fit_strengths(collect(played), shares=["x"])
    with pytest.raises(ResultError, match="Scores of 'the game' are not only wins"):
        fit_strengths(collect([Played("a", "b", 0.3)]))


def test_lost_game_of_two_that_never_drew_is_no_bound_for_either() -> None:
    def notes(*played: Played[str], **anchors: float) -> tuple[str, ...]:
        return fit_strengths(collect(played), shares=[""], anchors=anchors).notes

    assert notes(Played("a", "b", 1.0), Played("a", "b", 0.0)) == ()
    assert notes(Played("b", "a", 0.0), Played("a", "b", 0.0)) == ()
    assert notes(Played("a", "b", 0.3)) == ()
    assert notes(Played("a", "b", 0.5, pair=1), Played("b", "a", 0.5, pair=1)) == ()
    one_sided = notes(Played("a", "b", 1.0, pair=1), Played("b", "a", 0.0, pair=1))
    assert any("'a' won everything" in note for note in one_sided)
    assert notes(Played("b", "a", 1.0, pair=1), Played("a", "b", 0.0, pair=1)) != ()
    anchored = notes(Played("a", "b", 1.0), a=1500.0, b=1400.0)
    assert anchored == ()
