"""The effects of an input to the match engine, for the shell to carry out.

The engine performs no I/O: every input of `plyhouse.server.match.engine.Match` returns `Effects`,
and the shell carries them out.  Rows to store are separate from messages to send, so one
transaction per input is enough.  Three rules bind the shell:

1. Effects of one match are carried out in the order in which they were returned, across calls.
2. No message is sent before the rows of the same effects, and of all earlier ones, are durable.
   So the answer to a repeated action also waits for the commit of the original.
3. When a `Send` with ``turn_ply >= 0`` has been written to its connection, the shell calls
   ``match.turn_written(seat, turn_ply, now)``: that starts the seat's clock.  The same holds for
   snapshots with ``your_turn``, which the shell puts into a ``welcome``.

The shell drops a `Send` to a seat without a connection: the snapshot that the seat gets when it
comes back holds everything.
"""

from __future__ import annotations

from typing import Self, TypeAlias

from msgspec import Struct

from plyhouse.protocol.messages import Outcome, ServerMessage
from plyhouse.storage.causes import Cause
from plyhouse.storage.rows import EventRow


class Started(Struct, frozen=True, gc=False):
    """All seats are ready: mark the match as running (its ready rows came before)."""

    nonces: tuple[str, ...]
    """The nonce of each seat, in seat order, as lower-case hex."""


class Finish(Struct, frozen=True, gc=False):
    """The match is over: store the result in the transaction of its ``end`` row."""

    outcome: Outcome
    cause: Cause
    ply: int
    """Number of actions that seats have played."""
    void: bool
    """True if the match counts for nothing: ``server_fault`` and ``aborted``."""


class Send(Struct, frozen=True, gc=False):
    """A message to the holder of a seat, if connected."""

    seat: int
    message: ServerMessage
    turn_ply: int = -1
    """If not negative, this message tells the seat that it is to move: see rule 3."""


class Broadcast(Struct, frozen=True, gc=False):
    """A message to every spectator of the match."""

    message: ServerMessage


Milestone: TypeAlias = Started | Finish
"""Effects that the shell translates into operations of the store."""
Row: TypeAlias = EventRow | Milestone
"""Effects that must be durable: rows as they are stored, and milestones."""
Outgoing: TypeAlias = Send | Broadcast
"""Effects that are sent once the rows are durable."""


class Effects:
    """The effects of one input: first `rows` become durable, then `messages` are sent."""

    __slots__ = ("messages", "milestone", "rows")

    def __init__(
        self, rows: list[Row], messages: list[Outgoing], *, milestone: bool = False
    ) -> None:
        self.rows = rows
        self.messages = messages
        self.milestone = milestone
        """True if the rows contain a `Started` or a `Finish`."""

    def __bool__(self) -> bool:
        return bool(self.rows or self.messages)

    def __repr__(self) -> str:
        return f"Effects({self.rows!r}, {self.messages!r})"

    def then(self, later: Effects) -> Self:
        """Append the effects of a later input; the rows of both still come first."""
        self.rows += later.rows
        self.messages += later.messages
        self.milestone = self.milestone or later.milestone
        return self
