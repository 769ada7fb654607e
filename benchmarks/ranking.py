"""Ratings against known strengths, and what makes fewer games say as much.

    python benchmarks/ranking.py [--quick] [--full] [--tables 1 2 3 4 5 6] [--games pig kuhn_poker]

1. Rank correlation and coverage of 95 % intervals after N games of a field of known strengths,
   for the house's fit beside Elo (K = 16), Glicko-2 and updates as of TrueSkill, all on the same
   results.  Elo gives no intervals.  The results are drawn from the model that the house fits.
2. How many games until the order is right, in a round robin and with pairing by nearness.
3. Coverage over a whole run of looks: fixed-time beside any-time intervals.
4. Games saved by mirroring and by luck adjustment: real matches of reference bots, played by
   `plyhouse match`.  ``saved`` is the part of the games that one needs less for an interval as
   wide; the plain series has seats that alternate and dice of their own.
5. A fit of 1,000,000 matches of 1,000 bots.
6. Coverage and error over a grid of fields, from close together to wide; ``--full`` takes all
   cells with 1,000 fields each (some 20 minutes), otherwise some cells with 200 fields.

``--quick`` makes all of it small: it shows that the script runs, and measures nothing.
"""

from __future__ import annotations

import argparse
import functools
import math
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rating_fields import print_grid

from plyhouse.games import get_game
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.search.tables.pig_solution import solve_pig
from plyhouse.server.results.luck import Value, adjusted_mean, estimate, looked_ahead, match_luck
from plyhouse.server.results.pair_results import collect_arrays, sum_up
from plyhouse.server.results.record import Record, read_record
from plyhouse.server.results.strengths import fit_strengths

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
SCALE = 400.0 / math.log(10.0)
DRAWS = 0.5
"""Davidson's nu: equals draw a fifth of their games."""
DRAWN = DRAWS / (2 + DRAWS)
SLOPE = ((1 - DRAWN) / 2) ** 2 + DRAWN * (1 - DRAWN) / 4
"""How steep the expected score is at equals, per logit: 1/4 without draws.  Methods that read a
draw as half a win of a logistic curve see a flatter one, so theirs is stretched by this; it does
them justice near equals, where most games are."""
SEAT = 30.0
"""The advantage of the first seat, in Elo points."""


class Results(NamedTuple):
    """Games in their order."""

    first: Whole
    second: Whole
    score: Floats

    def until(self, count: int) -> Results:
        """The first so many."""
        return Results(self.first[:count], self.second[:count], self.score[:count])

    def then(self, new: Results) -> Results:
        """These, and others after them."""
        return Results(
            np.concatenate([self.first, new.first]),
            np.concatenate([self.second, new.second]),
            np.concatenate([self.score, new.score]),
        )


class Board(NamedTuple):
    """Return a method's ratings of all, about the average."""

    elo: Floats
    error: Floats | None
    """Standard errors; None if the method gives none."""


# ------------------------------------------------------------------------------- results


def play(rng: np.random.Generator, truth: Floats, first: Whole, second: Whole) -> Results:
    """Let the known strengths decide."""
    t = (truth[first] - truth[second] + SEAT) / SCALE
    win, loss = np.exp(t / 2), np.exp(-t / 2)
    total, die = win + loss + DRAWS, rng.random(len(t))
    score = np.where(die < win / total, 1.0, np.where(die < (win + DRAWS) / total, 0.5, 0.0))
    return Results(first, second, score)


