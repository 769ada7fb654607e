"""Answers of a server, made into what is returned or raised."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from plyhouse.clients.api.errors import ApiError, Unreachable
from plyhouse.clients.api.rows import Record, Rows

__all__ = ["answer_of", "nothing", "one", "record_of", "rows_of"]

T = TypeVar("T")


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


def _converted(answer: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise Unreachable(
            f"The server's answer is not what this version of plyhouse.clients.api reads: {error}."
        ) from error


def one(kind: type[T]) -> Callable[[Any], T]:
    """Reads one row."""

    def read(answer: Any) -> T:
        row: T = _converted(answer, kind)
        return row

    return read


def rows_of(kind: type[T]) -> Callable[[Any], Rows[T]]:
    """Reads a list of rows."""

    def read(answer: Any) -> Rows[T]:
        return Rows(_converted(answer, list[kind]))  # type: ignore[valid-type]

    return read


def record_of(answer: Any) -> Record:
    """Reads a record, and keeps all of it."""
    return Record(
        answer["match"],
        answer["game"],
        answer["time_control"],
        answer["seats"],
        answer["events"],
        answer["outcome"],
        json.dumps(answer, indent=1) + "\n",
    )


def nothing(answer: Any) -> None:
    """Reads an answer without anything in it."""
