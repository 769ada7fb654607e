"""Answer HTTP requests in a cluster: at the server that they come to, or at the leader.

The leader knows all bots and matches.  The other servers pass requests on to it, except those whose
route declares that it needs no leader (`Answerer`).  While the servers elect a leader, requests
wait for it.  The leader accepts the client's address from a server that shows the secret of the
cluster, which is in the leader's address in the database.

A route declares its answerer where its handler is registered: ``opt=FROM_DATABASE``.  A handler
that finds out too late that it needs the leader calls `leave_to_leader`.
"""

from __future__ import annotations

import asyncio
import enum
import logging
import secrets
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
)
from http.cookiejar import CookieJar, DefaultCookiePolicy
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import SplitResult, urlsplit

from litestar import Litestar
from litestar.exceptions import HTTPException
from litestar.utils import normalize_path

from plyhouse.protocol.api.calls import LONGEST_ANSWER
from plyhouse.server.web.request_limits import send_problem
from plyhouse.server.wire.websocket import Message, Receive, Scope, Send

if TYPE_CHECKING:
    import httpx

log = logging.getLogger("plyhouse.server.web")

T = TypeVar("T")

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
CONNECT_SECONDS: Final = 2.0
WAIT_SECONDS: Final = 10.0
"""How long a request waits for a leader; an election after a crash takes half of it."""
LOOK_SECONDS: Final = 0.1
SHOWN: Final = 100
"""Characters of a path that a message repeats."""


class Answerer(enum.Enum):
    """The servers of a cluster that answer the requests for a route."""

    LEADER = enum.auto()
    """Only the leader, because the answer needs what it alone knows, or changes something."""
    ANY = enum.auto()
    """Every server at any time: the answer is the same for everybody, or for operators."""
    DATABASE = enum.auto()
    """Every server, from the database and by its newest rules about who sees what."""
    SUBSTITUTE = enum.auto()
    """The leader; while none answers, every server, without what only a leader knows."""


_ANSWERER: Final = "answerer"
BY_ANY: Final = {_ANSWERER: Answerer.ANY}
FROM_DATABASE: Final = {_ANSWERER: Answerer.DATABASE}
ALSO_WITHOUT_LEADER: Final = {_ANSWERER: Answerer.SUBSTITUTE}


def answerer(app: Litestar, scope: Scope) -> Answerer:
    """Return who answers a request; the leader if the application has no such route.

    The leader may have another version, with more routes.
    """
    path = normalize_path(scope["path"])
    try:
        _, handler, *_ = app.asgi_router.handle_routing(path=path, method=scope["method"])
    except HTTPException:
        return Answerer.LEADER
    found: Answerer = handler.opt.get(_ANSWERER, Answerer.LEADER)
    return found


class LeaderNeeded(Exception):  # noqa: N818 (a condition)
    """Another server than the leader has begun to answer what only the leader knows."""

    code = "cluster/leader"
    status = 421


_MAY_LEAVE: Final = "plyhouse.may_leave_to_leader"
"""Key in the scope of a request that can still be passed on."""


def leave_to_leader(scope: Mapping[str, Any]) -> None:
    """Let the leader answer a request that another server has begun to answer itself.

    Does nothing on the leader.  Raises `LeaderNeeded`.
    """
    if scope.get(_MAY_LEAVE):
        raise LeaderNeeded("Only the leader of the cluster knows what still runs.")


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


class _Silent(Exception):  # noqa: N818 (a condition)
    """The leader has not answered, and does not lead any more."""


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

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, *, patient: bool = True
    ) -> bool:
        """Pass one request on, and its answer back; return whether there was one.

        A ``patient`` one waits for a leader, and answers itself if none comes.
        """
        visitor = _Visitor(scope, receive)
        # Sending to a visitor who has left raises no error, so it has to be watched for.
        gone = asyncio.create_task(visitor.left())
        try:
            answer = await self._ask(scope, visitor, gone, WAIT_SECONDS if patient else 0.0)
            if isinstance(answer, str) and not patient:
                return False
            if isinstance(answer, str):
                await _refuse(send, f"{answer} Try again in a few seconds.")
            else:
                visitor.whole.set()  # what the leader did not want of the body is dropped
                await _pass_back(answer, send, gone)
        except self._no_address:
            await send_problem(send, 404, "http/404", f"There is no such page: {_path(scope)}.")
        except _Gone:
            pass
        finally:
            gone.cancel()
        return True

    async def _ask(
        self, scope: Scope, visitor: _Visitor, gone: asyncio.Task[None], seconds: float
    ) -> httpx.Response | str:
        """Return the leader's answer, or why there is none.

        After a failure, asks the leader of that moment again if none can have done anything.  A
        leader that is silent when another one follows has failed, too.  Raises `_Gone`.
        """
        safe = scope["method"] == "GET" and not visitor.sends_body
        until = monotonic() + seconds
        while True:
            trouble = "The cluster has no leader yet."
            address = self._leader()
            leader = urlsplit(address)
            if leader.hostname:
                trouble = "The leader of the cluster does not answer."
                body = visitor.body() if visitor.sends_body else None
                request = self._request(leader, scope, body)
                answer = self._client.send(request, stream=True)
                silent = (lambda: self._leader() != address) if safe else None  # noqa: B023
                try:
                    return await _unless_gone(answer, gone, silent)
                except (*self._unsent, _Silent):
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


class Follower:
    """Answers the requests that come to a server which does not lead."""

    def __init__(
        self,
        app: Litestar,
        forwarder: Forwarder,
        *,
        answer: Callable[[Scope, Receive, Send], Awaitable[None]],
        learn_rules: Callable[[], Awaitable[None]],
    ) -> None:
        """``answer`` answers by the handlers of ``app``, here.

        ``learn_rules`` carries out what organisers have just done.  The leader does so after each
        of their requests; without it, this server would show for a second what they have hidden.
        """
        self._app = app
        self._forwarder = forwarder
        self._answer = answer
        self._learn_rules = learn_rules

    async def close(self) -> None:
        """Close all connections to the leader."""
        await self._forwarder.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, here or at the leader."""
        who = answerer(self._app, scope)
        if who is Answerer.ANY:
            await self._answer(scope, receive, send)
            return
        substitutes = who is Answerer.SUBSTITUTE
        if substitutes and await self._forwarder(scope, receive, send, patient=False):
            return
        if who is not Answerer.LEADER and await self._answered(scope, receive, send):
            return
        await self._forwarder(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Answer a request here, and return True; False if only the leader can."""
        try:
            await self._learn_rules()
        except Exception as error:
            log.warning("audit log not followed", extra={"why": str(error)})
            return False
        left = False

        async def attempt(message: Message) -> None:
            nonlocal left
            if message["type"] == "http.response.start":
                left = message["status"] == LeaderNeeded.status
            if not left:
                await send(message)

        scope[_MAY_LEAVE] = True
        await self._answer(scope, receive, attempt)
        return not left


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


async def _unless_gone(
    work: Coroutine[Any, Any, T],
    gone: asyncio.Task[None],
    silent: Callable[[], bool] | None = None,
) -> T:
    """Return the result of ``work``; raise `_Gone` if the visitor leaves before it is there.

    Raises `_Silent` as soon as ``silent`` returns True.
    """
    task = asyncio.create_task(work)
    wait = None if silent is None else LOOK_SECONDS
    try:
        while not task.done():
            await asyncio.wait((task, gone), timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            if gone.done() and not task.done():
                raise _Gone
            if silent is not None and not task.done() and silent():
                raise _Silent
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
