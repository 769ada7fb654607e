"""Lines of the server's log, as people read them."""

from __future__ import annotations

import pytest

from plyhouse.server.logs import formatter


def log_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the lines, each with its event and fields."""
    written = formatter("console")
    return [written.format(each) for each in caplog.records]


def log_text(caplog: pytest.LogCaptureFixture) -> str:
    """Return the whole log."""
    return "\n".join(log_lines(caplog))
