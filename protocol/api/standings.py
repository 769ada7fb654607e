"""Standings, rounds and grades of competitions, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.competitions import Member
from plyhouse.protocol.api.rows import NOTEBOOK, Row


class StandingLine(Row, frozen=True):
    """The result of an entry by the rules, as every table of standings shows it."""

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
    """Matches that the entry forfeited; 0 for an anonymous entry."""
    games: dict[str, float]


class BoardLine(StandingLine, frozen=True, kw_only=True):
    """One line of the standings."""

    version: str
    digest: str
    place: int | None = None
    """The place by the rules of the format; lines come in this order."""


class Mean(Row, frozen=True):
    """A mean with its 95 % interval; bounds are null with fewer than two mirrored pairs."""

    mean: float
    low: float | None
    high: float | None
    pairs: int


class MeanReturn(Row, frozen=True):
    """The mean return per match, over mirrored pairs."""

    raw: Mean
    adjusted: Mean | None
    """Without the luck of dice and cards; null if the server cannot compute it."""
    saved: float | None
    """The fraction of matches that this saves for an interval of the same width."""
    any_low: float | None
    any_high: float | None
    """The any-time 95 % interval of the raw mean; null if the game does not bound its returns."""


class Strength(Row, frozen=True):
    """A fitted strength, in Elo points."""

    elo: float
    low: float
    high: float
    """The 95 % interval for a number of matches that was fixed in advance."""
    any_low: float
    any_high: float
    """The any-time 95 % interval, valid however often you look."""
    rank_low: int
    rank_high: int
    """The best and the worst plausible rank among the lines shown."""
    matches: float


class Nash(Row, frozen=True):
    """An entry's result by Nash averaging."""

    share: float
    """Its frequency in equilibrium."""
    low: float
    high: float
    """``low`` and ``high`` bound the middle 95 % of its shares in resampled results."""
    score: float
    """Its result per game against the equilibrium, beyond a draw; at most zero."""
    chosen: float
    """The share of resampled results in which it is chosen at all."""


class ProvenLine(StandingLine, frozen=True, kw_only=True):
    """One line of a board: rank and score by the rules, and the statistical evidence."""

    rating: Strength | None
    ahead: float | None
    """Probability that it is stronger than the entry on the next line; null on the last line."""
    twin_of: str
    """The entry that it duplicates; such an entry has no rank. Empty for all others."""
    nash: Nash | None
    returns: dict[str, MeanReturn]
    """By game."""
    place: int | None = None
    """The place by the rules of the format; lines come in this order."""
    grade: str = ""
    """The grade so far; empty if there is none, or if it is not yours to see."""
    partners: list[str] = []
    """The other bots of its side, in games for teams."""
    decider: str = ""
    """Its value in the deciding column of the board, as people read it; empty if it has none."""
    tie_break: str = ""
    """The tie-breaks that separate it from the entries beside it, if their values are equal."""


class SeatTerm(Row, frozen=True):
    """The advantage of a seat over the last seat of its game, in Elo points."""

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
    """A bot entered twice, to measure the noise of this board."""

    entry: str
    twin: str
    same: bool
    """True if the same files and options played under both names."""
    score: float | None
    """The difference between their scores; null until both have played."""
    elo: float | None
    """The difference between their ratings."""
    chance: float | None
    """The rating difference that equal bots exceed by chance 5 times in 100."""


class Board(Row, frozen=True):
    """A board as the viewer may see it."""

    competition: str
    name: str
    status: str
    board: str
    matches: int
    repeated: int
    """Matches that repeat an earlier one ply by ply; the ratings ignore them."""
    lines: list[ProvenLine]
    notes: list[str]
    seats: dict[str, list[SeatTerm]]
    """By game."""
    draws: dict[str, float]
    """By game: the fitted probability that equal bots draw."""
    crosstab: list[HeadToHead]
    """Empty unless the request asked for it."""
    twins: list[Twin]
    scoring: dict[str, str] = {}
    """By game: how a match is scored, by ``wins`` or ``returns``."""
    any_time: bool = False
    """True if pairings were played until grades were certain. Then ``low`` and ``high`` are equal
    to ``any_low`` and ``any_high``."""
    decided_by: str = ""
    """The column that decides the places, such as ``points`` or ``rating``; empty before the
    final. Lines have its value as ``decider``."""

    @property
    def graded(self) -> bool:
        """True if grades have a column beside the one that decides."""
        return self.decided_by != "grade" and any(line.grade for line in self.lines)

    @property
    def averaged(self) -> bool:
        """True if lines have shares of the Nash average."""
        return any(line.nash for line in self.lines)

    @property
    def returns(self) -> list[tuple[str, bool]]:
        """The columns of mean returns: a game, and whether luck is taken out."""
        found = [each for line in self.lines for each in line.returns.items()]
        return sorted(
            {(game, adjusted) for game, each in found for adjusted in (False, bool(each.adjusted))}
        )

    def _repr_html_(self) -> str:
        return NOTEBOOK.table(self.lines)


