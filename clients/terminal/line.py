"""What the screens need of the world: a `Line` to a server, and a `House` to ask.

This room moves no bytes: whoever starts an application hands these in (`plyhouse.clients.cli`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from plyhouse.protocol.messages import ClientMessage, ServerMessage

__all__ = ["Board", "Boards", "House", "Incoming", "Line", "Lost", "Position", "Refusal"]


class Refusal(Exception):  # noqa: N818 - the server's decision
    """A request was refused, or could not be made; ``str()`` is a sentence for people."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is gone; the next attempt starts in ``retry_in`` seconds."""

    reason: str
    retry_in: float


Incoming: TypeAlias = "ServerMessage | Lost"


class Line(Protocol):
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


class House(Protocol):
    """The HTTP API of a server."""

    address: str
    """Where it is, for people."""
    known: bool
    """Whether we have an account there."""

    async def call(self, method: str, *parts: str, query: str = "", body: Any = None) -> Any:
        """Ask; returns decoded JSON.  Raises `Refusal`."""

    async def enter(self) -> str:
        """See to it that we may play, as a guest if need be; returns our name.

        Raises `Refusal`.
        """
        ...

    def line(self, games: Sequence[str]) -> Line:
        """A connection to play and watch; challenges in ``games`` are accepted."""
        ...


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a match that was played."""

    ply: int
    """How many actions of seats led to it."""
    told: tuple[str, ...]
    """What happened since the one before, in words."""
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
        """What there is: a key and a title each."""
        ...

    async def board(self, key: str) -> Board:
        """The standings; raises `Refusal`."""
        ...
