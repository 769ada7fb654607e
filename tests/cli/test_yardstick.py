"""``plyhouse yardstick``: bots against engines, exact values and equilibria."""

from __future__ import annotations

import json
import math
import random
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import Plyhouse
from tests.harness.engines import require_engine

from plyhouse.clients.arena.series import PlayedPairing
from plyhouse.clients.arena.tally import MatchResult
from plyhouse.clients.shared.errors import EXIT_FAILED, EXIT_USAGE, CommandError
from plyhouse.clients.yardstick import measuring
from plyhouse.clients.yardstick.equilibrium import (
    QUESTIONS,
    exploitability_found_anew,
    information_states,
    policy_of,
)
from plyhouse.clients.yardstick.measuring import Measured, against_engines, nearest, rating
from plyhouse.clients.yardstick.scales import Engines, Opponent
from plyhouse.games.registry import get_game
from plyhouse.search import Limit, cfr_plus, exploitability
from plyhouse.search.equilibria.sequence_form import sequence_form

AMPLE = "60"
"""Seconds for each move of a bot that answers in milliseconds: more than any machine takes."""

RESULTS = st.lists(
    st.tuples(st.integers(1000, 3000).map(float), st.sampled_from([0.0, 0.5, 1.0])),
    min_size=1,
    max_size=30,
)


@given(RESULTS)
def test_interval_holds_the_rating_and_moves_with_the_opponents(results: Any) -> None:
    found = rating(results)
    assert found.low <= found.value <= found.high
    moved = rating([(opponent + 100.0, score) for opponent, score in results])
    for one, other in zip(
        (found.low, found.value, found.high), (moved.low, moved.value, moved.high), strict=True
    ):
        assert other == pytest.approx(one + 100.0, abs=0.01)


@given(RESULTS)
def test_result_and_its_opposite_have_opposite_ratings(results: Any) -> None:
    found = rating(results)
    opposite = rating([(-opponent, 1.0 - score) for opponent, score in results])
    assert opposite.value == pytest.approx(-found.value, abs=0.01)
    assert (opposite.low, opposite.high) == pytest.approx((-found.high, -found.low), abs=0.01)


def test_ratings_of_simulated_matches_lie_in_their_intervals_19_times_of_20() -> None:
    rng, true, levels = random.Random(5), 1830.0, [1400.0, 1600.0, 1800.0, 2000.0, 2200.0]
    inside, means = 0, []
    for _ in range(100):
        results: list[tuple[float, float]] = []
        for _ in range(30):
            level = nearest(levels, results)
            chance = 1 / (1 + 10 ** ((level - true) / 400))
            results.append((level, float(rng.random() < chance)))
        found = rating(results)
        inside += found.low <= true <= found.high
        means.append(found.value)
    assert 90 <= inside <= 99
    assert math.fsum(means) / len(means) == pytest.approx(true, abs=20)


def test_rating_after_only_losses_has_only_an_upper_bound() -> None:
    found = rating([(1400.0, 0.0)] * 4)
    assert (found.value, found.low) == (-math.inf, -math.inf)
    assert 1200 < found.high < 1500
    with pytest.raises(ValueError, match="at least one result"):
        rating([])


def measured(plyhouse: Plyhouse, *arguments: str) -> list[dict[str, Any]]:
    done = plyhouse("yardstick", *arguments, "--seed", "3", "--json")
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


def test_best_choices_are_those_of_perfect_play(plyhouse: Plyhouse) -> None:
    games = ("tic_tac_toe", "hexapawn")
    # The bot answers when it has searched to the end: the time is for a busy machine.
    known = measured(plyhouse, *games, "--positions", "12", "--time", AMPLE)
    assert [(each["game"], each["value"], each["number"]) for each in known] == [
        ("tic_tac_toe", 1.0, 12),
        ("hexapawn", 1.0, 12),
    ]
    drawn = measured(
        plyhouse, "tic_tac_toe", "--bot", "random", "--positions", "60", "--time", AMPLE
    )
    assert 0.2 < drawn[0]["value"] < 0.9
    assert drawn[0]["low"] < drawn[0]["value"] < drawn[0]["high"]
    assert drawn[0]["detail"] != "mean loss 0"


def test_endgames_are_compared_with_exact_values(plyhouse: Plyhouse) -> None:
    found = measured(plyhouse, "connect_four", "othello", "--positions", "3", "--time", "5")
    assert [each["number"] for each in found] == [3, 3]


