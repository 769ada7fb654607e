"""Limits of HTTP requests: size, costs, allowances, and a share of the event loop.

Each address has a token bucket (`plyhouse.server.wire.limits`).  A request takes its cost from
it before anything is looked up.  A refused request gets 429 with ``Retry-After``, after
`DELAY`, which slows clients that ignore the header.

Plies get the event loop first, and HTTP requests a share of it while matches run.  Clocks run in
the loop that answers requests.  A request runs in steps, from one ``await`` to the next.  Once
steps have used the loop for `SLICE_NS`, all further steps wait `REST` times as long.  A ply
therefore waits for one slice at most, and for the step that ends it.  Without a running match
nothing waits.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from asyncio import sleep
from collections import deque
from collections.abc import (
    Callable,
    Coroutine,
    Generator,
    Hashable,
    Iterable,
    Mapping,
    MutableMapping,
)
from time import monotonic_ns
from typing import Any, Final

from cachetools import LRUCache

from plyhouse.protocol.api import administration_calls, calls, competition_calls
from plyhouse.protocol.api.answers import problem
from plyhouse.protocol.api.routes import CHEAP, DEAR, USUAL, Route
from plyhouse.server.jobs.fair_queue import VISITOR
from plyhouse.server.wire.limits import Rate, client_of
from plyhouse.server.wire.websocket import Send

MAX_BODY: Final = 65536
"""Longest body of a request that is read, in bytes; a call may have its own limit."""
DELAY: Final = 1.0
"""Seconds until a refusal is sent."""
ACCOUNTS: Final = 10_000
"""Credentials whose accounts are remembered."""
ALLOWANCE: Final = "plyhouse.allowance"
"""Key in the scope of a request for the `Allowance` that it is charged to."""
CHEAP_PATHS: Final = frozenset({"/api", "/api/openapi.json", "/healthz", "/readyz"})
DEAR_PATHS: Final = frozenset({"/metrics"})
OF_CALLS: Final = tuple(
    [
        (each.method, tuple(each.path.strip("/").split("/")), each.cost)
        for part in (calls, competition_calls, administration_calls)
        for each in vars(part).values()
        if isinstance(each, Route) and each.cost != USUAL
    ]
)
"""The calls of the API that cost more or less than usual: method, parts of the path, cost."""


def cost_of(method: str, path: str) -> float:
    """Return what a request costs: about the milliseconds that the slowest of its kind takes.

    >>> cost_of("GET", "/web/app.js"), cost_of("GET", "/"), cost_of("GET", "/metrics")
    (1.0, 4.0, 20.0)
    >>> cost_of("GET", "//metrics/")
    20.0
    """
    parts = [part for part in path.split("/") if part]  # as it is routed
    path = "/" + "/".join(parts)
    if path in DEAR_PATHS:
        return DEAR
    if path in CHEAP_PATHS or parts[:1] == ["web"]:
        return CHEAP
    wanted = "GET" if method == "HEAD" else method
    for of, places, cost in OF_CALLS:
        if of == wanted and len(places) == len(parts) and all(map(_fits, places, parts)):
            return cost
    return USUAL


def _fits(place: str, part: str) -> bool:
    return place.startswith("{") or place == part


class Allowance:
    """The token buckets of all addresses; without ``per_second`` every request is allowed.

    An account has a bucket of its own, from the second request with the same token or cookies on.
    So it is not refused because others at its address have sent too many requests.
    """

    def __init__(self, burst: float, per_second: float, now: Callable[[], int]) -> None:
        self._rate = Rate(burst, per_second, now) if per_second else None
        self._accounts: LRUCache[bytes, int] = LRUCache(ACCOUNTS)
        """The accounts of credentials that were valid when last used, by their digests."""

    def wait(self, scope: MutableMapping[str, Any]) -> float:
        """Charge a request; return the seconds after which it would be allowed, 0 if it is."""
        if self._rate is None:
            return 0.0
        key = self.payer(scope)
        cost = cost_of(scope.get("method", "GET"), scope["path"])
        return 0.0 if self._rate.take(key, cost) else self._rate.wait(key, cost)

    def payer(self, scope: Mapping[str, Any]) -> Hashable:
        """Return for whom a request counts: a known account, or else an address."""
        client = scope.get("client")
        found: Hashable = self._accounts.get(_credentials(scope))
        if found is None:
            found = client_of(client[0]) if client else ""
        return found

    def know(self, scope: Mapping[str, Any], account: int) -> None:
        """Note whose credentials a request has."""
        self._accounts[_credentials(scope)] = account


def _credentials(scope: Mapping[str, Any]) -> bytes:
    """Return a digest of the token and the cookies of a request."""
    found = hashlib.sha256()
    for name, value in scope.get("headers", ()):
        if name in (b"authorization", b"cookie"):
            found.update(b"%d %b %b" % (len(value), name, value))
    return found.digest()


async def refuse_busy(send: Send, wait: float) -> None:
    """Answer 429 to a request of an address that has used up its allowance."""
    seconds = max(1, math.ceil(wait))
    await sleep(DELAY)
    await send_problem(send, 429, "http/rate", sentence(seconds), retry_after=seconds)


async def send_problem(
    send: Send,
    status: int,
    code: str,
    detail: str,
    *,
    retry_after: int | None = None,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """Answer a request that no handler has seen, in the form of the API's errors."""
    more = {} if retry_after is None else {"retry_after": retry_after}
    body = json.dumps(problem(status, code, detail, **more)).encode()
    sent = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", b"%d" % len(body)),
        *headers,
    ]
    if retry_after is not None:
        sent.append((b"retry-after", b"%d" % retry_after))
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})


