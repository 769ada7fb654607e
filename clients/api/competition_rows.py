"""What the API answers about competitions, as rows; see `plyhouse.clients.api.rows`."""

from __future__ import annotations

from dataclasses import dataclass, field

from plyhouse.clients.api.drawing import table_html

__all__ = [
    "Announcement",
    "Asked",
    "Board",
    "BoardLine",
    "Change",
    "ChangedKey",
    "ClassCompetition",
    "ClassDetail",
    "Code",
    "Competition",
    "CompetitionDetail",
    "Copied",
    "Entry",
    "FileOf",
    "FinalGame",
    "GradeCertainty",
    "GradeLine",
    "HandedIn",
    "Joining",
    "Losses",
    "Mean",
    "MeanReturn",
    "Measure",
    "Member",
    "NextPairing",
    "ProvenLine",
    "Regrade",
    "Results",
    "Staff",
    "Strength",
    "Student",
    "Submission",
    "TableLine",
    "Twin",
    "Version",
]


@dataclass(frozen=True, slots=True)
class Competition:
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


@dataclass(frozen=True, slots=True)
class Announcement:
    """A text of the staff on the page of a competition."""

    id: int
    at_ms: int
    who: str
    kind: str
    """``note`` by the staff, or ``change`` for a change of the competition."""
    text: str


@dataclass(frozen=True, slots=True)
class Regrade:
    """A request of a student to look at a match, or at the grade, again."""

    id: int
    student: str
    match: str
    """Empty: it is about the grade."""
    text: str
    asked_ms: int
    answer: str
    answered_by: str
    answered_ms: int | None
    closed_ms: int | None
    """None while it is open."""


@dataclass(frozen=True, slots=True)
class TableLine:
    """One line of a competition's table."""

    rank: int
    player: str
    bot: str
    score: float
    games: int
    wins: int
    draws: int
    losses: int
    returns: float


@dataclass(frozen=True, slots=True)
class CompetitionDetail(Competition):
    """A competition with its table; matches are counted in the whole schedule."""

    entries: list[str]
    planned: int
    created: int
    finished: int
    waiting_for: list[str]
    """Bots that keep pairings from being played, and why."""
    table: list[TableLine]

    def _repr_html_(self) -> str:
        return table_html(self.table)


@dataclass(frozen=True, slots=True)
class ClassCompetition:
    """A competition with a class in the list of all."""

    competition: str
    name: str
    status: str
    games: list[str]
    time_control: str
    format: str
    board: str
    rules: str
    entries_per_student: int
    opens_ms: int | None
    freezes_ms: int | None
    final_ms: int | None
    finished_ms: int | None


@dataclass(frozen=True, slots=True)
class Member:
    """A person of the class."""

    name: str
    email: str
    institution_id: str = ""


@dataclass(frozen=True, slots=True)
class Student:
    """A student or group."""

    student: str
    display: str
    status: str
    extended_ms: int | None
    members: list[Member]


@dataclass(frozen=True, slots=True)
class Entry:
    """A bot in a competition."""

    entry: str
    version: str
    digest: str
    chosen: bool
    baseline: bool
    status: str
    connected: bool
    next_version: str = ""
    """The version that a rerun plays with, where the results are of another one."""
    next_digest: str = ""
    check: str = ""
    """Of a baseline: ``ready``, ``waiting`` (for its check), ``refused`` or ``missing``."""
    check_text: str = ""
    """Why a baseline cannot play; empty if nothing is wrong."""
    days_late: int = 0
    """How many days, begun or full, it came after the freeze or the extension."""
    penalty: float = 0.0
    """Percent of the points that this costs."""


@dataclass(frozen=True, slots=True)
class FinalGame:
    """A game of the final, and how far it is."""

    game: str
    competition: str
    """What its matches can be asked for by; empty until the final begins."""
    planned: int
    finished: int
    waiting_for: list[str]
    absent: list[str]
    """Who has been waited for, for how long, and what comes of it; who was withdrawn, and why."""
    unplayed: str
    """Whose pairings would be left out if the final ended now; empty if there are none."""
    scoring: str = ""
    """What scores a match: ``wins`` or ``returns``."""


@dataclass(frozen=True, slots=True)
class ClassDetail(ClassCompetition):
    """A competition as its organiser sees it."""

    note: str
    """Why something could not happen by itself; empty if nothing is wrong."""
    warnings: list[str]
    """What is not as the file says, and hinders nothing."""
    file: str
    students: list[Student]
    entries: list[Entry]
    progress: list[FinalGame]


@dataclass(frozen=True, slots=True)
class BoardLine:
    """One line of the standings of a competition with a class."""

    rank: int | None
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
    """The place by the rules of the format; ``rank`` is by score."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over mirrored pairs with its 95 % interval for one look; None: nothing known yet."""

    mean: float
    low: float | None
    high: float | None
    pairs: int


@dataclass(frozen=True, slots=True)
class MeanReturn:
    """What an entry gets per match."""

    raw: Mean
    adjusted: Mean | None
    """With luck taken out, where the server can tell it."""
    saved: float | None
    any_low: float | None
    any_high: float | None
    """The interval of the raw mean for whoever looks at every moment."""


@dataclass(frozen=True, slots=True)
class Strength:
    """A fitted rating, in Elo points, and the ranks that it may have."""

    elo: float
    low: float
    high: float
    any_low: float
    any_high: float
    rank_low: int
    rank_high: int
    matches: float


@dataclass(frozen=True, slots=True)
class ProvenLine:
    """One line of a board: what the rules say, and what it proves."""

    rank: int | None
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
    rating: Strength | None
    ahead: float | None
    """How likely it is stronger than the entry of the next line."""
    twin_of: str
    returns: dict[str, MeanReturn]
    """By game."""
    place: int | None = None
    """The place by the rules of the format; ``rank`` is by score."""


