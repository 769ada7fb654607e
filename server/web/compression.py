"""Compress text answers with gzip for clients that accept it.

Match clocks run in the event loop, so long answers are compressed in a thread; zlib releases the
interpreter's lock.  Litestar's own middleware compresses in the event loop, and a replay of 8 MB
would delay every clock by 80 ms.

The most recently used compressed answers are cached, because many answers repeat: the client's
files, the description of the API, unchanged pages.

The length of a compressed answer reveals no secret (BREACH).  The only secret next to text that a
stranger chose is the token of a new account, which differs each time.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from typing import Final

from cachetools import LRUCache
from litestar.datastructures import Headers, MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPResponseStartEvent, Message, Receive, Scope, Send

LEVEL: Final = 6
"""Replays become a third to a half shorter than with 5 in nearly the same time."""
SHORTEST: Final = 1024
"""Bytes from which it is done: less fits into a packet as it is."""
LONG: Final = 64 * 1024
"""Bytes from which it is done in a thread; shorter answers take less than half a millisecond."""

LONGEST_KEPT: Final = 512 * 1024
"""Longest answer in the cache, in uncompressed bytes."""
KEPT_BYTES: Final = 4 * 1024 * 1024
"""Size of the cache in compressed bytes."""

TEXT_TYPES: Final = frozenset({"application/javascript", "application/json", "image/svg+xml"})
"""Media types of text, in addition to ``text/`` and ``+json``."""


def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether the header ``Accept-Encoding`` allows gzip (RFC 9110, 12.5.3).

    >>> accepts_gzip("br, gzip;q=0.8"), accepts_gzip("gzip;q=0, *")
    (True, False)
    """
    weights: dict[str, str] = {}
    for each in accept_encoding.lower().split(","):
        name, _, weight = each.partition(";")
        weights[name.strip()] = weight.strip().removeprefix("q=").strip() or "1"
    weight = weights.get("gzip", weights.get("*", "0"))
    return weight.strip("0.") != ""


def is_text(content_type: str) -> bool:
    """Return whether a media type is one of text."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind.endswith("+json") or kind in TEXT_TYPES


class Compression:
    """ASGI middleware; answers that are sent in several parts pass as they are."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._kept = KeptAnswers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        wanted = accepts_gzip(Headers.from_scope(scope).get("accept-encoding", ""))
        start: HTTPResponseStartEvent | None = None

        async def compressing(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if message["type"] == "http.response.body" and start is not None:
                headers = MutableScopeHeaders(start)
                body = message["body"]
                if is_text(headers.get("content-type", "")) and "content-encoding" not in headers:
                    _vary(headers)
                    if wanted and len(body) >= SHORTEST and not message.get("more_body", False):
                        body = await self._kept.compressed(body)
                        headers["content-encoding"] = "gzip"
                        headers["content-length"] = str(len(body))
                        message = {**message, "body": body}
                held, start = start, None
                await send(held)
            await send(message)

        await self._app(scope, receive, compressing)


def _vary(headers: MutableScopeHeaders) -> None:
    if "accept-encoding" not in headers.get("vary", "").lower():
        headers.extend_header_value("vary", "Accept-Encoding")


class KeptAnswers:
    """Compresses bodies and caches the most recently used ones."""

    def __init__(self) -> None:
        self._kept: LRUCache[bytes, bytes] = LRUCache(KEPT_BYTES, getsizeof=len)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size(self) -> int:
        """Compressed bytes in the cache."""
        return int(self._kept.currsize)

    async def compressed(self, body: bytes) -> bytes:
        """Return a body compressed with gzip."""
        digest = b""
        if len(body) <= LONGEST_KEPT:  # hashing a longer one would delay the clocks
            digest = hashlib.sha256(body).digest()
            found = self._kept.get(digest)
            if found is not None:
                return found
        # Without a time in it, equal answers are equal bytes.
        if len(body) < LONG:
            made = gzip.compress(body, LEVEL, mtime=0)
        else:
            made = await asyncio.to_thread(gzip.compress, body, LEVEL, mtime=0)
        if digest:
            self._kept[digest] = made
        return made
