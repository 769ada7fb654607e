"""Bots: their versions, results and matches, as far as the viewer may see them."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.protocol.api import calls
from plyhouse.protocol.api.bots import BotMatch, BotPage
from plyhouse.server.accounts.privacy import Privacy
from plyhouse.server.competitions.bot_profiles import BotProfiles
from plyhouse.server.web.api.access import sight_of, viewer_of
from plyhouse.server.web.api.bot_profile_types import bot_match, bot_view
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import Limit, service

__all__ = ["HANDLERS"]

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
