"""Luck: exact on whole games, without a bias, narrower; utilities; and games played before."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from plyhouse.games import get_game
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.games.native import COMPILED
from plyhouse.protocol.messages import Outcome
from plyhouse.server.match.time_control import LagPolicy
from plyhouse.server.results.intervals import mean_interval
from plyhouse.server.results.luck import (
    Value,
    adjusted_mean,
    estimate,
    judge_of,
    looked_ahead,
    match_luck,
)
from plyhouse.server.results.mean_returns import Paid, mean_returns, watched_bounds
from plyhouse.server.results.pair_results import ResultError
from plyhouse.server.results.record import Record, RecordChance, RecordEvent, RecordSeat
from plyhouse.server.results.sequential import ConfidenceSequence
from plyhouse.server.results.suspicion import PlayedLine, repeat_weights


def record(
    spec: str,
    events: list[tuple[int, str]],
    returns: tuple[float, ...],
    bots: tuple[str, ...] = ("one", "two"),
) -> Record:
    """A record of what happened; seat -1 is chance."""
    ply = 0
    rows = []
    for seat, text in events:
        rows.append(RecordEvent("chance" if seat < 0 else "action", ply, seat, text))
        ply += seat >= 0
    return Record(
        format="plyhouse-record-1",
        match="m",
        pairing="p",
        game=spec,
        parameters=dict(get_game(spec).parameters),
        time_control="move:1",
        rated=True,
        illegal_rule="forfeit",
        lag=LagPolicy(),
        seats=[RecordSeat("player", bot, "1") for bot in bots],
        chance=RecordChance(1, "", "match", []),
        events=rows,
        outcome=Outcome("normal", list(returns)),
    )


def every_match(spec: str) -> Iterator[tuple[Record, float]]:
    """Every match of two who always take the first action, with its probability."""
    game = get_game(spec)

    def walk(
        state: Any, events: list[tuple[int, str]], share: float
    ) -> Iterator[tuple[Record, float]]:
        if state.to_move == TERMINAL:
            yield record(spec, events, tuple(state.returns())), share
        elif state.to_move == CHANCE:
            for outcome, probability in state.chance_outcomes():
                text = game.format_chance(state, outcome)
                yield from walk(state.after(outcome), [*events, (-1, text)], share * probability)
        else:
            action = state.actions()[0]
            text = game.format(state, action)
            yield from walk(state.after(action), [*events, (state.to_move, text)], share)

    yield from walk(game.initial_state(), [], 1.0)


def record_luck(played: Record, value: Value) -> tuple[float, ...]:
    """Each seat's luck in a record."""
    events = [(each.kind, each.seat, each.text) for each in played.events]
    return match_luck(get_game(played.game), events, lambda _, state: value(state))


def first_action_value(state: Any) -> tuple[float, ...]:
    """Return the mean returns of two seats that always take the first action."""
    if state.to_move == TERMINAL:
        return tuple(state.returns())
    if state.to_move != CHANCE:
        return first_action_value(state.after(state.actions()[0]))
    total = np.zeros(2)
    for outcome, probability in state.chance_outcomes():
        total += probability * np.array(first_action_value(state.after(outcome)))
    return tuple(total)


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker"])
def test_with_the_exact_value_luck_is_all_that_varies(spec: str) -> None:
    start = np.array(first_action_value(get_game(spec).initial_state()))
    mean = np.zeros(2)
    for each, share in every_match(spec):
        assert each.outcome is not None
        luck = np.array(record_luck(each, first_action_value))
        assert np.array(each.outcome.returns) - luck == pytest.approx(start)
        mean += share * luck
    assert mean == pytest.approx([0.0, 0.0], abs=1e-12)


def test_luck_is_zero_on_average_whatever_the_value_says() -> None:
    rng = random.Random(1)
    wild: dict[object, float] = {}

    def value(state: Any) -> tuple[float, float]:
        guess = wild.setdefault(str(state.__reduce__()), rng.uniform(-5, 5))
        return guess, -guess / 2

    mean = np.zeros(2)
    for each, share in every_match("kuhn_poker"):
        mean += share * np.array(record_luck(each, value))
    assert mean == pytest.approx([0.0, 0.0], abs=1e-12)


def pig_match(rng: random.Random) -> Record:
    """A short match of two who roll or hold by a coin."""
    spec = "pig(target=15)"
    game = get_game(spec)
    state, events = game.initial_state(), []
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            chosen = rng.choices(outcomes, shares)[0]
            events.append((-1, game.format_chance(state, chosen)))
        else:
            chosen = rng.choice(state.actions())
            events.append((state.to_move, game.format(state, chosen)))
        state = state.after(chosen)
    return record(spec, events, tuple(state.returns()))


