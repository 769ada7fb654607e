"""What the API answers, as plain dataclasses: one row of a table each.

Lists of rows are `Rows`: they go into ``pandas.DataFrame(rows)`` as they are, and draw themselves
as tables in a notebook.  Times ending in ``_ms`` are milliseconds since 1970 (UTC), durations say
their unit.  Fields that this version does not know are left out when they are read, so that newer
servers can be asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any, TypeVar

from plyhouse.clients.api.drawing import scene_svg, table_html

__all__ = [
    "Account",
    "Against",
    "Bot",
    "BotMatch",
    "BotPage",
    "BotRating",
    "BotResult",
    "BotVersion",
    "Career",
    "Ending",
    "ForfeitKind",
    "Game",
    "Happened",
    "Health",
    "Holder",
    "InSeat",
    "KeptOutput",
    "Leaderboard",
    "Match",
    "Output",
    "OutputLine",
    "Pace",
    "Player",
    "PlyCost",
    "Position",
    "Record",
    "Replay",
    "Review",
    "ReviewedPly",
    "Rows",
    "Seat",
    "Standing",
]

RowT = TypeVar("RowT")


class Rows(list[RowT]):
    """A list of rows, drawn as a table in a notebook."""

    def _repr_html_(self) -> str:
        return table_html(self)


# ------------------------------------------------------------------------------ matches


@dataclass(frozen=True, slots=True)
class Seat:
    """Who holds a seat, and what it got in the end."""

    seat: int
    player: str
    bot: str
    version: str
    returned: float | None

    @property
    def name(self) -> str:
        """``player/bot``; the player alone in person."""
        return f"{self.player}/{self.bot}" if self.bot else self.player


@dataclass(frozen=True, slots=True)
class Match:
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
    void_reason: str | None = None
    """Why it was made void, so that it counts nowhere."""
    replaced: bool = False
    """Whether another version or bot has since taken the place of one that played here, so that
    it no longer counts in its competition."""
    kind: str = ""
    """What it is played for: ``competition`` (rehearsals included), ``rated`` or ``casual``."""

    @property
    def winner(self) -> str:
        """Who got more than everybody else, as ``player/bot``; empty if nobody did."""
        got = [seat.returned for seat in self.seats if seat.returned is not None]
        best = [seat.name for seat in self.seats if got and seat.returned == max(got)]
        return best[0] if len(best) == 1 and len(got) > 1 else ""


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that happened in a match, as the viewer may see it."""

    ply: int = 0
    seat: int = 0
    """-1 is chance."""
    action: str | None = None
    """None if it is hidden from the viewer."""
    ms: int | None = None
    """Time charged."""


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a replay; it draws itself in a notebook."""

    ply: int
    scene: dict[str, Any]
    events: list[Happened] = field(default_factory=list)
    """What happened since the position before."""
    info: dict[str, Any] | None = None
    """What the bot that played the action before it said of its thoughts: ``value``, ``depth``,
    ``nodes``, ``pv``, ``text``, as far as it did; once the whole pairing is over."""

    def _repr_svg_(self) -> str:
        return scene_svg(self.scene)


@dataclass(frozen=True, slots=True)
class Replay:
    """A stretch of a match as one viewer may see it."""

    match: str
    game: str
    seen_by: int | None
    open: bool
    """Whether the views of the seats may be asked for as well."""
    plies: int
    frames: list[Position]


@dataclass(frozen=True, slots=True)
class Record:
    """The replayable history of a match; `text` is what ``plyhouse verify`` checks."""

    match: str
    game: str
    time_control: str
    seats: list[dict[str, Any]]
    events: list[dict[str, Any]]
    """Rows: kind, ply, seat, text and the ledger in nanoseconds."""
    outcome: dict[str, Any] | None
    text: str
    """The whole record as JSON, in the format ``plyhouse-record-1``."""


@dataclass(frozen=True, slots=True)
class ReviewedPly:
    """One ply of the reviewed seat: what it was worth, and what it cost on the clock."""

    ply: int
    action: str
    """What was played; empty where the match ended before anything was."""
    played: float | None
    """What it is worth to the seat, in the game's returns; None if the judge cannot say."""
    best_action: str
    best: float
    drop: float
    """What the choice cost: ``best - played``, never negative."""
    certainty: str
    """How it is known: ``exact``, ``depth 6``, ``sampled 4,000``, ``equilibrium within 0.001``."""
    exact: bool
    lost: bool
    """Whether the value was lost here; see `Review.rule`."""
    thought_ms: float
    """From the write of the turn to the read of the action."""
    lag_ms: float
    """Part of it given back for the round trip."""
    stall_ms: float
    """Part of it in which the server was absent."""
    charged_ms: float
    remaining_ms: float
    """What the seat had until its next flag fall then."""
    refused: tuple[str, ...] = ()
    """Illegal actions that were tried before."""


