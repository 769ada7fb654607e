"""Single bots: what they have done, as far as whoever asks may see it."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery

from plyhouse.protocol.api.bots import BotMatch, BotPage
from plyhouse.server.web.api.access import sight_of, viewer_of
from plyhouse.server.web.api.career_types import bot_match, bot_view
from plyhouse.server.web.parameters import Limit, hub_of

__all__ = ["HANDLERS"]

Call = Request[Any, Any, Any]
_OPEN: Final[dict[str, Any]] = {"tags": ["players"], "security": [{}, {"token": []}]}


@get("/api/v1/bots/{player:str}/{bot:str}", **_OPEN)
async def one_bot(
    state: State, request: Call, player: FromPath[str], bot: FromPath[str]
) -> BotPage:
    """Show a bot: versions, standings, ratings over time, results by opponent and seat, forfeits.

    Counted are its latest 1,000 finished matches that whoever asks may see.
    """
    hub = hub_of(state)
    return bot_view(await hub.bot_profiles.profile(player, bot, await viewer_of(request, hub)))


@get("/api/v1/bots/{player:str}/{bot:str}/matches", **_OPEN)
async def bot_matches(
    state: State,
    request: Call,
    player: FromPath[str],
    bot: FromPath[str],
    before: FromQuery[str | None] = None,
    limit: Limit = 50,
) -> list[BotMatch]:
    """List a bot's finished matches, newest first; ``before`` is the last of the page before."""
    hub = hub_of(state)
    sight = await sight_of(request, hub)
    row = await hub.privacy.bot(sight, player, bot)
    found = await hub.bot_profiles.matches(row, sight, limit, before)
    return [bot_match(each) for each in found]


HANDLERS: Final[tuple[Any, ...]] = (one_bot, bot_matches)
