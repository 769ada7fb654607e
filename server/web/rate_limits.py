"""Costs of HTTP requests, and the allowance of each address.

Each address has a token bucket (`plyhouse.server.wire.rates`).  A request takes its cost from
it before anything is looked up.  A refused request gets 429 with ``Retry-After``, after
`DELAY`, which slows clients that ignore the header.
"""

from __future__ import annotations

import json
import math
from asyncio import sleep
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from plyhouse.protocol.api.answers import problem
from plyhouse.server.wire.rates import Rate, client_of

__all__ = ["Allowance", "cost_of", "refuse_busy", "send_problem"]

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

DELAY: Final = 1.0
"""Seconds until a refusal is sent."""
CHEAP: Final = 1.0
"""Files of the web client, which browsers request in dozens, and health checks."""
USUAL: Final = 4.0
DEAR: Final = 20.0
"""Requests that read a whole match, check a password, or collect metrics."""

CHEAP_PATHS: Final = frozenset(
    {"/api", "/api/openapi.json", "/healthz", "/readyz", "/api/v1/session"}
)
DEAR_PATHS: Final = frozenset({"/metrics"})
DEAR_ENDS: Final = ("/record", "/replay", "/chances", "/review", "/tree", "/tree.svg")


def cost_of(method: str, path: str) -> float:
    """Return what a request costs: about the milliseconds that the slowest of its kind takes.

    >>> cost_of("GET", "/web/app.js"), cost_of("GET", "/"), cost_of("GET", "/metrics")
    (1.0, 4.0, 20.0)
    >>> cost_of("GET", "//metrics/")
    20.0
    """
    path = "/" + "/".join(part for part in path.split("/") if part)  # as it is routed
    if path in DEAR_PATHS or path.endswith(DEAR_ENDS):
        return DEAR
    if method in ("POST", "PUT") and path.startswith("/api/v1/session"):
        return DEAR
    if path in CHEAP_PATHS or path.startswith("/web"):
        return CHEAP
    return USUAL


class Allowance:
    """The token buckets of all addresses; without ``per_second`` every request is allowed."""

    def __init__(self, burst: float, per_second: float, now: Callable[[], int]) -> None:
        self._rate = Rate(burst, per_second, now) if per_second else None

    def wait(self, scope: MutableMapping[str, Any]) -> float:
        """Charge a request; return the seconds after which it would be allowed, 0 if it is."""
        if self._rate is None:
            return 0.0
        client = scope.get("client")
        key = client_of(client[0]) if client else ""
        cost = cost_of(scope.get("method", "GET"), scope["path"])
        return 0.0 if self._rate.take(key, cost) else self._rate.wait(key, cost)


async def refuse_busy(send: Send, wait: float) -> None:
    """Answer 429 to a request of an address that has used up its allowance."""
    seconds = max(1, math.ceil(wait))
    await sleep(DELAY)
    await send_problem(send, 429, "http/rate", sentence(seconds), retry_after=seconds)


async def send_problem(
    send: Send, status: int, code: str, detail: str, *, retry_after: int | None = None
) -> None:
    """Answer a request that no handler has seen, in the form of the API's errors."""
    more = {} if retry_after is None else {"retry_after": retry_after}
    body = json.dumps(problem(status, code, detail, **more)).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", b"%d" % len(body)),
    ]
    if retry_after is not None:
        headers.append((b"retry-after", b"%d" % retry_after))
    if status == 426:
        headers += [(b"upgrade", b"websocket"), (b"connection", b"Upgrade")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def sentence(seconds: int) -> str:
    """Say why, and what to do."""
    return (
        f"Your address sends too many requests. Wait {seconds} s; if many people share the "
        "address, ask the operator to raise http_burst and http_per_second."
    )
