"""Competitions, as the HTTP API answers them."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from plyhouse.protocol.api.rows import Row

CompetitionStatus: TypeAlias = Literal[
    "draft", "open", "frozen", "running", "paused", "finished", "deleted"
]
"""A ``draft`` opens later; a ``deleted`` competition is listed nowhere."""

BEFORE_FREEZE: Final[tuple[CompetitionStatus, ...]] = ("draft", "open")
BEFORE_FINAL: Final[tuple[CompetitionStatus, ...]] = (*BEFORE_FREEZE, "frozen")
IN_FINAL: Final[tuple[CompetitionStatus, ...]] = ("running", "paused")
FINAL_BEGUN: Final[tuple[CompetitionStatus, ...]] = (*IN_FINAL, "finished")
NOT_OVER: Final[tuple[CompetitionStatus, ...]] = (*BEFORE_FINAL, *IN_FINAL)
TAKES_LATE: Final[tuple[CompetitionStatus, ...]] = ("frozen", "finished")
"""Only students with an extension, or late by the file, may submit: for the final or a rerun."""
TAKES_ENTRIES: Final[tuple[CompetitionStatus, ...]] = ("open", *TAKES_LATE)
"""Students may submit, in time or late."""


class PastFinal(Row, frozen=True):
    """The duration of a final that this server played, with all that lies between matches."""

    competition: str
    matches: int
    """Matches measured: all, or the latest."""
    seconds: float
    """Duration of these matches, without pauses."""
    at_a_time: float
    """Mean number of matches that ran at the same time."""


class Measure(Row, frozen=True):
    """Measured costs of a game on this server."""

    game: str
    matches: int
    plies: float = 0.0
    """Mean number of plies of the latest matches."""
    final: PastFinal | None = None
    """The latest final with the same time control and hosting; null if there was none."""


class Joining(Row, frozen=True):
    """The outcome of adding one student."""

    name: str
    account: str
    token: str
    """The new token, which only this answer shows; empty if none was created."""
    outcome: str
    """``new``, ``known``, ``present``, ``revoked`` or ``reissued``."""
    delays: str = ""
    """The final or rerun that an extension given with the student delays; empty if none."""


class Code(Row, frozen=True):
    """A code by which students join."""

    code: str
    uses: int
    used: int
    expires_ms: int | None
    group: str
    late_ms: int | None
    revoked_ms: int | None
    delays: str = ""
    """The final or rerun that the extensions of students with a new code delay; empty if none."""


class Entry(Row, frozen=True):
    """A bot in a competition."""

    entry: str
    version: str
    digest: str
    chosen: bool
    baseline: bool
    status: str
    connected: bool
    """True if this version is connected, or the next version if there is one."""
    next_version: str = ""
    """The version that a rerun would use, if it differs from the one in the results."""
    next_digest: str = ""
    check: str = ""
    """State of a baseline: ``ready``, ``waiting`` (for its check), ``refused`` or ``missing``."""
    check_text: str = ""
    """Why a baseline cannot play its latest submission; empty if it can."""
    days_late: int = 0
    """Started days by which the entry missed the freeze or the extension."""
    penalty: float = 0.0
    """Percentage of the points deducted for lateness."""
    hosted: bool = False
    """True if the server runs this version, because it was submitted."""
    missing: list[str] = []
    """Games of the competition that this version does not play, as far as its check or its
    connection says; each counts as 0."""


class Member(Row, frozen=True):
    """A person of the class."""

    name: str
    email: str
    institution_id: str = ""
    """The person's id at the institution; empty if unknown."""
    login: str = ""
    """The person's login at the institution; empty if unknown."""


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
    tournament: str
    """Id for requesting its matches; empty until the final begins."""
    planned: int
    finished: int
    waiting_for: list[str]
    absent: list[str]
    """A sentence for each bot that pairings wait for, and for each withdrawn bot."""
    unplayed: str
    """Entries that would miss pairings if the final ended now; empty if there are none."""
    scoring: str = ""
    """How a match is scored: by ``wins`` or ``returns``."""


