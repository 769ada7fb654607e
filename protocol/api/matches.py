"""Matches, their replays and what hosted bots printed, as the HTTP API answers them."""

from __future__ import annotations

from typing import Any, Final

from plyhouse.protocol.api.rows import NOTEBOOK, Row
from plyhouse.protocol.messages import MatchSnapshot
from plyhouse.protocol.parts import Event, Info

DATASET_MATCHES: Final = "plyhouse-matches"
"""The header of a data set with the number of its matches."""


class Seat(Row, frozen=True):
    """The holder of a seat, and its return."""

    seat: int
    player: str
    bot: str
    version: str
    returned: float | None

    @property
    def name(self) -> str:
        """``player/bot``, or the player's name for a person."""
        return f"{self.player}/{self.bot}" if self.bot else self.player


class Match(Row, frozen=True):
    """A match, without its events."""

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
    """Address of its record; empty until the record is public."""
    void_reason: str | None = None
    """Why the match is void, such as an organiser's decision or an overloaded runner.
    Null if it is not void; void matches count nowhere."""
    snapshot: MatchSnapshot | None = None
    """A spectator's view; only for a single match that the server has in memory."""
    replaced: bool = False
    """True if another version or bot has replaced one that played here. The match then no longer
    counts in its competition."""
    kind: str = ""
    """Purpose: ``competition`` (including rehearsals), ``rated`` or ``casual``."""

    @property
    def winner(self) -> str:
        """The seat with the highest return, as ``player/bot``; empty if several share it."""
        got = [seat.returned for seat in self.seats if seat.returned is not None]
        best = [seat.name for seat in self.seats if got and seat.returned == max(got)]
        return best[0] if len(best) == 1 and len(got) > 1 else ""


class Position(Row, frozen=True):
    """A position in which a seat was to act, or the final one; a notebook draws it."""

    ply: int
    """Number of seat actions before it."""
    events: list[Event]
    """Events since the previous position."""
    scene: dict[str, Any]
    info: Info | None = None
    """Thoughts of the bot whose action led to this position.  They are public once the pairing is
    over, or earlier if the bot allows it and they cannot help an opponent."""

    def _repr_svg_(self) -> str:
        return NOTEBOOK.scene(self.scene)


class Replay(Row, frozen=True):
    """Part of a match, as one viewer may see it."""

    match: str
    game: str
    seen_by: int | None
    """The seat whose view this is; null for the spectators' view."""
    open: bool
    """True if the views of the seats are public, too."""
    plies: int
    """Actions of seats so far; the last position of the match has this number."""
    frames: list[Position]


class PlyRow(Row, frozen=True):
    """One ply of a match with the position as the moving seat saw it: a row of a data set."""

    match: str
    game: str
    ply: int
    seat: int
    observation: str
    """The position as text, drawn for this seat."""
    seen: list[str]
    """The events since the seat's last ply as it saw them: ``SEAT: ACTION``.  Chance has seat -1,
    and ``?`` stands for a hidden action."""
    legal: list[str]
    """The legal actions that the seat was sent."""
    legal_left_out: bool
    """True if there may be more legal actions than ``legal`` has."""
    action: str
    thought_ms: float
    """Time from writing the ``turn`` frame to reading the action."""
    charged_ms: float
    """Part of it that the clock was charged."""
    remaining_ms: float
    """Time on the clock after the ply."""
    said: float | None = None
    """Expected return of the seat that its bot sent along with the action."""
    value: float | None = None
    """Expected return of the seat after the action, by a review; null without a review."""
    best_action: str = ""
    """The best action by that review."""
    best: float | None = None
    """Expected return of the seat after the best action."""
    certainty: str = ""
    """How certain the review's values are, such as ``exact`` or ``depth 6``."""


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


class Failure(Row, frozen=True):
    """How a bot ended its match, for its author."""

    match: str
    ply: int
    """Number of seat actions before the end."""
    seat: int
    """The seat that the bot held."""
    termination: str
    reason: str
    """The public reason."""
    detail: str
    """For the author only: the traceback, or the illegal action; empty if nothing is stored."""


class OutputLine(Row, frozen=True):
    """A line that a hosted bot printed, or a remark about the bot."""

    ply: int | None
    """The ply for which the bot was thinking; null before its first and after its last ply."""
    kind: str
    """``print`` for output of the bot, ``note`` for a remark of its runner, ``crash`` for a
    traceback and the position."""
    text: str


class PlyCost(Row, frozen=True):
    """Cost of one ply of a hosted bot on its runner, in milliseconds."""

    ply: int
    wall_ms: float
    cpu_ms: float
    """CPU time of the bot."""
    waited_ms: float
    """Time for which the bot waited for its core."""


class Output(Row, frozen=True):
    """Output of a hosted bot in a match, from one runner."""

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
    """Number of bytes left out ..."""
    cut_at: int
    """... before this line."""


class KeptOutput(Row, frozen=True):
    """A match with stored output."""

    match: str
    bot: str
    """``player/bot``."""
    seat: int
    game: str
    finished_ms: int | None
    result: str | None
    """``W``, ``D`` or ``L``; null if it is void."""
    crashes: int
    """Number of times that the bot failed in it."""
    bytes: int
    """Bytes of its player's storage that the output uses."""