@dataclass(frozen=True, slots=True)
class Review:
    """A match gone through from one seat: where it was lost, if it was lost by a choice."""

    match: str
    game: str
    time_control: str
    seat: int
    player: str
    returned: float | None
    """What the seat got; None if the match was void."""
    termination: str
    at_fault: bool
    """Whether the seat itself ended the match otherwise than by the rules: flag, crash, ..."""
    method: str
    """How plies were judged."""
    rule: str
    """When a value counts as lost, in words."""
    verdict: str
    """What came of it, in sentences."""
    lost_at: int | None
    """The first ply after which the value was lost; None if there is none."""
    losses: tuple[int, ...]
    """All of them: what was lost can have been given back."""
    command: str
    """Asks a bot about that ply again, here."""
    seconds: float
    """What the review took."""
    plies: list[ReviewedPly] = field(default_factory=list)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.verdict)}</p>{table_html(self.plies)}"

    def row(self, ply: int) -> ReviewedPly:
        """The row of a ply; raises `LookupError` if the seat did not play it."""
        for each in self.plies:
            if each.ply == ply:
                return each
        raise LookupError(f"seat {self.seat} did not play ply {ply} of match {self.match}")


# ----------------------------------------------------------------- standings and people


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of a leaderboard; only rated matches that are not void count."""

    rank: int
    player: str
    bot: str
    score: float
    games: int
    wins: int
    draws: int
    losses: int
    rating: float | None
    """Elo; None until the first fit."""
    low: float | None
    high: float | None
    """The bounds of the rating's 95 % interval."""
    returns: float
    """Sum of the utilities of all matches."""
    version: str = ""
    latest: bool = True
    display: str = ""
    mean_return: float | None = None
    """Utility per match, where the game is scored by it; with its 95 % interval."""
    mean_low: float | None = None
    mean_high: float | None = None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The standings of a game, best first."""

    game: str
    scoring: str
    standings: list[Standing]

    def _repr_html_(self) -> str:
        return table_html(self.standings)


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot of a player."""

    player: str
    name: str
    kind: str
    created_ms: int
    disabled_ms: int | None = None
    """Since when it may not log in; None if it may."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who held a seat."""

    player: str
    bot: str


@dataclass(frozen=True, slots=True)
class BotMatch:
    """A finished match as it went for one bot."""

    match: str
    game: str
    seat: int
    version: str
    result: str
    """``W``, ``D`` or ``L``; empty in a match that does not count."""
    returned: float | None
    termination: str
    forfeit: bool
    """Whether the bot lost otherwise than by play."""
    reason: str
    rated: bool
    ply: int
    created_ms: int
    void_reason: str | None
    others: list[Holder]
    """Who held the other seats, in their order."""


@dataclass(frozen=True, slots=True)
class BotVersion:
    """A version of a bot."""

    version: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class BotResult:
    """A bot's line on the leaderboard of a game, with one version."""

    game: str
    version: str
    latest: bool
    score: float
    games: int
    wins: int
    draws: int
    losses: int
    rating: float | None
    """Elo; None until the first fit."""
    low: float | None
    high: float | None
    """The bounds of the rating's 95 % interval."""