class Competition(Row, frozen=True):
    """A competition in the list of all."""

    competition: str
    name: str
    status: str
    """One of `CompetitionStatus`, and so in all answers; a reader accepts any text."""
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
    """True if it rehearses another competition; its results do not count."""
    practice: bool = False
    """True if it has a practice ladder; the ladder appears once there are two entries."""
    practice_of: str = ""
    """For a practice ladder, the id of its competition; empty for all others."""
    zone: str = ""
    """The time zone in which its file gives dates, by its name in the IANA database."""


class Rehearsal(Competition, frozen=True, kw_only=True):
    """A rehearsal that has begun."""

    left_out: list[str]
    """Entries that do not take part because they have no ready submission."""


class EndedFinal(Competition, frozen=True, kw_only=True):
    """A competition whose final was ended early."""

    unplayed: list[str]
    """For each game, a sentence about the entries that missed pairings, with a few names."""


class CompetitionDetail(Competition, frozen=True, kw_only=True):
    """A competition as its organiser sees it."""

    note: str
    """Why an automatic step failed; empty if none did."""
    warnings: list[str]
    """Harmless differences from the file, such as a duplicate baseline that is another bot."""
    file: str
    students: list[Student]
    entries: list[Entry]
    progress: list[FinalGame]
    checks: list[str] = []
    """Why submissions for it wait for their checks, a text for each, as for their authors."""


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
    """A member of the staff."""

    player: str
    role: str
    """``owner``, ``assistant`` or ``reader``."""
    since_ms: int
    able: bool = True
    """False if the member has no token with the scope ``organise`` yet."""


class CompetitionText(Row, frozen=True):
    """The competition file of a competition."""

    name: str
    file: str
    digest: str
    """SHA-256 of the file, in hexadecimal."""


class ChangedKey(Row, frozen=True):
    """A difference between two versions of a competition file."""

    key: str
    """The key as in the file; for a baseline with its bot: ``baselines[staff/easy].at_least``."""
    old: str
    new: str
    effect: str
    refused: str
    """Why the change is not possible now; empty if it is."""


class Change(Row, frozen=True):
    """The differences between a new file and the file of a competition."""

    name: str
    status: str
    """The status, after the change if it was applied."""
    applied: bool
    changes: list[ChangedKey]
    """Empty if the two files have the same content."""
    notice: str
    """The notice for students on the page; empty if no change concerns them."""
    digest: str
    """SHA-256 of the file that the competition has now, in hexadecimal."""
    delays: str = ""
    """The final that waits after the change, and until when, or the extensions that it does not
    wait for; empty if changed dates concern none."""


class Extended(Row, frozen=True):
    """A student's time to submit, and what it delays."""

    student: str
    until_ms: int
    delays: str
    """The final or rerun that waits, until when, and how it begins without, or the final that
    leaves it to a rerun; empty if none."""
    zone: str = ""
    """The time zone of the competition's dates."""


class Losses(Row, frozen=True):
    """Everything that deleting a competition would delete."""

    name: str
    status: str
    rehearsal: bool
    students: int
    """Number of students; their accounts stay."""
    entries: int
    submissions: int
    """Number of packages submitted for this competition alone."""
    codes: int
    """Number of valid join codes."""
    matches: int
    """Number of finished matches of its final; they stay in the list of matches."""
    running: int


class Copied(Row, frozen=True):
    """A competition opened with the students of another one."""

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
    """Thinking time of one match if every bot uses all its time."""
    core_hours: float
    """Thinking time of all matches if every bot uses all its time."""
    measured: int
    """Number of measured matches."""
    source: str
    """``server`` (matches of this server) or ``sample`` (random matches played now)."""
    typical_seconds: float | None = None
    """Duration of the latest such final divided by its matches; null if there was none."""


class CompetitionCost(Row, frozen=True):
    """Estimated cost of a competition; a ladder has no end, so it lists no games."""

    name: str
    entries: int
    endless: bool
    games: list[GameCost]
    matches: int
    core_hours: float
    """Thinking time if every bot uses all its time."""
    at_a_time: int
    end_ms: int | None
    """End of this thinking, if it begins on time and never waits for a bot."""
    hours: float = 0.0
    """Duration of this thinking."""
    typical_hours: float | None = None
    """Duration at the pace of past finals; null if a game had none of this kind."""
    typical_end_ms: int | None = None
    notes: list[str] = []
    """Sentences about the scoring of each game, and the basis of grades and of the duration."""
