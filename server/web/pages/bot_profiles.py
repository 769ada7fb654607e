"""A page for each bot and each player: what they played, and first of all what they lost."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final, NamedTuple

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.protocol.api.bots import BotMatch, Career
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.competitions.bot_profiles import BotProfiles
from plyhouse.server.jobs.helper_jobs import Reviews
from plyhouse.server.table.directory import Directory
from plyhouse.server.web.api.access import viewer_of
from plyhouse.server.web.forwarding import ALSO_WITHOUT_LEADER
from plyhouse.server.web.pages.matches import running_for
from plyhouse.server.web.pages.rendering import missing, page, plot_answer
from plyhouse.server.web.pages.template_filters import holder_name
from plyhouse.server.web.parameters import service
from plyhouse.server.web.plots import Score, rating_history, results
from plyhouse.storage import bot_profiles, outputs, people
from plyhouse.storage.errors import Unknown
from plyhouse.storage.store import Store

Call = Request[Any, Any, Any]
SHOWN: Final = 25
"""Matches in a list, and opponents."""
SEARCHED: Final = 1000
"""Matches among which losses are looked for."""
MOST_STANDINGS: Final = 500
MOST_BOTS: Final = 20
"""Bots of a player whose matches are listed together; the others have theirs on their pages."""


class Listed(NamedTuple):
    """A part of a list of matches."""

    rows: list[BotMatch]
    older: str | None
    """After which match to go on; None at the end."""


@get("/bots/{player:str}/{bot:str}", include_in_schema=False, opt=ALSO_WITHOUT_LEADER)
async def bot_page(
    state: State,
    request: Call,
    player: FromPath[str],
    bot: FromPath[str],
    show: FromQuery[str] = "",
    before: FromQuery[str | None] = None,
    plot: FromQuery[str] = "",
) -> Response[str]:
    """Show a bot; ``show`` is ``lost`` or ``all``, ``before`` the last match of the list before.

    With ``plot``, the name of a plot, this is its file.
    """
    bot_profiles = service(state, BotProfiles)
    viewer = await viewer_of(request)
    try:
        found = await bot_profiles.profile(player, bot, viewer)
    except Unknown as error:
        return missing(f"{str(error)[:1].upper()}{str(error)[1:]}.")
    career, matches = found.page.career, found.matches
    lost = show != "all" and (show == "lost" or career.losses > 0)
    if before is not None:
        sight = await service(state, Privacy).sight(viewer)
        matches = await bot_profiles.matches(found.row, sight, SEARCHED, before)
    listed = _listed(matches, lost=lost, more=before is not None or career.more)
    histories = [
        drawn
        for game, points in groupby(found.page.ratings, lambda each: each.game)
        if (drawn := rating_history(game, list(points))) is not None
    ]
    drawn = results(holder_name((player, bot)), _scores(career))
    if plot:
        plots = histories if drawn is None else [drawn, *histories]
        chosen = next((each for each in plots if each.name == plot), None)
        return plot_answer(chosen, f"{player}-{bot}")
    owner = viewer is not None and (
        viewer.player_id == found.row.player_id or "admin" in viewer.scopes
    )
    printed = (
        await service(state, Store).read(outputs.latest, found.row.player_id, found.row.id, SHOWN)
        if owner and before is None
        else []
    )
    return page(
        "bot.html",
        found=found,
        career=career,
        plot=drawn,
        histories=histories,
        printed=printed,
        lost=lost,
        rows=[(found.row, each) for each in listed.rows],
        older=listed.older,
        first=before is None,
        led=service(state, Directory).leads,
        shown=SHOWN,
        reviews=service(state, Reviews).offered,
    )


@get("/players/{player:str}", include_in_schema=False, opt=ALSO_WITHOUT_LEADER)
async def player_page(state: State, request: Call, player: FromPath[str]) -> Response[str]:
    """Show a player: the bots with their standings, and the latest matches of all of them."""
    store = service(state, Store)
    privacy = service(state, Privacy)
    directory = service(state, Directory)
    viewer = await viewer_of(request)
    try:
        row = await store.read(people.player, player)
    except Unknown:
        return missing(f"There is no player {player} on this server.")
    sight = await privacy.sight(viewer)
    bots = await privacy.bots(sight, await store.read(people.list_bots, row.id))
    ids = [each.id for each in bots]
    standings = await store.read(bot_profiles.standings_of, ids, MOST_STANDINGS)
    found = [
        (each, await service(state, BotProfiles).matches(each, sight, SHOWN))
        for each in bots[:MOST_BOTS]
    ]
    newest = sorted(
        ((each, match) for each, matches in found for match in matches),
        key=lambda pair: pair[1].match,
        reverse=True,
    )[:SHOWN]
    mine = [
        match
        for match in await running_for(privacy, directory, sight, 200)
        if row.name in {info.player for info in match.players}
    ]
    return page(
        "player.html",
        row=row,
        bots=[
            (each, [line for bot, _, line in standings if bot == each.id and line.latest])
            for each in bots
        ],
        online=set(filter(directory.is_online, ids)),
        newest=newest,
        led=directory.leads,
        running=mine,
    )


def _scores(found: Career) -> list[Score]:
    """Return the results of a bot as they are drawn: the opponents that it met most."""
    several = len({each.game for each in found.against}) > 1
    return [
        Score(
            holder_name((each.player, each.bot)) + (f" ({each.game})" if several else ""),
            *(each.score, each.low, each.high, each.matches),
        )
        for each in found.against
    ]


def _listed(matches: list[BotMatch], *, lost: bool, more: bool) -> Listed:
    """The first matches of a list, and where the next part begins."""
    chosen = [each for each in matches if not lost or each.result == "L"]
    if len(chosen) > SHOWN:
        return Listed(chosen[:SHOWN], chosen[SHOWN - 1].match)
    full = len(matches) >= SEARCHED and more
    return Listed(chosen, matches[-1].match if full else None)


HANDLERS: Final[tuple[Any, ...]] = (bot_page, player_page)
