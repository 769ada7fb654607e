"""The common part of `Api` and `AsyncApi`: address, token, and the handling of answers."""

from __future__ import annotations

import os
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from plyhouse.protocol.address import Address, proxy_for
from plyhouse.protocol.api.answers import ApiError, Unreachable, answer_of, unreached
from plyhouse.protocol.api.routes import Call
from plyhouse.protocol.parts import LONGEST_SECRET
from plyhouse.protocol.text import trimmed_token

__all__ = ["NO_ANSWERS", "InvalidToken", "Patience", "Session", "httpx", "retry_after", "saved"]

TOO_MANY = 429
UNAVAILABLE = 503
NO_ANSWER = 0
"""Instead of a status, where nobody answered."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to try; ``Patience(attempts=1)`` does not repeat anything.

    A request is repeated if the server says that it is asked too often (429), or that it cannot
    just now (503), and if it could not be reached.  A request that changes something is repeated
    only if it certainly changed nothing: after a 429, and after a 503 with ``Retry-After``.

    >>> patience = Patience(attempts=3, base=0.5)
    >>> patience.wait(1, status=503, retry_after=2.0, changes=False)
    2.0
    >>> patience.wait(2, status=503, retry_after=None, changes=False)
    1.0
    >>> patience.wait(1, status=503, retry_after=None, changes=True) is None
    True
    >>> patience.wait(3, status=429, retry_after=1.0, changes=False) is None  # enough
    True
    """

    attempts: int = 4
    """Requests in all, the first one included."""
    base: float = 0.5
    """Seconds before the second request, where the server says nothing; then twice as many each."""
    longest: float = 30.0
    """The longest wait in seconds; a longer one raises the error."""

    def wait(
        self, made: int, *, status: int, retry_after: float | None, changes: bool
    ) -> float | None:
        """Seconds to wait after so many requests; None if it is over.

        ``changes``: whether the request is one that changes something on the server.
        """
        if made >= self.attempts:
            return None
        if status not in (TOO_MANY, UNAVAILABLE, NO_ANSWER):
            return None
        if changes and status != TOO_MANY and retry_after is None:
            return None
        seconds = self.base * 2.0 ** (made - 1) if retry_after is None else retry_after
        return seconds if seconds <= self.longest else None


def retry_after(value: str, now: datetime) -> float | None:
    """Read the header ``Retry-After``: seconds, or a date (RFC 9110, 10.2.3).

    >>> at = datetime(2027, 1, 1, 12, 0, 0, tzinfo=UTC)
    >>> retry_after("120", at), retry_after("Fri, 01 Jan 2027 12:00:30 GMT", at)
    (120.0, 30.0)
    >>> retry_after("soon", at) is None
    True
    """
    text = value.strip()
    if text.isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())


if "httpx" not in sys.modules:
    # httpx imports its command line, with rich and pygments, where they are installed: that would
    # double the time that a command of ours needs to start.
    sys.modules["httpx._main"] = None  # type: ignore[assignment]
    import httpx

    del sys.modules["httpx._main"]
else:
    import httpx

T = TypeVar("T")

NoAnswer: TypeAlias = httpx.RequestError | httpx.InvalidURL
NO_ANSWERS: Final = (httpx.RequestError, httpx.InvalidURL)
"""Failures of a request: no answer, one that cannot be decoded, or a redirect to no address."""

DEFAULT_SERVER: Final = "http://127.0.0.1:8765"


class InvalidToken(ValueError):  # noqa: N818 - like InvalidAddress
    """A token that no server can have issued; the message does not repeat it."""

    code = "config/bad_token"


