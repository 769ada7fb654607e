"""The list of matches, and one match to watch or to replay.

They show what whoever is signed in at the browser may see, and everybody else what is public.  The
page of any other match says no more than that there is none for everybody.
"""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.server.house.hub import Hub
from plyhouse.server.house.live import LiveMatch
from plyhouse.server.house.privacy import Sight
from plyhouse.server.web.api.access import sight_of, stored_for
from plyhouse.server.web.pages.rendering import page
from plyhouse.server.web.parameters import hub_of
from plyhouse.storage.errors import Unknown

__all__ = ["HANDLERS", "running_for"]

Call = Request[Any, Any, Any]
FINISHED: Final = 50
"""Finished matches on one page."""
RUNNING: Final = 200
"""Running matches that are listed, the newest."""


@get("/matches", include_in_schema=False)
async def matches(
    state: State, request: Call, before: FromQuery[str | None] = None
) -> Response[str]:
    """Show running and finished matches; ``before`` is the last one of the page before."""
    hub = hub_of(state)
    sight = await sight_of(request, hub)
    finished = await hub.store.list_matches(
        status="finished", limit=FINISHED, before=before, closed=sight.closed
    )
    return page(
        "matches.html",
        newest=before is None,
        running=await running_for(hub, sight, RUNNING),
        finished=finished,
        older=finished[-1].id if len(finished) == FINISHED else None,
    )


@get("/matches/{match:str}", include_in_schema=False)
async def one_match(state: State, request: Call, match: FromPath[str]) -> Response[str]:
    """Show a match: who plays, how it stands, and where the web client draws it."""
    hub = hub_of(state)
    try:
        stored = await stored_for(request, hub, match)
    except Unknown:
        return page("private.html", status=404, match=match)
    public = await hub.privacy.sees(await hub.privacy.sight(None), stored)
    return page(
        "match.html",
        row=stored.header,
        reviews=hub.reviews.offered,
        competition=stored.pairing.competition_id,
        embed=bool(hub.config.embedders) and public,
    )


async def running_for(
    hub: Hub, sight: Sight, most: int, competition: frozenset[str] | None = None
) -> list[LiveMatch]:
    """The newest matches that run and may be seen, of all or of these competitions."""
    found: list[LiveMatch] = []
    for live in sorted(hub.directory.live.values(), key=lambda each: each.id, reverse=True):
        if competition is not None and live.pairing.competition not in competition:
            continue
        class_id = await hub.privacy.class_of(live.pairing.competition)
        if sight.sees(class_id, {holder.player_id for holder in live.holders}):
            found.append(live)
            if len(found) == most:
                break
    return found


HANDLERS: Final[tuple[Any, ...]] = (matches, one_match)
