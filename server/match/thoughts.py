"""A bot's thoughts along with an action: read, bounded, and kept with the ply.

They are shown once the whole pairing is over.  Before that nobody gets them, with one exception.
If the author allows it (``live``), spectators see them at once where nobody can profit
(`open_seats`).  Opponents may watch anonymously, so that depends on the match and not on the
viewer.

>>> read_info({"value": 0.25, "depth": 7, "pv": ["e2e4"], "mood": "fine"})
('{"value":0.25,"depth":7,"pv":["e2e4"]}', '')
>>> read_info({"value": "good"})
('', 'info.value: Expected `float | null`, got `str`')
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, Final

import msgspec

from plyhouse.games.base import Game, Information
from plyhouse.protocol.api.matches import Info

MAX_INFO: Final = 4096
"""Most bytes of one info as compact JSON."""


def read_info(given: Any) -> tuple[str, str]:
    """Return the info to keep as compact JSON, and why none is kept.

    One of the two is empty.

    An info that is far too long arrives unread, as a `msgspec.Raw` (`plyhouse.protocol.codec`).
    Unknown fields are left out, as everywhere in the protocol.
    """
    if isinstance(given, msgspec.Raw):
        return "", f"info: {len(bytes(given))} bytes; {MAX_INFO} are kept at most"
    if not isinstance(given, dict):
        return "", f"info: Expected `object`, got `{type(given).__name__}`"
    try:
        info = msgspec.convert(given, Info)
        if info.value is not None and not math.isfinite(info.value):
            return "", "info.value: Expected a finite number"
        text = msgspec.json.encode(info).decode()
    except (msgspec.ValidationError, UnicodeError, ValueError) as error:
        words, _, place = str(error).partition(" - at `$.")
        return "", f"info.{place.rstrip('`')}: {words}" if place else f"info: {words}"
    if len(text.encode()) > MAX_INFO:
        return "", f"info: {len(text.encode())} bytes as JSON; {MAX_INFO} are kept at most"
    # PostgreSQL stores no NUL; JSON escapes it, so the text contains none.
    return text, ""


def kept_info(data: str | None) -> Info | None:
    """Return the info kept with a ply; None if there is none that can be read."""
    if not data:
        return None
    try:
        return msgspec.json.decode(data, type=Info)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None


def open_seats(
    game: Game, *, counts: bool, players: Sequence[int], house: Collection[int]
) -> frozenset[int]:
    """Return the seats whose thoughts spectators may see during the match.

    The bots must allow it, too.

    ``players`` are the accounts that hold the seats, ``house`` the accounts of built-in bots, which
    watch nothing.  ``counts`` is True if the match is rated or belongs to a competition.  A seat is
    open if only its own account and built-in bots play against it.  Any other opponent could watch
    anonymously, and read what the bot expects.  In games with hidden information no seat is open,
    because a bot may reveal what only its seat knows.

    >>> from plyhouse.games import get_game
    >>> game = get_game("tic_tac_toe")
    >>> sorted(open_seats(game, counts=False, players=[7, 1], house=[1]))
    [0]
    >>> sorted(open_seats(game, counts=False, players=[7, 7], house=[1]))
    [0, 1]
    >>> open_seats(game, counts=False, players=[7, 8], house=[1])
    frozenset()
    """
    if counts or game.info.information is not Information.PERFECT:
        return frozenset()
    return frozenset(
        seat
        for seat, own in enumerate(players)
        if all(other == own or other in house for other in players)
    )
