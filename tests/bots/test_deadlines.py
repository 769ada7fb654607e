"""Built-in bots act within their time in every game, and have an action early.

A clock of work measures that the same on any machine: it counts the calls of functions, a
microsecond each.  So a bot that looks at its clock too rarely fails, however fast the machine is.
"""

from __future__ import annotations

import asyncio
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots import Bot
from plyhouse.bots.reference.best_bot import BestBot, bot_of
from plyhouse.bots.reference.bridge_bot import DoubleDummyBot
from plyhouse.bots.reference.equity_bot import EquityBot
from plyhouse.bots.reference.holdem_rule_bot import HoldemRuleBot
from plyhouse.bots.reference.level_bots import EasyBot, HardBot, MediumBot
from plyhouse.bots.reference.random_bot import RandomBot
from plyhouse.bots.reference.scrabble_bot import ScrabbleBot
from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.native import COMPILED
from plyhouse.games.registry import game_names, get_game

pytestmark = pytest.mark.skipif(COMPILED, reason="compiled functions cannot be counted")

MS = 1_000_000
LIMIT = 100 * MS
LATE = 20 * MS
EARLY = LIMIT // 10


class WorkClock:
    """Counts calls of Python functions and of built-in ones, in all threads."""

    now = 0

    def __call__(self) -> int:
        return self.now

    def _count(self, frame: Any, event: str, arg: Any) -> None:
        if event in ("call", "c_call"):
            self.now += 1000

    @contextmanager
    def running(self) -> Iterator[None]:
        threading.setprofile(self._count)
        sys.setprofile(self._count)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def spent(bot: Bot, game: Game, state: Any, limit: int = LIMIT) -> tuple[Any, int, int]:
    """Return the bot's action, the work until then, and the work until its first report."""
    clock = WorkClock()
    first: list[int] = []
    turn = turn_at(
        game,
        state,
        rng=random.Random(1),
        soft=limit,
        hard=limit + LATE,
        on_report=lambda _: first.append(clock()),
        clock_ns=clock,
    )
    with clock.running():
        action = bot.choose(turn)
        if asyncio.iscoroutine(action):
            action = asyncio.run(action)
        used = clock()
    text, problem = turn.text_of(action)
    assert not problem
    return game.parse(state, text), used, min(first, default=used)


def positions(game: Game, seed: int, plies: tuple[int, ...]) -> Iterator[Any]:
    """Yield the positions of a random game after so many plies."""
    rng = random.Random(seed)
    state: Any = game.initial_state()
    ply = 0
    while state.to_move != TERMINAL and ply <= max(plies):
        if state.to_move == CHANCE:
            outcomes = state.chance_outcomes()
            weights = [share for _, share in outcomes]
            state = state.after(rng.choices([each for each, _ in outcomes], weights)[0])
            continue
        if ply in plies:
            yield state
        state = state.after(game.random_action(state, rng))
        ply += 1


@pytest.mark.parametrize("kind", [BestBot, EasyBot])
@pytest.mark.parametrize("spec", game_names())
def test_built_in_bot_acts_within_its_time(spec: str, kind: Callable[[], Bot]) -> None:
    game = get_game(spec)
    bot_of(game).result()
    for state in positions(game, 3, (0, 7, 20)):
        _, used, first = spent(kind(), game, state)
        assert used <= LIMIT + LATE
        assert first <= EARLY


def scrabble_with_two_blanks() -> tuple[Game, Any]:
    game = get_game("scrabble")
    state: Any = game.initial_state()
    for tile in "RELICTSAEINR??":
        state = state.after(game.parse_chance(state, tile))
    state = state.after("8D RELICT")
    while state.to_move == CHANCE:
        state = state.after(state.drawn(0.5))
    return game, state


def bridge_after(cards: int) -> tuple[Game, Any]:
    game = get_game("bridge")
    rng = random.Random(5)
    state: Any = game.initial_state()
    played = 0
    calls = iter(("1NT", "pass", "3NT", "pass", "pass", "pass"))
    while played < cards:
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
            continue
        call = next(calls, "")
        state = state.after(game.parse(state, call) if call else rng.choice(state.actions()))
        played += not call
    return game, state


def holdem_flop() -> tuple[Game, Any]:
    game = get_game("texas_holdem(betting=fixed)")
    rng = random.Random(2)
    state: Any = game.initial_state()
    while True:
        if state.to_move == CHANCE:
            state = state.after(rng.choice(state.chance_outcomes())[0])
            continue
        seen: Any = game.observe(state, state.to_move)
        if len(seen.board) >= 3:
            return game, state
        state = state.after(game.parse(state, "check" if "check" in seen.legal else "call"))


HARD_POSITIONS = [
    (kind, position)
    for position, kinds in (
        (scrabble_with_two_blanks, (ScrabbleBot, RandomBot, EasyBot, MediumBot, HardBot)),
        (lambda: bridge_after(1), (DoubleDummyBot, HardBot)),
        (lambda: bridge_after(22), (DoubleDummyBot,)),
        (holdem_flop, (HoldemRuleBot, EquityBot, BestBot)),
    )
    for kind in kinds
]


@pytest.mark.parametrize(("kind", "position"), HARD_POSITIONS)
def test_bot_stops_in_time_in_a_position_of_much_work(
    kind: type[Bot], position: Callable[[], tuple[Game, Any]]
) -> None:
    game, state = position()
    bot_of(game).result()
    for limit in (LIMIT, 2 * LIMIT):
        _, used, first = spent(kind(), game, state, limit)
        assert used <= limit + LATE
        assert first <= limit // 10


@pytest.mark.parametrize("spec", ["bridge", "monopoly", "scrabble", "texas_holdem", "hearts"])
def test_time_of_best_bounds_the_bot_of_each_game(spec: str) -> None:
    game = get_game(spec)
    bot_of(game).result()
    for state in positions(game, 5, (1, 12)):
        _, used, _ = spent(BestBot(time=0.03), game, state, 50 * LIMIT)
        assert used <= 30 * MS + LATE