def round_robin(rng: np.random.Generator, size: int, games: int) -> tuple[Whole, Whole]:
    """Whole double rounds, each in its own order, cut after so many games."""
    every = np.array([(i, j) for i in range(size) for j in range(size) if i != j])
    rounds = -(-games // len(every))
    chosen = np.concatenate([rng.permutation(every) for _ in range(rounds)])[:games]
    return chosen[:, 0], chosen[:, 1]


# ------------------------------------------------------------------------- the four methods


def house(size: int, results: Results) -> Board:
    units = collect_arrays(range(size), *results)
    fitted = fit_strengths(units)
    return Board(fitted.elo - fitted.elo.mean(), np.sqrt(fitted.covariance.diagonal()))


def elo16(size: int, results: Results) -> Board:
    """Elo's update with K = 16, game by game."""
    elo = [0.0] * size
    for i, j, score in zip(*map(np.ndarray.tolist, results), strict=True):
        step = 16.0 * (score - 1.0 / (1.0 + 10.0 ** ((elo[j] - elo[i]) / 400.0)))
        elo[i] += step
        elo[j] -= step
    made = np.array(elo) / (4 * SLOPE)
    return Board(made - made.mean(), None)


def glicko2(size: int, results: Results, *, tau: float = 0.5) -> Board:
    """Glickman, "Example of the Glicko-2 system" (2022); a rating period has 10 games each."""
    mu, phi, sigma = np.zeros(size), np.full(size, 350 / 173.7178), np.full(size, 0.06)
    period = 5 * size
    for start in range(0, len(results.score), period):
        some = [column[start : start + period] for column in results]
        i = np.concatenate([some[0], some[1]]).astype(np.int64)
        j = np.concatenate([some[1], some[0]]).astype(np.int64)
        s = np.concatenate([some[2], 1.0 - some[2]])
        g = 1 / np.sqrt(1 + 3 * phi[j] ** 2 / math.pi**2)
        e = 1 / (1 + np.exp(-g * (mu[i] - mu[j])))
        precision = np.bincount(i, g * g * e * (1 - e), size)
        gain = np.bincount(i, g * (s - e), size)
        for k in range(size):
            if precision[k] > 0:
                v = 1 / precision[k]
                sigma[k] = _volatility(v * gain[k], phi[k], v, sigma[k], tau)
        wide = np.sqrt(phi**2 + sigma**2)
        phi = 1 / np.sqrt(1 / wide**2 + precision)
        mu = mu + phi**2 * gain
    scale = SCALE / (4 * SLOPE)
    return Board(scale * (mu - mu.mean()), scale * phi)


def _volatility(delta: float, phi: float, v: float, sigma: float, tau: float) -> float:
    """Step 5 of Glickman's paper: the Illinois algorithm."""
    start = math.log(sigma**2)

    def f(x: float) -> float:
        ex = math.exp(x)
        room = phi**2 + v + ex
        return ex * (delta**2 - room) / (2 * room**2) - (x - start) / tau**2

    low = start
    if delta**2 > phi**2 + v:
        high = math.log(delta**2 - phi**2 - v)
    else:
        k = 1
        while f(start - k * tau) < 0:
            k += 1
        high = start - k * tau
    at_low, at_high = f(low), f(high)
    while abs(high - low) > 1e-6:
        middle = low + (low - high) * at_low / (at_high - at_low)
        value = f(middle)
        if value * at_high <= 0:
            low, at_low = high, at_high
        else:
            at_low /= 2
        high, at_high = middle, value
    return math.exp(low / 2)


def trueskill(size: int, results: Results) -> Board:
    """Updates of two as of TrueSkill (Herbrich, Minka and Graepel, NIPS 2006), no dynamics.

    Its standard scale: 25 and 25/3, beta 25/6; a fifth of draws between equals.  Shown in Elo
    points by the slope of the expected score at equals.
    """
    beta = 25 / 6
    mu, var = [25.0] * size, [(25 / 3) ** 2] * size
    margin = 0.2533 * math.sqrt(2) * beta  # the normal's 60 % quantile
    for i, j, score in zip(*map(np.ndarray.tolist, results), strict=True):
        if score < 0.5:
            i, j = j, i
        c = math.sqrt(2 * beta**2 + var[i] + var[j])
        t, eps = (mu[i] - mu[j]) / c, margin / c
        if score == 0.5:
            low, high = -eps - t, eps - t
            mass = max(1e-12, _cdf(high) - _cdf(low))
            v = (_pdf(low) - _pdf(high)) / mass
            w = v * v + (high * _pdf(high) - low * _pdf(low)) / mass
        else:
            v = _pdf(t - eps) / max(1e-12, _cdf(t - eps))
            w = v * (v + t - eps)
        before = var[i], var[j]
        mu[i] += before[0] / c * v
        mu[j] -= before[1] / c * v
        var[i] *= max(1e-6, 1 - before[0] / c**2 * w)
        var[j] *= max(1e-6, 1 - before[1] / c**2 * w)
    per_point = SCALE * _pdf(0.2533) / (math.sqrt(2) * beta) / SLOPE
    made = np.array(mu)
    return Board(per_point * (made - made.mean()), per_point * np.sqrt(np.array(var)))


def _pdf(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


METHODS: dict[str, Callable[[int, Results], Board]] = {
    "Plyhouse": house,
    "Elo K=16": elo16,
    "Glicko-2": glicko2,
    "TrueSkill-style": trueskill,
}


def spearman(one: Floats, other: Floats) -> float:
    # Ranks have all the same mean and spread.
    size = len(one)
    gaps = np.argsort(np.argsort(one)) - np.argsort(np.argsort(other))
    return 1.0 - 6.0 * float((gaps**2).sum()) / (size * (size * size - 1))


def kendall(one: Floats, other: Floats) -> float:
    size = len(one)
    signs = [np.sign(each[:, None] - each[None, :]) for each in (one, other)]
    return float((signs[0] * signs[1]).sum() / (size * (size - 1)))


# -------------------------------------------------------------------------------- tables


def known_strengths(*, quick: bool) -> None:
    """Table 1."""
    size, runs = (8, 4) if quick else (20, 100)
    print(
        f"\n1. {size} bots of known strength (deviation 150 Elo), {runs} fields each, round robin"
    )
    print(
        f"{'games':>7} {'method':<16} {'Spearman':>9} {'Kendall':>8} {'error':>7} {'coverage':>9}"
    )
    for per_bot in (10,) if quick else (10, 38, 100, 380):
        games = per_bot * size // 2
        seen: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
        rng = np.random.default_rng(per_bot)
        for _ in range(runs):
            truth = rng.normal(0, 150, size)
            truth -= truth.mean()
            results = play(rng, truth, *round_robin(rng, size, games))
            for name, method in METHODS.items():
                board = method(size, results)
                off = np.abs(board.elo - truth)
                inside = (
                    math.nan if board.error is None else float((off < 1.96 * board.error).mean())
                )
                seen[name].append(
                    (
                        spearman(board.elo, truth),
                        kendall(board.elo, truth),
                        math.sqrt(float((off**2).mean())),
                        inside,
                    )
                )
        for name, rows in seen.items():
            rho, tau, error, inside = np.mean(rows, axis=0)
            covered = "-" if math.isnan(inside) else f"{inside:.1%}"
            print(
                f"{games:>7} {name:<16} {rho:>9.3f} {tau:>8.3f} {error:>7.1f} {covered:>9}",
                flush=True,
            )


def pairing_by_nearness(*, quick: bool) -> None:
    """Table 2."""
    size, runs, most = (8, 2, 200) if quick else (30, 20, 9000)
    step = most // 60 if not quick else 50
    targets = (0.85, 0.9, 0.93)
    print(f"\n2. Games until Kendall's tau of {size} bots is reached (mean of {runs} fields)")
    print(f"{'pairing':<14}" + "".join(f" {f'tau {target}':>10}" for target in targets))
    taus: dict[str, list[Floats]] = {"round robin": [], "nearness": []}
    for run in range(runs):
        for name, rows in taus.items():
            rng = np.random.default_rng(run)
            truth = rng.normal(0, 150, size)
            if name == "round robin":
                results = play(rng, truth, *round_robin(rng, size, most))
                line = [
                    kendall(house(size, results.until(n)).elo, truth)
                    for n in range(step, most + 1, step)
                ]
            else:
                line = _near(rng, truth, most, step)
            rows.append(np.array(line))
    for name, rows in taus.items():
        mean = np.mean(rows, axis=0)
        cells = []
        for target in targets:
            at = np.flatnonzero(mean >= target)
            cells.append(f"{step * (int(at[0]) + 1):,}" if len(at) else f"> {most:,}")
        print(f"{name:<14}" + "".join(f" {cell:>10}" for cell in cells), flush=True)


def _near(rng: np.random.Generator, truth: Floats, most: int, step: int) -> list[float]:
    """Play in steps: each bot in turn meets one of the three nearest below, by the present fit."""
    size = len(truth)
    first, second = round_robin(rng, size, step)
    results = play(rng, truth, first, second)
    taus = []
    while True:
        board = house(size, results)
        taus.append(kendall(board.elo, truth))
        if len(results.score) >= most:
            return taus
        order = np.argsort(-board.elo)
        place = rng.integers(0, size - 1, step)
        apart = np.minimum(rng.integers(1, 4, step), size - 1 - place)
        one, other = order[place], order[place + apart]
        turned = rng.random(step) < 0.5
        new = play(rng, truth, np.where(turned, other, one), np.where(turned, one, other))
        results = results.then(new)


def peeking(*, quick: bool) -> None:
    """Table 3."""
    size, runs = (4, 5) if quick else (6, 200)
    looks = [int(30 * 1.35**k) for k in range(5 if quick else 18)]
    print(f"\n3. {size} bots, {len(looks)} looks from {looks[0]} to {looks[-1]} games, {runs} runs")
    hits = np.zeros((2, len(looks)))
    never = np.zeros(2)
    widths = np.zeros((2, len(looks)))
    for run in range(runs):
        rng = np.random.default_rng(run)
        truth = rng.normal(0, 100, size)
        truth -= truth.mean()
        results = play(rng, truth, *round_robin(rng, size, looks[-1]))
        good = np.ones((2, size), dtype=bool)
        for k, count in enumerate(looks):
            units = collect_arrays(range(size), *results.until(count))
            fitted = fit_strengths(units)
            off = fitted.elo.mean()
            for each in fitted.estimates():
                known = truth[each.name] + off
                for kind, (low, high) in enumerate(
                    ((each.low, each.high), (each.any_low, each.any_high))
                ):
                    inside = low <= known <= high
                    hits[kind, k] += inside / size
                    good[kind, each.name] &= inside
                    widths[kind, k] += (high - low) / 2 / size
        never += good.mean(axis=1)
    print(
        f"{'interval':<12} {'at the last look':>16} {'at every look':>14} {'half-width, last':>17}"
    )
    for kind, name in enumerate(("fixed-time", "any-time")):
        print(
            f"{name:<12} {hits[kind, -1] / runs:>16.1%} {never[kind] / runs:>14.1%} "
            f"{widths[kind, -1] / runs:>17.0f}"
        )


class Contest(NamedTuple):
    """Two reference bots in a game with chance, and what the game's positions are worth."""

    game: str
    one: str
    other: str
    games: int
    value: str
    """``solved``, ``one ply`` (the best action by the game's own estimate) or ``random play``,
    worked out exactly."""


CONTESTS = (
    Contest("pig", "expectiminimax(depth=2)", "expectiminimax(depth=1)", 200, "solved"),
    Contest("kuhn_poker", "kuhn_optimal", "random", 600, "random play"),
    Contest("leduc_poker", "ismcts(simulations=100)", "random", 300, "random play"),
    Contest("backgammon", "expectiminimax(depth=1)", "expectiminimax(depth=1)", 60, "one ply"),
)


def value_of(contest: Contest) -> Value:
    """The value function that a contest names."""
    if contest.value == "one ply":
        return looked_ahead(estimate)
    if contest.value == "solved":
        solution = solve_pig(get_game("pig"))

        def solved(state: Any) -> Sequence[float]:
            if state.to_move == TERMINAL:
                return tuple(state.returns())
            known = solution.get(state)
            assert known is not None
            return known, -known

        return solved

    @functools.cache
    def by_key(text: str) -> tuple[float, ...]:
        return _random_play(states.pop(text), by_text)

    states: dict[str, Any] = {}

    def by_text(state: Any) -> tuple[float, ...]:
        text = str(state.__reduce__())
        states[text] = state
        return by_key(text)

    return by_text


def _random_play(state: Any, value: Callable[[Any], tuple[float, ...]]) -> tuple[float, ...]:
    """Return the expected return under random play from here on."""
    if state.to_move == TERMINAL:
        return tuple(state.returns())
    if state.to_move == CHANCE:
        branches = list(state.chance_outcomes())
    else:
        actions = state.actions()
        branches = [(action, 1.0 / len(actions)) for action in actions]
    total = np.zeros(2)
    for action, share in branches:
        total += share * np.array(value(state.after(action)))
    return tuple(total.tolist())


def series(contest: Contest, games: int, *, mirrored: bool, folder: Path) -> list[Record]:
    """Play it with `plyhouse match`; the records."""
    path = folder / f"{mirrored}.jsonl"
    command = [
        str(Path(sys.executable).with_name("plyhouse")),
        *("match", contest.one, contest.other, "--game", contest.game, "--games", str(games)),
        *("--seed", "1" if mirrored else "2", "--time-control", "move:60", "--json"),
        *("--save", str(path), "--mirrored" if mirrored else "--no-mirrored"),
    ]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    with path.open(encoding="utf-8") as lines:
        return [read_record(line) for line in lines]


def per_unit(records: list[Record], value: Value, *, size: int) -> tuple[list[float], list[float]]:
    """For each series of successive matches, return the first bot's mean return, and its luck."""
    mine = records[0].seats[0].bot
    returns, luck = [], []
    for record in records:
        assert record.outcome is not None
        seat = [each.bot for each in record.seats].index(mine)
        returns.append(record.outcome.returns[seat])
        course = [(each.kind, each.seat, each.text) for each in record.events]
        game = get_game(record.game)
        luck.append(match_luck(game, course, lambda _, state: value(state))[seat])
    # Seats alternate, so two that follow one another are one game in each seat.
    whole = len(records) // size * size
    means = [np.array(each[:whole]).reshape(-1, size).mean(axis=1) for each in (returns, luck)]
    return means[0].tolist(), means[1].tolist()


def games_saved(*, quick: bool, only: Sequence[str] = ()) -> None:
    """Table 4; ``only`` of these games."""
    print("\n4. Games saved: real matches of reference bots")
    print(
        f"{'game':<12} {'bots':<37} {'value':<12} {'games':>5} {'mean':>7} {'+-':>6} "
        f"{'mirrored':>9} {'adjusted':>9} {'both':>6} {'mean, both':>15}"
    )
    for contest in CONTESTS:
        if only and contest.game not in only:
            continue
        games = 6 if quick else contest.games
        value = value_of(contest)
        with tempfile.TemporaryDirectory() as folder:
            plain, mirrored = (
                per_unit(series(contest, games, mirrored=kind, folder=Path(folder)), value, size=2)
                for kind in (False, True)
            )
        one, two = adjusted_mean(*plain), adjusted_mean(*mirrored)
        width = [each.high - each.low for each in (one.raw, one.adjusted, two.raw, two.adjusted)]
        if width[0] > 0:
            saved = [f"{1 - (each / width[0]) ** 2:.0%}" for each in width]
        else:
            saved = ["-"] * 4
        names = f"{contest.one} - {contest.other}".replace("expectiminimax", "expecti")
        print(
            f"{contest.game:<12} {names:<37} {contest.value:<12} {games:>5} {one.raw.mean:>+7.3f} "
            f"{width[0] / 2:>6.3f} {saved[2]:>9} {saved[1]:>9} {saved[3]:>6} "
            f"{two.adjusted.mean:>+7.3f} +- {width[3] / 2:.3f}",
            flush=True,
        )


def time_of_fit(*, quick: bool) -> None:
    """Table 5."""
    matches, size = (20_000, 100) if quick else (1_000_000, 1_000)
    rng = np.random.default_rng(1)
    truth = rng.normal(0, 150, size)
    first = rng.integers(0, size, matches)
    second = (first + rng.integers(1, size, matches)) % size
    results = play(rng, truth, first, second)
    print(f"\n5. A fit of {matches:,} matches of {size:,} bots, any with any")
    print(f"{'step':<34} {'wall s':>7} {'CPU s':>7}")
    timer = Timer()
    units = collect_arrays(range(size), *results)
    cells = sum_up(units)
    timer.line(f"sum up, {len(cells.one):,} rows")
    fitted = fit_strengths(cells)
    timer.line(f"fit from nothing, {fitted.steps} steps")
    fitted.estimates()
    timer.line("intervals, ranks, all rows")
    for name, method in METHODS.items():
        if name != "Plyhouse":
            method(size, results)
            timer.line(f"{name}, one pass in Python")


class Timer:
    """Wall and processor time since the last line."""

    def __init__(self) -> None:
        self.before = time.perf_counter(), time.process_time()

    def line(self, what: str) -> None:
        wall, cpu = time.perf_counter() - self.before[0], time.process_time() - self.before[1]
        print(f"{what:<34} {wall:>7.2f} {cpu:>7.2f}", flush=True)
        self.before = time.perf_counter(), time.process_time()


SIMULATED = {1: known_strengths, 2: pairing_by_nearness, 3: peeking, 5: time_of_fit}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small, to see that it runs")
    parser.add_argument(
        "--tables", type=int, nargs="+", choices=range(1, 7), default=[1, 2, 3, 4, 5, 6]
    )
    parser.add_argument("--full", action="store_true", help="every cell of table 6")
    parser.add_argument("--games", nargs="+", default=[], help="only these games in table 4")
    options = parser.parse_args()
    for number in options.tables:
        if number in SIMULATED:
            SIMULATED[number](quick=options.quick)
        elif number == 6:
            print_grid(
                full=options.full, runs=2 if options.quick else 1000 if options.full else 200
            )
        else:
            games_saved(quick=options.quick, only=options.games)


if __name__ == "__main__":
    main()
