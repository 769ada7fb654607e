"""What handlers are given: the hub, and numbers of a query within their bounds."""

from __future__ import annotations

from typing import Annotated, Final

from litestar.datastructures import State
from litestar.params import QueryParameter

from plyhouse.server.house.hub import Hub
from plyhouse.server.web.problems import Problem

__all__ = ["MAX_LINES", "MAX_OFFSET", "Limit", "Offset", "hub_of"]

MAX_LINES: Final = 1000
"""Lines of a table in one answer."""
MAX_OFFSET: Final = 1_000_000_000
"""More than any table has lines, and a number that every database can count to."""

Limit = Annotated[int, QueryParameter(ge=1, le=MAX_LINES, description="Most lines to return.")]
Offset = Annotated[int, QueryParameter(ge=0, le=MAX_OFFSET)]


def hub_of(state: State) -> Hub:
    """The hub that the application serves; `Problem` before it has one."""
    hub: Hub | None = state.get("hub")
    if hub is None:
        raise Problem("server/shutting_down", "The server is not ready yet.", 503)
    return hub
