"""The OpenAPI description of the API as one plain page, which can be read offline.

The usual viewers for it (Swagger UI, ReDoc, Scalar) load megabytes of script from a CDN, and the
packages that bundle them are larger than this server.
"""

from __future__ import annotations

import json
from typing import Any, Final

from litestar import Request, get
from litestar.openapi.plugins import OpenAPIRenderPlugin
from litestar.response import Redirect
from litestar.serialization import encode_json

from plyhouse.server.web.pages.rendering import render

__all__ = ["HANDLERS", "ReferencePage"]


class ReferencePage(OpenAPIRenderPlugin):
    """Renders the page for Litestar, once: the API is the same as long as a server runs."""

    _rendered = b""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the page."""
        return self._rendered

    def prepare(self, described: dict[str, Any]) -> None:
        """Render it, before clocks run that wait for it."""
        schema = json.loads(encode_json(described))
        operations = [
            (method.upper(), path, operation)
            for path, methods in schema["paths"].items()
            for method, operation in methods.items()
            if isinstance(operation, dict)
        ]
        types = sorted(schema.get("components", {}).get("schemas", {}).items())
        text = render("reference.html", info=schema["info"], operations=operations, types=types)
        self._rendered = text.encode()


@get("/docs", include_in_schema=False)
async def docs() -> Redirect:
    """Lead to the description of the API."""
    return Redirect("/api")


HANDLERS: Final[tuple[Any, ...]] = (docs,)
