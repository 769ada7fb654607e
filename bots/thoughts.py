"""A bot's thoughts about an action, as sent to the server."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

__all__ = ["MAX_LINE", "MAX_SAID", "Thoughts", "said_of"]

MAX_LINE: Final = 16
"""Actions of an expected play that are sent."""
MAX_SAID: Final = 2000
"""Characters of free text that are sent; what is longer is cut."""


class Thoughts(Struct, frozen=True, omit_defaults=True):
    """The fields of `said_of`, as a runner reads them from a bot's process.

    Reading them takes no more memory than the frame has, also if the frame is hostile.
    """

    value: float | None = None
    depth: Annotated[int, Meta(ge=0, lt=2**53)] | None = None
    nodes: Annotated[int, Meta(ge=0, lt=2**53)] | None = None
    pv: Annotated[list[Annotated[str, Meta(max_length=256)]], Meta(max_length=MAX_LINE)] = []
    text: Annotated[str, Meta(max_length=MAX_SAID)] = ""
    live: bool = False


def said_of(
    value: float | None,
    depth: int | None,
    nodes: int | None,
    pv: Sequence[str],
    text: str,
    live: bool = False,
) -> dict[str, Any]:
    """Return a bot's thoughts as they are sent; raises `ValueError` for wrong ones."""
    said: dict[str, Any] = {}
    if value is not None:
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"value {value!r} is not a number") from error
        if math.isfinite(number):  # a proven win of some searches is an infinite one
            said["value"] = number
    for name, count in (("depth", depth), ("nodes", nodes)):
        if count is not None:
            try:
                said[name] = operator.index(count)
            except TypeError as error:
                raise ValueError(f"{name} {count!r} is not a whole number") from error
            if said[name] < 0:
                raise ValueError(f"{name} is {count}, which is less than none")
    if pv:
        said["pv"] = list(pv)
    if not isinstance(text, str):
        raise ValueError(f"text has to be a str, not {type(text).__name__}")
    if text:
        said["text"] = text if len(text) <= MAX_SAID else text[: MAX_SAID - 1] + "\u2026"
    if live:
        said["live"] = True
    return said
