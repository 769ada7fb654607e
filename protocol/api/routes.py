"""Routes of the HTTP API as data, and requests made from them.

A route is declared once, as a function without a body.  Its first parameters fill the places of
the path.  The others are the query of a GET or DELETE, and fields of the body otherwise.  Its
annotation is the type of the answer; ``str`` and ``bytes`` stand for files.  Called with its
arguments, a route gives a `Call`, which every client sends; `plyhouse.server.web.api.serving`
registers the handler of the route.

>>> @get("pets/{name}/food")
... def food(name: str, *, kind: str | None = None) -> list[str]:
...     "List the food of a pet."
>>> food("the cat", kind="dry").target
'/api/v1/pets/the%20cat/food?kind=dry'
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, ParamSpec, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode

import msgspec

from plyhouse.protocol.api.rows import Rows

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")
T_co = TypeVar("T_co", covariant=True)
RowT = TypeVar("RowT")

API: Final = "/api/v1/"
PLAY: Final = ("play",)
ORGANISE: Final = ("organise",)
ADMIN: Final = ("admin",)
RUNNER: Final = ("runner",)
GUEST: Final = ("guest",)
PAGE: Final = 200
"""Rows per page of long lists."""
CHEAP: Final = 1.0
"""Cost of a request that browsers send in dozens."""
USUAL: Final = 4.0
DEAR: Final = 20.0
"""Cost of a request that reads whole matches, or checks or makes a secret."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T_co]):
    """One request with a reader for its answer."""

    method: str
    path: str
    read: Callable[[Any], T_co]
    """Reads the JSON of the answer; raises `msgspec.ValidationError` if it does not fit."""
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    """Bytes, or a value to send as JSON."""
    timeout: float | None = None
    """Seconds to wait for the answer; None for the default."""
    binary: bool = False
    """True if the answer is a file, which `read` gets as bytes."""

    @property
    def changes(self) -> bool:
        """True if the request may change data on the server."""
        return self.method != "GET"

    @property
    def parameters(self) -> dict[str, str | list[str]]:
        """The query as text; sequences keep one text per item, and None is left out."""
        return {
            name: _text(value)
            if isinstance(value, str) or not isinstance(value, Sequence)
            else [_text(each) for each in value]
            for name, value in self.query.items()
            if value is not None
        }

    @property
    def target(self) -> str:
        """The path with the query."""
        query = urlencode(self.parameters, doseq=True)
        return f"{self.path}?{query}" if query else self.path

    def then(self, change: Callable[[T_co], V]) -> Call[V]:
        """Return the same request with an answer that ``change`` makes from this one's."""
        read = self.read
        changed = replace(self, read=lambda answer: change(read(answer)))  # type: ignore[arg-type, return-value]
        return typing.cast("Call[V]", changed)


@dataclass(frozen=True, slots=True)
class Pages(Generic[RowT]):
    """A long list, page by page."""

    first: Call[Rows[RowT]]
    following: Callable[[Rows[RowT], int], Mapping[str, Any]]
    """Returns the extra query of the next page, from the last page and the rows so far."""
    most: int | None = None
    """Most rows in total; None for all."""

    def size(self, had: int) -> int:
        """Return the number of rows to request next; 0 for no further page."""
        return PAGE if self.most is None else min(PAGE, self.most - had)

    def call(self, size: int) -> Call[Rows[RowT]]:
        """Return the first request."""
        return replace(self.first, query={**self.first.query, "limit": size})

    def after(self, page: Rows[RowT], had: int, asked: int, size: int) -> Call[Rows[RowT]] | None:
        """Return the request after a page of ``asked`` rows; None after the last page."""
        if len(page) < asked or size <= 0:
            return None
        query = {**self.first.query, **self.following(page, had), "limit": size}
        return replace(self.first, query=query)


