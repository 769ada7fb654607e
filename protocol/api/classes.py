"""Competitions with a class, as the HTTP API answers them."""

from __future__ import annotations

from plyhouse.protocol.api.rows import Row

__all__ = [
    "Announcement",
    "Change",
    "ChangedKey",
    "ClassCompetition",
    "ClassDetail",
    "Code",
    "CompetitionCost",
    "CompetitionText",
    "Copied",
    "EndedFinal",
    "Entry",
    "FinalGame",
    "GameCost",
    "Joining",
    "Losses",
    "Measure",
    "Member",
    "Regrade",
    "Rehearsal",
    "Staff",
    "Student",
]


class Measure(Row, frozen=True):
    """How long the latest matches of a game took on this server."""

    game: str
    matches: int
    seconds: float
    plies: float = 0.0
    """Mean number of plies."""
    same_control: bool = True
    """Whether they had the time control of the file; otherwise any."""


class Joining(Row, frozen=True):
    """The outcome of taking one student in."""

    name: str
    account: str
    token: str
    """Shown this once; empty where none was made."""
    outcome: str
    """``new``, ``known``, ``present``, ``revoked`` or ``reissued``."""


class Code(Row, frozen=True):
    """A code by which students join."""

    code: str
    uses: int
    used: int
    expires_ms: int | None
    group: str
    late_ms: int | None
    revoked_ms: int | None


class Entry(Row, frozen=True):
    """A bot in a competition."""

    entry: str
    version: str
    digest: str
    chosen: bool
    baseline: bool
    status: str
    connected: bool
    """Whether it is connected now, with this version, or the next one where there is one."""
    next_version: str = ""
    """The version that a rerun plays with, where the results are of another one."""
    next_digest: str = ""
    check: str = ""
    """Of a baseline: ``ready``, ``waiting`` (for its check), ``refused`` or ``missing``."""
    check_text: str = ""
    """Why a baseline cannot play with what was submitted last; empty if nothing is wrong."""
    days_late: int = 0
    """How many days, begun or full, it came after the freeze or the extension."""
    penalty: float = 0.0
    """Percent of the points that this costs."""


class Member(Row, frozen=True):
    """A person of the class."""

    name: str
    email: str
    institution_id: str = ""
    """By what its institution knows it; empty if that was not given."""


class Student(Row, frozen=True):
    """A student or group."""

    student: str
    display: str
    status: str
    extended_ms: int | None
    members: list[Member]


class FinalGame(Row, frozen=True):
    """A game of the final."""

    game: str
    competition: str
    """What its matches can be asked for by; empty until the final begins."""
    planned: int
    finished: int
    waiting_for: list[str]
    absent: list[str]
    """Bots that pairings wait for, how long, and what follows; withdrawn bots, and why."""
    unplayed: str
    """Entries whose pairings would be left out if the final ended now; empty if there are none."""
    scoring: str = ""
    """What scores a match: ``wins`` or ``returns``."""


class ClassCompetition(Row, frozen=True):
    """A competition in the list of all."""

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
    rehearsal: bool = False
    """Whether it only rehearses another one: then it counts for nothing."""
    practice: bool = False
    """Whether it has a practice ladder, which is listed once two entries are there."""
    practice_of: str = ""
    """The id of the competition that this is the practice ladder of; empty for all others."""


class Rehearsal(ClassCompetition, frozen=True, kw_only=True):
    """A rehearsal that has begun."""

    left_out: list[str]
    """Entries that do not take part, as no submission of theirs is ready."""


class EndedFinal(ClassCompetition, frozen=True, kw_only=True):
    """A competition whose final was ended early."""

    unplayed: list[str]
    """Entries whose pairings were left out: a sentence for each game, with a few names."""


class ClassDetail(ClassCompetition, frozen=True, kw_only=True):
    """A competition as its organiser sees it."""

    note: str
    """Why something could not happen by itself; empty if nothing is wrong."""
    warnings: list[str]
    """What is not as the file says, and hinders nothing: a twin that is another bot."""
    file: str
    students: list[Student]
    entries: list[Entry]
    progress: list[FinalGame]


class Announcement(Row, frozen=True):
    """An announcement."""

    id: int
    at_ms: int
    who: str
    """The account that wrote it."""
    kind: str
    """``note`` by the staff, or ``change`` for a change of the competition."""
    text: str


class Regrade(Row, frozen=True):
    """A request for a regrade."""

    id: int
    student: str
    match: str
    """Empty: it is about the grade."""
    text: str
    asked_ms: int
    answer: str
    """Empty until the staff answers."""
    answered_by: str
    answered_ms: int | None
    closed_ms: int | None


class Staff(Row, frozen=True):
    """Somebody on the staff."""

    player: str
    role: str
    """``owner``, ``assistant`` or ``reader``."""
    since_ms: int
    able: bool = True
    """False right after it was added if it has no token with the scope ``organise`` yet."""


class CompetitionText(Row, frozen=True):
    """The competition file of a competition."""

    name: str
    file: str
    digest: str
    """SHA-256 of the file, in hexadecimal."""


class ChangedKey(Row, frozen=True):
    """A difference between two versions of a competition file."""

    key: str
    """As in the file; of a baseline with its bot: ``baselines[staff/easy].at_least``."""
    old: str
    new: str
    effect: str
    refused: str
    """Why it is not possible now; empty if it is."""


class Change(Row, frozen=True):
    """What a new file changes in a competition."""

    name: str
    status: str
    """After the change, if it was applied."""
    applied: bool
    changes: list[ChangedKey]
    """Empty if the two files say the same."""
    notice: str
    """What students are told on the page; empty if nothing is for them."""
    digest: str
    """Of the file that the competition has now."""


class Losses(Row, frozen=True):
    """What would be lost if a competition were deleted."""

    name: str
    status: str
    rehearsal: bool
    students: int
    """Students; their accounts stay."""
    entries: int
    submissions: int
    """Packages that were submitted for it alone; they are deleted."""
    codes: int
    """That still let somebody in."""
    matches: int
    """EndedFinal ones of its final; they stay in the list of matches."""
    running: int


class Copied(Row, frozen=True):
    """A competition that was opened with students of another one."""

    name: str
    status: str
    students: int
    codes: int
    entries: int


class GameCost(Row, frozen=True):
    """The cost of one game."""

    game: str
    matches: int
    seconds: float
    """Of one match, if every bot uses all its time."""
    core_hours: float
    """Of all matches, if every bot uses all its time."""
    measured: int
    """How many matches were measured."""
    source: str
    """``server`` (matches played here) or ``sample`` (played at random now)."""
    typical_seconds: float = 0.0
    """Of one match, as measured on this server or estimated from the sample."""
    typical_core_hours: float = 0.0


class CompetitionCost(Row, frozen=True):
    """What a competition would cost; a ladder has no end and so no games here."""

    name: str
    entries: int
    endless: bool
    games: list[GameCost]
    matches: int
    core_hours: float
    """If every bot uses all its time."""
    at_a_time: int
    end_ms: int | None
    """When it is over at the latest if it begins on time and never waits."""
    typical_core_hours: float = 0.0
    hours: float = 0.0
    """From begin to end, if every bot uses all its time."""
    typical_hours: float = 0.0
    typical_end_ms: int | None = None
    notes: list[str] = []
    """How a match of each game scores and what grades rest on, as sentences."""
