"""Pass HTTP requests on to the leader of a cluster, which knows all bots and matches.

The other servers answer only what needs no leader: files of the web client, health, metrics and
the list of servers.  The leader accepts the client's address from a server that shows the secret of
the cluster, which is in the leader's address in the database.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

from plyhouse.protocol.api.calls import LONGEST_ANSWER
from plyhouse.server.web.request_limits import send_problem

if TYPE_CHECKING:
    import httpx

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

SECRET_HEADER: Final = b"x-plyhouse-cluster"
CLIENT_HEADER: Final = b"x-plyhouse-client"
SCHEME_HEADER: Final = b"x-plyhouse-scheme"
_OWN_HEADERS: Final = frozenset({SECRET_HEADER, CLIENT_HEADER, SCHEME_HEADER})
_HOP_BY_HOP: Final = frozenset(
    [
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"trailer",
        b"upgrade",
    ]
)
LOCAL_PATHS: Final = frozenset({"/healthz", "/readyz", "/metrics", "/cluster", "/api/v1/cluster"})
CONNECT_SECONDS: Final = 5.0


def is_local(path: str) -> bool:
    """Return whether every server answers requests for this path itself."""
    return path in LOCAL_PATHS or path == "/web" or path.startswith("/web/")


def restored(scope: Scope, secret: str) -> tuple[Scope, bool]:
    """Return the scope as the client sent it, and whether another server has passed it on.

    Headers of the cluster without the right ``secret`` are removed.
    """
    own = {name: value for name, value in scope["headers"] if name in _OWN_HEADERS}
    if not own:
        return scope, False
    said = own.get(SECRET_HEADER, b"")
    scope = {
        **scope,
        "headers": [each for each in scope["headers"] if each[0] not in _OWN_HEADERS],
    }
    if not secret or not secrets.compare_digest(said, secret.encode()):
        return scope, False
    client = own.get(CLIENT_HEADER, b"").decode("latin-1")
    if client:
        scope["client"] = (client, 0)
    scope["scheme"] = own.get(SCHEME_HEADER, b"http").decode("latin-1")
    return scope, True


class Forwarder:
    """Passes requests on to the address that ``leader`` returns."""

    def __init__(self, leader: Callable[[], str]) -> None:
        import httpx  # takes longer than servers without a cluster should wait

        self._leader = leader
        self._url = httpx.URL
        self._failed = httpx.HTTPError
        self._client: httpx.AsyncClient = httpx.AsyncClient(
            timeout=httpx.Timeout(LONGEST_ANSWER, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
            follow_redirects=False,
            trust_env=False,
        )

    async def close(self) -> None:
        """Close all connections to the leader."""
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, and its answer back."""
        address = urlsplit(self._leader())
        if not address.hostname:
            await _refuse(send, "The cluster has no leader yet. Try again in a few seconds.")
            return
        path = scope.get("raw_path") or scope["path"].encode()
        query = scope.get("query_string", b"")
        url = self._url(
            scheme="http",
            host=address.hostname,
            port=address.port,
            raw_path=path + (b"?" + query if query else b""),
        )
        dropped = _HOP_BY_HOP | _OWN_HEADERS
        headers = [each for each in scope["headers"] if each[0] not in dropped]
        client = scope.get("client")
        headers += [
            (SECRET_HEADER, (address.password or "").encode()),
            (CLIENT_HEADER, (client[0] if client else "").encode("latin-1")),
            (SCHEME_HEADER, scope.get("scheme", "http").encode()),
        ]
        sized = any(name in (b"content-length", b"transfer-encoding") for name, _ in headers)
        body = _body(receive) if sized else None
        request = self._client.build_request(scope["method"], url, headers=headers, content=body)
        try:
            answer = await self._client.send(request, stream=True)
        except self._failed:
            await _refuse(send, "The leader of the cluster does not answer. Try again soon.")
            return
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": answer.status_code,
                    "headers": [
                        (name.lower(), value)
                        for name, value in answer.headers.raw
                        if name.lower() not in _HOP_BY_HOP
                    ],
                }
            )
            async for chunk in answer.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            await answer.aclose()


async def _body(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return
        yield message.get("body", b"")
        if not message.get("more_body"):
            return


async def _refuse(send: Send, text: str) -> None:
    await send_problem(send, 503, "server/overloaded", text, retry_after=2)
