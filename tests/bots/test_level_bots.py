"""``hard`` and ``medium``: searches in threads, one at a time for a match."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at

from plyhouse.bots import Turn
from plyhouse.bots.reference.best_bot import bot_of
from plyhouse.bots.reference.level_bots import HardBot, MediumBot
from plyhouse.games.base import Game
from plyhouse.games.registry import get_game


def timed_turn(game: Game, state: Any, clock_ns: Callable[[], int], seconds: float) -> Turn:
    return turn_at(
        game,
        state,
        rng=random.Random(2),
        soft=time.monotonic_ns() + round(seconds * 1e9),
        hard=time.monotonic_ns() + round(seconds * 2e9),
        clock_ns=clock_ns,
    )


@pytest.mark.parametrize("kind", [HardBot, MediumBot])
@pytest.mark.parametrize("spec", ["connect_four(columns=8)", "go(size=5)"])
async def test_search_that_outlives_its_turn_does_not_disturb_the_next(
    spec: str, kind: type[HardBot]
) -> None:
    game = get_game(spec)
    bot_of(game).result()
    main = threading.get_ident()
    searching, go_on = threading.Event(), threading.Event()

    def slow_clock() -> int:
        if threading.get_ident() != main:
            searching.set()
            go_on.wait(10)
        return time.monotonic_ns()

    bot = kind()
    state: Any = game.initial_state()
    first = timed_turn(game, state, slow_clock, 60)
    lost = asyncio.create_task(bot.choose(first))
    await asyncio.to_thread(searching.wait, 10)
    first.end()  # the action that it had reported was played
    lost.cancel()
    state = state.after(state.actions()[0])
    second = timed_turn(game, state.after(state.actions()[0]), time.monotonic_ns, 0.05)
    choosing = asyncio.create_task(bot.choose(second))
    done, _ = await asyncio.wait([choosing], timeout=0.1)
    assert not done
    go_on.set()
    assert await choosing in second.legal
