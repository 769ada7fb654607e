"""The events of a match as rows, and the thoughts of bots in them.

Kinds of rows, in `EventRow.kind`:

================  =====================================================================
``ready``         ``seat`` was ready, ``text`` is its nonce (the last one of a seat holds)
``chance``        chance did ``text`` before ply ``ply``
``action``        ``seat`` played ``text``; with the ledger of the ply, and in ``data`` what the
                  bot said of its thoughts (`read_info`)
``illegal``       ``seat`` tried ``text`` (cut to 256 characters)
``draw_offer``    ``seat`` offered a draw; also ``draw_accept`` and ``draw_decline``
``end``           the match ended: ``text`` is the termination, ``seat`` who caused it or -1;
                  with the ledger of the ply under way, and `EndData` as JSON in ``data``
================  =====================================================================

A bot's thoughts along with an action are read, bounded and kept with the ply.  They are shown once
the whole pairing is over.  Before that nobody gets them, with one exception. If the author allows
it (``live``), spectators see them at once where nobody can profit (`seats_with_public_thoughts`).
Opponents may watch anonymously, so that depends on the match and not on the viewer.

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
from msgspec import Struct

from plyhouse.games.base import Game, Information
from plyhouse.protocol.messages import Outcome
from plyhouse.protocol.parts import Info
from plyhouse.server.match.time_control import Ledger
from plyhouse.storage.causes import NO_CAUSE, Cause
from plyhouse.storage.rows import EventRow

MAX_TRIED: Final = 256
"""Most characters kept of a refused action."""
NO_LEDGER: Final = Ledger(0, 0, 0, 0, 0)

MAX_INFO: Final = 4096
"""Most bytes of one info as compact JSON."""


class EndData(Struct, frozen=True, omit_defaults=True):
    """The data of a match's last row that has no column."""

    returns: tuple[float, ...]
    cause: Cause = NO_CAUSE
    on_clock: int = -1
    """The seat whose ply was under way, to which the row's ledger belongs; -1 if none was."""
    detail: str = ""
    """For the author of the bot that caused the end, or for the operator; never published."""


def tried(text: str) -> str:
    """Return a refused action as the record stores it.

    It is shortened, and without NUL, which PostgreSQL refuses.
    """
    return text[:MAX_TRIED].replace("\0", "\ufffd")


def event_row(
    match: str, index: int, kind: str, ply: int, seat: int, text: str, ledger: Ledger | None
) -> EventRow:
    """Return a row of any kind but ``end``."""
    if ledger is None:
        return EventRow(match, index, kind, ply, seat, text)
    return EventRow(
        match,
        index,
        kind,
        ply,
        seat,
        text,
        ledger.thought_ns,
        ledger.lag_ns,
        ledger.stall_ns,
        ledger.charged_ns,
        ledger.remaining_ns,
    )


def end_row(
    match: str,
    index: int,
    ply: int,
    outcome: Outcome,
    cause: Cause,
    ledger: Ledger | None,
    on_clock: int | None,
    detail: str,
) -> EventRow:
    """Return the row that ends a match."""
    seat = -1 if outcome.seat is None else outcome.seat
    clocked = -1 if on_clock is None else on_clock
    data = EndData(tuple(outcome.returns), cause, clocked, detail.replace("\0", "\ufffd"))
    spent = ledger or NO_LEDGER
    return EventRow(
        match,
        index,
        "end",
        ply,
        seat,
        outcome.termination,
        spent.thought_ns,
        spent.lag_ns,
        spent.stall_ns,
        spent.charged_ns,
        spent.remaining_ns,
        msgspec.json.encode(data).decode(),
    )


def end_data(row: EventRow) -> EndData:
    """Return the data of an ``end`` row; raises ValueError if it cannot be read."""
    try:
        return msgspec.json.decode(row.data or "", type=EndData)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"the end of match {row.match_id} cannot be read: {error}") from error


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


def seats_with_public_thoughts(
    game: Game, *, counts: bool, players: Sequence[int], builtin: Collection[int]
) -> frozenset[int]:
    """Return the seats whose thoughts spectators may see during the match.

    The bots must allow it, too.

    ``players`` are the accounts that hold the seats, ``builtin`` those of built-in bots, which
    watch nothing.  ``counts`` is True if the match is rated or belongs to a competition.  A seat is
    open if only its own account and built-in bots play against it.  Any other opponent could watch
    anonymously, and read what the bot expects.  In games with hidden information no seat is open,
    because a bot may reveal what only its seat knows.

    >>> from plyhouse.games import get_game
    >>> game = get_game("tic_tac_toe")
    >>> sorted(seats_with_public_thoughts(game, counts=False, players=[7, 1], builtin=[1]))
    [0]
    >>> sorted(seats_with_public_thoughts(game, counts=False, players=[7, 7], builtin=[1]))
    [0, 1]
    >>> seats_with_public_thoughts(game, counts=False, players=[7, 8], builtin=[1])
    frozenset()
    """
    if counts or game.info.information is not Information.PERFECT:
        return frozenset()
    return frozenset(
        seat
        for seat, own in enumerate(players)
        if all(other == own or other in builtin for other in players)
    )
