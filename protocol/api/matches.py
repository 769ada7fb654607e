"""Matches, their replays and what hosted bots printed, as the HTTP API answers them."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from plyhouse.protocol.api.rows import NOTEBOOK, Row
from plyhouse.protocol.messages import MatchSnapshot
from plyhouse.protocol.parts import Event

__all__ = [
    "MAX_PV",
    "MAX_TEXT",
    "Ending",
    "Info",
    "KeptOutput",
    "Match",
    "Output",
    "OutputLine",
    "PlyCost",
    "Position",
    "Record",
    "Replay",
    "Seat",
]

MAX_PV: Final = 64
MAX_TEXT: Final = 2000


class Seat(Row, frozen=True):
    """The holder of a seat, and what it got in the end."""

    seat: int
    player: str
    bot: str
    version: str
    returned: float | None

    @property
    def name(self) -> str:
        """``player/bot``; the player alone in person."""
        return f"{self.player}/{self.bot}" if self.bot else self.player


class Match(Row, frozen=True):
    """A match, without what happened in it."""

    match: str
    pairing: str
    game: str
    time_control: str
    rated: bool
    status: str
    """``waiting``, ``running`` or ``finished``."""
    ply: int
    """Actions of seats so far."""
    seats: list[Seat]
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

    @property
    def winner(self) -> str:
        """The seat that got more than every other, as ``player/bot``; empty if none did."""
        got = [seat.returned for seat in self.seats if seat.returned is not None]
        best = [seat.name for seat in self.seats if got and seat.returned == max(got)]
        return best[0] if len(best) == 1 and len(got) > 1 else ""


class Info(Struct, frozen=True, omit_defaults=True):
    """What a bot thought when it chose an action; everything is optional.

    value: what its seat expects, in the game's returns.
    depth: how many plies it looked ahead.
    nodes: how many positions it looked at.
    pv: the play it expects from there, as actions in the notation of the game.
    text: whatever else it says.
    live: whether spectators may see it while the match runs, where that can help nobody.
    """

    value: float | None = None
    depth: Annotated[int, Meta(ge=0, lt=2**53)] | None = None
    nodes: Annotated[int, Meta(ge=0, lt=2**53)] | None = None
    pv: Annotated[list[Annotated[str, Meta(max_length=256)]], Meta(max_length=MAX_PV)] = []
    text: Annotated[str, Meta(max_length=MAX_TEXT)] = ""
    live: bool = False


class Position(Row, frozen=True):
    """A position in which a seat was to move, or the last one; it draws itself in a notebook."""

    ply: int
    """How many actions of seats led to it."""
    events: list[Event]
    """What happened since the position before."""
    scene: dict[str, Any]
    info: Info | None = None
    """What the bot that played the action before this position said of its thoughts; once the
    whole pairing is over, or before where it allows that and it can help nobody."""

    def _repr_svg_(self) -> str:
        return NOTEBOOK.scene(self.scene)


class Replay(Row, frozen=True):
    """A stretch of a match as one viewer may see it."""

    match: str
    game: str
    seen_by: int | None
    """The seat whose view this is; null for that of spectators."""
    open: bool
    """Whether the views of the seats may be asked for as well."""
    plies: int
    """Actions of seats so far; the last position of the match has this number."""
    frames: list[Position]


class Record(Row, frozen=True):
    """The replayable history of a match; `text` is what ``plyhouse verify`` checks."""

    match: str
    game: str
    time_control: str
    seats: list[dict[str, Any]]
    events: list[dict[str, Any]]
    """Rows: kind, ply, seat, text and the ledger in nanoseconds."""
    outcome: dict[str, Any] | None
    text: str = ""
    """The whole record as JSON, in the format ``plyhouse-record-1``."""


class Ending(Row, frozen=True):
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


class OutputLine(Row, frozen=True):
    """Something that a hosted bot printed, or that is said of it."""

    ply: int | None
    """The ply that it was asked for; null before its first and after its last."""
    kind: str
    """``print``: the bot printed it; ``note``: the machine that ran it says so; ``crash``: the
    traceback, and the position."""
    text: str


class PlyCost(Row, frozen=True):
    """What a ply of a hosted bot cost its machine, in milliseconds."""

    ply: int
    wall_ms: float
    cpu_ms: float
    """Processor time of the bot."""
    waited_ms: float
    """For how long it could have run, but its processor was another's."""


class Output(Row, frozen=True):
    """What a hosted bot printed in a match on one machine."""

    match: str
    bot: str
    """``player/bot``."""
    seat: int
    version: str
    """The label of the version; empty if it has none."""
    received_ms: int
    lines: list[OutputLine]
    costs: list[PlyCost]
    cut: int
    """Bytes that were left out ..."""
    cut_at: int
    """... before this line."""


class KeptOutput(Row, frozen=True):
    """A match of which output is kept."""

    match: str
    bot: str
    """``player/bot``."""
    seat: int
    game: str
    finished_ms: int | None
    result: str | None
    """``W``, ``D`` or ``L``; null if it is void."""
    crashes: int
    """How often the bot failed in it."""
    bytes: int
    """What it takes up of its player's storage."""