def test_the_games_own_estimate_narrows_the_interval_and_keeps_the_mean() -> None:
    rng = random.Random(5)
    values, luck = [], []
    for _ in range(400):
        each = pig_match(rng)
        assert each.outcome is not None
        values.append(each.outcome.returns[0])
        luck.append(record_luck(each, estimate)[0])
    found = adjusted_mean(values, luck, bounds=(-1.0, 1.0))
    assert found.raw == mean_interval(values, bounds=(-1.0, 1.0))
    width = found.adjusted.high - found.adjusted.low
    assert width < 0.85 * (found.raw.high - found.raw.low)
    assert found.saved == pytest.approx(
        1 - (width / (found.raw.high - found.raw.low)) ** 2, abs=0.01
    )
    assert found.raw.low < found.adjusted.mean < found.raw.high
    assert found.coefficient > 0.3


def test_dice_are_luck_to_an_estimate_that_does_not_look_at_them() -> None:
    game = get_game("backgammon")
    start = game.initial_state()
    value = looked_ahead(estimate)
    for outcome, _ in start.chance_outcomes():
        rolled = start.after(outcome)
        mover = rolled.to_move
        best = max(estimate(rolled.after(action))[mover] for action in rolled.actions())
        assert value(rolled)[mover] == best
    luck = {}
    for text in (game.format_chance(start, each) for each, _ in start.chance_outcomes()):
        history = record("backgammon", [(-1, text)], (0.0, 0.0))
        assert record_luck(history, estimate)[0] == pytest.approx(0.0, abs=0.5)
        luck[text] = record_luck(history, value)
    assert all(one == pytest.approx(-other) for one, other in luck.values())
    # The first roll says who begins: about as often one as the other, and 3-1 is a good one.
    assert len({round(one, 6) for one, _ in luck.values()}) > 10
    assert sum(one for one, _ in luck.values()) == pytest.approx(0.0, abs=1e-6)


def greedy_course(
    spec: str, rng: random.Random
) -> tuple[list[tuple[str, int, str]], tuple[float, ...]]:
    """A match of two bots that take the action with the best estimate."""
    game = get_game(spec)
    state = game.initial_state()
    course = []
    while state.to_move != TERMINAL:
        if state.to_move == CHANCE:
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            chosen = rng.choices(outcomes, [float(each) for each in shares])[0]
            course.append(("chance", -1, game.format_chance(state, chosen)))
        else:
            seat, actions = state.to_move, list(state.actions())
            chosen = max(actions, key=lambda each: estimate(state.after(each))[seat])
            course.append(("action", seat, game.format(state, chosen)))
        state = state.after(chosen)
    return course, tuple(state.returns())


def test_server_judge_of_einstein_takes_luck_out() -> None:
    rng = random.Random(4)
    game = get_game("einstein")
    judge = judge_of(game)
    assert judge is not None
    values, luck = [], []
    for _ in range(150):
        course, returns = greedy_course("einstein", rng)
        values.append(returns[0])
        luck.append(match_luck(game, course, judge, 20_000)[0])
    assert adjusted_mean(values, luck, bounds=(-1.0, 1.0)).saved > 0.25


def test_luck_of_backgammon_stops_at_the_work_limit() -> None:
    game = get_game("backgammon")
    judge = judge_of(game)
    assert judge is not None
    course, _ = greedy_course("backgammon", random.Random(2))
    first = match_luck(game, course[:1], judge)
    assert first[0] != 0.0
    assert match_luck(game, course, judge, 1) == first
    assert match_luck(game, course[:9], judge, 10**9) == match_luck(game, course[:9], judge)


def test_adjusted_intervals_cover_the_truth_without_bias() -> None:
    rng = np.random.default_rng(3)
    means, hits, saved = [], 0, []
    for _ in range(400):
        luck = rng.normal(size=30)
        values = 0.2 + 0.8 * luck + 0.6 * rng.standard_exponential(30) - 0.6
        found = adjusted_mean(values.tolist(), luck.tolist())
        means.append(found.adjusted.mean)
        saved.append(found.saved)
        hits += found.adjusted.low <= 0.2 <= found.adjusted.high
    assert np.mean(means) == pytest.approx(0.2, abs=3 * 0.12 / 20)
    assert 0.92 <= hits / 400 <= 0.975
    assert np.mean(saved) == pytest.approx(0.64, abs=0.08)


def test_luck_that_says_nothing_or_too_little_is_left_out() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=2000).tolist()
    nothing = adjusted_mean(values, rng.normal(size=2000).tolist())
    assert abs(nothing.saved) < 0.01
    assert adjusted_mean(values, [0.0] * 2000).adjusted.mean == pytest.approx(np.mean(values))
    few = adjusted_mean([1.0, -1.0, 1.0], [1.0, -1.0, 0.5])
    assert (few.adjusted, few.saved) == (few.raw, 0.0)
    sure = adjusted_mean([1.0] * 20, [0.0] * 20, bounds=(-1.0, 1.0))
    assert sure.adjusted == sure.raw  # equal values do not pass for certainty


