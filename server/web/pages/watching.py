"""Pages for a room that watches: the projector, the wall of boards, a match in another's frame.

All three hold next to nothing: the web client finds the matches and draws them.  They show the
spectators' view to everybody; nobody plays there.  The projector and the wall show what the
signed-in person may see, so that a lecturer can show the final of a class. A frame shows only
public matches.
"""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.config import ServerConfig
from plyhouse.server.web.api.access import stored_for
from plyhouse.server.web.pages.rendering import missing, page
from plyhouse.server.web.parameters import service
from plyhouse.server.web.security_headers import policy
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
    """Show a match in the size of the screen, then the next one of its game or competition.

    Without ``match`` it begins with whichever runs, or waits for one.
    """
    if match:
        try:
            await stored_for(request, match)
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
    privacy = service(state, Privacy)
    try:
        stored = await privacy.match(await privacy.sight(None), match)
    except Unknown:
        answer = missing(f"There is no match {match} for everybody to see.")
    else:
        answer = page("embed.html", row=stored.header)
    answer.headers["content-security-policy"] = policy(service(state, ServerConfig).embedders)
    return answer


HANDLERS: Final[tuple[Any, ...]] = (projector, wall, embed)
