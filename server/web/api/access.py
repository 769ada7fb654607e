"""Authorise HTTP requests by a bearer token with its scopes, or by the session of a browser.

A browser sends its cookie with every request, even one that a page of another site caused.
Therefore a session may change data only if a page of this server sent the request
(`from_own_page`): browsers set ``Origin`` and ``Sec-Fetch-Site``, and no page can forge them.

If a handler looks at the token or the session, its answer is personal and no cache may store it
(`plyhouse.server.web.security_headers.PERSONAL`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Final, TypeAlias, cast

from litestar.connection import ASGIConnection

from plyhouse.server.accounts.browser_sessions import BrowserSessions, own_page, secret_of
from plyhouse.server.accounts.privacy import Privacy, Sight
from plyhouse.server.accounts.registration import Registration
from plyhouse.server.accounts.roles import Action, require
from plyhouse.server.jobs.fair_queue import VISITOR
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.parameters import service
from plyhouse.server.web.request_limits import ALLOWANCE, Allowance
from plyhouse.server.web.security_headers import PERSONAL
from plyhouse.server.wire.limits import client_of
from plyhouse.storage import competition_sql
from plyhouse.storage.competition_rows import CompetitionRow
from plyhouse.storage.rows import By, Identity, StoredMatch
from plyhouse.storage.store import Store

Connection: TypeAlias = ASGIConnection[Any, Any, Any, Any]
SAFE_METHODS: Final = frozenset(("GET", "HEAD", "OPTIONS"))
IDENTITIES: Final = "plyhouse.identities"
"""Key in the scope of a request: identities by the scopes that a token must have."""
VIEWER: Final = "viewer"
"""Key among them of who views a public page by a session."""


async def authorise(request: Connection, *scopes: str) -> Identity:
    """Return the owner of the request's token or session, if it allows one of ``scopes``.

    A token takes precedence over a session.  The guard of a route and its handler both call this;
    only the first call looks the identity up.  Raises `Problem` or `ProtocolError`.
    """
    known = cast("dict[str, Any]", request.scope).setdefault(IDENTITIES, {})
    if scopes not in known:
        known[scopes] = await _identify(request, *scopes)
    identity: Identity = known[scopes]
    return identity


async def _identify(request: Connection, *scopes: str) -> Identity:
    token = token_of(request)
    if token:
        registration = service(request.app.state, Registration)
        identity = await registration.identify(token, *scopes, address=address_of(request))
        return _visiting(request, identity)
    secret = secret_in(request)
    if not secret:
        raise Problem("auth/required", "Send the header 'Authorization: Bearer TOKEN', or sign in.")
    if request.scope.get("method") not in SAFE_METHODS:
        from_own_page(request)
    sessions = service(request.app.state, BrowserSessions)
    return _visiting(request, await sessions.identify(secret, *scopes))


def _visiting(request: Connection, identity: Identity) -> Identity:
    """Let this request count for the account, because others may share its address.

    Guests count for their address, because one person can be many of them.
    """
    if not identity.guest:
        VISITOR.set(identity.player_id)
        allowance = cast("Allowance | None", request.scope.get(ALLOWANCE))
        if allowance is not None:
            allowance.know(request.scope, identity.player_id)
    return identity


async def staff_for(
    request: Connection, competition: str, action: Action
) -> tuple[CompetitionRow, Identity]:
    """Return a competition and the requesting member of its staff, who must be allowed to act.

    Raises `NotStaff`, and what `authorise` does.
    """
    identity = await authorise(request, "organise")
    store = service(request.app.state, Store)
    row = await store.read(competition_sql.find, competition)
    await require(store, row, identity, action)
    return row, identity


async def staff_acting(
    request: Connection, competition: str, why: str
) -> tuple[CompetitionRow, By]:
    """Return a competition, and the member of its staff who runs it; raises `NotStaff`."""
    row, identity = await staff_for(request, competition, "run")
    return row, By(identity.player, why, identity.player_id)


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
    """Return the host name by which the client addresses this server."""
    return str(request.headers.get("host", ""))


def is_secure(request: Connection) -> bool:
    """Return whether a request came over TLS, here or at a configured proxy."""
    return str(request.scope.get("scheme", "http")) == "https"


async def viewer_of(request: Connection) -> Identity | None:
    """Return the identity that views a public page; None without a token or session.

    A wrong token is an error.  An expired session counts as none, so that pages keep working.
    """
    if token_of(request):
        return await authorise(request, "play", "organise")
    known = cast("dict[str, Any]", request.scope).setdefault(IDENTITIES, {})
    if VIEWER not in known:
        sessions = service(request.app.state, BrowserSessions)
        identity = known[VIEWER] = await sessions.known(secret_in(request))
        if identity is not None:
            _visiting(request, identity)
    viewer: Identity | None = known[VIEWER]
    return viewer


async def visitor_of(request: Connection) -> Hashable:
    """Return for whom the work of a request counts: an account, or else an address."""
    await viewer_of(request)
    return VISITOR.get()


async def sight_of(request: Connection) -> Sight:
    """Return which matches the requesting person may see."""
    return await service(request.app.state, Privacy).sight(await viewer_of(request))


async def stored_for(request: Connection, match: str, *, events: bool = True) -> StoredMatch:
    """Return a match as the requesting person may see it; raise `Unknown` if they may not.

    Without ``events``, it has none of them.
    """
    privacy = service(request.app.state, Privacy)
    return await privacy.match(await sight_of(request), match, events=events)


def _is_personal(request: Connection) -> None:
    """Record that the answer depends on the requesting person."""
    cast("dict[str, Any]", request.scope)[PERSONAL] = True


def first(*scopes: str) -> Callable[[Connection, Any], Awaitable[None]]:
    """Return a guard that checks the scopes before the body is read.

    Only people who may send a request learn what is wrong with its body.
    """

    async def guard(connection: Connection, _: Any) -> None:
        await authorise(connection, *scopes)

    return guard


def address_of(request: Connection) -> str:
    """Return the client against whose limits a request counts (`client_of`)."""
    return client_of(request.client.host) if request.client is not None else "unknown"


def token_of(request: Connection) -> str:
    """Return the bearer token of a request; empty if it has none."""
    _is_personal(request)
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""
