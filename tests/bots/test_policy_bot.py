"""The bot that plays policies: from a file, or worked out in its own time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots import Turn
from plyhouse.bots.loading import bot_options, load_bot
from plyhouse.bots.reference.policy_bot import PolicyBot
from plyhouse.games.registry import get_game
from plyhouse.search import cfr_plus
from plyhouse.search.equilibria.cfr import RegretSolution
from plyhouse.search.equilibria.tabular import PolicyMismatch

KUHN = get_game("kuhn_poker")


@pytest.fixture(autouse=True)
def _forgetful() -> Iterator[None]:
    PolicyBot.policies.clear()
    PolicyBot.solutions.clear()
    yield
    PolicyBot.policies.clear()
    PolicyBot.solutions.clear()


def turn(game: Any, state: Any, seed: int = 0, seconds: float | None = None) -> Turn:
    return turn_at(
        game,
        state,
        rng=random.Random(seed),
        soft=None if seconds is None else round(seconds * 1e9),
        hard=None if seconds is None else round(seconds * 1e9),
        clock_ns=lambda: 0,
    )


def shares(bot: Any, game: Any, state: Any, count: int = 2000) -> dict[Any, float]:
    seen: dict[Any, float] = {}
    for seed in range(count):
        action = game.format(state, bot.choose(turn(game, state, seed)))
        seen[action] = seen.get(action, 0.0) + 1 / count
    return seen


def test_small_games_are_solved_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    bot = load_bot("policy")()
    jack_after_check = KUHN.initial_state().after(2).after(0).after(0)
    assert shares(bot, KUHN, jack_after_check)["bet"] == pytest.approx(1 / 3, abs=0.04)
    king = KUHN.initial_state().after(0).after(2).after(1)
    assert shares(bot, KUHN, king, 20) == pytest.approx({"call": 1.0})
    assert capfd.readouterr().err.count("policy solved kuhn_poker by 1000 iterations") == 1


def test_a_file_is_played(tmp_path: Path) -> None:
    path = tmp_path / "kuhn.policy"
    cfr_plus(KUHN, iterations=300).policy.save(path)
    spec = f'policy(file="{path}")'
    kind = load_bot(spec)
    bot = kind(**bot_options(spec, kind))
    king = KUHN.initial_state().after(0).after(2).after(1)
    assert shares(bot, KUHN, king, 20) == pytest.approx({"call": 1.0})
    leduc = get_game("leduc_poker")
    with pytest.raises(PolicyMismatch, match="not for leduc_poker"):
        bot.choose(turn(leduc, leduc.initial_state().after(0).after(1)))


def test_without_time_it_says_so_and_goes_on_later(capfd: pytest.CaptureFixture[str]) -> None:
    bot = PolicyBot()
    state = KUHN.initial_state().after(0).after(2).after(1)
    # A thread works the solution out; it may be done at once, and here it is not.
    solution: Future[RegretSolution] = Future()
    PolicyBot.solutions[KUHN.spec] = solution
    assert bot.choose(turn(KUHN, state, seconds=0.0)) in state.actions()
    said = capfd.readouterr().err
    assert "chooses at random: there was no time to solve kuhn_poker" in said
    solution.set_result(cfr_plus(KUHN, iterations=1))
    assert shares(bot, KUHN, state, 20) == pytest.approx({"call": 1.0})


def test_games_that_are_too_large_are_played_at_random_and_it_says_so(
    capfd: pytest.CaptureFixture[str],
) -> None:
    game = get_game("liars_dice(dice=2)")
    state: Any = game.initial_state()
    for die in (1, 2, 3, 4):
        state = state.after(die)
    assert PolicyBot().choose(turn(game, state)) in state.actions()
    said = capfd.readouterr().err
    assert "policy chooses at random: cfr_plus cannot play liars_dice(dice=2)" in said


def test_every_game_it_claims_can_be_solved() -> None:
    for spec in PolicyBot.claims():
        if spec != "liars_dice":  # tested on its own: the tree is large
            assert cfr_plus(get_game(spec), iterations=1).iterations == 1


def test_iterations_start_at_one() -> None:
    with pytest.raises(ValueError, match="iterations=0"):
        PolicyBot(iterations=0)


def test_a_missing_file_is_told_when_the_bot_is_made() -> None:
    with pytest.raises(ValueError, match=r"file='no/such.policy': there is no such file"):
        PolicyBot(file="no/such.policy")
