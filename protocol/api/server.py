"""The server's state and its games, as the HTTP API answers them."""

from __future__ import annotations

from typing import Any

from plyhouse.protocol.api.rows import Row

__all__ = [
    "GameParameter",
    "GameTable",
    "Health",
    "ListedGame",
    "ObservationField",
    "ObservationFields",
    "Readiness",
    "RunnerCapacity",
]


class Health(Row, frozen=True):
    """How the server is doing."""

    status: str
    """``ok``, ``degraded`` (the database does not store: matches wait) or ``stopping``."""
    version: str
    protocol: str
    registration: str
    uptime_s: float
    connections: int
    bots: int
    """Bots that are connected."""
    matches: int
    """Matches that run."""
    seeks: int
    plies: int
    """Plies of the matches that have ended since the start."""
    stalled_ms: int
    """How long the server stood still since the start; never charged to a bot."""
    longest_stall_ms: int
    why: str = ""
    """Why the status is not ``ok``, as a sentence; empty if it is."""


class Readiness(Row, frozen=True):
    """Whether bots can play."""

    ready: bool
    why: str
    """Why not; empty if they can."""


class RunnerCapacity(Row, frozen=True):
    """The machines that run hosted bots."""

    machines: int
    """Runners that reported lately."""
    cores: int
    """Their processors for bots."""
    lacking: list[str]
    """Programs that packages may be started with, and that no runner has."""


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
    """What the observations of a game hold, field by field and as JSON Schema."""

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
    """How many can play it, the fewest first."""
    chance: str
    information: str
    utility: str
    draw_offers: bool
    parameters: list[GameParameter]
    observation: ObservationFields
    example: dict[str, Any] | None
    """A frame with an observation."""
