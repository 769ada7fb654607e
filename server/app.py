"""The ASGI application: websockets to the hub, everything else to the web API."""

from __future__ import annotations

from typing import Any

from plyhouse.protocol.codec import SUBPROTOCOLS
from plyhouse.server.api import create_api
from plyhouse.server.hub import Hub
from plyhouse.server.websocket import Receive, Scope, Send, websocket_endpoint

__all__ = ["WEBSOCKET_PATH", "create_app"]

WEBSOCKET_PATH = "/ws"


def create_app(hub: Hub) -> Any:
    """Return the ASGI application of a hub."""
    api: Any = create_api(hub)
    bots = websocket_endpoint(SUBPROTOCOLS, hub.attach)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await api(scope, receive, send)
        elif scope["path"] == WEBSOCKET_PATH:
            await bots(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 4404, "reason": "bots connect to /ws"})

    return app
