"""Real engines, scripted ones for what real engines never do, and turns without a server."""

from __future__ import annotations

import functools
import os
import random
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.harness.bot_turns import turn_at
from tests.harness.clocks import SECOND, AheadClock, SlowClock
from tests.harness.engines import require_engine
from tests.harness.patience import PATIENCE

from plyhouse.bots.api import Turn, TurnClock
from plyhouse.bots.engines import engine_bot, gnubg_bot, gtp_bot, uci_bot, xboard_bot
from plyhouse.bots.engines.engine_bot import EngineBot, Thinking
from plyhouse.bots.engines.engine_process import EngineProcess
from plyhouse.games import get_game
from plyhouse.games.base import CHANCE, TERMINAL
from plyhouse.protocol.messages import CHANCE_SEAT, Event


@pytest.fixture
def engine() -> Callable[[str], str]:
    """Returns the name of an engine; skips the test if it is missing, or fails it if required."""

    def have(name: str) -> str:
        require_engine(name)
        return name

    return have


@pytest.fixture(autouse=True)
def no_engine_stays() -> Iterator[None]:
    """End the engines that a test started, and check that no child is left as a zombie."""
    yield
    EngineBot.unload()
    try:
        zombie = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # no children
        return
    assert zombie is None


ScriptedEngine = Callable[[str], str]


@pytest.fixture
def scripted_engine(tmp_path: Path) -> ScriptedEngine:
    """Writes an engine: a program that runs the code for each ``line`` it reads."""

    def write(code: str) -> str:
        path = tmp_path / "scripted"
        body = textwrap.indent(textwrap.dedent(code), "    ")
        head = f"#!{sys.executable} -S\nimport sys, time, os, signal\n"
        loop = "for line in map(str.strip, sys.stdin):\n"
        path.write_text(f"{head}{loop}{body}\n    sys.stdout.flush()\n", "utf-8")
        path.chmod(0o755)
        return str(path)

    return write


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> AheadClock:
    """The clock of UCI engines that start in the test, and of their turns."""
    made = AheadClock()
    use_clock(made, monkeypatch)
    return made


@pytest.fixture
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> SlowClock:
    """The clock of engines and turns where real engines may be stopped by a busy machine."""
    made = SlowClock()
    use_clock(made, monkeypatch)
    return made


def use_clock(clock: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let engines that start from now on, and the waits for their moves, follow a clock."""
    for module in (gnubg_bot, gtp_bot, uci_bot, xboard_bot):
        monkeypatch.setattr(module, "Thinking", functools.partial(Thinking, clock_ns=clock))
    monkeypatch.setattr(
        engine_bot,
        "EngineProcess",
        lambda program, _, **more: EngineProcess(program, clock, **more),
    )


def a_turn(
    game: Any,
    state: Any,
    events: list[Event],
    seconds: float,
    control: str,
    clock: Callable[[], int] = time.monotonic_ns,
) -> Turn:
    """Return a turn of the seat to move that has ``seconds`` left, 7 of 10 of them to use."""
    now = clock()
    return turn_at(
        game,
        state,
        time_control=control,
        ply=sum(event.seat != CHANCE_SEAT for event in events),
        history=events,
        clock=TurnClock(seconds, (seconds, seconds), None, control),
        soft=now + int(seconds * 0.7 * SECOND),
        hard=now + int(seconds * SECOND),
        clock_ns=clock,
    )


def first_turn(
    spec: str, seconds: float = PATIENCE, clock: Callable[[], int] = time.monotonic_ns
) -> Turn:
    """Return the first turn of a game, by default with more time than a busy machine takes."""
    game = get_game(spec)
    state = game.initial_state()
    events: list[Event] = []
    rng = random.Random(1)
    while state.to_move == CHANCE:
        outcome = rng.choice(state.chance_outcomes())[0]
        events.append(Event(0, CHANCE_SEAT, game.format_chance(state, outcome)))
        state = state.after(outcome)
    return a_turn(game, state, events, seconds, f"move:{seconds:g}", clock)


def play_alone(
    bot: EngineBot,
    spec: str,
    plies: int,
    seconds: float = 5,
    control: str = "move:5",
    clock: Callable[[], int] = time.monotonic_ns,
) -> tuple[list[str], Any]:
    """Let a bot play both seats; return the actions and the last state."""
    game = get_game(spec)
    state = game.initial_state()
    events: list[Event] = []
    actions: list[str] = []
    rng = random.Random(3)
    while state.to_move != TERMINAL and len(actions) < plies:
        if state.to_move == CHANCE:
            outcome = rng.choice(state.chance_outcomes())[0]
            events.append(Event(len(actions), CHANCE_SEAT, game.format_chance(state, outcome)))
            state = state.after(outcome)
            continue
        action = bot.choose(a_turn(game, state, events, seconds, control, clock))
        text = game.format(state, action)
        events.append(Event(len(actions), state.to_move, text))
        actions.append(text)
        state = state.after(action)
    return actions, state


@pytest.fixture
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody lets the flags of turns fall, so that a bot need not wait for it."""
    monkeypatch.setattr(engine_bot, "FLAG_GRACE", 0.1)
