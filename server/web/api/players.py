"""Players, their bots, and accounts to be made."""

from __future__ import annotations

from typing import Any, Final

from litestar import get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.server.web.api.matches import match_view
from plyhouse.server.web.api.types import Account, NewPlayer, PlayerView
from plyhouse.server.web.parameters import hub_of

__all__ = ["HANDLERS"]


@get("/api/v1/players/{name:str}", tags=["players"])
async def player(state: State, name: FromPath[str]) -> PlayerView:
    """Show a player, its bots and its latest matches."""
    hub = hub_of(state)
    row = await hub.store.player(name)
    rows = await hub.store.list_matches(player_id=row.id, limit=20)
    prefix = row.name.lower()
    online = [each for each in hub.directory.online() if each.lower().partition("/")[0] == prefix]
    return PlayerView(
        player=row.name,
        created_ms=row.created_ms,
        bots=await hub.store.bots(row.id),
        online=online,
        matches=[match_view(hub, each) for each in rows],
    )


@post("/api/v1/players", tags=["players"])
async def register(state: State, data: JSONBody[NewPlayer]) -> Account:
    """Make an account, where registration is open; keep the token, it is shown only here."""
    return Account(*await hub_of(state).registration.register(data.player))


HANDLERS: Final[tuple[Any, ...]] = (player, register)
