"""A runner's messages about its bots, and the files that keep them, have a fixed size."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from plyhouse.clients.runner import packages as module
from plyhouse.clients.runner.machine import SAID_HOURLY, SAID_LINE, Machine, Setup
from plyhouse.clients.runner.packages import FILES, runner_log


def test_runner_log_is_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FILE_BYTES", 1000)
    log = runner_log(tmp_path / "new", "lab/1")
    (private,) = (tmp_path / "new").glob("private-*")
    for number in range(200):
        log.info("%s %s", number, "x" * 90)
    found = sorted(private.iterdir())
    assert [each.name for each in found] == ["runner-lab_1.log"] + [
        f"runner-lab_1.log.{number}" for number in range(1, FILES)
    ]
    assert all(each.stat().st_size <= 1000 for each in found)
    assert " 199 xxx" in found[0].read_text()
    for handler in log.handlers:
        handler.close()
    assert isinstance(log, logging.Logger)


def test_runner_log_is_private_and_leaves_the_trees_of_bots_readable(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        folder = tmp_path / "lab"
        log = runner_log(folder, "lab")
    finally:
        os.umask(mask)
    for handler in log.handlers:
        handler.close()
    assert not list(folder.glob("runner-*"))
    (private,) = folder.glob("private-*")
    assert private.stat().st_mode & 0o777 == 0o700
    # Otherwise boxes keep the power to read everything: see `needs_power_to_read`.
    assert folder.stat().st_mode & 0o001


def test_runner_says_so_much_of_each_bot_and_no_more(tmp_path: Path) -> None:
    said: list[str] = []
    machine = Machine(
        Setup(server="http://127.0.0.1:1", token="", name="lab", cores=1, bots=1, folder=tmp_path,
              say=said.append)
    )  # fmt: skip
    for number in range(1000):
        machine._say_of(7, f"ada/loud: {number} " + "x" * (1 << 20))
    machine._say_of(8, "bob/quiet: resigned")
    assert said[-1] == "bob/quiet: resigned"
    assert "its own log has the rest" in said[-2]
    assert sum(map(len, said)) <= SAID_HOURLY + 300
    assert max(map(len, said)) <= SAID_LINE
