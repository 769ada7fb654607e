"""A bot that is asked again about one position, in its own process."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.harness.clocks import SECOND, AheadClock
from tests.harness.patience import PATIENCE

from plyhouse.bots.loading import BotLoadError
from plyhouse.bots.running.ask_bot import Asked, ask_bot
from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import ClockState, Event, MatchSnapshot, SeatInfo

GAME = get_game("tic_tac_toe")

BOT = """
import time
from plyhouse.bots import Bot, Turn

class Mine(Bot):
    games = ("tic_tac_toe",)

    def choose(self, turn: Turn):
        {body}
"""


def asked_at() -> MatchSnapshot:
    state = GAME.initial_state()
    state = state.after(GAME.parse(state, "b2"))
    return MatchSnapshot(
        match="m1",
        pairing="p1",
        game="tic_tac_toe",
        time_control="total:60",
        rated=True,
        seat=1,
        players=[SeatInfo("alice", "one", ""), SeatInfo("bob", "two", "")],
        status="running",
        ply=1,
        commitment="ab" * 32,
        events=[Event(0, 0, "b2", 900)],
        observation=GAME.observe(state, 1).fields(),
        clocks=[ClockState(0, 59_100, False), ClockState(1, 60_000, True)],
        your_turn=True,
        deadline_ms=60_000,
    )


async def ask(tmp_path: Path, body: str, seed: str = "", late: str = "") -> Asked:
    """Ask a bot; when it prints ``late``, all of its time is over."""
    file = tmp_path / "mine.py"
    file.write_text(BOT.format(body=body))
    lines: list[str] = []
    clock = AheadClock()

    def output(line: str) -> None:
        lines.append(line)
        if late and late in line:
            clock.advance(PATIENCE)

    answer = await ask_bot(
        str(file),
        asked_at(),
        GAME,
        seed=seed,
        left_ns=round(PATIENCE * SECOND) if late else None,
        output=output,
        clock=clock,
    )
    (tmp_path / "printed").write_text("\n".join(lines))
    return answer


async def test_it_has_the_time_that_it_had_and_the_rng_of_its_run(tmp_path: Path) -> None:
    body = "return turn.rng.choice(turn.legal)"
    first = await ask(tmp_path, body, seed="7")
    assert (first.how, first.allowed) == ("chosen", 60.0)
    assert 0 < first.advised < 30
    import random

    legal = ["a1", "b1", "c1", "a2", "c2", "a3", "b3", "c3"]
    assert first.action == random.Random(f"7/{'ab' * 32}/1/1").choice(legal), "as in a match"


async def test_the_best_reported_is_played_when_time_is_nearly_out(tmp_path: Path) -> None:
    body = "turn.report('c3'); print('done'); time.sleep(600)"
    answer = await ask(tmp_path, body, late="done")
    assert (answer.how, answer.action) == ("best", "c3")


async def test_nothing_in_time_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plyhouse.bots.running.ask_bot.AFTER_FLAG", 0.0)
    body = "print('deep in thought'); time.sleep(600)"
    answer = await ask(tmp_path, body, late="deep in thought")
    assert (answer.how, answer.action) == ("nothing", "")
    assert "deep in thought" in (tmp_path / "printed").read_text()


async def test_what_the_referee_would_refuse_is_told(tmp_path: Path) -> None:
    answer = await ask(tmp_path, "return 'b2'")
    assert (answer.how, answer.action) == ("chosen", "b2")
    assert "not legal" in answer.warning


async def test_a_bot_that_dies_or_cannot_be_loaded(tmp_path: Path) -> None:
    answer = await ask(tmp_path, "import os; os._exit(3)")
    assert answer.how == "failed"
    assert "exit code 3" in answer.error
    with pytest.raises(BotLoadError):
        await ask(tmp_path, "return (")
