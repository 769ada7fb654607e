"""The front page, and the whole leaderboard of a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery, QueryParameter

from plyhouse.protocol.api.competitions import NOT_OVER
from plyhouse.protocol.api.matches import Match
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.config import ServerConfig
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.lobby.lobby import Lobby, read_game
from plyhouse.server.results.leaderboards import board as read_board
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import sight_of
from plyhouse.server.web.forwarding import ALSO_WITHOUT_LEADER, FROM_DATABASE
from plyhouse.server.web.pages.client_pages import tiles
from plyhouse.server.web.pages.example_matches import PLAYERS, SHOWN
from plyhouse.server.web.pages.rendering import missing, page, plot_answer
from plyhouse.server.web.pages.template_filters import hidden_information, rating_interval
from plyhouse.server.web.parameters import MAX_LINES, service
from plyhouse.server.web.plots import intervals
from plyhouse.storage import competition_sql, leaderboards
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.match_lists import MatchFilter
from plyhouse.storage.store import Store

FIRST: Final = 10
"""Lines of each leaderboard on the front page, and matches below them."""
FEW: Final = 5
"""Competitions on the front page."""
PLOTTED: Final = 50
"""Lines of a leaderboard that the file of its plot shows."""


@get("/", include_in_schema=False, opt=ALSO_WITHOUT_LEADER)
async def front(state: State, request: Request[Any, Any, Any]) -> Response[str]:
    """Show leaderboards, what was played last, and where to go from here."""
    store = service(state, Store)
    directory = service(state, Directory)
    config = service(state, ServerConfig)
    sight = await sight_of(request)
    privacy = service(state, Privacy)
    running = await privacy.matches(sight, MatchFilter(status="running"), limit=FIRST)
    recent = await privacy.matches(sight, MatchFilter(by_end=True), limit=FIRST)
    return page(
        "front.html",
        # Where nobody plays but bots in competitions, these would be in the way.
        tiles=await tiles() if config.takes_guests or service(state, Hub).builtin_bots else (),
        guests=config.takes_guests,
        led=directory.leads,
        bots=len(directory.online()),
        running=len(directory.live),
        seeks=len(service(state, Lobby)),
        hero=_hero(running, recent),
        example=(SHOWN, PLAYERS[SHOWN]),
        competitions=await _going_on(store),
        boards=await _boards(store),
        recent=recent,
    )


def _hero(running: Sequence[Match], recent: Sequence[Match]) -> Match | None:
    """Return the match to show; None if there is none.

    Open information comes before hidden, as spectators see only the backs of cards, then running
    before finished. Finished matches that are void or have no action are left out.
    """
    shown = [*running, *(row for row in recent if row.ply and row.void_reason is None)]
    return next((row for row in shown if not hidden_information(row.game)), next(iter(shown), None))


async def _going_on(store: Store) -> list[CompetitionRow]:
    """Return the newest competitions that people can join or watch."""
    rows = await store.read(competition_sql.list_all)
    return [row for row in rows if row.status in NOT_OVER and row.status != "draft"][:FEW]


async def _boards(store: Store) -> list[tuple[str, Any]]:
    """Return the first lines of each leaderboard that has any."""
    return [
        (game, await read_board(store, game, FIRST))
        for game in await store.read(leaderboards.games_with_results)
    ]


@get("/leaderboards", include_in_schema=False, opt=FROM_DATABASE)
async def boards(state: State) -> Response[str]:
    """Show the first lines of every leaderboard."""
    return page("leaderboards.html", boards=await _boards(service(state, Store)))


@get("/leaderboards/{game:str}", include_in_schema=False, opt=FROM_DATABASE)
async def one_board(
    state: State,
    game: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=MAX_LINES)] = MAX_LINES,
    versions: FromQuery[Literal["latest", "all"]] = "latest",
    plot: FromQuery[str] = "",
) -> Response[str]:
    """Show the whole leaderboard of a game; with ``plot=ratings``, the file of its first lines.

    Each bot has the version that it played with last, or with ``versions=all`` a line for each.
    """
    try:
        spec = read_game(game).spec
    except ProtocolError as error:
        return missing(str(error))
    every = versions == "all"
    board = await read_board(service(state, Store), spec, limit, every_version=every)
    if plot:
        rated = [found for line in board[:PLOTTED] if (found := rating_interval(line)) is not None]
        title = f"Ratings in {spec}"
        return plot_answer(intervals(title, rated) if plot == "ratings" and rated else None, spec)
    return page("leaderboard.html", game=spec, board=board, every_version=every)


HANDLERS: Final[tuple[Any, ...]] = (front, boards, one_board)
