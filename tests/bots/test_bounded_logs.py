"""However much a bot prints or fails, what is kept and shown of it has a fixed size."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bots.conftest import BotFile, ManualClock
from tests.harness.supervised_bot import WIRE, supervised

from plyhouse.bots.process import author_log
from plyhouse.bots.process.author_log import (
    FILE_LIMIT,
    LONGEST_NOTE,
    NOTES_LIMIT,
    NOTES_SHOWN,
    AuthorLine,
    AuthorLog,
)
from plyhouse.bots.process.messages import Chosen

MIB = 1 << 20


async def test_bot_that_sends_failures_again_and_again_leaves_a_bounded_log(
    bot_file: BotFile, clock: ManualClock, tmp_path: Path
) -> None:
    spec = bot_file(
        f"""
        {WIRE}
        from plyhouse.bots.process.messages import HEADER, Failed, frame

        class MyBot(Bot):
            def choose(self, turn):
                body = frame(Failed("m1", 0, "e" * 40_000, "t" * 40_000, "p" * 40_000))
                for _ in range(1000):
                    own_frame(len(body) - HEADER.size, body[HEADER.size:])
                return turn.legal[0]
        """
    )
    lines: list[AuthorLine] = []
    shown: list[str] = []
    async with supervised(spec, clock) as rig:
        rig.supervisor.log = log = AuthorLog(
            "mybot", folder=tmp_path / "logs", terminal=shown.append, on_line=lines.append
        )
        rig.begin("m1")
        assert isinstance(await rig.ask(), Chosen)
    assert log.path is not None
    assert log.path.stat().st_size < NOTES_LIMIT + 2 * LONGEST_NOTE
    assert sum(map(len, shown)) < NOTES_SHOWN + 2 * LONGEST_NOTE
    assert "is not shown" in shown[-1]
    assert len(lines) == 1000
    assert max(len(line.text) for line in lines) <= LONGEST_NOTE


def test_log_of_many_runs_is_rotated(tmp_path: Path) -> None:
    for _ in range(12):  # a run may write 20 MiB
        log = AuthorLog("mybot", folder=tmp_path)
        for _ in range(17):
            log.printed(["x" * (MIB - 1)])
        log.note("the last of this run")
        assert {each.name for each in tmp_path.iterdir()} <= {"mybot.log", "mybot.log.1"}
        assert all(each.stat().st_size <= FILE_LIMIT for each in tmp_path.iterdir())
    assert b"the last of this run" in (tmp_path / "mybot.log").read_bytes()[-100:]


def test_rotated_log_begins_with_the_line_that_had_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(author_log, "FILE_LIMIT", 10)
    log = AuthorLog("mybot", folder=tmp_path)
    for line in ("first", "then", "last"):
        log.printed([line])
    assert (tmp_path / "mybot.log").read_text() == "then\nlast\n"
    assert (tmp_path / "mybot.log.1").read_text() == "first\n"
