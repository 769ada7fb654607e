"""Interfaces that the screens need: a `Connection` to a server, its `ServerApi`, and `Boards`.

This package does no I/O; `plyhouse.clients.shared` implements these interfaces.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from plyhouse.protocol.api.calls import Call
from plyhouse.protocol.messages import ClientMessage, ServerMessage

__all__ = ["Board", "Boards", "Connection", "Incoming", "Lost", "Position", "Refusal", "ServerApi"]

T = TypeVar("T")


class Refusal(Exception):  # noqa: N818 - the server's decision
    """The server refused a request or cannot be reached; ``str()`` is a sentence for people."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is gone; the next attempt starts in ``retry_in`` seconds."""

    reason: str
    retry_in: float


Incoming: TypeAlias = "ServerMessage | Lost"


class Connection(Protocol):
    """A connection that is made again whenever it is lost."""

    def incoming(self) -> AsyncGenerator[Incoming, None]:
        """Yield what the server says until `leave`; a ``Welcome`` after every connection.

        Raises `Refusal` if the server cannot be reached at all or does not let us in.
        """
        ...

    async def ask(self, build: Callable[[int], ClientMessage]) -> ServerMessage:
        """Send the request that ``build`` makes with an id, also after a reconnect.

        Raises `Refusal`.
        """
        ...

    async def leave(self) -> None:
        """Leave for good."""


class ServerApi(Protocol):
    """The HTTP API of a server."""

    address: str
    """Where it is, for people."""
    known: bool
    """True if we have an account there."""

    async def ask(self, request: Call[T]) -> T:
        """Return the answer to a request; raises `Refusal`."""
        ...

    async def enter(self) -> str:
        """Sign in, as a guest without a token, and return our name; raises `Refusal`."""
        ...

    def line(self, games: Sequence[str]) -> Connection:
        """A connection to play and watch; challenges in ``games`` are accepted."""
        ...


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a match that was played."""

    ply: int
    """How many actions of seats led to it."""
    told: tuple[str, ...]
    """The events since the previous position, in words."""
    scene: dict[str, Any]
    end: str = ""
    """How the match ended, at the last one."""


@dataclass(frozen=True, slots=True)
class Board:
    """Standings as a table."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    """A letter per column, `r` for those of numbers."""
    spans: tuple[tuple[float, float, float] | None, ...] = ()
    """Rating of each row with its interval: low, middle, high; None without one."""
    notes: tuple[str, ...] = field(default=())


class Boards(Protocol):
    """Where standings come from."""

    async def names(self) -> list[tuple[str, str]]:
        """The choices: a key and a title each."""
        ...

    async def board(self, key: str) -> Board:
        """The standings; raises `Refusal`."""
        ...