@dataclass(frozen=True, slots=True)
class Twin:
    """One bot entered twice: by how much chance drives equals apart."""

    entry: str
    twin: str
    same: bool
    score: float | None
    elo: float | None
    chance: float | None


@dataclass(frozen=True, slots=True)
class Board:
    """A board as whoever asks may see it."""

    competition: str
    name: str
    status: str
    matches: int
    repeated: int
    lines: list[ProvenLine]
    notes: list[str]
    twins: list[Twin]
    scoring: dict[str, str] = field(default_factory=dict)
    """What scores a match, by game: ``wins`` or ``returns``."""
    any_time: bool = False
    """Whether all intervals are any-time ones: pairings were played until grades were certain."""

    def _repr_html_(self) -> str:
        return table_html(self.lines)


@dataclass(frozen=True, slots=True)
class NextPairing:
    """A pairing that has not begun."""

    game: str
    key: str
    round: int
    entries: list[str]
    matches: int
    own: bool


@dataclass(frozen=True, slots=True)
class GradeCertainty:
    """How sure it is on which side of a threshold an entry is."""

    low: float
    high: float
    pairs: int
    decision: str


@dataclass(frozen=True, slots=True)
class GradeLine:
    """The grade of a student."""

    student: str
    grade: str
    score: float | None
    entry: str
    against: dict[str, float | None]
    """The mean score against each baseline."""
    scoring: str = ""
    """What scores a match: ``wins`` or ``returns``, by game where games differ."""
    matches: dict[str, int] = field(default_factory=dict)
    """How many matches the mean against each baseline is of."""
    standard_error: dict[str, float | None] = field(default_factory=dict)
    """The standard error of each of these means, over mirrored pairings."""
    points: float = 0.0
    """The points of the grade."""
    group: str = ""
    members: list[Member] = field(default_factory=list)
    certainty: dict[str, GradeCertainty] = field(default_factory=dict)
    """By baseline, in finals that play until grades are certain."""
    days_late: int = 0
    """How many days, begun or full, the entry came after the freeze or the extension."""
    penalty: float = 0.0
    """Percent of the points that this costs."""


@dataclass(frozen=True, slots=True)
class Results:
    """What came of a competition, as rows and as the files that people keep."""

    name: str
    status: str
    standings: list[BoardLine]
    grades: list[GradeLine]
    standings_csv: str
    grades_csv: str


@dataclass(frozen=True, slots=True)
class Measure:
    """How long the latest matches of a game took on the server."""

    game: str
    matches: int
    seconds: float
    plies: float = 0.0
    same_control: bool = True
    """Whether they had the time control of the file; otherwise any."""


@dataclass(frozen=True, slots=True)
class Joining:
    """What became of a student who was to be taken in."""

    name: str
    account: str
    token: str
    """Told this once; empty where none was made."""
    outcome: str
    """``new``, ``known``, ``present``, ``revoked`` or ``reissued``."""


@dataclass(frozen=True, slots=True)
class FileOf:
    """The competition file of a competition."""

    name: str
    file: str
    digest: str
    """SHA-256 of the file, in hexadecimal."""


@dataclass(frozen=True, slots=True)
class ChangedKey:
    """A difference between two versions of a competition file."""

    key: str
    old: str
    new: str
    effect: str
    refused: str
    """Why it is not possible now; empty if it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a new file changes in a competition."""

    name: str
    status: str
    applied: bool
    changes: list[ChangedKey]
    notice: str
    """What students are told; empty if nothing is for them."""
    digest: str
    """Of the file that the competition has now."""


@dataclass(frozen=True, slots=True)
class Losses:
    """What would be lost if a competition were deleted."""

    name: str
    status: str
    rehearsal: bool
    students: int
    """Whose accounts stay."""
    entries: int
    submissions: int
    """Packages that were submitted for it alone; they are deleted."""
    codes: int
    """That still let somebody in."""
    matches: int
    """Finished ones of its final; they stay in the list of matches."""
    running: int


@dataclass(frozen=True, slots=True)
class Copied:
    """A competition that was opened with students of another one."""

    name: str
    status: str
    students: int
    codes: int
    entries: int


@dataclass(frozen=True, slots=True)
class Staff:
    """Somebody on the staff of a competition."""

    player: str
    role: str
    """``owner``, ``assistant`` or ``reader``."""
    since_ms: int
    able: bool
    """False right after it was added if it has no token with the scope ``organise`` yet."""


@dataclass(frozen=True, slots=True)
class Code:
    """A code by which students join."""

    code: str
    uses: int
    used: int
    expires_ms: int | None
    group: str
    late_ms: int | None
    revoked_ms: int | None


@dataclass(frozen=True, slots=True)
class Submission:
    """Where a version is entered."""

    competition: str
    status: str
    chosen: bool
    left_out: bool
    """Whether only what was handed in plays there, and this version was not."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of one of one's bots."""

    bot: str
    version: str
    digest: str
    created_ms: int
    entered: list[Submission]


@dataclass(frozen=True, slots=True)
class Asked:
    """A competition in which what was handed in is to play."""

    competition: str
    chosen: bool
    outcome: str
    """Empty until the check is over; then ``entered``, or why not."""
    text: str
    """The same for people."""


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A package that was handed in for the server to run."""

    submission: int
    bot: str
    version: str
    digest: str
    status: str
    """``waiting`` (for its check), ``ready`` or ``refused``."""
    games: list[str]
    bytes: int
    submitted_ms: int
    checked_ms: int | None
    competitions: list[Asked]
    report: str
    """What the check said; empty in lists."""
    waits_for: str = ""
    """What it needs that no runner machine has, as a sentence; mostly empty."""
