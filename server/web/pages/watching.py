"""Pages for a room that watches: the projector, the wall of boards, a match in another's frame.

All three hold next to nothing: the web client finds the matches and draws them.  They are for
spectators, whoever opens them: nobody's seat is taken there.  The projector and the wall show what
whoever is signed in at the browser may see, so that a lecturer can show the final of a class; a
frame shows nothing but what is for everybody.
"""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.server.web.api.access import stored_for
from plyhouse.server.web.pages.rendering import missing, page
from plyhouse.server.web.parameters import hub_of
from plyhouse.server.web.safety import policy
from plyhouse.storage.errors import Unknown

__all__ = ["HANDLERS"]

Call = Request[Any, Any, Any]


@get("/projector", include_in_schema=False)
async def projector(
    state: State,
    request: Call,
    match: FromQuery[str] = "",
    game: FromQuery[str] = "",
    competition: FromQuery[str] = "",
) -> Response[str]:
    """Show a match as large as the screen, then the next of its game or competition by itself.

    Without ``match`` it begins with whichever runs, or waits for one.
    """
    if match:
        try:
            await stored_for(request, hub_of(state), match)
        except Unknown:
            return page("private.html", status=404, match=match)
    return page("projector.html", match=match, game=game, competition=competition)


@get("/wall", include_in_schema=False)
async def wall(game: FromQuery[str] = "", competition: FromQuery[str] = "") -> Response[str]:
    """Show many running matches at once."""
    return page("wall.html", game=game, competition=competition)


@get("/embed/{match:str}", include_in_schema=False)
async def embed(state: State, match: FromPath[str]) -> Response[str]:
    """Show a match and nothing around it, for the frames of the sites that the operator named."""
    hub = hub_of(state)
    try:
        stored = await hub.privacy.match(await hub.privacy.sight(None), match)
    except Unknown:
        answer = missing(f"There is no match {match} for everybody to see.")
    else:
        answer = page("embed.html", row=stored.header)
    answer.headers["content-security-policy"] = policy(hub.config.embedders)
    return answer


HANDLERS: Final[tuple[Any, ...]] = (projector, wall, embed)
