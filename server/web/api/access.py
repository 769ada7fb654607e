"""Who may do what over HTTP: a bearer token and its scopes, or the session of a browser.

A browser sends its cookie with every request, whoever made the page that caused it.  So a request
that changes something counts for a session only if a page of this server sent it (`from_own_page`):
browsers say so by themselves in ``Origin`` and ``Sec-Fetch-Site``, and no page can make them lie.

A handler that looks at the token or the session makes its answer a personal one, which no cache may
keep (`plyhouse.server.web.safety.PERSONAL`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias, cast

from litestar.connection import ASGIConnection

from plyhouse.server.accounts.cookies import own_page, secret_of
from plyhouse.server.accounts.privacy import Sight
from plyhouse.server.accounts.roles import require
from plyhouse.server.competition.staff import Action
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.web.parameters import hub_of
from plyhouse.server.web.problems import Problem
from plyhouse.server.web.safety import PERSONAL
from plyhouse.server.wire.rates import client_of
from plyhouse.storage import class_sql
from plyhouse.storage.class_rows import ClassCompetition
from plyhouse.storage.rows import Identity, StoredMatch

__all__ = [
    "address_of",
    "authorise",
    "first",
    "from_own_page",
    "host_of",
    "is_secure",
    "secret_in",
    "sight_of",
    "staff_for",
    "stored_for",
    "token_of",
    "viewer_of",
]

Connection: TypeAlias = ASGIConnection[Any, Any, Any, Any]
SAFE_METHODS: Final = frozenset(("GET", "HEAD", "OPTIONS"))


async def authorise(request: Connection, hub: Hub, *scopes: str) -> Identity:
    """Return whose token or session the request has, if it allows one of ``scopes``.

    A token goes before a session.  Raises `Problem` or `ProtocolError`.
    """
    token = token_of(request)
    if token:
        return await hub.registration.identify(token, *scopes, address=address_of(request))
    secret = secret_in(request)
    if not secret:
        raise Problem("auth/required", "Send the header 'Authorization: Bearer TOKEN', or sign in.")
    if request.scope.get("method") not in SAFE_METHODS:
        from_own_page(request)
    return await hub.visitors.identify(secret, *scopes)


async def staff_for(
    request: Connection, hub: Hub, competition: str, action: Action
) -> tuple[ClassCompetition, Identity]:
    """Return a competition and who asks, if that is somebody of its staff who may do this.

    Raises `NotStaff`, and what `authorise` does.
    """
    identity = await authorise(request, hub, "organise")
    row = await hub.store.read(class_sql.find, competition)
    await require(hub.store, row, identity, action)
    return row, identity


def from_own_page(request: Connection) -> None:
    """Raise `Problem` unless a page of this server made the browser send the request."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin", "")
    if site != "same-origin" or not own_page(origin, host_of(request)):
        raise Problem(
            "auth/other_page",
            "This request was not sent by a page of this server: with a session, that is refused. "
            "Programs send a token instead.",
            403,
        )


def secret_in(request: Connection) -> str:
    """Return the secret of the session in a request's cookie; empty if it has none."""
    _is_personal(request)
    cookies = request.headers.get("cookie", "")
    return secret_of(cookies, host_of(request), secure=is_secure(request))


def host_of(request: Connection) -> str:
    """Return what the client takes this server for."""
    return str(request.headers.get("host", ""))


def is_secure(request: Connection) -> bool:
    """Whether a request came over TLS, as far as a named proxy tells."""
    return str(request.scope.get("scheme", "http")) == "https"


async def viewer_of(request: Connection, hub: Hub) -> Identity | None:
    """Return who looks at something public; None without a token or session.

    A wrong token is an error.  A session that counts no more is nobody's: pages go on working.
    """
    if token_of(request):
        return await authorise(request, hub, "play", "organise")
    return await hub.visitors.known(secret_in(request))


async def sight_of(request: Connection, hub: Hub) -> Sight:
    """Return which matches whoever asks may see."""
    return await hub.privacy.sight(await viewer_of(request, hub))


async def stored_for(request: Connection, hub: Hub, match: str) -> StoredMatch:
    """Return a match as whoever asks may see it; `Unknown` if there is none for them."""
    return await hub.privacy.match(await sight_of(request, hub), match)


def _is_personal(request: Connection) -> None:
    """Note that the answer depends on who asks."""
    cast("dict[str, Any]", request.scope)[PERSONAL] = True


def first(*scopes: str) -> Callable[[Connection, Any], Awaitable[None]]:
    """A guard: who may not do this is told so before the body is looked at.

    What a request should have held is the business of those who may send it.
    """

    async def guard(connection: Connection, _: Any) -> None:
        await authorise(connection, hub_of(connection.app.state), *scopes)

    return guard


def address_of(request: Connection) -> str:
    """Return whose limits a request counts against (`client_of`)."""
    return client_of(request.client.host) if request.client is not None else "unknown"


def token_of(request: Connection) -> str:
    """Return the bearer token of a request; empty if it has none."""
    _is_personal(request)
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""
