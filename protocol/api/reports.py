"""Reports on students and on suspicious results, as the HTTP API answers them."""

from __future__ import annotations

from typing import Any

from plyhouse.protocol.api.rows import Row
from plyhouse.protocol.api.standings import Strength


class Summary(Row, frozen=True):
    """The first sentences of a report or of a bot's page."""

    why: str
    """The reason for the grade, by the baselines that the reader may know; without grades, the mean
    score."""
    advice: str
    """One thing to try next, from the results."""
    replay: str = ""
    """Path of a match that shows it, at its ply; empty if none does."""


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
    rating: Strength | None
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
    summary: Summary = Summary("", "")


class UnlikelyPair(Row, frozen=True):
    """Results of two owners against each other, compared with the fitted ratings."""

    one: str
    other: str
    matches: int
    score: float
    """Score of ``one`` against ``other``."""
    expected: float
    """Score expected by the fit."""
    residual: float
    """The difference in standard deviations of the fit."""
    p: float
    """Two-sided p-value of the score."""
    adjusted: float
    """The p-value adjusted for the number of pairs (Benjamini-Hochberg)."""


class Likeness(Row, frozen=True):
    """Agreement of two bots of different owners."""

    one: str
    other: str
    positions: int
    """Informative positions that both faced."""
    same: int
    """Positions in which both chose the same action."""
    expected: float
    """Positions in which two of the other bots would agree."""
    p: float
    """Probability of at least this much agreement."""
    adjusted: float


class SameFiles(Row, frozen=True):
    """Entries of different owners with one digest: their files are the same, byte for byte."""

    digest: str
    entries: tuple[str, ...]


class Suspicions(Row, frozen=True):
    """A report for organisers."""

    level: float
    """The expected fraction of false alarms among the findings."""
    pairs: tuple[UnlikelyPair, ...]
    """Pairs whose adjusted p-value is at most the level."""
    pairs_tested: int
    likenesses: tuple[Likeness, ...]
    records: int
    """Number of records compared."""
    left_out: int
    """How many records were not: older than the latest `MOST_RECORDS`, or of no known game."""
    same_files: tuple[SameFiles, ...] = ()
    """Evidence without statistics: entries of which at least one belongs to a student."""