class Route(Generic[P, T]):
    """A kind of request; see the module."""

    def __init__(
        self,
        function: Callable[P, T],
        method: str,
        path: str,
        *,
        body: type[msgspec.Struct] | str | None = None,
        timeout: float | None = None,
        scopes: tuple[str, ...] = (),
        personal: bool = False,
        status: int | None = None,
        longest: int | None = None,
        cost: float = USUAL,
    ) -> None:
        """Declare a route.

        body: a struct, whose fields are the parameters outside the path; or the parameter that is
            the body as a whole, while the others are the query
        timeout: seconds to wait for the answer, if it takes long
        scopes: scopes of which a token needs one; empty: anybody may send the request
        personal: a token is not needed, but shows or does more
        status: status of an answer that is no refusal, if it is not the usual one of the method
        longest: longest body in bytes, if it may be longer than others
        cost: what it takes from the allowance of its address, about the milliseconds that it takes
        """
        functools.update_wrapper(self, function)
        self.function = function
        self.method = method
        self.path = API + path
        self.body = body
        self.timeout = timeout
        self.scopes = scopes
        self.personal = personal
        self.status = status or (204 if method == "DELETE" else 200)
        self.longest = longest
        self.cost = cost

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Call[T]:
        """Return the request with these arguments."""
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        values = dict(given.arguments)
        path = self.path
        for place in self.places:
            part = quote(str(values.pop(next(iter(values)))), safe="")
            path = path.replace(f"{{{place}}}", part)
        query: dict[str, Any] = {}
        body: Any = None
        if isinstance(self.body, str):
            body = values.pop(self.body)
            query = values
        elif self.body is not None:
            body = self.body(**values)
        elif self.method in ("POST", "PUT", "PATCH"):
            body = values
        else:
            query = values
        binary = self.answer in (bytes, str)
        return Call(self.method, path, self._read, query, body, self.timeout, binary)

    @property
    def places(self) -> list[str]:
        """The names of the places in the path."""
        return re.findall(r"{(\w+)}", self.path)

    @functools.cached_property
    def answer(self) -> Any:
        """The type of the answer."""
        return typing.get_type_hints(self.function)["return"]

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def _read(self, answer: Any) -> T:
        kind = self.answer
        if kind is bytes or kind is Any:
            read: Any = answer
        elif kind is str:
            read = answer.decode()
        elif kind is type(None):
            read = None
        elif typing.get_origin(kind) is Rows:
            read = Rows(msgspec.convert(answer, list[typing.get_args(kind)[0]]))  # type: ignore[misc]
        else:
            read = msgspec.convert(answer, kind)
        return typing.cast("T", read)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Terms(TypedDict, total=False):
    """The facts of a route that `Route` explains, except method and path."""

    timeout: float | None
    scopes: tuple[str, ...]
    personal: bool
    status: int | None
    longest: int | None
    cost: float


def get(path: str, **terms: Unpack[Terms]) -> Callable[[Callable[P, T]], Route[P, T]]:
    """Declare a route that reads."""
    return lambda function: Route(function, "GET", path, **terms)


def post(
    path: str, body: type[msgspec.Struct] | str | None = None, **terms: Unpack[Terms]
) -> Callable[[Callable[P, T]], Route[P, T]]:
    """Declare a route that changes something; for ``body`` see `Route`."""
    return lambda function: Route(function, "POST", path, body=body, **terms)


def put(
    path: str, body: type[msgspec.Struct] | str | None = None, **terms: Unpack[Terms]
) -> Callable[[Callable[P, T]], Route[P, T]]:
    """Declare a route that sets something; for ``body`` see `Route`."""
    return lambda function: Route(function, "PUT", path, body=body, **terms)


def patch(
    path: str, body: type[msgspec.Struct], **terms: Unpack[Terms]
) -> Callable[[Callable[P, T]], Route[P, T]]:
    """Declare a route that changes parts of something."""
    return lambda function: Route(function, "PATCH", path, body=body, **terms)


def delete(path: str, **terms: Unpack[Terms]) -> Callable[[Callable[P, T]], Route[P, T]]:
    """Declare a route that deletes."""
    return lambda function: Route(function, "DELETE", path, **terms)