@dataclass(frozen=True, slots=True)
class BotRating:
    """A rating at the time it was fitted."""

    game: str
    version: str
    taken_ms: int
    rating: float
    low: float
    high: float
    games: int


@dataclass(frozen=True, slots=True)
class Against:
    """Results in matches with one opponent in one game."""

    game: str
    player: str
    bot: str
    matches: int
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True, slots=True)
class InSeat:
    """Results in one seat of a game."""

    game: str
    seat: int
    matches: int
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True, slots=True)
class ForfeitKind:
    """How often a bot lost otherwise than by play."""

    termination: str
    words: str
    matches: int


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a bot's plies took in a game, of some of its latest matches."""

    game: str
    plies: int
    median_ms: float
    slow_ms: float
    """Nineteen of twenty plies took less."""
    longest_ms: float
    lag_ms: float
    """Median of what the network took, which was given back."""


@dataclass(frozen=True, slots=True)
class Career:
    """What came of a bot's latest matches."""

    matches: int
    more: bool
    """Whether there are older ones that were not counted."""
    void: int
    wins: int
    draws: int
    losses: int
    against: list[Against]
    seats: list[InSeat]
    forfeits: list[ForfeitKind]


@dataclass(frozen=True, slots=True)
class BotPage:
    """A bot: its versions, standings, ratings over time, and what came of its matches."""

    player: str
    display: str
    bot: str
    kind: str
    created_ms: int
    disabled: bool
    online: bool
    versions: list[BotVersion]
    standings: list[BotResult]
    ratings: list[BotRating]
    career: Career
    paces: list[Pace]


@dataclass(frozen=True, slots=True)
class Player:
    """A player with its bots and their latest matches."""

    player: str
    display: str
    disabled: bool
    created_ms: int
    bots: list[Bot]
    online: list[str]
    """Names of its bots that are connected."""
    matches: list[Match]


@dataclass(frozen=True, slots=True)
class Account:
    """A new account; the token is told this once."""

    player: str
    token: str


@dataclass(frozen=True, slots=True)
class Game:
    """A game that can be played on the server."""

    name: str
    title: str
    summary: str
    min_seats: int
    max_seats: int
    chance: str
    information: str
    utility: str
    draw_offers: bool
    parameters: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Health:
    """How the server is doing."""

    status: str
    version: str
    protocol: str
    registration: str
    uptime_s: float
    connections: int
    bots: int
    matches: int
    seeks: int


@dataclass(frozen=True, slots=True)
class Ending:
    """What the author of a bot is told of the end that it caused."""

    match: str
    ply: int
    seat: int
    termination: str
    reason: str
    detail: str
    """The traceback, or the refused action; empty if nothing is kept."""


@dataclass(frozen=True, slots=True)
class OutputLine:
    """Something that a hosted bot printed, or that is said of it."""

    ply: int | None
    """The ply that it was asked for; None before its first and after its last."""
    kind: str
    """``print``, ``note`` (of the machine that ran it) or ``crash``."""
    text: str


@dataclass(frozen=True, slots=True)
class PlyCost:
    """What a ply of a hosted bot cost its machine, in milliseconds."""

    ply: int
    wall_ms: float
    cpu_ms: float
    """Processor time of the bot."""
    waited_ms: float
    """For how long it could have run, but its processor was another's."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a hosted bot printed in a match on one machine."""

    match: str
    bot: str
    """``player/bot``."""
    seat: int
    version: str
    received_ms: int
    lines: list[OutputLine]
    costs: list[PlyCost]
    cut: int
    """Bytes that were left out ..."""
    cut_at: int
    """... before this line."""


@dataclass(frozen=True, slots=True)
class KeptOutput:
    """A match of which output is kept."""

    match: str
    bot: str
    seat: int
    game: str
    finished_ms: int | None
    result: str | None
    """``W``, ``D`` or ``L``; None if it is void."""
    crashes: int
    """How often the bot failed in it."""
    bytes: int
