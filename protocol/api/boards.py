"""Standings, rounds and grades of competitions with a class, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.classes import Member
from plyhouse.protocol.api.rows import NOTEBOOK, Row

__all__ = [
    "BaselineCertainty",
    "Board",
    "BoardLine",
    "GameRounds",
    "GradeCertainty",
    "GradeLine",
    "HeadToHead",
    "Mean",
    "MeanReturn",
    "Nash",
    "NextPairing",
    "Place",
    "ProvenLine",
    "Results",
    "Round",
    "RoundPairing",
    "SeatTerm",
    "Strength",
    "Twin",
]


class BoardLine(Row, frozen=True):
    """One line of the standings."""

    rank: int | None
    """The rank by ``score``."""
    entry: str
    student: str
    status: str
    baseline: bool
    score: float | None
    matches: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    games: dict[str, float]
    version: str
    digest: str
    place: int | None = None
    """The place by the rules of the format; lines come in this order."""


class Mean(Row, frozen=True):
    """A mean with its 95 % interval; a bound is null where one mirrored pair says nothing yet."""

    mean: float
    low: float | None
    high: float | None
    pairs: int


class MeanReturn(Row, frozen=True):
    """The mean return per match, over mirrored pairs."""

    raw: Mean
    adjusted: Mean | None
    """With the luck of dice and cards taken out; null where the server cannot tell it."""
    saved: float | None
    """The part of the games that this saves for an interval as wide."""
    any_low: float | None
    any_high: float | None
    """The 95 % interval of the raw mean if you look at every moment; null where the game
    does not say how much a return can be."""


class Strength(Row, frozen=True):
    """A fitted strength, in Elo points."""

    elo: float
    low: float
    high: float
    """The 95 % interval for one look, after a number of matches fixed before."""
    any_low: float
    any_high: float
    """The 95 % interval if you look at every moment."""
    rank_low: int
    rank_high: int
    """The best and the worst rank among the lines shown that it may have."""
    matches: float


class Nash(Row, frozen=True):
    """What Nash averaging says."""

    share: float
    low: float
    high: float
    score: float
    chosen: float


class ProvenLine(Row, frozen=True):
    """One line of a board: what the rules say, and what it proves."""

    rank: int | None
    """The rank by ``score``."""
    entry: str
    student: str
    status: str
    baseline: bool
    score: float | None
    matches: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    """Matches that it forfeited; 0 for an entry without a name."""
    games: dict[str, float]
    rating: Strength | None
    ahead: float | None
    """How likely it is stronger than the entry of the next line; null for the last one."""
    twin_of: str
    """The entry that it is a twin of, and then without a rank; empty for all others."""
    nash: Nash | None
    returns: dict[str, MeanReturn]
    """By game."""
    place: int | None = None
    """The place by the rules of the format; lines come in this order."""


class SeatTerm(Row, frozen=True):
    """What a seat is worth beside the last one of its game, in Elo points."""

    seat: int
    elo: float
    low: float
    high: float


class HeadToHead(Row, frozen=True):
    """All matches of one entry against another."""

    entry: str
    other: str
    matches: int
    wins: int
    draws: int
    losses: int
    score: Mean


class Twin(Row, frozen=True):
    """One bot entered twice: by how much chance drives equals apart on this board."""

    entry: str
    twin: str
    same: bool
    """Whether the same files and options played under both names."""
    score: float | None
    """By how much their scores differ; null until both have played."""
    elo: float | None
    """By how much their ratings differ."""
    chance: float | None
    """By how much, at most, chance makes ratings of two equals differ 95 times in 100."""


class Board(Row, frozen=True):
    """A board as the viewer may see it."""

    competition: str
    name: str
    status: str
    board: str
    matches: int
    repeated: int
    """Matches that repeat an earlier one move by move, which the ratings leave out."""
    lines: list[ProvenLine]
    notes: list[str]
    seats: dict[str, list[SeatTerm]]
    """By game."""
    draws: dict[str, float]
    """By game how often equals draw."""
    crosstab: list[HeadToHead]
    """Only if it was asked for."""
    twins: list[Twin]
    scoring: dict[str, str] = {}
    """What scores a match, by game: ``wins`` or ``returns``."""
    any_time: bool = False
    """Whether all intervals are any-time ones, as pairings were played until grades were certain;
    ``low`` and ``high`` are ``any_low`` and ``any_high`` then."""

    def _repr_html_(self) -> str:
        return NOTEBOOK.table(self.lines)


class Place(Row, frozen=True):
    """One line of the table of a format."""

    place: int | None
    """Null for baselines where they are not ranked."""
    entry: str
    points: float
    played: int
    """Pairings that count."""
    tie_breaks: list[float]
    withdrawn: bool
    baseline: bool


class RoundPairing(Row, frozen=True):
    """A pairing of a round, or why there is none."""

    key: str
    entries: list[str | None]
    """The entries that meet; null where one is not known yet, or where there is no opponent."""
    state: str
    """``waiting``, ``ready``, ``playing``, ``finished``, ``void``, ``bye``, ``walkover`` or
    ``dropped``."""
    scores: list[float] | None
    """What each scored, summed over the matches that count."""
    matches: int
    """How many count."""
    winner: str | None
    """The entry that goes on from here, where the format has one."""
    pairing: str
    """What its matches can be asked for by; empty as long as there are none."""


class Round(Row, frozen=True):
    """A round of a final."""

    number: int
    name: str
    lines: list[RoundPairing]


class GameRounds(Row, frozen=True):
    """A game of a final as its format sees it."""

    game: str
    competition: str
    format: str
    tie_breaks: list[str]
    """What decides the table where points are equal, in this order."""
    table: list[Place]
    rounds: list[Round]
    decided_by: str = ""
    """What decides the places, in words."""
    seeds: list[str] = []
    """The entries from the first seed to the last, if the format goes by seeds.

    Empty on an anonymous board."""
    lot: str = ""
    """The seed of the lot that ordered entries without a rating; empty if there was none.

    Empty on an anonymous board."""


class NextPairing(Row, frozen=True):
    """A pairing that has not begun."""

    game: str
    key: str
    """As in the rounds of the final."""
    round: int
    entries: list[str]
    """The entries that meet, in the seat order of the first match."""
    matches: int
    own: bool
    """Whether an entry of the viewer is in it."""


class BaselineCertainty(Row, frozen=True):
    """How sure it is that an entry reaches what a baseline's grade needs."""

    game: str
    entry: str
    baseline: str
    pairs: int
    mean: float
    low: float
    high: float
    """The mean score is from low to high, at the stated error, however often one looks."""
    state: str
    """``open`` (more is played), ``decided``, or ``maximum``: as much as may be was played."""
    reached: bool | None
    """Whether the grade's threshold is reached; null where that is not decided."""


