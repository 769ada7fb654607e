"""Pass HTTP requests on to the leader of a cluster, which knows all bots and matches.

The other servers answer only what needs no leader: files of the web client, health, metrics and
the list of servers.  While the servers elect a leader, requests wait for it.  The leader accepts
the client's address from a server that shows the secret of the cluster, which is in the leader's
address in the database.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from urllib.parse import SplitResult, urlsplit

from plyhouse.protocol.api.calls import LONGEST_ANSWER
from plyhouse.server.web.request_limits import send_problem

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
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
CONNECT_SECONDS: Final = 2.0
WAIT_SECONDS: Final = 10.0
"""How long a request waits for a leader; an election after a crash takes half of it."""
LOOK_SECONDS: Final = 0.1
SHOWN: Final = 100
"""Characters of a path that a message repeats."""


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


class _Gone(Exception):  # noqa: N818 (a condition)
    """The visitor has left before the leader has answered."""


class Forwarder:
    """Passes requests on to the address that ``leader`` returns."""

    def __init__(self, leader: Callable[[], str]) -> None:
        import httpx  # takes longer than servers without a cluster should wait

        self._leader = leader
        self._url = httpx.URL
        # The client would add headers of its own, such as encodings that the visitor cannot read.
        self._plain_request = httpx.Request
        self._failed = httpx.HTTPError
        self._no_address = httpx.InvalidURL
        self._unsent = (httpx.ConnectError, httpx.ConnectTimeout)
        self._client: httpx.AsyncClient = httpx.AsyncClient(
            timeout=httpx.Timeout(LONGEST_ANSWER, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
            follow_redirects=False,
            trust_env=False,
            # All visitors share the client: a cookie that it kept would sign others in.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    async def close(self) -> None:
        """Close all connections to the leader."""
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, and its answer back."""
        visitor = _Visitor(scope, receive)
        # Sending to a visitor who has left raises no error, so it has to be watched for.
        gone = asyncio.create_task(visitor.left())
        try:
            answer = await self._ask(scope, visitor, gone)
            if isinstance(answer, str):
                await _refuse(send, f"{answer} Try again in a few seconds.")
            else:
                visitor.whole.set()  # what the leader did not want of the body is dropped
                await _pass_back(answer, send, gone)
        except self._no_address:
            await send_problem(send, 404, "http/404", f"There is no such page: {_path(scope)}.")
        except _Gone:
            return
        finally:
            gone.cancel()

    async def _ask(
        self, scope: Scope, visitor: _Visitor, gone: asyncio.Task[None]
    ) -> httpx.Response | str:
        """Return the leader's answer, or why there is none.

        After a failure, asks the leader of that moment again if none can have done anything.
        Raises `_Gone`.
        """
        safe = scope["method"] == "GET" and not visitor.sends_body
        until = monotonic() + WAIT_SECONDS
        while True:
            trouble = "The cluster has no leader yet."
            leader = urlsplit(self._leader())
            if leader.hostname:
                trouble = "The leader of the cluster does not answer."
                body = visitor.body() if visitor.sends_body else None
                request = self._request(leader, scope, body)
                try:
                    return await _unless_gone(self._client.send(request, stream=True), gone)
                except self._unsent:
                    pass
                except self._failed:
                    if not safe:
                        return trouble
            if monotonic() >= until:
                return trouble
            await _unless_gone(asyncio.sleep(LOOK_SECONDS), gone)

    def _request(
        self, leader: SplitResult, scope: Scope, body: AsyncIterator[bytes] | None
    ) -> httpx.Request:
        """Return the request as the leader is to get it."""
        path = scope.get("raw_path") or scope["path"].encode()
        query = scope.get("query_string", b"")
        url = self._url(
            scheme="http",
            host=leader.hostname,
            port=leader.port,
            raw_path=path + (b"?" + query if query else b""),
        )
        dropped = _HOP_BY_HOP | _OWN_HEADERS
        headers = [each for each in scope["headers"] if each[0] not in dropped]
        client = scope.get("client")
        headers += [
            (SECRET_HEADER, (leader.password or "").encode()),
            (CLIENT_HEADER, (client[0] if client else "").encode("latin-1")),
            (SCHEME_HEADER, scope.get("scheme", "http").encode()),
        ]
        return self._plain_request(scope["method"], url, headers=headers, content=body)


def _path(scope: Scope) -> str:
    """Return the beginning of a path, for messages."""
    path = str(scope["path"])
    return path if len(path) <= SHOWN else f"{path[:SHOWN]}..."


class _Visitor:
    """Receives what a visitor sends."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self.sends_body = any(
            name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"]
        )
        self.whole = asyncio.Event()
        """Set once nothing more of the body is to be passed on."""
        if not self.sends_body:
            self.whole.set()

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the parts of the body; raises `_Gone` if its sender leaves before the end."""
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                raise _Gone  # the leader must not take what came for the whole body
            yield message.get("body", b"")
            if not message.get("more_body"):
                self.whole.set()
                return

    async def left(self) -> None:
        """Wait until the visitor has left, once its body has been passed on."""
        await self.whole.wait()
        while (await self._receive())["type"] == "http.request":
            pass


async def _unless_gone(work: Coroutine[Any, Any, T], gone: asyncio.Task[None]) -> T:
    """Return the result of ``work``; raise `_Gone` if the visitor leaves before it is there."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise _Gone
        return await task
    finally:
        task.cancel()


async def _pass_back(answer: httpx.Response, send: Send, gone: asyncio.Task[None]) -> None:
    """Send the leader's answer to the visitor, until that one has left."""
    try:
        headers = [
            (name.lower(), value)
            for name, value in answer.headers.raw
            if name.lower() not in _HOP_BY_HOP
        ]
        status = answer.status_code
        await send({"type": "http.response.start", "status": status, "headers": headers})
        async for chunk in answer.aiter_raw():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            if gone.done():
                return
        await send({"type": "http.response.body", "body": b""})
    finally:
        await answer.aclose()


async def _refuse(send: Send, text: str) -> None:
    await send_problem(send, 503, "server/overloaded", text, retry_after=2)
