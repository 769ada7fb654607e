"""What the API of competitions with a class sends and accepts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from plyhouse.server.competition.file import MAX_FILE

__all__ = [
    "BaselineChange",
    "BoardLine",
    "ClassDetail",
    "ClassSummary",
    "CodeView",
    "Disqualification",
    "EntryView",
    "ExportView",
    "Extension",
    "FileText",
    "FinalView",
    "GameView",
    "GradeLine",
    "Join",
    "Joining",
    "MeasureView",
    "MemberView",
    "NewCode",
    "PlaceLine",
    "Rehearsed",
    "RoundLine",
    "RoundView",
    "Step",
    "StudentLimit",
    "StudentList",
    "StudentName",
    "StudentView",
    "Submitted",
    "Submitting",
    "VersionView",
]

Why = Annotated[str, Meta(max_length=1000)]
Text = Annotated[str, Meta(max_length=200)]
Time = Annotated[str, Meta(max_length=64)]


class FileText(Struct, forbid_unknown_fields=True):
    """A competition file."""

    file: Annotated[str, Meta(max_length=4 * MAX_FILE)]
    why: Why = ""


class MeasureView(Struct):
    """How long the latest matches of a game took on this server."""

    game: str
    matches: int
    seconds: float
    plies: float = 0.0
    """Mean number of plies."""
    same_control: bool = True
    """Whether they had the time control of the file; otherwise any."""


class Step(Struct, forbid_unknown_fields=True):
    """A step of a competition."""

    why: Why = ""
    anyway: bool = False
    """To begin the final although somebody may still submit."""


class Extension(Struct, forbid_unknown_fields=True):
    """Until when one student may submit."""

    student: Text
    until: Time
    """A time with its zone: ``2027-01-31T18:00:00+01:00``."""
    why: Why = ""


class StudentLimit(Struct, forbid_unknown_fields=True):
    """How many students a competition may have, instead of what its file says."""

    students: Annotated[int, Meta(ge=1, le=10_000)]
    why: Why = ""


class Disqualification(Struct, forbid_unknown_fields=True):
    """Who is disqualified, and why."""

    who: Text
    """A student with all entries, or one of them: ``player/bot``."""
    why: Annotated[str, Meta(min_length=1, max_length=1000)]


class StudentName(Struct, forbid_unknown_fields=True):
    """A student, by account."""

    student: Text
    why: Why = ""


class LostToken(Struct, forbid_unknown_fields=True):
    """The student whose token is replaced."""

    student: Text
    member: Annotated[str, Meta(max_length=64)] = ""
    """The person, where the account is a group's."""
    why: Why = ""


class StudentList(Struct, forbid_unknown_fields=True):
    """A list of students as CSV."""

    csv: Annotated[str, Meta(max_length=1_000_000)]
    late_until: Time = ""
    """After the freeze: until when they may submit."""
    adopt: Annotated[list[Text], Meta(max_length=10_000)] = []
    """Accounts of before that are these students'; ``*`` for all that are there."""
    why: Why = ""


class Joining(Struct):
    """What became of a student who was to be taken in."""

    name: str
    account: str
    token: str
    """Shown this once; empty where none was made."""
    outcome: str
    """``new``, ``known``, ``present``, ``revoked`` or ``reissued``."""


class NewCode(Struct, forbid_unknown_fields=True):
    """A code to make."""

    uses: Annotated[int, Meta(ge=1, le=10_000)]
    expires: Time = ""
    group: Text = ""
    """The account of the group that it lets members into; empty: everybody gets an own one."""
    late_until: Time = ""
    why: Why = ""


class CodeView(Struct):
    """A code by which students join."""

    code: str
    uses: int
    used: int
    expires_ms: int | None
    group: str
    late_ms: int | None
    revoked_ms: int | None


class Join(Struct, forbid_unknown_fields=True):
    """To join by a code; with a token, the account of that token joins.

    Without a token, ``player`` is the name of a new account; empty in a browser: who is signed in.
    """

    code: Annotated[str, Meta(min_length=1, max_length=32)]
    player: Annotated[str, Meta(max_length=64)] = ""


class Submitting(Struct, forbid_unknown_fields=True):
    """What is to play."""

    bot: Text
    version: Text = ""
    """A label, or the beginning of a digest; empty: the version that connects last."""
    replace: Text = ""
    """The bot whose place it takes."""


class EntryView(Struct):
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


class BaselineChange(Struct, forbid_unknown_fields=True):
    """A baseline to check again, or to replace."""

    bot: Text
    """``player/bot``."""
    reference: Text = ""
    """The reference bot that takes its place, with options; empty to check the same one again."""
    why: Why = ""


