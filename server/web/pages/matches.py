"""The list of matches, and one match to watch or to replay."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.server.web.pages.rendering import missing, page
from plyhouse.server.web.parameters import hub_of
from plyhouse.storage.errors import Unknown

__all__ = ["HANDLERS"]

FINISHED: Final = 50
"""Finished matches on one page."""
RUNNING: Final = 200
"""Running matches that are listed, the newest."""


@get("/matches", include_in_schema=False)
async def matches(state: State, before: FromQuery[str | None] = None) -> Response[str]:
    """Show running and finished matches; ``before`` is the last one of the page before."""
    hub = hub_of(state)
    finished = await hub.store.list_matches(status="finished", limit=FINISHED, before=before)
    running = sorted(hub.directory.live.values(), key=lambda live: live.id, reverse=True)
    return page(
        "matches.html",
        newest=before is None,
        running=running[:RUNNING],
        finished=finished,
        older=finished[-1].id if len(finished) == FINISHED else None,
    )


@get("/matches/{match:str}", include_in_schema=False)
async def one_match(state: State, match: FromPath[str]) -> Response[str]:
    """Show a match: who plays, how it stands, and where the web client draws it."""
    try:
        stored = await hub_of(state).store.match(match)
    except Unknown:
        return missing(f"There is no match {match} on this server.")
    return page("match.html", row=stored.header)


HANDLERS: Final[tuple[Any, ...]] = (matches, one_match)
