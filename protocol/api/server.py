"""The server's state and its games, as the HTTP API answers them."""

from __future__ import annotations

from typing import Any

from plyhouse.protocol.api.rows import Row


class Health(Row, frozen=True):
    """State of the server."""

    status: str
    """``ok``, ``degraded`` (the database does not store: matches wait) or ``stopping``."""
    version: str
    protocol: str
    registration: str
    uptime_s: float
    connections: int
    bots: int
    """Number of connected bots."""
    matches: int
    """Number of running matches."""
    seeks: int
    plies: int
    """Plies of the matches that have ended since the server started."""
    stalled_ms: int
    """Time since the start for which the server was stalled; never charged to a bot."""
    longest_stall_ms: int
    why: str = ""
    """Why the status is not ``ok``, as a sentence; empty if it is."""


class Readiness(Row, frozen=True):
    """Readiness of the server for matches."""

    ready: bool
    why: str
    """Why bots cannot play; empty if they can."""


class ClusterMember(Row, frozen=True):
    """A server of a cluster, and what it runs."""

    epoch: int
    """Number of its lease, which identifies it."""
    process: str
    """``HOST:PID``."""
    address: str
    """Where other servers reach it."""
    version: str
    state: str
    """``running``, or ``expired`` (others take over from it)."""
    leads: bool
    """True for the server that pairs bots, and answers pages and calls."""
    started_ms: int
    lease_ms: int
    """How long its lease is valid if it is not renewed; negative since it has expired."""
    matches: int
    """Unfinished matches that it runs."""
    plies: int
    """Plies of these matches."""
    waiting: int
    """Batches of messages to it in the database, unread: they go there while NATS is away."""


class ClusterState(Row, frozen=True):
    """The servers that share a database."""

    alone: bool
    """True for a single server, which has no members."""
    members: list[ClusterMember]
    """The oldest first."""
    orphans: int
    """Pairings whose server is gone, and which wait for another one."""


class RunnerCapacity(Row, frozen=True):
    """The machines that run hosted bots."""

    machines: int
    """Runners that reported lately."""
    cores: int
    """Their processors for bots."""
    lacking: list[str]
    """Programs that packages may name to start a bot, but that no runner has installed."""


class GameParameter(Row, frozen=True):
    """A parameter of a game."""

    name: str
    default: bool | int | float | str
    description: str
    minimum: float | None
    maximum: float | None
    choices: list[bool | int | float | str] | None


class ObservationField(Row, frozen=True):
    """A field of a game's observations: the type is that of its JSON, in words."""

    name: str
    type: str
    meaning: str


class ObservationFields(Row, frozen=True):
    """The observations of a game, field by field and as JSON Schema."""

    fields: list[ObservationField]
    schema: dict[str, Any]


class GameTable(Row, frozen=True):
    """How to ask for a game with a number of seats."""

    seats: int
    game: str


class ListedGame(Row, frozen=True):
    """A game that can be played on the server."""

    name: str
    title: str
    summary: str
    min_seats: int
    max_seats: int
    tables: list[GameTable]
    """The possible numbers of seats, the smallest first."""
    chance: str
    information: str
    utility: str
    draw_offers: bool
    parameters: list[GameParameter]
    observation: ObservationFields
    example: dict[str, Any] | None
    """An example frame with an observation."""