class Place(Row, frozen=True):
    """One line of the table of a format."""

    place: int | None
    """Null for unranked baselines."""
    entry: str
    points: float
    played: int
    """Pairings that count."""
    tie_breaks: list[float]
    withdrawn: bool
    baseline: bool


class RoundPairing(Row, frozen=True):
    """A pairing of a round, or the reason why there is none."""

    key: str
    entries: list[str | None]
    """The entries that meet; null for an entry not known yet and for no opponent."""
    state: str
    """``waiting``, ``ready``, ``playing``, ``finished``, ``void``, ``bye``, ``walkover`` or
    ``dropped``."""
    scores: list[float] | None
    """Total score of each entry in the matches that count."""
    matches: int
    """Number of matches that count."""
    winner: str | None
    """The entry that advances, in formats in which one does."""
    pairing: str
    """Id of the pairing, for requesting its matches; empty until the first one begins."""


class Round(Row, frozen=True):
    """A round of a final."""

    number: int
    name: str
    lines: list[RoundPairing]


class GameRounds(Row, frozen=True):
    """Table and rounds of one game of a final."""

    game: str
    tournament: str
    format: str
    tie_breaks: list[str]
    """The tie-breaks between entries with equal points, in order."""
    table: list[Place]
    rounds: list[Round]
    decided_by: str = ""
    """How places are decided, in words."""
    seeds: list[str] = []
    """The entries from the first seed to the last, if the format uses seeds.

    Empty on an anonymous board."""
    lot: str = ""
    """The random seed of the draw that ordered unrated entries; empty if there was no draw.

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
    """True if an entry of the viewer takes part."""


class BaselineCertainty(Row, frozen=True):
    """How certain it is that an entry reaches the grade of a baseline."""

    game: str
    entry: str
    baseline: str
    pairs: int
    mean: float
    low: float
    high: float
    """Any-time bounds of the mean score, at the stated error."""
    state: str
    """``open`` (more matches follow), ``decided``, or ``maximum`` (no more are allowed)."""
    reached: bool | None
    """True if the entry reaches the grade's threshold; null if undecided."""


class GradeCertainty(Row, frozen=True):
    """How certain it is whether an entry reaches a threshold."""

    low: float
    high: float
    """Any-time bounds of the mean score."""
    pairs: int
    decision: str
    """``open`` (more matches follow), ``decided``, or ``maximum`` (no more are allowed)."""


class GradeLine(Row, frozen=True):
    """The grade of a student."""

    student: str
    grade: str
    score: float | None
    entry: str
    against: dict[str, float | None]
    """The mean score against each baseline."""
    scoring: str = ""
    """How a match is scored: by ``wins`` or ``returns``; for each game if games differ."""
    matches: dict[str, int] = {}
    """Number of matches behind the mean against each baseline."""
    standard_error: dict[str, float | None] = {}
    """The standard error of each mean, over mirrored pairings. If the final stops when grades are
    certain, use ``certainty`` instead."""
    points: float = 0.0
    """The points of the grade."""
    group: str = ""
    """Name of the group; empty for a single student."""
    members: list[Member] = []
    certainty: dict[str, GradeCertainty] = {}
    """The certainty against each graded baseline; empty if the number of matches was fixed."""
    days_late: int = 0
    """Started days by which the entry missed the freeze or the extension."""
    penalty: float = 0.0
    """Percentage of the points deducted for lateness."""


class Results(Row, frozen=True):
    """Results of a competition, as data and as CSV files."""

    name: str
    status: str
    standings: list[BoardLine]
    grades: list[GradeLine]
    standings_csv: str
    grades_csv: str


class Standing(Row, frozen=True):
    """The place of a bot on a leaderboard; only rated matches that are not void count."""

    rank: int
    player: str
    bot: str
    bot_id: int
    score: float
    """Sum over its matches: 1 for a win, 0.5 for a draw, in games for two."""
    games: int
    wins: int
    draws: int
    losses: int
    rating: float | None
    """Elo; null until the first fit."""
    low: float | None
    high: float | None
    """The bounds of the rating's 95 % interval."""
    returns: float
    """Sum of the utilities of all matches (chips, cents)."""
    return_squares: float
    """Sum of the squares of these utilities."""
    version_id: int = 0
    version: str = ""
    """Label of the version with these results."""
    latest: bool = True
    """True if the bot used this version in its last rated match of this game."""
    display: str = ""
    """The player's display name; empty if it has none."""
    mean_return: float | None = None
    """Utility per match; null in games where only winning counts."""
    mean_low: float | None = None
    mean_high: float | None = None
    """Bounds of its 95 % interval, within the bounds of the game's returns."""


class Leaderboard(Row, frozen=True):
    """The standings of a game, best first; ratings go by ``scoring``: wins or returns."""

    game: str
    scoring: str
    standings: list[Standing]

    def _repr_html_(self) -> str:
        return NOTEBOOK.table(self.standings)
