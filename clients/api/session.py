"""The common part of `Api` and `AsyncApi`: address, token, and the handling of answers."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import httpx
import msgspec

from plyhouse.clients.api.retries import NO_ANSWER, Patience, retry_after
from plyhouse.protocol.address import Address, proxy_for
from plyhouse.protocol.api.answers import ApiError, Unreachable, answer_of, unreached
from plyhouse.protocol.api.calls import Call
from plyhouse.protocol.text import trimmed_token

__all__ = ["Session", "Wait"]

T = TypeVar("T")

DEFAULT_SERVER: Final = "http://127.0.0.1:8765"


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
        self.address = Address.read(given)
        self.base = self.address.base
        self.timeout = timeout
        self.patience = patience or Patience()
        key = os.environ.get("PLYHOUSE_TOKEN") if token is None else token
        self.headers = {"accept": "application/json"}
        if key := trimmed_token(key or ""):
            self.headers["authorization"] = f"Bearer {key}"

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
            "verify": ssl.create_default_context() if self.address.secure else True,
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
            asked["json"] = call.body
        if call.timeout is not None:
            asked["timeout"] = call.timeout
        return asked

    def read(self, call: Call[T], response: httpx.Response, made: int) -> T:
        """Return a call's result; raises `ApiError`, `Unreachable`, or `Wait` to ask again."""
        wait = _told(response.headers)
        try:
            answer = answer_of(
                response.status_code,
                response.content,
                self.base,
                call.path,
                response.headers.get("location"),
                wait,
            )
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
        return Unreachable(unreached(self.address, error))


def _told(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after")
    return None if value is None else retry_after(value, datetime.now(UTC))
