"""How the server is doing, and which games can be played here."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response, get
from litestar.datastructures import State

from plyhouse.games.registry import game_class, game_names
from plyhouse.protocol.messages import PROTOCOL_VERSION
from plyhouse.server.house.hub import server_version
from plyhouse.server.match.clock import MS, SECOND
from plyhouse.server.web.api.types import GameView, Health, ParameterView
from plyhouse.server.web.parameters import hub_of

__all__ = ["HANDLERS"]


@get(["/api/v1/health", "/api/v1/status"], tags=["server"])
async def health(state: State) -> Response[Health]:
    """Say how the server is doing: 503 while it cannot store anything, or stops."""
    hub = hub_of(state)
    watchdog = hub.watchdog
    status = "stopping" if hub.stopping else "ok" if await hub.health.storing() else "storage"
    shown = Health(
        status=status,
        version=server_version().removeprefix("plyhouse "),
        protocol=PROTOCOL_VERSION,
        registration=hub.config.registration,
        uptime_s=round((hub.now() - hub.started) / SECOND, 3),
        connections=len(hub.sessions),
        bots=len(hub.directory.online()),
        matches=len(hub.directory.live),
        seeks=len(hub.lobby),
        plies=hub.runner.plies,
        stalled_ms=watchdog.total_ns // MS,
        longest_stall_ms=watchdog.longest_ns // MS,
    )
    return Response(shown, status_code=200 if status == "ok" else 503)


@get("/api/v1/games", tags=["games"])
async def games() -> list[GameView]:
    """List the games that can be played here."""
    return [_game_view(name) for name in game_names()]


HANDLERS: Final[tuple[Any, ...]] = (health, games)


def _game_view(name: str) -> GameView:
    info = game_class(name).info
    parameters = [
        ParameterView(
            each.name,
            each.default,
            each.description,
            each.minimum,
            each.maximum,
            None if each.choices is None else list(each.choices),
        )
        for each in info.parameters
    ]
    return GameView(
        name=name,
        title=info.title,
        summary=info.summary,
        min_seats=info.min_seats,
        max_seats=info.max_seats,
        chance=info.chance.value,
        information=info.information.value,
        utility=info.utility.value,
        draw_offers=info.draw_offers,
        parameters=parameters,
    )
