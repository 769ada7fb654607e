"""The OpenAPI description of the API: as JSON, and as one plain page that can be read offline.

The usual viewers for it (Swagger UI, ReDoc, Scalar) load megabytes of script from a CDN, and the
packages that bundle them are larger than this server.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from litestar import MediaType, get
from litestar.datastructures import State
from litestar.enums import OpenAPIMediaType
from litestar.response import Redirect
from litestar.serialization import encode_json

from plyhouse.server.jobs.helper_processes import Helpers
from plyhouse.server.web.pages.rendering import render
from plyhouse.server.web.parameters import service

__all__ = ["as_page", "handlers"]


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

    @get("/api/openapi.json", media_type=OpenAPIMediaType.OPENAPI_JSON, include_in_schema=False)
    async def openapi(state: State) -> bytes:
        """Return the description for programs."""
        return (await both(state))[0]

    @get("/api", media_type=MediaType.HTML, include_in_schema=False)
    async def page(state: State) -> bytes:
        """Return the description for people."""
        return (await both(state))[1]

    @get("/docs", include_in_schema=False)
    async def docs() -> Redirect:
        """Lead to the description of the API."""
        return Redirect("/api")

    return [openapi, page, docs]