def test_exploitability_of_few_answers_lies_between_two_estimates() -> None:
    game = get_game("kuhn_poker")
    asked = information_states(game, 100)
    assert asked is not None
    solution = cfr_plus(game, Limit(time=20.0), iterations=1000)
    rng = random.Random(1)
    above, below = [], []
    for _ in range(30):
        answers = [
            Counter(
                game.format(each.state, solution.policy.choose(each.state, rng))
                for _ in range(QUESTIONS)
            )
            for each in asked
        ]
        above.append(exploitability(game, policy_of(game, asked, answers)))
        below.append(exploitability_found_anew(game, asked, answers, rng))
    true = exploitability(game, solution.policy)
    assert fmean(below) < true + 0.005 < fmean(above)
    always = [Counter({game.format(each.state, each.state.actions()[0]): 20}) for each in asked]
    same = exploitability(game, policy_of(game, asked, always))
    assert exploitability_found_anew(game, asked, always, rng) == pytest.approx(same)


def test_exploitability_of_the_policy_that_the_bot_computes(plyhouse: Plyhouse) -> None:
    # It ends after a thousand iterations, in a fraction of this time.
    (found,) = measured(plyhouse, "kuhn_poker", "--time", AMPLE)
    assert 0.0 < found["value"] < 0.01
    assert found["low"] == found["high"]
    done = plyhouse("yardstick", "kuhn_poker", "--time", "0.2")
    assert "exact" in done.out


def test_larger_game_is_solved_by_the_bot_policy(plyhouse: Plyhouse) -> None:
    game = "liars_dice(faces=5)"
    refused = plyhouse("yardstick", game)  # `best` samples it
    assert refused.code == EXIT_USAGE
    assert "is too large to measure best by an equilibrium. Use --bot policy" in refused.err
    for seconds in ("4", "16", "60"):  # the first iteration may take as long on a busy machine
        (found,) = measured(plyhouse, game, "--bot", "policy", "--time", seconds)
        assert found["value"] > 0.0
        if found["value"] < 0.05:
            return
    raise AssertionError("the policy was not solved in a minute")


def test_bots_are_measured_by_engines(plyhouse: Plyhouse, tmp_path: Path) -> None:
    for engine in ("stockfish", "gnubg"):
        require_engine(engine)
    # Stockfish uses its time to the end. So that a busy machine can let it stand still for long
    # before a match does not count, it has much time, and few actions.
    (tmp_path / "meek.py").write_text(
        textwrap.dedent(
            """
            from plyhouse.bots import Bot

            class Meek(Bot):
                def choose(self, turn):
                    return turn.resign() if turn.ply > 5 else turn.legal[0]
            """
        )
    )
    options = ("--pairs", "1", "--time", "8")
    chess, backgammon = measured(plyhouse, "chess", "backgammon", "--bot", "meek.py", *options)
    assert (chess["value"], chess["number"]) == (None, 2)
    assert chess["high"] < 2400
    assert "Stockfish at 2200: 0-0-2" in chess["detail"]
    assert backgammon["value"] < 0


async def against(
    opponent: Opponent, bot: str = "random", seconds: float = 5, patience: float = 0
) -> Measured:
    (found,) = await against_engines(
        get_game("go(size=5)"),
        bot,
        Engines((opponent,), patience=patience),
        seconds=seconds,
        pairs=1,
        jobs=1,
        seed=1,
        on_played=lambda _: None,
        on_line=lambda _: None,
    )
    return found


async def test_matches_that_the_engine_forfeits_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        textwrap.dedent(
            """
            from plyhouse.bots import Bot

            class Broken(Bot):
                def choose(self, turn):
                    raise RuntimeError("the engine has died")
            """
        )
    )
    with pytest.raises(CommandError, match="no match counts, as the engine forfeited"):
        await against(Opponent("broken", f"{tmp_path}/broken.py"))


async def test_engine_that_is_rated_by_its_playouts_takes_longer_than_the_bot(
    tmp_path: Path,
) -> None:
    (tmp_path / "timed.py").write_text(
        textwrap.dedent(
            """
            from plyhouse.bots import Bot

            class Timed(Bot):
                def __init__(self, low: float = 0, high: float = 20):
                    self.low, self.high = low, high

                def choose(self, turn):
                    assert self.low < turn.limit.time <= turn.time_left < self.high
                    return turn.legal[0]
            """
        )
    )
    engine = Opponent("slow", f"{tmp_path}/timed.py(low=30, high=60)")
    found = await against(engine, f"{tmp_path}/timed.py", seconds=20, patience=60)
    assert (found.number, found.detail.count("forfeited")) == (2, 0)


async def test_missing_engine_is_named() -> None:
    with pytest.raises(ExceptionGroup) as failed:
        await against(Opponent("absent", 'gtp(engine="absent")'))
    assert failed.group_contains(CommandError, match="There is no program 'absent'")


