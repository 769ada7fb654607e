"""The servers of a cluster, for operators."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, Response, get
from litestar.datastructures import State

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.web.api.access import viewer_of
from plyhouse.server.web.api.cluster import cluster_state
from plyhouse.server.web.pages.rendering import page
from plyhouse.server.web.parameters import service
from plyhouse.storage.store import Store

__all__ = ["HANDLERS"]


@get("/cluster", include_in_schema=False)
async def cluster(state: State, request: Request[Any, Any, Any]) -> Response[str]:
    """Show the servers that share the database, to people with the scope ``admin``."""
    try:
        viewer = await viewer_of(request)
    except ProtocolError as error:
        return page("missing.html", status=401, title="Sign in", text=str(error))
    if viewer is None or "admin" not in viewer.scopes:
        text = "Only operators see the servers: sign in with a token of scope admin."
        return page("missing.html", status=403, title="Servers", text=text)
    shown = await cluster_state(state)
    return page("cluster.html", cluster=shown, now_ms=service(state, Store).now())


HANDLERS: Final[tuple[Any, ...]] = (cluster,)
