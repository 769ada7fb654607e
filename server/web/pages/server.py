"""Pages about the server: the reference of its API, and the servers of its cluster.

The usual viewers for it (Swagger UI, ReDoc, Scalar) load megabytes of script from a CDN, and the
packages that bundle them are larger than this server.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from litestar import MediaType, Request, Response, get
from litestar.datastructures import State
from litestar.enums import OpenAPIMediaType
from litestar.response import Redirect
from litestar.serialization import encode_json

from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.jobs.helper_processes import Helpers
from plyhouse.server.web.api.access import viewer_of
from plyhouse.server.web.api.server_status import cluster_state
from plyhouse.server.web.forwarding import BY_ANY
from plyhouse.server.web.pages.rendering import page, render
from plyhouse.server.web.parameters import service
from plyhouse.storage.store import Store


def as_page(described: dict[str, Any]) -> bytes:
    """Return a description as a page."""
    schema = json.loads(encode_json(described))
    operations = [
        (method.upper(), path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if isinstance(operation, dict)
    ]
    types = sorted(schema.get("components", {}).get("schemas", {}).items())
    text = render("reference.html", info=schema["info"], operations=operations, types=types)
    return text.encode()


def handlers(describe: Callable[[], tuple[bytes, bytes]]) -> list[Any]:
    """Return the handlers of the description.

    The first request calls ``describe``, a function of a module, in a process of its own, because
    it would block the clocks.  It returns the JSON and the page.
    """
    described: list[tuple[bytes, bytes]] = []

    async def both(state: State) -> tuple[bytes, bytes]:
        if not described:
            described[:] = [await service(state, Helpers).run(describe)]
        return described[0]

    @get(
        "/api/openapi.json",
        media_type=OpenAPIMediaType.OPENAPI_JSON,
        include_in_schema=False,
        opt=BY_ANY,
    )
    async def openapi(state: State) -> bytes:
        """Return the description for programs."""
        return (await both(state))[0]

    @get("/api", media_type=MediaType.HTML, include_in_schema=False, opt=BY_ANY)
    async def page(state: State) -> bytes:
        """Return the description for people."""
        return (await both(state))[1]

    @get("/docs", include_in_schema=False, opt=BY_ANY)
    async def docs() -> Redirect:
        """Lead to the description of the API."""
        return Redirect("/api")

    return [openapi, page, docs]


@get("/cluster", include_in_schema=False, opt=BY_ANY)
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