async def met_and_measured(
    opponents: Sequence[Opponent], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], Measured]:
    """Measure a bot that beats all below 1800; return the specs of those it met, and the result."""
    met = []

    async def play(series: Any, pairings: Any, _: int, on_played: Any, on_line: Any) -> None:
        spec = series.bots[1]
        met.append(spec)
        rating = next(each.rating for each in opponents if each.spec == spec)
        won = 1.0 if rating is not None and rating < 1800 else -1.0
        for index in pairings:
            results = [
                MatchResult(index, (0, 1), (won, -won), "normal", None, 9, ()),
                MatchResult(index, (1, 0), (-won, won), "normal", None, 9, ()),
            ]
            on_played(index, PlayedPairing(results, []))

    monkeypatch.setattr(measuring, "play_series", play)
    (found,) = await against_engines(
        get_game("chess"),
        "bot",
        Engines(tuple(opponents), "levels"),
        seconds=1,
        pairs=10,
        jobs=32,
        seed=1,
        on_played=lambda _: None,
        on_line=lambda _: None,
    )
    return met, found


async def test_rated_opponent_is_chosen_again_however_many_pairs_are_played_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    levels = [Opponent(str(each), str(each), float(each)) for each in range(1400, 2801, 200)]
    met, found = await met_and_measured(levels, monkeypatch)
    assert found.number == 20
    assert found.against == "levels"
    assert len(set(met)) > 2
    assert 1600 < found.value.value < 1800


async def test_rated_opponents_whose_engine_is_missing_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there, absent = sys.executable, "no-such-engine"
    weak, strong = Opponent("weak", "weak", 1600.0, there), Opponent("strong", "2", 2000.0, there)
    between = Opponent("between", "3", 1800.0, absent)
    met, _ = await met_and_measured([weak, between, strong], monkeypatch)
    assert {*met} == {"weak", "2"}
    met, _ = await met_and_measured([between], monkeypatch)
    assert {*met} == {"3"}, "it is played, so that the user hears that it is missing"


def test_results_of_other_games_stay(plyhouse: Plyhouse) -> None:
    options = ("--positions", "3", "--time", AMPLE)
    done = plyhouse("yardstick", 'nim(heaps="1")', "tic_tac_toe", *options)
    assert done.code == EXIT_FAILED
    assert "is left out" in done.err
    assert "tic_tac_toe" in done.out


def test_bot_that_fails_at_once_is_told_without_an_empty_table(
    plyhouse: Plyhouse, tmp_path: Path
) -> None:
    (tmp_path / "crash.py").write_text(
        textwrap.dedent(
            """
            from plyhouse.bots import Bot

            class Crash(Bot):
                def choose(self, turn):
                    raise ValueError("oops")
            """
        )
    )
    done = plyhouse("yardstick", 'nim(heaps="2")', "--bot", "crash.py", traceback=True)
    assert done.code == EXIT_FAILED
    assert "is left out: the bot failed: ValueError: oops in the first position" in done.err
    assert done.out == ""


def test_game_or_bot_without_scale_is_refused(plyhouse: Plyhouse) -> None:
    done = plyhouse("yardstick", "pacman")
    assert done.code == EXIT_USAGE
    assert "pacman has no scale that others share" in done.err
    done = plyhouse("yardstick", "tic_tac_toe", "--bot", "no_such_bot")
    assert done.code == EXIT_USAGE
    assert "no_such_bot" in done.err
    done = plyhouse("yardstick", "prisoners_dilemma")  # it has no value to be exploited of
    assert done.code == EXIT_USAGE


def test_any_bot_is_measured_in_a_small_hidden_game(plyhouse: Plyhouse, tmp_path: Path) -> None:
    (tmp_path / "folds.py").write_text(
        "from plyhouse.bots import Bot\n\n\nclass Folds(Bot):\n"
        "    def choose(self, turn):\n"
        "        assert len(turn.history) == 2 + turn.ply\n"
        "        return next(a for a in ('fold', 'check') if a in turn.legal_text)\n"
    )
    game = ("kuhn_poker", "--pairs", "6", "--time", AMPLE, "--seed", "1")
    matches, exploited = measured(plyhouse, *game, "--bot", "folds.py")
    assert (matches["measure"], matches["against"]) == ("points a match", "policy")
    assert matches["number"] == 12
    assert matches["low"] < matches["value"] < matches["high"]
    # Each seat wins the ante from it by betting.
    assert exploited["measure"] == "exploitability"
    assert exploited["value"] == pytest.approx(1.0)
    assert "20 answers in each of 12 information states" in exploited["detail"]
    (only,) = measured(plyhouse, *game, "--bot", "folds.py", "--positions", "11")
    assert only["against"] == "policy"


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "rock_paper_scissors"])
def test_information_states_are_those_of_the_sequence_form(spec: str) -> None:
    game = get_game(spec)
    wanted = sum(len(own) for own in sequence_form(game).sets)
    found = information_states(game, wanted)
    assert found is not None
    assert len(found) == wanted
    assert information_states(game, wanted - 1) is None
    for each in found[:100]:
        own = [event for event in each.events if event.seat == each.seat]
        assert all(event.action is not None for event in own)
        assert sum(event.seat >= 0 for event in each.events) == each.ply
