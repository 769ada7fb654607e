"""Answers of text kinds, compressed with gzip for those who accept it.

Clocks run in the loop that answers, so whatever takes long is compressed in a thread: zlib lets
go of the interpreter's lock.  (Litestar's own middleware compresses in the loop, whatever the
kind of the answer: a long replay of 8 MB would hold every clock up for 80 ms.)

The latest compressed answers are kept, because many answers are the same bytes again: the client's
files, the description of the API, unchanged pages.

Nothing secret is in an answer beside text that a stranger chose, but for the token of a new
account, which differs each time; so the length of an answer gives nothing away (BREACH).
"""

from __future__ import annotations

import asyncio
import gzip
from collections import OrderedDict
from typing import Final

from litestar.datastructures import Headers, MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPResponseStartEvent, Message, Receive, Scope, Send

__all__ = ["Compression", "accepts_gzip"]

LEVEL: Final = 6
"""Replays become a third to a half shorter than with 5 in nearly the same time."""
SHORTEST: Final = 1024
"""Bytes from which it is done: less fits into a packet as it is."""
LONG: Final = 64 * 1024
"""Bytes from which it is done in a thread; shorter answers take less than half a millisecond."""

KEPT: Final = 256
"""Compressed answers that are kept."""
LONGEST_KEPT: Final = 512 * 1024
"""Bytes of an answer that is kept."""
KEPT_BYTES: Final = 8 * 1024 * 1024
"""Bytes of all of them, before and after."""

TEXT_TYPES: Final = frozenset({"application/javascript", "application/json", "image/svg+xml"})
"""Media types that hold text, besides those that say so by ``text/`` or ``+json``."""


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether the header ``Accept-Encoding`` allows gzip (RFC 9110, 12.5.3).

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
    """Whether a media type is one of text."""
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
    """Compresses bodies, and keeps those that were asked for last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self.size = 0
        """Bytes that are kept."""

    def __len__(self) -> int:
        return len(self._kept)

    async def compressed(self, body: bytes) -> bytes:
        """Return a body compressed with gzip."""
        keep = len(body) <= LONGEST_KEPT  # hashing a longer one would hold up the clocks
        found = self._kept.get(body) if keep else None
        if found is not None:
            self._kept.move_to_end(body)
            return found
        # Without a time in it, equal answers are equal bytes.
        if len(body) < LONG:
            made = gzip.compress(body, LEVEL, mtime=0)
        else:
            made = await asyncio.to_thread(gzip.compress, body, LEVEL, mtime=0)
        if keep and body not in self._kept:
            self._kept[body] = made
            self.size += len(body) + len(made)
            while self.size > KEPT_BYTES or len(self._kept) > KEPT:
                self.size -= sum(map(len, self._kept.popitem(last=False)))
        return made
