"""Who may do what over HTTP: a bearer token and its scopes."""

from __future__ import annotations

from typing import Any

from litestar import Request

from plyhouse.server.house.hub import Hub
from plyhouse.server.web.problems import Problem

__all__ = ["authorise"]


async def authorise(request: Request[Any, Any, Any], hub: Hub, scope: str) -> None:
    """Return if the request's token allows ``scope``; else `Problem` or `ProtocolError`."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token:
        raise Problem("auth/required", "Send the header 'Authorization: Bearer TOKEN'.")
    await hub.registration.identify(token.strip(), scope)