class GradeCertainty(Row, frozen=True):
    """How sure it is on which side of a threshold an entry is."""

    low: float
    high: float
    """Bounds of the mean score that hold at every moment."""
    pairs: int
    decision: str
    """``open`` (more is played), ``decided``, or ``maximum``: as much as may be was played."""


class GradeLine(Row, frozen=True):
    """The grade of a student."""

    student: str
    grade: str
    score: float | None
    entry: str
    against: dict[str, float | None]
    """The mean score against each baseline."""
    scoring: str = ""
    """What scores a match: ``wins`` or ``returns``, by game where games differ."""
    matches: dict[str, int] = {}
    """How many matches the mean against each baseline is of."""
    standard_error: dict[str, float | None] = {}
    """The standard error of each of these means, over mirrored pairings; means little in a final
    that stops when grades are certain, see ``certainty``."""
    points: float = 0.0
    """The points of the grade."""
    group: str = ""
    """What the group is called; empty for a student alone."""
    members: list[Member] = []
    certainty: dict[str, GradeCertainty] = {}
    """What is certain against each graded baseline; empty in finals with a fixed number of matches.
    """
    days_late: int = 0
    """How many days, begun or full, the entry came after the freeze or the extension."""
    penalty: float = 0.0
    """Percent of the points that this costs."""


class Results(Row, frozen=True):
    """What came of a competition, for programs, and as the files that people keep."""

    name: str
    status: str
    standings: list[BoardLine]
    grades: list[GradeLine]
    standings_csv: str
    grades_csv: str
