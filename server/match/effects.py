"""What the match engine asks the shell to do.

The engine performs no I/O: every input of `plyhouse.server.match.engine.Match` returns a list of
effects, and the shell carries them out.  In each list whatever must be durable comes before what
is told (`rows_first`), so one transaction per list is enough.  Three rules bind the shell:

1. Effects of one match are carried out in the order in which they were returned, across calls.
2. Nothing that stands behind a `Store`, `Started` or `Finish` is sent before that row is durable
   (so an answer to a repeated action waits for the original's commit as well).
3. When a `Send` with ``turn_ply >= 0`` has been written to its connection, the shell calls
   ``match.turn_written(seat, turn_ply, now)``: that starts the seat's clock.  The same holds for
   snapshots with ``your_turn``, which the shell puts into a ``welcome``.

A `Send` to a seat without a connection is dropped: the snapshot that the seat gets when it comes
back holds everything.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from plyhouse.protocol.messages import Outcome, ServerMessage
from plyhouse.storage.rows import EventRow

__all__ = ["Broadcast", "Effect", "Finish", "Send", "Started", "Store", "rows_first"]


class Store(Struct, frozen=True, gc=False):
    """Make this row durable."""

    row: EventRow


class Started(Struct, frozen=True, gc=False):
    """All seats are ready: mark the match as running (its ready rows came before)."""

    nonces: tuple[str, ...]
    """What each seat contributed, in seat order, as lower-case hex."""


class Send(Struct, frozen=True, gc=False):
    """Send a message to whoever holds a seat, if connected."""

    seat: int
    message: ServerMessage
    turn_ply: int = -1
    """If not negative, this message tells the seat that its turn has come: see rule 3."""


class Broadcast(Struct, frozen=True, gc=False):
    """Send a message to every spectator of the match."""

    message: ServerMessage


class Finish(Struct, frozen=True, gc=False):
    """The match is over.

    It comes after the ``end`` row and before the ``finished`` messages, so that a shell that
    stores the result in the same transaction does so before anyone hears of it.
    """

    outcome: Outcome
    ply: int
    """How many actions of seats were made."""
    void: bool
    """Whether the match counts for nothing: ``server_fault`` and ``aborted``."""


Effect: TypeAlias = Store | Started | Send | Broadcast | Finish
"""Anything that an input of a match may return."""


def rows_first(effects: list[Effect]) -> list[Effect]:
    """Order effects so that what must be durable comes before what is told."""
    rows = [effect for effect in effects if not isinstance(effect, Send | Broadcast)]
    return rows + [effect for effect in effects if isinstance(effect, Send | Broadcast)]
