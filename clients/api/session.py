"""The common part of `Api` and `AsyncApi`: address, token, and the handling of answers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import httpx
import msgspec

from plyhouse.clients.api.answers import answer_of
from plyhouse.clients.api.errors import ApiError, Unreachable
from plyhouse.clients.api.retries import NO_ANSWER, Patience, retry_after
from plyhouse.protocol.api.calls import Call

__all__ = ["Session", "Wait"]

T = TypeVar("T")

DEFAULT_SERVER: Final = "http://127.0.0.1:8765"
SCHEMES: Final = {"http": "http", "https": "https", "ws": "http", "wss": "https"}


class Wait(Exception):  # noqa: N818 - no error: it asks for another request
    """Asks for the request to be repeated after some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Session:
    """The address, the token and the patience of a client."""

    def __init__(
        self, server: str | None, token: str | None, timeout: float, patience: Patience | None
    ) -> None:
        """``server`` and ``token`` are those of the environment where they are not given."""
        given = server or os.environ.get("PLYHOUSE_SERVER") or DEFAULT_SERVER
        self.base = address(given)
        self.timeout = timeout
        self.patience = patience or Patience()
        key = os.environ.get("PLYHOUSE_TOKEN") if token is None else token
        self.headers = {"accept": "application/json"}
        if key:
            self.headers["authorization"] = f"Bearer {key}"

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
            asked["json"] = call.body
        if call.timeout is not None:
            asked["timeout"] = call.timeout
        return asked

    def read(self, call: Call[T], response: httpx.Response, made: int) -> T:
        """Return a call's result; raises `ApiError`, `Unreachable`, or `Wait` to ask again."""
        wait = _told(response.headers)
        try:
            answer = answer_of(response.status_code, response.content, self.base, wait)
        except ApiError as error:
            again = self.patience.wait(
                made, status=error.status, retry_after=wait, changes=call.changes
            )
            if again is not None:
                raise Wait(again) from error
            raise
        try:
            return call.read(answer)
        except msgspec.ValidationError as error:
            raise Unreachable(
                f"The answer of {self.base} is not what this version of Plyhouse reads: {error}."
            ) from error

    def failed(self, call: Call[Any], error: httpx.TransportError, made: int) -> Exception:
        """Return the exception for a missing answer: `Unreachable`, or `Wait` to ask again."""
        again = self.patience.wait(made, status=NO_ANSWER, retry_after=None, changes=call.changes)
        if again is not None:
            return Wait(again)
        reason = str(error) or type(error).__name__
        return Unreachable(f"No server answers at {self.base}: {reason}.")


def address(text: str) -> str:
    """The base address of a server, however it was written; raises `ValueError`.

    >>> address("example.org:8765/"), address("wss://example.org/ws")
    ('http://example.org:8765', 'https://example.org')
    """
    full = text if "://" in text else f"http://{text}"
    try:
        url = httpx.URL(full)
    except httpx.InvalidURL as error:
        raise ValueError(f"{text!r} is no server address: {error}") from error
    if url.scheme not in SCHEMES or not url.host:
        raise ValueError(
            f"{text!r} is no server address; write it like http://127.0.0.1:8765 or "
            "https://example.org"
        )
    return f"{SCHEMES[url.scheme]}://{url.netloc.decode('ascii')}"


def _told(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after")
    return None if value is None else retry_after(value, datetime.now(UTC))
