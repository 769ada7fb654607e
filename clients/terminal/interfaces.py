"""Interfaces that the screens need: a `Connection` to a server, its `ServerApi`, and `Boards`.

This package does no I/O; `plyhouse.clients.shared` implements these interfaces.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from plyhouse.protocol.api.routes import Call
from plyhouse.protocol.messages import ClientMessage, ServerMessage

T = TypeVar("T")


class Refusal(Exception):  # noqa: N818 - the server's decision
    """The server refused a request or cannot be reached; ``str()`` is a sentence for people."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Lost:
    """A lost connection; the next attempt starts in ``retry_in`` seconds."""

    reason: str
    retry_in: float


Incoming: TypeAlias = "ServerMessage | Lost"


class Connection(Protocol):
    """A connection that reconnects whenever it is lost."""

    def incoming(self) -> AsyncGenerator[Incoming, None]:
        """Yield the server's messages until `leave`, beginning with ``Welcome`` on every connect.

        Raises `Refusal` if the server cannot be reached at all or refuses the login.
        """
        ...

    async def ask(self, build: Callable[[int], ClientMessage]) -> ServerMessage:
        """Send the request that ``build`` makes with an id; return the answer.

        After a reconnect the request is sent again.  Raises `Refusal`.
        """
        ...

    async def leave(self) -> None:
        """Close the connection without reconnecting."""


class ServerApi(Protocol):
    """The HTTP API of a server."""

    address: str
    """The address to show to people."""
    known: bool
    """True if the user has an account there."""

    async def ask(self, request: Call[T]) -> T:
        """Return the answer to a request; raises `Refusal`."""
        ...

    async def enter(self) -> str:
        """Sign in, as a guest without a token; return the player's name.  Raises `Refusal`."""
        ...

    def line(self, games: Sequence[str]) -> Connection:
        """Return a connection to play and watch; it accepts challenges in ``games``."""
        ...


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a match that was played."""

    ply: int
    """The number of actions of seats before it."""
    told: tuple[str, ...]
    """The events since the previous position, in words."""
    scene: dict[str, Any]
    end: str = ""
    """How the match ended; only in the last position."""


@dataclass(frozen=True, slots=True)
class Board:
    """Standings as a table."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    """The alignment of each column, one letter each: `r` for numbers."""
    spans: tuple[tuple[float, float, float] | None, ...] = ()
    """Rating of each row with its interval: low, middle, high; None without one."""
    notes: tuple[str, ...] = field(default=())


class Boards(Protocol):
    """A source of standings: leaderboards of games and tables of competitions."""

    async def names(self) -> list[tuple[str, str]]:
        """Return the key and the title of each table."""
        ...

    async def board(self, key: str) -> Board:
        """Return the table with this key; raises `Refusal`."""
        ...