def sentence(seconds: int) -> str:
    """Say why, and what to do."""
    return (
        f"Your address sends too many requests. Wait {seconds} s; if many people share the "
        "address, ask the operator to raise http_burst and http_per_second."
    )


SLICE_NS: Final = 500_000
REST: Final = 4.0
"""HTTP requests get a fifth of the loop."""
LONGEST_REST: Final = 0.05
"""Seconds; a standstill that has other causes must not end in a long rest."""


class Pacer:
    """Shares the event loop between HTTP requests and everything else.

    ``busy`` says whether there is something to share it with; ``now`` returns nanoseconds.
    """

    def __init__(self, busy: Callable[[], bool], now: Callable[[], int] = monotonic_ns) -> None:
        self._busy = busy
        self._now = now
        self._spent = 0
        """Nanoseconds of steps since the last rest."""
        self._resting: asyncio.TimerHandle | None = None
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}
        """Steps of each visitor in the order in which they became ready; visitors take turns."""

    def run(self, work: Coroutine[Any, Any, None]) -> Paced:
        """Return an awaitable that runs ``work`` in steps, each in its turn."""
        return Paced(self, work)

    def turn(self) -> asyncio.Future[None] | None:
        """Return what the next step has to wait for, if it must."""
        if self._resting is None and not self._waiting:
            return None
        future = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(VISITOR.get(), deque()).append(future)
        return future

    def done(self, ns: int) -> None:
        """Count a step of so many nanoseconds, and let the next one go or rest."""
        if self._busy():
            self._spent += ns
            if self._spent >= SLICE_NS and self._resting is None:
                pause = min(self._spent * REST / 1e9, LONGEST_REST)
                self._spent = 0
                self._resting = asyncio.get_running_loop().call_later(pause, self._go_on)
        if self._resting is None:
            self._next()

    def _go_on(self) -> None:
        self._resting = None
        self._next()

    def _next(self) -> None:
        while self._waiting:
            visitor = next(iter(self._waiting))
            steps = self._waiting.pop(visitor)
            future = steps.popleft()
            if steps:
                self._waiting[visitor] = steps  # after all others
            if not future.done():  # a cancelled request waits no more
                future.set_result(None)
                return


class Paced:
    """A coroutine whose steps wait for their turn; see `Pacer.run`."""

    def __init__(self, pacer: Pacer, work: Coroutine[Any, Any, None]) -> None:
        self._pacer = pacer
        self._work = work

    def __await__(self) -> Generator[Any, Any, None]:
        """Run it to its end."""
        pacer, work = self._pacer, self._work
        thrown: BaseException | None = None
        while True:
            turn = None if thrown is not None else pacer.turn()
            if turn is not None:
                try:
                    yield from turn.__await__()
                except BaseException as error:
                    thrown = error
            begin = pacer._now()
            try:
                waited = work.send(None) if thrown is None else work.throw(thrown)
            except StopIteration:
                return
            finally:
                pacer.done(pacer._now() - begin)
            thrown = None
            try:
                yield waited
            except BaseException as error:
                thrown = error
