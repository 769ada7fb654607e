"""Fixtures and settings of all tests."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import HealthCheck, settings
from tests import tiers
from tests.harness.costs import Costs
from tests.harness.patience import PATIENCE
from tests.harness.zygote import (
    Zygote,
    do_not_wait_for_disks,
    share_certificates,
    shared_zygote,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what would be warned of here is refused below
    from plyhouse.clients.shared.program_settings import collect_rarely
    from plyhouse.games import _build, native

# A shell starts background jobs with SIGINT ignored, and Python, like every child of ours,
# would inherit that: tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


# A loaded machine may need more than the five seconds that httpx waits by default.
for _kind in ("connect", "read", "write", "pool"):
    setattr(DEFAULT_TIMEOUT_CONFIG, _kind, 60.0)

share_certificates()
do_not_wait_for_disks()
collect_rarely()

# No command of a test may find a login of the developer; tests of logins set a folder of their own.
os.environ["XDG_CONFIG_HOME"] = str(Path(tempfile.gettempdir(), f"plyhouse-tests-{os.getpid()}"))

settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Choose a tier and an area; tests/tiers.py says what they are."""
    group = parser.getgroup("plyhouse")
    group.addoption("--tier", choices=["first", "rest", "all"], default="all", help="tests to run")
    group.addoption("--area", choices=["all", *tiers.AREAS], default="all", help="code to test")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to test machine code that is older than its source: green would mean nothing."""
    if native.COMPILED and (stale := _build.changed(_build.noted().get("sources", {}))):
        raise pytest.UsageError(_build.stale_sentence(stale))
    config.pluginmanager.register(Costs())


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let each worker begin with other test modules; later it finds those of the others cached.

    In a fresh clone all workers would otherwise rewrite the asserts of all modules, in step, which
    takes longer than importing them.
    """
    config = session.config
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    if not worker or config.args != config.getini("testpaths"):
        return
    number = int(worker["workerid"].removeprefix("gw"))
    files = sorted(config.rootpath.glob("tests/**/test_*.py"))
    for file in files[number :: worker["workercount"]]:
        if not pytest_ignore_collect(file, config):
            name = ".".join(file.relative_to(config.rootpath).with_suffix("").parts)
            # A module that cannot be imported says so when it is collected.
            with contextlib.suppress(Exception, pytest.skip.Exception):
                importlib.import_module(name)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files of which no test runs; collecting them takes seconds."""
    if not collection_path.is_relative_to(config.rootpath):
        return None
    path = collection_path.relative_to(config.rootpath).as_posix()
    area = config.getoption("--area")
    top, _, rest = path.partition("/")
    if area != "all" and top == "tests" and rest.partition("/")[0] not in ("", *tiers.AREAS[area]):
        return True
    if config.getoption("--tier") == "first" and tiers.is_second(path):
        return True
    return None


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Print a failure at once: a run that is stopped before its end prints no summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        sys.stderr.write(f"\n{report.nodeid} failed:\n{report.longreprtext}\n")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the tier, and begin with files of the second one: they last longest."""
    marks = {item: {mark.name for mark in item.iter_markers()} for item in items}
    second = {item: tiers.second_tier(item.nodeid, marks[item]) for item in items}
    tier = config.getoption("--tier")
    chosen = [config.getoption("--area"), *config.args]
    if tier != "first" and chosen == ["all", *config.getini("testpaths")]:
        unused = tiers.unused((item.nodeid, marks[item]) for item in items)
        if unused:
            raise pytest.UsageError(f"tests/tiers.py names tests that do not exist: {unused}")
    if tier == "first":
        items[:] = [item for item in items if not second[item]]
    elif tier == "rest":
        items[:] = [item for item in items if tiers.is_left(item.nodeid, marks[item])]
    long = {item.path for item in items if second[item]}
    items.sort(key=lambda item: item.path not in long)


def pytest_collectstart() -> None:
    """Stop the garbage collector during collection, because everything collected is kept."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exempt the collected tests from garbage collection; scanning them takes half a second.

    Give built-in bots minutes to start: they step back behind everything else on the machine.
    """
    gc.freeze()
    gc.enable()
    if launcher := sys.modules.get("plyhouse.clients.builtin_bots.launcher"):
        setattr(launcher, "START_SECONDS", PATIENCE)  # noqa: B010  (a constant of its module)


@pytest.fixture
def patient_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that must be pressed twice is not forgotten by a slow machine."""
    monkeypatch.setattr("plyhouse.clients.terminal.screens.match.PATIENCE", 600.0)


@pytest.fixture(autouse=True)
def own_search_path() -> Iterator[None]:
    """Undo what a test adds to the search path: bots' folders may hold a random.py, and workers
    of later tests inherit the path."""
    before = list(sys.path)
    yield
    sys.path[:] = before


@pytest.fixture(scope="session")
def zygote() -> Zygote:
    """What forks commands."""
    return shared_zygote()
