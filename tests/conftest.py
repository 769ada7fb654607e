"""What holds for every test."""

from __future__ import annotations

import functools
import signal
import sys
import warnings
from collections.abc import Iterator

import pytest
from httpx import create_ssl_context
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from httpx._transports import default
from hypothesis import HealthCheck, settings
from tests.cli.zygote import Zygote, clean_environment

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what would be warned of here is refused below
    from plyhouse.games import _build, native

# A shell starts background jobs with SIGINT ignored, and Python, like every child of ours,
# would inherit that: tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


# A loaded machine may take longer to answer than the five seconds that httpx waits by itself.
for _kind in ("connect", "read", "write", "pool"):
    setattr(DEFAULT_TIMEOUT_CONFIG, _kind, 60.0)

# Every client of httpx reads all certificate authorities, though ours speak plain HTTP: as much
# work as a small test. The clients of a process share what the first one has read.
setattr(default, "create_ssl_context", functools.cache(create_ssl_context))  # noqa: B010  (typed)


settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")


def pytest_configure() -> None:
    """Refuse to test machine code that is older than its source: green would mean nothing."""
    if native.COMPILED and (stale := _build.changed(_build.noted().get("sources", {}))):
        raise pytest.UsageError(_build.stale_sentence(stale))


@pytest.fixture(autouse=True)
def own_search_path() -> Iterator[None]:
    """Undo what a test adds to the search path: bots' folders may hold a random.py, and workers
    of later tests inherit the path."""
    before = list(sys.path)
    yield
    sys.path[:] = before


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """What forks commands."""
    made = Zygote(clean_environment())
    yield made
    made.close()
