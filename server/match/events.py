"""Writing the events of a match as rows, and reading them.

Kinds of rows, in `EventRow.kind`:

================  =====================================================================
``ready``         ``seat`` was ready, ``text`` is its nonce (the last one of a seat holds)
``chance``        chance did ``text`` before ply ``ply``
``action``        ``seat`` played ``text``; with the ledger of the ply, and in ``data`` what the
                  bot said of its thoughts (`plyhouse.server.match.thoughts`)
``illegal``       ``seat`` tried ``text`` (cut to 256 characters)
``draw_offer``    ``seat`` offered a draw; also ``draw_accept`` and ``draw_decline``
``end``           the match ended: ``text`` is the termination, ``seat`` who caused it or -1;
                  with the ledger of the ply under way, and `EndData` as JSON in ``data``
================  =====================================================================
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from plyhouse.protocol.messages import Outcome
from plyhouse.server.match.time_control import Ledger
from plyhouse.storage.causes import NO_CAUSE, Cause
from plyhouse.storage.rows import EventRow

MAX_TRIED: Final = 256
"""Most characters kept of a refused action."""
NO_LEDGER: Final = Ledger(0, 0, 0, 0, 0)


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
