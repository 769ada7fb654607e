"""Register the handlers of routes, which `plyhouse.protocol.api` declares.

A handler has a parameter for each place of the path and each part of the query, and ``data`` for
the body.  A test compares them with the route; mypy compares the answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final, ParamSpec, TypeVar, overload

from litestar import Response, delete, get, patch, post, put
from litestar.handlers import HTTPRouteHandler

from plyhouse.protocol.api.routes import Route
from plyhouse.protocol.api.rows import Rows
from plyhouse.server.web.api.access import first

P = ParamSpec("P")
T = TypeVar("T")

DECORATORS: Final[dict[str, Any]] = {
    "GET": get, "POST": post, "PUT": put, "PATCH": patch, "DELETE": delete,
}  # fmt: skip
SECTIONS: Final = {
    "audit": "administration",
    "bots": "players",
    "cluster": "administration",
    "health": "server",
    "hosted-bots": "people",
    "house-bots": "people",
    "leaderboards": "results",
    "outputs": "submissions",
    "seeks": "people",
    "session": "people",
    "suspensions": "administration",
    "tokens": "administration",
}
"""The sections of the API's description, by the first part of a path where it is not its name."""


@overload
def serve(
    route: Route[P, Rows[T]], section: str = "", *, step: str = "", also: str = "", **options: Any
) -> Callable[[Callable[..., Awaitable[list[T]]]], HTTPRouteHandler]: ...
@overload
def serve(
    route: Route[P, T], section: str = "", *, step: str = "", also: str = "", **options: Any
) -> Callable[[Callable[..., Awaitable[T] | Awaitable[Response[T]]]], HTTPRouteHandler]: ...
def serve(
    route: Route[Any, Any], section: str = "", *, step: str = "", also: str = "", **options: Any
) -> Any:
    """Register the decorated handler for a route.

    section: the section of the description, if it does not follow from the path
    step: the value of the place ``step`` that this handler is for
    also: another path of the handler
    options: further arguments for Litestar
    """
    security: list[dict[str, list[str]]] = [{"token": []}]
    if route.personal:
        security.insert(0, {})
    if route.scopes or route.personal:
        options["security"] = security
    if route.scopes:
        options["guards"] = [first(*route.scopes)]
    if route.longest is not None:
        options.setdefault("request_max_body_size", route.longest)
    name = route.path.split("/")[3]
    path = typed_path(route).replace("{step:str}", step)
    paths = [path, also] if also else path
    tags = [section or SECTIONS.get(name, name)]
    return DECORATORS[route.method](
        paths,
        tags=tags,
        status_code=route.status,
        opt={"route": route, **options.pop("opt", {})},
        **options,
    )


def typed_path(route: Route[Any, Any]) -> str:
    """Return the path with the types of its places, as Litestar writes it.

    >>> from plyhouse.protocol.api import calls
    >>> typed_path(calls.submission)
    '/api/v1/submissions/{submission:int}'
    """
    path = route.path
    for place, argument in zip(
        route.places, inspect.signature(route).parameters.values(), strict=False
    ):
        kind = "int" if argument.annotation in ("int", int) else "str"
        path = path.replace(f"{{{place}}}", f"{{{place}:{kind}}}")
    return path
