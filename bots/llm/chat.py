"""One request to a chat model's endpoint: OpenAI's form, or Anthropic's, within its time.

Every failure is an `EndpointError`, whose text never holds the key.  Answers are read up to
`LONGEST_BODY`; an endpoint that says to wait (429, 503 with ``Retry-After``) is asked again if the
time allows it.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx

__all__ = ["Chat", "EndpointError", "Said"]

LONGEST_BODY: Final = 1 << 20
"""Bytes of an answer that are read."""
BUSY: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which asking again makes sense."""
FIRST_WAIT: Final = 1.0
"""Seconds before the second request, where the endpoint says nothing; then twice as many each."""
CUT_OFF: Final = ("length", "max_tokens")
REFUSED: Final = ("refusal", "content_filter")
"""Reasons for which an answer ends, in both forms of the API."""
UNREADABLE: Final = (
    *(ArithmeticError, LookupError, ValueError, TypeError),
    *(AttributeError, RecursionError),
)
"""Errors of reading a body that is not that of a model."""
REQUESTS: Final = 5
"""Requests of one answer."""


class EndpointError(Exception):
    """The endpoint gave no answer; the message says why, and ``code`` is for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Said:
    """An answer of a model."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cut_off: bool = False
    """True if the answer ended at the limit on its length."""
    refused: bool = False
    """True if the endpoint says that the model refused to answer."""


class Chat:
    """A model at an endpoint.

    endpoint: address of the API, such as ``http://127.0.0.1:11434/v1``
    api: ``openai`` or ``anthropic``
    key: the secret; empty for an endpoint without one
    """

    def __init__(
        self, model: str, endpoint: str, api: str, key: str, *, max_tokens: int = 4096
    ) -> None:
        self._model = model
        self._api = api
        self._key = key
        self._max_tokens = max_tokens
        base = endpoint.rstrip("/")
        path = "/messages" if api == "anthropic" else "/chat/completions"
        self._url = base if base.endswith(path) else base + path
        self._client: httpx.AsyncClient | None = None

    async def ask(self, system: str, talk: Sequence[tuple[str, str]], seconds: float) -> Said:
        """Return the model's answer to a talk of pairs ``(role, text)``; raises `EndpointError`."""
        try:
            async with asyncio.timeout(seconds):
                return await self._ask(self._body(system, talk))
        except TimeoutError:
            raise EndpointError("slow", f"There was no answer within {seconds:.1f} s.") from None

    async def _ask(self, body: dict[str, Any]) -> Said:
        wait = FIRST_WAIT
        for attempt in range(REQUESTS):
            try:
                status, headers, text = await self._post(body)
            except httpx.HTTPError as error:
                failure = EndpointError(
                    "unreachable", self._clean(f"{type(error).__name__}: {error}")
                )
                status, headers = 0, httpx.Headers()
            else:
                if status < 300:
                    return self._said(text)
                begin = self._clean(text)[:300]
                failure = EndpointError(f"http_{status}", f"The endpoint answers {status}: {begin}")
            if (status and status not in BUSY) or attempt + 1 == REQUESTS:
                break
            await asyncio.sleep(_seconds(headers.get("retry-after", "")) or wait)
            wait *= 2
        raise failure

    async def _post(self, body: dict[str, Any]) -> tuple[int, httpx.Headers, str]:
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=None)  # noqa: S113 (`ask` limits the whole)
        headers = {}
        if self._key and self._api == "anthropic":
            headers["x-api-key"] = self._key
        elif self._key:
            headers["authorization"] = f"Bearer {self._key}"
        if self._api == "anthropic":
            headers["anthropic-version"] = "2023-06-01"
        parts, size = [], 0
        async with self._client.stream("POST", self._url, json=body, headers=headers) as answer:
            async for part in answer.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > LONGEST_BODY:
                    raise EndpointError(
                        "too_long", f"The answer is longer than {LONGEST_BODY} bytes."
                    )
            return answer.status_code, answer.headers, b"".join(parts).decode("utf-8", "replace")

    def _body(self, system: str, talk: Sequence[tuple[str, str]]) -> dict[str, Any]:
        messages = [{"role": role, "content": text} for role, text in talk]
        body = {"model": self._model, "max_tokens": self._max_tokens, "messages": messages}
        if self._api == "anthropic":
            return {**body, "system": system}
        body["messages"] = [{"role": "system", "content": system}, *messages]
        return body

    def _said(self, text: str) -> Said:
        """Read an answer's body."""
        try:
            found = json.loads(text)
            if self._api == "anthropic":
                blocks = [each["text"] for each in found["content"] if each["type"] == "text"]
                reason, used = found.get("stop_reason"), found.get("usage") or {}
                shown, names = "".join(blocks), ("input_tokens", "output_tokens")
            else:
                choice = found["choices"][0]
                shown = choice["message"].get("content") or ""
                if isinstance(shown, list):
                    shown = "".join(each.get("text", "") for each in shown)
                reason, used = choice.get("finish_reason"), found.get("usage") or {}
                if choice["message"].get("refusal"):
                    reason = "refusal"
                names = ("prompt_tokens", "completion_tokens")
            counts = [int(used.get(name) or 0) for name in names]
            if not isinstance(shown, str):
                raise TypeError(type(shown).__name__)
            shown = shown.encode("utf-8", "replace").decode()  # JSON may hold half a character
        except UNREADABLE:
            begin = " ".join(self._clean(text)[:200].split())
            raise EndpointError(
                "not_a_model", f"The answer is not that of a model: {begin!r}"
            ) from None
        return Said(shown, counts[0], counts[1], reason in CUT_OFF, reason in REFUSED)

    def _clean(self, text: str) -> str:
        """Return a text without the key, in case an endpoint repeats it."""
        return text.replace(self._key, "***") if self._key else text


def _seconds(value: str) -> float:
    """Read ``Retry-After`` in seconds; 0 for anything else, such as a date."""
    try:
        seconds = float(value)
    except ValueError:
        return 0.0
    return min(max(seconds, 0.0), 3600.0) if math.isfinite(seconds) else 0.0
