"""What holds for every test."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest

# A shell starts background jobs with SIGINT ignored, and Python, like every child of ours,
# would inherit that: tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_search_path() -> Iterator[None]:
    """Undo what a test adds to the search path: bots' folders may hold a random.py, and workers
    of later tests inherit the path."""
    before = list(sys.path)
    yield
    sys.path[:] = before
