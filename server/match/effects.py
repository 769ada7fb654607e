"""What the match engine asks the shell to do.

The engine performs no I/O: every input of `plyhouse.server.match.engine.Match` returns `Effects`,
and the shell carries them out.  What must be durable stands apart from what is told, so one
transaction per input is enough.  Three rules bind the shell:

1. Effects of one match are carried out in the order in which they were returned, across calls.
2. Nothing is told before the rows of the same effects, and of all earlier ones, are durable (so
   an answer to a repeated action waits for the original's commit as well).
3. When a `Send` with ``turn_ply >= 0`` has been written to its connection, the shell calls
   ``match.turn_written(seat, turn_ply, now)``: that starts the seat's clock.  The same holds for
   snapshots with ``your_turn``, which the shell puts into a ``welcome``.

A `Send` to a seat without a connection is dropped: the snapshot that the seat gets when it comes
back holds everything.
"""

from __future__ import annotations

from typing import Self, TypeAlias

from msgspec import Struct

from plyhouse.protocol.messages import Outcome, ServerMessage
from plyhouse.storage.rows import EventRow

__all__ = ["Broadcast", "Effects", "Finish", "Milestone", "Row", "Send", "Started", "Telling"]


class Started(Struct, frozen=True, gc=False):
    """All seats are ready: mark the match as running (its ready rows came before)."""

    nonces: tuple[str, ...]
    """What each seat contributed, in seat order, as lower-case hex."""


class Finish(Struct, frozen=True, gc=False):
    """The match is over: store the result in the transaction of its ``end`` row."""

    outcome: Outcome
    ply: int
    """How many actions of seats were made."""
    void: bool
    """Whether the match counts for nothing: ``server_fault`` and ``aborted``."""


class Send(Struct, frozen=True, gc=False):
    """Send a message to whoever holds a seat, if connected."""

    seat: int
    message: ServerMessage
    turn_ply: int = -1
    """If not negative, this message tells the seat that its turn has come: see rule 3."""


class Broadcast(Struct, frozen=True, gc=False):
    """Send a message to every spectator of the match."""

    message: ServerMessage


Milestone: TypeAlias = Started | Finish
"""What the shell stores in its own words."""
Row: TypeAlias = EventRow | Milestone
"""What must be durable: rows as they are stored, and milestones."""
Telling: TypeAlias = Send | Broadcast
"""What is told once the rows are durable."""


class Effects:
    """What one input of a match leads to: first `rows` become durable, then `told` is told."""

    __slots__ = ("milestone", "rows", "told")

    def __init__(self, rows: list[Row], told: list[Telling], *, milestone: bool = False) -> None:
        self.rows = rows
        self.told = told
        self.milestone = milestone
        """Whether there is a `Started` or a `Finish` among the rows."""

    def __bool__(self) -> bool:
        return bool(self.rows or self.told)

    def __repr__(self) -> str:
        return f"Effects({self.rows!r}, {self.told!r})"

    def then(self, later: Effects) -> Self:
        """Add what another input led to, after this; the rows of both still come first."""
        self.rows += later.rows
        self.told += later.told
        self.milestone = self.milestone or later.milestone
        return self
