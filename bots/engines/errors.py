"""`EngineError`: an engine that cannot be used, with the fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from plyhouse.bots.loading import BotLoadError

__all__ = ["EngineError", "IllegalMove", "nearest", "quoted"]

SHOWN = 120
"""Characters of an engine's line that a message quotes."""


class EngineError(BotLoadError):
    """An engine is missing, refuses what it is told, or breaks its protocol.

    ``str()`` says what happened and how to fix it.
    """


class IllegalMove(EngineError):  # noqa: N818 - the answer of an engine, which the referee judges
    """An engine plays a move that is not legal: the referee decides what follows."""

    def __init__(self, message: str, move: str) -> None:
        super().__init__(message)
        self.move = move[:SHOWN]
        """The move as the engine wrote it, at most `SHOWN` characters."""


def quoted(line: str) -> str:
    """Return the beginning of an engine's line in quotes.

    >>> quoted("move " + "x" * 200)[-8:]
    "xxxx...'"
    """
    text = line.strip()
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint at the known names that are like ``name``; all of them if none is.

    >>> nearest("Skil Level", ["Hash", "Skill Level"])
    'did you mean Skill Level?'
    >>> nearest("depth", ["Hash", "Threads"])
    'it has Hash, Threads'
    >>> nearest("depth", [])
    'it has none'
    """
    names = sorted(known)
    by_lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    if close:
        return f"did you mean {by_lower[close[0]]}?"
    return f"it has {', '.join(names)}" if names else "it has none"
