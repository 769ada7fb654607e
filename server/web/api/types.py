"""What the web API sends and accepts; its reference page is made from this module."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from plyhouse.games.base import ParameterValue
from plyhouse.protocol.messages import MatchSnapshot
from plyhouse.server.results.leaderboards import Line
from plyhouse.storage.rows import BotRow, TableRow

__all__ = [
    "Account",
    "CompetitionDetail",
    "CompetitionSummary",
    "EndingDetail",
    "FieldView",
    "GameView",
    "Health",
    "Leaderboard",
    "MatchView",
    "NewCompetition",
    "NewPlayer",
    "ObservationView",
    "ParameterView",
    "PlayerChange",
    "PlayerView",
    "Readiness",
    "SeatView",
]


class Health(Struct):
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


class Readiness(Struct):
    """Whether bots can play."""

    ready: bool
    why: str
    """Why not; empty if they can."""


class ParameterView(Struct):
    """A parameter of a game."""

    name: str
    default: ParameterValue
    description: str
    minimum: float | None
    maximum: float | None
    choices: list[ParameterValue] | None


class FieldView(Struct):
    """A field of a game's observations: the type is that of its JSON, in words."""

    name: str
    type: str
    meaning: str


class ObservationView(Struct):
    """What the observations of a game hold, field by field and as JSON Schema."""

    fields: list[FieldView]
    schema: dict[str, Any]


class TableView(Struct):
    """What to ask for so that so many play a game."""

    seats: int
    game: str


class GameView(Struct):
    """A game that can be played here; the example is a frame with one of its observations."""

    name: str
    title: str
    summary: str
    min_seats: int
    max_seats: int
    tables: list[TableView]
    """How many can play it, the fewest first."""
    chance: str
    information: str
    utility: str
    draw_offers: bool
    parameters: list[ParameterView]
    observation: ObservationView
    example: dict[str, Any] | None


class Leaderboard(Struct):
    """The standings of a game, best first; ratings go by ``scoring``: wins or returns."""

    game: str
    scoring: str
    standings: list[Line]


class SeatView(Struct):
    """Who holds a seat, and what it got in the end."""

    seat: int
    player: str
    bot: str
    version: str
    returned: float | None


class MatchView(Struct):
    """A match, without what happened in it."""

    match: str
    pairing: str
    game: str
    time_control: str
    rated: bool
    status: str
    ply: int
    seats: list[SeatView]
    termination: str
    reason: str
    created_ms: int
    started_ms: int | None
    finished_ms: int | None
    record: str
    """Where its record is, once it may be read."""
    void_reason: str | None = None
    """Why it was made void, by an organiser or since the machine that ran a bot was too busy; it
    counts nowhere then.  Null if it was not."""
    snapshot: MatchSnapshot | None = None
    """What a spectator sees now; only for a single match, while the server has it at hand."""
    replaced: bool = False
    """Whether another version or bot has since taken the place of one that played here. The match
    then counts no longer in its competition."""
    kind: str = ""
    """What it is played for: ``competition`` (rehearsals included), ``rated`` or ``casual``."""


class EndingDetail(Struct):
    """What the author of a bot is told of the end that it caused."""

    match: str
    ply: int
    """Actions of seats until then."""
    seat: int
    """The seat that the bot held."""
    termination: str
    reason: str
    """What everybody is told."""
    detail: str
    """What only the author is: the traceback, or the refused action; empty if nothing is kept."""


class PlayerView(Struct):
    """A player with its bots and their latest matches."""

    player: str
    display: str
    """How it wants to be called beside its name; empty: not at all."""
    disabled: bool
    """Whether an organiser keeps it from logging in."""
    created_ms: int
    bots: list[BotRow]
    online: list[str]
    matches: list[MatchView]


class NewPlayer(Struct, forbid_unknown_fields=True):
    """A request for an account."""

    player: Annotated[str, Meta(min_length=1, max_length=64)]
    display: Annotated[str, Meta(max_length=64)] = ""
    """How it wants to be called beside its name."""


class PlayerChange(Struct, forbid_unknown_fields=True):
    """What a player may change of itself."""

    display: Annotated[str, Meta(max_length=64)]
    """How it wants to be called beside its name, in any script; empty: not at all."""


class Account(Struct):
    """A new account; the token is shown this once."""

    player: str
    token: str


class NewCompetition(Struct, forbid_unknown_fields=True):
    """What an organiser wants to be played."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    game: str
    time_control: str
    rounds: Annotated[int, Meta(ge=1, le=1000)] = 1
    mirrored: bool = True
    rated: bool = True
    entries: list[str] | None = None
    """Names like ``player/bot``; all connected bots that accept the game if left out."""


class CompetitionSummary(Struct):
    """A competition in the list of all."""

    competition: str
    name: str
    game: str
    time_control: str
    rounds: int
    mirrored: bool
    rated: bool
    status: str
    created_ms: int
    finished_ms: int | None


class CompetitionDetail(CompetitionSummary):
    """A competition with its table; matches are counted in the whole schedule."""

    entries: list[str]
    planned: int
    created: int
    finished: int
    waiting_for: list[str]
    """Bots that keep pairings from being played, and why."""
    table: list[TableRow]