class Session:
    """The address, the token and the patience of a client."""

    def __init__(
        self,
        server: str | None,
        token: str | None,
        timeout: float,
        patience: Patience | None,
        cookie: str | None = None,
    ) -> None:
        """``server`` and ``token`` are those of the environment where they are not given.

        ``cookie`` is that of a session; empty to begin one.
        """
        given = server or os.environ.get("PLYHOUSE_SERVER") or DEFAULT_SERVER
        self.address = Address.read(given)
        self.base = self.address.base
        self.timeout = timeout
        self.patience = patience or Patience()
        key = os.environ.get("PLYHOUSE_TOKEN") if token is None else token
        self.headers = {"accept": "application/json"}
        if key := trimmed_token(key or ""):
            self.headers["authorization"] = f"Bearer {_plausible(key)}"
        elif cookie is not None:
            # A session is for those who say that they come from the server's pages.
            self.headers["origin"] = self.base
            if cookie:
                self.headers["cookie"] = cookie

    def transport(self) -> dict[str, Any]:
        """Return the arguments for a client of httpx: how it reaches the server.

        Certificates are those that the machine trusts, as for all other programs of Plyhouse.
        Raises `InvalidProxy`.
        """
        proxy = proxy_for(self.address)
        return {
            "headers": self.headers,
            "timeout": self.timeout,
            "trust_env": False,
            "proxy": None if proxy is None else proxy.full_url,
            # Without TLS there is nothing to verify, and to load certificates takes long.
            "verify": ssl.create_default_context() if self.address.secure else False,
        }

    def request(self, call: Call[Any]) -> dict[str, Any]:
        """The request for httpx."""
        asked: dict[str, Any] = {
            "method": call.method,
            "url": self.base + call.path,
            "params": call.parameters,
        }
        if isinstance(call.body, bytes):
            asked["content"] = call.body
            asked["headers"] = {"content-type": "application/octet-stream"}
        elif call.body is not None:
            asked["content"] = msgspec.json.encode(call.body, enc_hook=list)  # of sequences
            asked["headers"] = {"content-type": "application/json"}
        if call.timeout is not None:
            asked["timeout"] = call.timeout
        return asked

    def read(self, call: Call[T], response: httpx.Response) -> T:
        """Return a call's result; raises `ApiError` and `Unreachable`."""
        answer: Any = response.content
        if not (call.binary and response.is_success):
            answer = answer_of(
                response.status_code,
                response.content,
                self.base,
                call.path,
                response.headers.get("location"),
                _told(response.headers),
            )
        try:
            return call.read(answer)
        except msgspec.ValidationError as error:
            raise Unreachable(
                f"The answer of {self.base} is not what this version of Plyhouse reads: {error}."
            ) from error

    def wait(self, call: Call[Any], error: ApiError | NoAnswer, made: int) -> float:
        """Return the seconds until a failed call is repeated; raise its error if it is not.

        made: requests so far
        """
        seconds = self.patience.wait(
            made,
            status=error.status if isinstance(error, ApiError) else NO_ANSWER,
            retry_after=error.retry_after if isinstance(error, ApiError) else None,
            changes=call.changes,
        )
        if seconds is not None:
            return seconds
        if isinstance(error, ApiError):
            raise error
        raise self.unreachable(error) from error

    def unreachable(self, error: NoAnswer, *, begun: bool = False) -> Unreachable:
        """Return the exception for an answer that is missing, or broke off once it had begun."""
        return Unreachable(unreached(self.address, error, begun=begun))


def saved(response: httpx.Response, folder: Path) -> Path:
    """Write a file that a server sends into a folder, by the name that the server gives it.

    It is there as a whole or not at all, however long it is.  Returns where it is.
    """
    message = Message()
    message["content-disposition"] = response.headers.get("content-disposition", "attachment")
    name = (message.get_filename() or response.url.path).replace("\\", "/").rpartition("/")[2]
    place = folder / (name.lstrip(".") or "file")
    part = place.with_name(f".{place.name}.part")
    try:
        with part.open("wb") as file:
            for chunk in response.iter_bytes():
                file.write(chunk)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
    return place


def _told(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after")
    return None if value is None else retry_after(value, datetime.now(UTC))


def _plausible(token: str) -> str:
    """Return the token; raise `InvalidToken` if it cannot be sent as a header.

    A server refuses a longer header without an answer that a user understands.
    """
    if len(token) > LONGEST_SECRET:
        fault = f"{len(token):,} characters"
    elif odd := [each for each in token if not "!" <= each <= "~"]:
        fault = f"the character {odd[0]!a}"
    else:
        return token
    raise InvalidToken(
        f"The token has {fault}, so no server has made it: give the line that begins with ply_."
    )
