"""Programs that take long to start, as on a machine with much else to do."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from plyhouse.clients.cli import demo
from plyhouse.clients.shared import child_processes
from plyhouse.clients.shared.child_processes import READY, Processes
from plyhouse.clients.shared.errors import CommandError

SLOW = 100.0
"""Seconds that a start takes here."""


class Clock:
    """Stands for the module ``time``: sleeping takes no time."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Started:
    """A process that goes on."""

    def poll(self) -> None:
        return None


@pytest.mark.parametrize("seconds", [SLOW, 10 * SLOW])
def test_demo_waits_long_for_its_bots_but_not_for_ever(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()

    def ask(*_: object) -> SimpleNamespace:
        return SimpleNamespace(bots=len(demo.BOTS) if clock.now > seconds else 0)

    monkeypatch.setattr(demo, "time", clock)
    monkeypatch.setattr(demo, "ask", ask)
    house = demo._House("", tmp_path)
    monkeypatch.setattr(house.processes, "start", lambda *_: Started())
    if seconds == SLOW:
        house.start_bots("http://127.0.0.1:1", defaultdict(str))
    else:
        with pytest.raises(CommandError, match="Not all bots have connected in time"):
            house.start_bots("http://127.0.0.1:1", defaultdict(str))


@pytest.mark.parametrize("seconds", [SLOW, 10 * SLOW])
def test_server_is_waited_for_long_but_not_for_ever(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, processes = Clock(), Processes(tmp_path)
    monkeypatch.setattr(child_processes, "time", clock)
    monkeypatch.setattr(processes, "start", lambda *_: Started())
    monkeypatch.setattr(
        processes, "log", lambda _: f"{READY}http://here\n" if clock.now > seconds else ""
    )
    if seconds == SLOW:
        assert processes.start_server([]) == "http://here"
    else:
        with pytest.raises(CommandError, match="did not start in time"):
            processes.start_server([])
