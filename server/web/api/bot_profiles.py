"""Bots: their versions, results and matches, as far as the viewer may see them."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.protocol.api import calls
from plyhouse.protocol.api.bots import BotMatch, BotPage, BotRating, BotResult, BotVersion, Holder
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.competitions.bot_profiles import BotCareer, BotProfiles
from plyhouse.server.results.bot_statistics import forfeited
from plyhouse.server.web.api.access import sight_of, viewer_of
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import Limit, service
from plyhouse.storage.bot_profiles import CareerMatch


def bot_view(found: BotCareer) -> BotPage:
    """Show a bot."""
    row = found.row
    return BotPage(
        player=row.player,
        display=found.display,
        bot=row.name,
        kind=row.kind,
        created_ms=row.created_ms,
        disabled=row.disabled_ms is not None,
        online=found.online,
        versions=[BotVersion(each.version, each.created_ms) for each in found.versions],
        standings=[
            BotResult(
                game=each.game,
                version=each.version,
                latest=each.latest,
                score=each.score,
                games=each.games,
                wins=each.wins,
                draws=each.draws,
                losses=each.losses,
                rating=each.rating,
                low=each.low,
                high=each.high,
            )
            for each in found.standings
        ],
        ratings=[BotRating(*each) for each in found.ratings],
        career=found.career,
        paces=found.paces,
    )


def bot_match(match: CareerMatch) -> BotMatch:
    """Show a match of a bot."""
    return BotMatch(
        match=match.match,
        game=match.game,
        seat=match.seat,
        version=match.version,
        result=match.result or "",
        returned=match.returned,
        termination=match.termination,
        forfeit=forfeited(match),
        reason=match.reason,
        rated=match.rated,
        ply=match.ply,
        created_ms=match.created_ms,
        void_reason=match.void_reason,
        others=[Holder(*each) for each in match.others],
    )


Call = Request[Any, Any, Any]


@serve(calls.bot)
async def one_bot(
    state: State, request: Call, player: FromPath[str], bot: FromPath[str]
) -> BotPage:
    """Show a bot: versions, standings, ratings over time, results by opponent and seat, forfeits.

    The counts are of its latest 1,000 finished matches that you may see.
    """
    return bot_view(
        await service(state, BotProfiles).profile(player, bot, await viewer_of(request))
    )


@serve(calls.page_of_bot_matches)
async def bot_matches(
    state: State,
    request: Call,
    player: FromPath[str],
    bot: FromPath[str],
    before: FromQuery[str | None] = None,
    limit: Limit = 50,
) -> list[BotMatch]:
    """List a bot's finished matches, newest first; ``before`` is the last of the page before."""
    sight = await sight_of(request)
    row = await service(state, Privacy).bot(sight, player, bot)
    found = await service(state, BotProfiles).matches(row, sight, limit, before)
    return [bot_match(each) for each in found]


HANDLERS: Final[tuple[Any, ...]] = (one_bot, bot_matches)
