"""The pages for people: leaderboards, matches, and one match to watch or to replay.

All pages are made here and work without a script; those with matches load modules of the web
client, which keep them up to date and draw positions.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from litestar import MediaType, Response, Router, get
from litestar.datastructures import CacheControlHeader, ResponseHeader, State
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.response import Redirect
from litestar.static_files import create_static_files_router

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.house.hub import Hub
from plyhouse.server.house.lobby import read_game
from plyhouse.server.results.leaderboards import lines
from plyhouse.server.web.pages import (
    board_page,
    front_page,
    match_page,
    matches_page,
    missing_page,
    play_page,
    web_client,
)
from plyhouse.server.web.problems import Problem
from plyhouse.storage.errors import Unknown

__all__ = ["SAFETY_HEADERS", "hub_of", "site_handlers"]

PAGE: Final = 50
"""Matches on one page."""

SAFETY_HEADERS: Final = (
    # Scripts, styles, pictures and connections only from and to this server; 'self' covers its
    # websocket.
    ResponseHeader(
        name="content-security-policy",
        value="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ResponseHeader(name="x-content-type-options", value="nosniff"),
    ResponseHeader(name="referrer-policy", value="same-origin"),
)
"""Sent with every answer; no page needs more than this."""


def hub_of(state: State) -> Hub:
    """The hub that the application serves; `Problem` before it has one."""
    hub: Hub | None = state.get("hub")
    if hub is None:
        raise Problem("server/shutting_down", "The server is not ready yet.", 503)
    return hub


def _html(text: str, status: int = 200) -> Response[str]:
    return Response(text, media_type=MediaType.HTML, status_code=status)


@get("/", include_in_schema=False)
async def front(state: State) -> Response[str]:
    """Show leaderboards, and what was played last."""
    hub = hub_of(state)
    boards = [
        (game, lines(game, await hub.store.leaderboard(game, limit=10)))
        for game in await hub.store.games_with_results()
    ]
    recent = await hub.store.list_matches(status="finished", limit=10)
    return _html(front_page(hub, boards, recent))


@get("/matches", include_in_schema=False)
async def matches(state: State, before: FromQuery[str | None] = None) -> Response[str]:
    """Show running and finished matches."""
    hub = hub_of(state)
    finished = await hub.store.list_matches(status="finished", limit=PAGE, before=before)
    return _html(matches_page(hub, finished, before=before, full=len(finished) == PAGE))


@get("/matches/{match:str}", include_in_schema=False)
async def one_match(state: State, match: FromPath[str]) -> Response[str]:
    """Show a match."""
    hub = hub_of(state)
    try:
        stored = await hub.store.match(match)
    except Unknown:
        return _html(missing_page(f"There is no match {match} on this server."), 404)
    return _html(match_page(stored.header))


@get("/play", include_in_schema=False)
async def play(state: State) -> Response[str]:
    """Show the way into a match."""
    return _html(play_page(hub_of(state)))


@get("/leaderboards/{game:str}", include_in_schema=False)
async def board(
    state: State, game: FromPath[str], limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 1000
) -> Response[str]:
    """Show the whole leaderboard of a game."""
    hub = hub_of(state)
    try:
        spec = read_game(game).spec
    except ProtocolError as error:
        return _html(missing_page(str(error)), 404)
    return _html(board_page(spec, lines(spec, await hub.store.leaderboard(spec, limit))))


@get("/docs", include_in_schema=False)
async def docs() -> Redirect:
    """Lead to the description of the API."""
    return Redirect("/api")


def site_handlers() -> list[Any]:
    """Return the route handlers of all pages, and of the web client's files."""
    handlers: list[Any] = [front, matches, one_match, play, board, docs]
    folder = web_client()
    if folder is not None:
        files: Router = create_static_files_router(
            "/web",
            [folder],
            html_mode=True,
            include_in_schema=False,
            # Asked for anew each time (and mostly answered by "not modified"), so that modules
            # of different versions never meet.
            cache_control=CacheControlHeader(no_cache=True),
        )
        handlers.append(files)
    return handlers