def test_wrong_luck_is_refused() -> None:
    with pytest.raises(ValueError, match="2 values and 1 of luck"):
        adjusted_mean([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="no number"):
        adjusted_mean([1.0, 2.0], [1.0, float("nan")])


# ------------------------------------------------------------------------------ utilities


def test_the_mirrored_pair_is_the_unit() -> None:
    matches = []
    for pair, (one, two) in enumerate([(3.0, -1.0), (-2.0, 4.0), (1.0, 3.0)]):
        matches.append(Paid(("a", "b"), (one, -one), pair))
        matches.append(Paid(("b", "a"), (-two, two), pair))
    found = mean_returns(matches)
    assert found["a"].raw == mean_interval([1.0, 1.0, 2.0])
    assert found["b"].raw.mean == pytest.approx(-4 / 3)
    single = mean_returns([each._replace(pair=None) for each in matches])
    assert single["a"].raw.size == 6


def test_luck_stands_beside_the_raw_mean_where_it_is_known() -> None:
    rng = np.random.default_rng(2)
    matches = []
    for _ in range(60):
        luck = float(rng.normal())
        paid = luck + 0.1 * float(rng.normal())
        matches.append(Paid(("a", "b"), (paid, -paid), None, (luck, -luck)))
    found = mean_returns(matches)["a"]
    assert found.saved > 0.9
    assert found.adjusted.high - found.adjusted.low < 0.3 * (found.raw.high - found.raw.low)
    unknown = mean_returns([*matches[1:], matches[0]._replace(luck=None)])["a"]
    assert unknown.adjusted == unknown.raw


def test_wrong_payments_are_refused() -> None:
    with pytest.raises(ResultError, match="Match 0: 1 returns for 2 seats"):
        mean_returns([Paid(("a", "b"), (1.0,))])
    with pytest.raises(ResultError, match="are not all numbers"):
        mean_returns([Paid(("a", "b"), (1.0, float("nan")))])
    with pytest.raises(ResultError, match="1 values of luck for 2 seats"):
        mean_returns([Paid(("a", "b"), (1.0, -1.0), None, (0.0,))])


# -------------------------------------------------------------------------------- repeats

LINE = [(0, "b2"), (1, "a1"), (0, "c3"), (1, "a3")]
OTHER = [(0, "b2"), (1, "c1"), (0, "c3"), (1, "a3")]


def played(line: list[tuple[int, str]], *bots: str) -> PlayedLine:
    return PlayedLine("tic_tac_toe", bots or ("one", "two"), tuple(line), (0.0, 0.0), False)


def test_a_game_that_was_played_before_counts_once() -> None:
    turned = played(LINE, "two", "one")
    assert repeat_weights([played(LINE)] * 3 + [turned] * 2) == [1, 0, 0, 1, 0]
    assert repeat_weights([played(LINE), played(LINE, "newer", "two")]) == [1, 1]


def test_chance_and_bots_that_vary_are_no_repeats() -> None:
    dice = PlayedLine("pig", ("one", "two"), ((0, "roll"), (0, "hold")), (1.0, -1.0), True)
    assert repeat_weights([dice, dice]) == [1, 1]
    # The second bot answered b2 in two ways: that both came twice is no repetition.
    assert repeat_weights([played(LINE), played(OTHER), played(LINE), played(OTHER)]) == [1] * 4


@pytest.mark.parametrize(
    ("means", "spread"),
    [
        ((0.25,), (-2.0, -1.0, 1.0, 2.0)),
        ((1.2, -0.8, 0.0), (-1.0, 1.0)),  # opponents of different strength, in turn
        ((-1.9,), (0.0, 0.1)),
    ],
)
def test_bounds_for_who_watches_are_missed_as_rarely_as_promised_over_all_looks(
    means: tuple[float, ...], spread: tuple[float, ...]
) -> None:
    """The mean over the opponents met so far, looked at from the first pair to the last."""
    runs, pairs, alpha = 60, 130, 0.1
    looks = (1, 2, 4, 7, 11, 16, 24, 36, 54, 80, 130)
    centre = sum(spread) / len(spread)
    truth = [means[number % len(means)] for number in range(pairs)]
    rng = random.Random(5)
    missed = once = 0
    for _ in range(runs):
        values = [mean + rng.choice(spread) - centre for mean in truth]
        wrong = fixed = False
        for count in looks:
            mean = sum(truth[:count]) / count
            found = watched_bounds(values[:count], (-4.0, 4.0), alpha)
            assert found is not None
            wrong |= not found[0] <= mean <= found[1]
            ordinary = mean_interval(values[:count], bounds=(-4.0, 4.0))
            fixed |= not ordinary.low <= mean <= ordinary.high
        missed += wrong
        once += fixed
    # Three standard deviations above what was stated: the seed is fixed.
    assert missed <= runs * alpha + 3 * math.sqrt(runs * alpha * (1 - alpha))
    if len(means) == 1:
        assert once > 4 * 0.05 * runs, "an interval for one look does not stand watching"


def test_bounds_for_who_watches_stand_beside_every_mean_of_points() -> None:
    pairs = [(3.0, -1.0), (-2.0, 4.0), (1.0, 3.0)] * 20
    matches = [
        match
        for number, (one, two) in enumerate(pairs)
        for match in (
            Paid(("a", "b"), (one, -one), number),
            Paid(("b", "a"), (-two, two), number),
        )
    ]
    found = mean_returns(matches, bounds=(-4.0, 4.0))
    for name, each in found.items():
        sequence = ConfidenceSequence(0.05, -4.0, 4.0)
        sequence.extend([1.0, 1.0, 2.0] * 20 if name == "a" else [-1.0, -1.0, -2.0] * 20)
        assert each.watched == pytest.approx((sequence.low, sequence.high))
        assert each.watched is not None
        low, high = each.watched
        assert low < each.raw.low < each.raw.mean < each.raw.high < high
    lucky = [match._replace(luck=(0.1, -0.1)) for match in matches]
    assert mean_returns(lucky, bounds=(-4.0, 4.0))["a"].watched == found["a"].watched
    assert mean_returns(matches)["a"].watched is None, "nobody said how much a return can be"
    assert mean_returns(matches, bounds=(-1.5, 1.5))["a"].watched is None, "2 was paid"
    assert watched_bounds([0.0], (1.0, 1.0)) is None
    assert watched_bounds([1.0 + 1e-12], (0.0, 1.0)) is not None, "that is rounding"


def holdem_events(text: str) -> list[tuple[str, int, str]]:
    """Events of a duel in hold'em: cards and actions separated by commas."""
    game = get_game("texas_holdem(hands=1)")
    state: Any = game.initial_state()
    events = []
    for part in text.split(", "):
        if state.to_move == CHANCE:
            for card in part.split():
                events.append(("chance", CHANCE, card))
                state = state.after(game.parse_chance(state, card))
        else:
            events.append(("action", state.to_move, part))
            state = state.after(game.parse(state, part))
    assert state.to_move == TERMINAL
    return events


def test_result_without_luck_is_all_in_equity_after_an_all_in() -> None:
    game = get_game("texas_holdem(hands=1)")
    judge = judge_of(game)
    assert judge is not None
    begin = "As 2c Ah 7d, call, check, Kh 9s 7c, bet 198, call, "
    results = []
    for end in ("3c 4d", "2h 7h", "Ac 7s"):
        events = holdem_events(begin + end)
        luck = match_luck(game, events, judge)
        state: Any = game.initial_state()
        for kind, _, text in events:
            action = game.parse_chance if kind == "chance" else game.parse
            state = state.after(action(state, text))
        results.append(state.returns()[1] - luck[1])
    # Whatever comes after the call, and whoever wins, the rest is the same.
    assert results == pytest.approx([results[0]] * 3)
    assert results[0] > 0


def test_luck_of_a_hand_without_showdown_is_that_of_its_deal() -> None:
    game = get_game("texas_holdem(hands=1)")
    judge = judge_of(game)
    assert judge is not None
    aces = match_luck(game, holdem_events("As 2c Ah 7d, fold"), judge)
    rags = match_luck(game, holdem_events("2c As 7d Ah, fold"), judge)
    assert aces[1] > 0 > rags[1]
    assert sum(aces) == pytest.approx(0.0)
    # Two chips of the big blind are at stake: a hundred big blinds for a hundred hands.
    assert aces[1] == pytest.approx(100 * (2 * 0.874 - 1), abs=5)


def test_luck_of_holdem_is_even_on_average() -> None:
    game = get_game("texas_holdem(hands=1)")
    judge = judge_of(game)
    assert judge is not None
    rng = random.Random(8)
    found, raw = [], []
    for _ in range(400 if COMPILED else 150):
        state: Any = game.initial_state()
        events = []
        while state.to_move != TERMINAL:
            if state.to_move == CHANCE:
                action = rng.choice(state.chance_outcomes())[0]
                events.append(("chance", CHANCE, game.format_chance(state, action)))
            else:
                action = rng.choice(state.actions()[:3])
                events.append(("action", state.to_move, game.format(state, action)))
            state = state.after(action)
        found.append(match_luck(game, events, judge)[0])
        raw.append(state.returns()[0])
    mean = mean_interval(found)
    assert mean is not None
    assert mean.low < 0 < mean.high
    assert np.var(np.array(raw) - found) < 0.9 * np.var(raw)
