"""Answers of a server: their JSON, or the error that they mean."""

from __future__ import annotations

import json
from typing import Any

from plyhouse.clients.api.errors import ApiError, Unreachable

__all__ = ["answer_of"]


def answer_of(status: int, text: bytes, base: str, wait: float | None) -> Any:
    """The JSON of an answer; raises `ApiError` for a refusal, `Unreachable` for no answer of ours.

    ``wait``: what the header ``Retry-After`` said, in seconds.
    """
    try:
        answer = json.loads(text) if text.strip() else None
    except ValueError as error:
        if status >= 400:  # of a proxy in between, say
            raise ApiError(f"http/{status}", f"{base} answered {status}.", status, wait) from error
        raise Unreachable(f"What answers at {base} is no Plyhouse server.") from error
    if status < 300:
        return answer
    if status < 400:
        raise Unreachable(f"{base} sends elsewhere ({status}): give the address it names.")
    fields = answer if isinstance(answer, dict) else {}
    code = str(fields.get("code") or f"http/{status}")
    said = str(fields.get("detail") or f"{base} answered {status}.")
    raise ApiError(code, said, status, wait, fields)
