"""The arguments of handlers: services, parts of the path, and known parameters of a query."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Mapping, MutableMapping
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import quote, unquote

from litestar import Request
from litestar.datastructures import State
from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter
from litestar.types import ASGIApp, Receive, Scope, Send

from plyhouse.protocol.api.bodies import LONGEST_REFERENCE
from plyhouse.protocol.parts import LONGEST_NAME
from plyhouse.server.web.error_responses import Problem

ServiceT = TypeVar("ServiceT")

MAX_LINES: Final = 1000
"""Lines of a table in one answer."""
MAX_OFFSET: Final = 1_000_000_000
"""More than any table has lines, and a number that every database can count to."""

Limit = Annotated[int, QueryParameter(ge=1, le=MAX_LINES, description="Most lines to return.")]
Offset = Annotated[int, QueryParameter(ge=0, le=MAX_OFFSET)]
Name = Annotated[str, QueryParameter(max_length=2 * LONGEST_NAME)]
Reference = Annotated[str, QueryParameter(max_length=LONGEST_REFERENCE)]


SLASH: Final = "\ue02f"
"""Stands for a slash within a segment of a path while routes are matched: of private use."""
_ENCODED: Final = re.compile(rb"%2f", re.IGNORECASE)

_API: Final = "/api/v1/"
_GIVEN: Final = {
    "body",
    "cookies",
    "data",
    "headers",
    "query",
    "request",
    "scope",
    "socket",
    "state",
}
"""Arguments of handlers that Litestar fills in."""


@functools.cache  # bounded: by the handlers that there are
def _arguments(handler: HTTPRouteHandler) -> frozenset[str]:
    return frozenset(handler.parsed_fn_signature.parameters) - _GIVEN


def with_slashes(scope: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Return the scope of a request with `SLASH` in its path where the address has ``%2F``.

    Names of competitions may have a slash, and a decoded one would end the segment.
    """
    raw = scope.get("raw_path") or b""
    if not _ENCODED.search(raw):
        return scope
    return {**scope, "path": unquote(_ENCODED.sub(quote(SLASH).encode(), raw).decode("latin-1"))}


def restore_slashes(app: ASGIApp) -> ASGIApp:
    """Return a middleware that gives handlers the slashes of `with_slashes`."""

    async def restored(scope: Scope, receive: Receive, send: Send) -> None:
        for name, value in scope["path_params"].items():
            if isinstance(value, str) and SLASH in value:
                scope["path_params"][name] = value.replace(SLASH, "/")
        await app(scope, receive, send)

    return restored


async def refuse_unknown(request: Request[Any, Any, Any]) -> None:
    """Refuse a request of the API with a parameter that its handler does not know; `Problem`.

    Otherwise a misspelt one would change nothing, and nobody would notice.  Pages and probes are
    let be: what others add to links does them no harm.

    It waits for nothing, but were it no coroutine, each request would pass through a thread.
    """
    if not request.query_params or not request.url.path.startswith(_API):
        return
    known = _arguments(request.route_handler) - request.path_params.keys()
    unknown = next((name for name in request.query_params if name not in known), None)
    if unknown is None:
        return
    near = difflib.get_close_matches(unknown[:64], known, n=1)
    listed = ", ".join(sorted(known))
    hint = f"did you mean {near[0]}?" if near else f"known are {listed}." if known else "none is."
    raise Problem("http/400", f"The parameter {unknown[:64]!r} is not known here: {hint}", 400)


def service(state: State, kind: type[ServiceT]) -> ServiceT:
    """Return the service of this class of the server that the application serves.

    Raises `Problem` before the application has a server.
    """
    services: Mapping[type, Any] | None = state.get("services")
    if services is None:
        raise Problem("server/shutting_down", "The server is not ready yet.", 503)
    found: ServiceT = services[kind]
    return found
