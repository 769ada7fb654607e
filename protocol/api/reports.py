"""The report on one student in a final, as the HTTP API answers it."""

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
    """Results against one opponent, with intervals of the mean score."""

    name: str
    matches: int
    wins: int
    draws: int
    losses: int
    score: float
    low: float | None
    """The fixed-sample 95 % interval over mirrored pairs; the any-time interval if the final
    played pairings until grades were certain."""
    high: float | None
    any_low: float
    """The any-time interval, from the confidence sequence that grading uses."""
    any_high: float


class BaselineScore(ReportScore, frozen=True):
    """Results against a baseline."""

    grade: str
    at_least: float
    reached: bool
    """True if the counted score of the graded entry reaches the threshold."""
    counted: float | None = None
    """The mean score of the graded entry, in which games that it left out count as 0; None if it
    did not meet the baseline."""


class ReportRating(Row, frozen=True):
    """A fitted strength, in Elo points, and the plausible ranks."""

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
    """Details of the failure, such as a traceback; for the bot's author only."""
    actions: list[str]
    """The last events before the forfeit, of all seats and of chance."""
    scene: dict[str, Any] | None
    """Scene of the position from the seat's view (docs/scenes.md)."""
    replay: str


class SlowPly(Row, frozen=True):
    """One of the slowest plies of an entry."""

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
    """A rating after a number of matches of the competition."""

    matches: int
    elo: float
    low: float
    high: float
    any_low: float
    any_high: float


class Report(Row, frozen=True):
    """The report on a student in a final."""

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
    """Everybody that its entries met, with the baselines."""
    forfeits: dict[str, int]
    """Number of forfeits, by kind."""
    forfeited: list[Forfeit]
    slowest: list[SlowPly]
    lost: list[LostMatch]
    history: dict[str, list[RatingPoint]]
    """By entry: its rating over the course of this competition."""
    notes: list[str]
    scoring: dict[str, str] = {}
    """By game: how a match is scored, by ``wins`` or ``returns``."""
    points: float | None = None
    """The points of the grade; None if there are no grades."""
    days_late: int = 0
    """Started days by which the entry missed the freeze or the extension."""
    penalty: float = 0.0
    """Percentage of the points deducted for lateness."""
    any_time: bool = False
    """True if all intervals are any-time ones: pairings were played until grades were certain."""
