"""What a final says of one student, as the HTTP API answers it."""

from __future__ import annotations

from typing import Any

from plyhouse.protocol.api.rows import Row

__all__ = [
    "BaselineScore",
    "Forfeit",
    "LostMatch",
    "RatingPoint",
    "Report",
    "ReportEntry",
    "ReportRating",
    "ReportScore",
    "SlowPly",
]


class ReportScore(Row, frozen=True):
    """Results against somebody, with what they say of the mean score."""

    name: str
    matches: int
    wins: int
    draws: int
    losses: int
    score: float
    low: float | None
    """The fixed-time 95 % interval over mirrored pairs; the any-time one where pairings were played
    until grades were certain, as the other covers less than it says there."""
    high: float | None
    any_low: float
    """The any-time one, of the confidence sequence that grading goes by."""
    any_high: float


class BaselineScore(ReportScore, frozen=True):
    """Results against a baseline."""

    grade: str
    at_least: float
    reached: bool


class ReportRating(Row, frozen=True):
    """A fitted strength, in Elo points, and the ranks that it may have."""

    elo: float
    low: float
    high: float
    any_low: float
    any_high: float
    rank_low: int
    rank_high: int


class ReportEntry(Row, frozen=True):
    """An entry of the student."""

    entry: str
    version: str
    digest: str
    status: str
    rank: int | None
    score: float | None
    matches: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    rating: ReportRating | None
    place: int | None = None
    """The place by the rules of the format, as on the board."""


class Forfeit(Row, frozen=True):
    """A match that an entry of the student forfeited."""

    match: str
    game: str
    entry: str
    kind: str
    """The termination: ``flag_fall``, ``illegal_action`` and so on."""
    ply: int
    reason: str
    detail: str
    """What the bot left when it failed; for its author only."""
    actions: list[str]
    """The last actions before, of all seats and of chance."""
    scene: dict[str, Any] | None
    """The position as the seat saw it (docs/scenes.md)."""
    replay: str


class SlowPly(Row, frozen=True):
    """A ply on which an entry thought for long."""

    match: str
    game: str
    ply: int
    action: str
    thought_s: float
    charged_s: float
    left_s: float
    replay: str


class LostMatch(Row, frozen=True):
    """A match that an entry of the student lost."""

    match: str
    game: str
    entry: str
    seat: int
    opponents: list[str]
    termination: str
    plies: int
    replay: str


class RatingPoint(Row, frozen=True):
    """A rating after so many matches of the competition."""

    matches: int
    elo: float
    low: float
    high: float
    any_low: float
    any_high: float


class Report(Row, frozen=True):
    """All that a final says of a student."""

    competition: str
    status: str
    student: str
    display: str
    grade: str
    graded_by: str
    """The entry that the grade is for."""
    entries: list[ReportEntry]
    baselines: list[BaselineScore]
    opponents: list[ReportScore]
    forfeits: dict[str, int]
    """How many, by kind."""
    forfeited: list[Forfeit]
    slowest: list[SlowPly]
    lost: list[LostMatch]
    history: dict[str, list[RatingPoint]]
    """By entry, how its rating went in this competition."""
    notes: list[str]
    scoring: dict[str, str] = {}
    """What scores a match, by game: ``wins`` or ``returns``."""
    points: float | None = None
    """The points of the grade; None if there are no grades."""
    days_late: int = 0
    """How many days, begun or full, the entry came after the freeze or the extension."""
    penalty: float = 0.0
    """Percent of the points that this costs."""
    any_time: bool = False
    """Whether all intervals are any-time ones: pairings were played until grades were certain."""
