"""Processor time of each test, with the processes that it starts, and a list of the costly ones."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

COSTLY: Final = 3.0
"""Seconds of processor time above which a test of the first tier is named."""
PROPERTY: Final = "processor_seconds"
_TICK: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def _children(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text("ascii")
    except OSError:
        return []
    return [int(each) for each in text.split()]


def _used(process: int) -> float:
    """Seconds that a process and the children it has waited for have used."""
    try:
        text = Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:
        return 0.0
    return sum(map(int, text.rpartition(")")[2].split()[11:15])) / _TICK


def processor_seconds() -> float:
    """Seconds that this process and its descendants have used, but for orphans (Linux)."""
    times = os.times()
    found = time.process_time() + times.children_user + times.children_system
    waiting = _children(os.getpid())
    while waiting:
        process = waiting.pop()
        found += _used(process)
        waiting += _children(process)
    return found


class Costs:
    """The plug-in: measures in the workers, and lists where the results arrive."""

    def __init__(self) -> None:
        self.found: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure a test with its fixtures up to its teardown."""
        self._began = processor_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add what the test has used so far to its last report."""
        report = yield
        if call.when == "teardown":
            report.user_properties.append((PROPERTY, processor_seconds() - self._began))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what the workers have measured."""
        for name, value in report.user_properties:
            if name == PROPERTY and report.when == "teardown":
                assert isinstance(value, float)
                self.found[report.nodeid] = value

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the tests above the limit, the most expensive first."""
        costly = sorted(
            [(seconds, test) for test, seconds in self.found.items() if seconds > COSTLY],
            reverse=True,
        )
        terminalreporter.section(f"{len(costly)} tests above {COSTLY:g} s of processor time")
        for seconds, test in costly:
            terminalreporter.line(f"{seconds:6.1f} s  {test}")
        terminalreporter.line(f"{sum(self.found.values()):6.0f} s  all {len(self.found)} tests")