class Submitted(Struct):
    """Where a version is entered."""

    competition: str
    status: str
    chosen: bool
    left_out: bool = False
    """Whether only what was handed in plays there, and this version was not."""


class VersionView(Struct):
    """A version of one of one's bots."""

    bot: str
    version: str
    digest: str
    created_ms: int
    entered: list[Submitted]


class MemberView(Struct):
    """A person of the class."""

    name: str
    email: str
    institution_id: str = ""
    """By what its institution knows it; empty if that was not given."""


class StudentView(Struct):
    """A student or group."""

    student: str
    display: str
    status: str
    extended_ms: int | None
    members: list[MemberView]


class GameView(Struct):
    """A game of the final."""

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


class ClassSummary(Struct):
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
    rehearsal: bool
    """Whether it only rehearses another one: then it counts for nothing."""
    practice: bool
    """Whether it has a practice ladder, which is listed once two entries are there."""
    practice_of: str
    """The id of the competition that this is the practice ladder of; empty for all others."""


class Rehearsed(ClassSummary):
    """A rehearsal that has begun."""

    left_out: list[str]
    """Entries that do not take part: nothing of them is handed in and ready."""


class Finished(ClassSummary):
    """A competition whose final was ended as it stood."""

    unplayed: list[str]
    """Whose pairings were left out, a sentence for each game; a few names, and how many more."""


class ClassDetail(ClassSummary):
    """A competition as its organiser sees it."""

    note: str
    """Why something could not happen by itself; empty if nothing is wrong."""
    warnings: list[str]
    """What is not as the file says, and hinders nothing: a twin that is another bot."""
    file: str
    students: list[StudentView]
    entries: list[EntryView]
    progress: list[GameView]


class BoardLine(Struct):
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


class PlaceLine(Struct):
    """One line of the table of a format."""

    place: int | None
    """None for baselines where they are not ranked."""
    entry: str
    points: float
    played: int
    """Pairings that count."""
    tie_breaks: list[float]
    withdrawn: bool
    baseline: bool


class RoundLine(Struct):
    """A pairing of a round, or why there is none."""

    key: str
    entries: list[str | None]
    """Who meets; None where that is not known yet, or where there is no opponent."""
    state: str
    """``waiting``, ``ready``, ``playing``, ``finished``, ``void``, ``bye``, ``walkover`` or
    ``dropped``."""
    scores: list[float] | None
    """What each scored, summed over the matches that count."""
    matches: int
    """How many count."""
    winner: str | None
    """Who goes on from here, where the format says that somebody does."""
    pairing: str
    """What its matches can be asked for by; empty as long as there are none."""


class RoundView(Struct):
    """A round of a final."""

    number: int
    name: str
    lines: list[RoundLine]


class FinalView(Struct):
    """A game of a final as its format sees it."""

    game: str
    competition: str
    format: str
    tie_breaks: list[str]
    """What decides the table where points are equal, in this order."""
    table: list[PlaceLine]
    rounds: list[RoundView]
    decided_by: str = ""
    """What decides the places, in words."""
    seeds: list[str] = []
    """The entries from the first seed to the last, if the format goes by seeds.

    Empty on an anonymous board."""
    lot: str = ""
    """The seed of the lot that ordered entries without a rating; empty if there was none.

    Empty on an anonymous board."""


class NextLine(Struct):
    """A pairing that has not begun."""

    game: str
    key: str
    """As in the rounds of the final."""
    round: int
    entries: list[str]
    """Who meets, in the seat order of the first match."""
    matches: int
    own: bool
    """Whether an entry of whoever asks is in it."""


class CertaintyLine(Struct):
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
    """Whether the grade's threshold is reached; None where that is not decided."""


class GradeCertainty(Struct):
    """How sure it is on which side of a threshold an entry is."""

    low: float
    high: float
    """Bounds of the mean score that hold at every moment."""
    pairs: int
    decision: str
    """``open`` (more is played), ``decided``, or ``maximum``: as much as may be was played."""


class GradeLine(Struct):
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
    members: list[MemberView] = []
    certainty: dict[str, GradeCertainty] = {}
    """What is certain against each graded baseline; empty in finals with a fixed number of matches.
    """
    days_late: int = 0
    """How many days, begun or full, the entry came after the freeze or the extension."""
    penalty: float = 0.0
    """Percent of the points that this costs."""


class ExportView(Struct):
    """What came of a competition, for programs, and as the files that people keep."""

    name: str
    status: str
    standings: list[BoardLine]
    grades: list[GradeLine]
    standings_csv: str
    grades_csv: str
