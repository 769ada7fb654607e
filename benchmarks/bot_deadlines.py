"""Do built-in bots act within their time?  ``python -m benchmarks.bot_deadlines --busy``.

Each bot chooses in positions of a random game, for each time per move.  The table shows the longest
choice and the latest first report; a bot is late 20 ms after its time, and slow to report after a
tenth of it.  ``--busy`` keeps one core busy meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import multiprocessing
import random
import time
from typing import Any

from tests.harness.bot_turns import turn_at

from plyhouse.bots import Bot
from plyhouse.bots.loading import load_bot
from plyhouse.games.base import CHANCE, TERMINAL, Game
from plyhouse.games.native import COMPILED
from plyhouse.games.registry import game_names, get_game

LATE = 0.02


def spin() -> None:
    """Keep a core busy."""
    while True:
        pass


def measured(bot: Bot, game: Game, state: Any, ply: int, seconds: float) -> tuple[float, float]:
    """Return the seconds until the bot's first report and until its action."""
    reports: list[int] = []
    begin = time.monotonic_ns()
    turn = turn_at(
        game,
        state,
        time_control=f"move:{seconds}",
        ply=ply,
        rng=random.Random(ply),
        soft=begin + round(seconds * 1e9),
        hard=begin + round((seconds + LATE) * 1e9),
        on_report=lambda _: reports.append(time.monotonic_ns()),
    )
    chosen = bot.choose(turn)
    if inspect.isawaitable(chosen):
        chosen = asyncio.run(_awaited(chosen))
    _, problem = turn.text_of(chosen)
    end = time.monotonic_ns()
    if problem:
        raise SystemExit(problem)
    return (min([*reports, end]) - begin) / 1e9, (end - begin) / 1e9


async def _awaited(chosen: Any) -> Any:
    return await chosen


def worst(name: str, game: Game, seconds: float, turns: int) -> tuple[float, float]:
    """Return the latest first report and the longest choice over so many turns."""
    rng = random.Random(5)
    state: Any = game.initial_state()
    bots: dict[int, Bot] = {}
    reported, took, asked, ply = 0.0, 0.0, 0, 0
    while asked < turns:
        if state.to_move == TERMINAL:
            state, bots = game.initial_state(), {}
        elif state.to_move == CHANCE:
            outcomes = state.chance_outcomes()
            weights = [share for _, share in outcomes]
            state = state.after(rng.choices([each for each, _ in outcomes], weights)[0])
        else:
            if ply % 3 == 0:
                bot = bots.setdefault(state.to_move, load_bot(name)())
                first, whole = measured(bot, game, state, ply, seconds)
                reported, took = max(reported, first), max(took, whole)
                asked += 1
            state = state.after(game.random_action(state, rng))
            ply += 1
    return reported, took


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", default="best,hard,medium,easy")
    parser.add_argument("--games", default=",".join(game_names()))
    parser.add_argument("--times", default="0.1,0.2,1")
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--busy", action="store_true")
    options = parser.parse_args()
    busy = multiprocessing.Process(target=spin, daemon=True)
    if options.busy:
        busy.start()
    print(f"{'compiled' if COMPILED else 'interpreted'}; seconds")
    for spec in options.games.split(","):
        for name in options.bots.split(","):
            for seconds in [float(text) for text in options.times.split(",")]:
                reported, took = worst(name, get_game(spec), seconds, options.turns)
                marks = " late" if took > seconds + LATE else ""
                marks += " slow report" if reported > seconds / 10 else ""
                print(f"{spec:20} {name:7} {seconds:5} {reported:7.3f} {took:7.3f}{marks}")


if __name__ == "__main__":
    main()
