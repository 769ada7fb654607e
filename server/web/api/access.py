"""Who may do what over HTTP: a bearer token and its scopes."""

from __future__ import annotations

from typing import Any

from litestar import Request

from plyhouse.server.house.hub import Hub
from plyhouse.server.web.problems import Problem
from plyhouse.storage.rows import Identity

__all__ = ["address_of", "authorise"]


async def authorise(request: Request[Any, Any, Any], hub: Hub, *scopes: str) -> Identity:
    """Return whose token the request has, if it allows one of ``scopes``; else `Problem` or
    `ProtocolError`.
    """
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token:
        raise Problem("auth/required", "Send the header 'Authorization: Bearer TOKEN'.")
    return await hub.registration.identify(token.strip(), *scopes, address=address_of(request))


def address_of(request: Request[Any, Any, Any]) -> str:
    """Return where a request comes from."""
    return request.client.host if request.client is not None else "unknown"
