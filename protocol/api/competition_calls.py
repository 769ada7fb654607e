"""The calls of competitions; see `plyhouse.protocol.api.calls`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from plyhouse.protocol.api.bodies import (
    BaselineChange,
    Costing,
    Disqualification,
    Extension,
    FileText,
    Join,
    LostToken,
    NewAnnouncement,
    NewCode,
    NewCompetition,
    NewCopy,
    NewFile,
    NewStaff,
    RegradeAnswer,
    RegradeRequest,
    Role,
    Step,
    StudentLimit,
    StudentList,
    StudentName,
    Submitting,
    Unfreezing,
    Withdrawal,
)
from plyhouse.protocol.api.competitions import (
    Announcement,
    Change,
    Code,
    Competition,
    CompetitionCost,
    CompetitionDetail,
    CompetitionText,
    Copied,
    EndedFinal,
    Entry,
    Extended,
    Joining,
    Losses,
    Measure,
    Regrade,
    Rehearsal,
    Staff,
    Student,
)
from plyhouse.protocol.api.reports import Report, Suspicions
from plyhouse.protocol.api.routes import DEAR, ORGANISE, PLAY, delete, get, post
from plyhouse.protocol.api.rows import Rows
from plyhouse.protocol.api.standings import (
    BaselineCertainty,
    Board,
    BoardLine,
    GameRounds,
    NextPairing,
    Results,
)
from plyhouse.protocol.api.submissions import Submission, Version

StepName: TypeAlias = Literal["open", "freeze", "run", "rerun", "pause", "resume"]


# --------------------------------------------------------------------------- competitions


@get(
    "competitions",
)
def competitions() -> Rows[Competition]:
    """The competitions, newest first."""


@get("competitions/{competition}", scopes=ORGANISE)
def competition(name: str) -> CompetitionDetail:
    """A competition with its students, entries and progress, for its organiser."""


@post("competition-files/check", FileText, scopes=ORGANISE)
def check_competition(file: str) -> Rows[Measure]:
    """Say whether a competition file (its text) could be opened; `ApiError` with its mistakes.

    Answers how long matches of its games took on the server.
    """


@post("competition-files/preview", Costing, scopes=ORGANISE)
def estimate_cost(file: str, *, entries: int = 0) -> CompetitionCost:
    """Say all that is wrong with a competition file, or what its competition would cost here."""


@post("competitions", NewCompetition, scopes=ORGANISE, status=201)
def open_competition(file: str, *, entries: Sequence[str] = (), why: str = "") -> Competition:
    """Open a competition by the text of its file: at once, or at its date of opening.

    With ``entries`` (bots, ``player/bot``) it has no students, and its final begins at once or on
    its date.  ``*`` stands for all connected bots that play its games.
    """


@post("competitions/{competition}/{step}", Step, scopes=ORGANISE)
def step_competition(
    name: str, step: StepName, *, why: str = "", anyway: bool = False
) -> Competition:
    """Take a step of a competition: open it, freeze what plays, run, pause or resume its final.

    ``anyway`` begins the final although somebody may still submit.  ``rerun`` plays a final that
    is over again, as far as its entries have changed.
    """


@post("competitions/{competition}/rehearse", Step, scopes=ORGANISE)
def rehearse_competition(name: str, *, why: str = "") -> Rehearsal:
    """Play the final with the submissions so far; its results do not count."""


@post("competitions/{competition}/finish", Step, scopes=ORGANISE)
def finish_competition(name: str, *, why: str = "") -> EndedFinal:
    """End a final with its current table; answers whose pairings are left out."""


@get("competitions/{competition}/file", scopes=ORGANISE)
def competition_file(name: str) -> CompetitionText:
    """The competition file of a competition, as it is now."""


@post("competitions/{competition}/change", NewFile, scopes=ORGANISE)
def change_competition(
    name: str, file: str, *, apply: bool = False, digest: str = "", why: str = ""
) -> Change:
    """Say what an edited file (its text) changes; with ``apply``, change it.

    ``digest`` of `competition_file` refuses the change if somebody else was quicker.
    """


@post("competitions/{competition}/unfreeze", Unfreezing, scopes=ORGANISE)
def unfreeze_competition(name: str, *, until: str = "", why: str = "") -> Competition:
    """Open a frozen competition again, with a new date of the freeze if one is given."""


@get("competitions/{competition}/losses", scopes=ORGANISE)
def competition_losses(name: str) -> Losses:
    """Return what deleting a competition would lose."""


@post("competitions/{competition}/copy", NewCopy, scopes=ORGANISE)
def copy_competition(
    name: str, file: str, *, codes: bool = False, submissions: bool = False, why: str = ""
) -> Copied:
    """Open a competition by the text of its file, with the students of another one."""


@delete("competitions/{competition}", scopes=ORGANISE)
def delete_competition(name: str, why: str = "") -> None:
    """Begin nothing more of a competition and list it nowhere; its matches stay."""


@post("competitions/{competition}/baselines", BaselineChange, scopes=ORGANISE)
def check_baseline(name: str, bot: str, *, reference: str = "", why: str = "") -> Submission:
    """Check a baseline again, or replace it by a reference bot."""


# -------------------------------------------------------------------- boards and results


@get("competitions/{competition}/board", personal=True)
def board(name: str) -> Rows[BoardLine]:
    """Return the standings of a competition that you may see."""


@get("competitions/{competition}/table", personal=True)
def table(name: str) -> Board:
    """The board with ratings, mean returns and their intervals, as far as one may see it."""


@get("competitions/{competition}/rounds", personal=True)
def rounds(name: str, *, game: str = "") -> Rows[GameRounds]:
    """The rounds of each game of a final."""


@get("competitions/{competition}/certainty", personal=True)
def certainty(name: str) -> Rows[BaselineCertainty]:
    """How certain the results against the baselines are."""


@get("competitions/{competition}/next", personal=True)
def next_pairings(name: str, *, limit: int | None = 10) -> Rows[NextPairing]:
    """The pairings of each game of a final that come next, one's own first."""


@get("competitions/{competition}/export", scopes=ORGANISE, cost=DEAR)
def export(name: str) -> Results:
    """Return standings and grades, computed from the stored results."""


@get("competitions/{competition}/export/{form}", timeout=600.0, personal=True, cost=DEAR)
def export_file(name: str, form: str) -> bytes:
    """A file of a competition, such as ``csv``, ``grades`` or ``pgn``."""


@get("competitions/{competition}/report", scopes=PLAY + ORGANISE)
def report(name: str, *, student: str) -> Report:
    """The report of a final on one student."""


@get("competitions/{competition}/suspicious", scopes=ORGANISE)
def suspicions(name: str, *, level: float) -> Suspicions:
    """Unlikely results, and bots that choose alike: a reason to look, no proof."""


# ------------------------------------------------------------------------------- students


@get("competitions/{competition}/students", scopes=ORGANISE)
def students(name: str) -> Rows[Student]:
    """The students of a competition, with the members of groups."""


@post("competitions/{competition}/students", StudentList, scopes=ORGANISE, longest=2_000_000)
def take_in(
    name: str, csv: str, *, late_until: str = "", adopt: Sequence[str] = (), why: str = ""
) -> Rows[Joining]:
    """Take a list of students in, all or none; new ones get a token, told only here.

    ``adopt`` names existing accounts that are these students'; ``*`` stands for all of them.
    """


@post("competitions/{competition}/limit", StudentLimit, scopes=ORGANISE)
def limit_students(name: str, students: int, *, why: str = "") -> None:
    """Let more, or fewer, students in than the file says."""


@post("competitions/{competition}/extend", Extension, scopes=ORGANISE)
def extend(name: str, student: str, until: str, *, why: str = "") -> Extended:
    """Let one student submit until a later time than the freeze; say what that delays."""


@post("competitions/{competition}/withdraw", Withdrawal, scopes=PLAY + ORGANISE)
def withdraw(name: str, who: str, *, why: str = "") -> Rows[Entry]:
    """Withdraw a student or an entry; return the entries that leave. Their results stay.

    A player may withdraw an entry of its own.
    """


@post("competitions/{competition}/disqualify", Disqualification, scopes=ORGANISE)
def disqualify(name: str, who: str, why: str) -> Rows[Entry]:
    """Disqualify a student or an entry; return the entries that leave, without rank and grade."""


@post("competitions/{competition}/restore", StudentName, scopes=ORGANISE)
def restore(name: str, student: str, *, why: str = "") -> None:
    """Let a withdrawn or disqualified student back in, before the final."""


@post("competitions/{competition}/reissue-token", LostToken, scopes=ORGANISE)
def reissue_token(name: str, student: str, *, member: str = "", why: str = "") -> Joining:
    """Revoke a student's lost token; the answer has a new one, shown only here."""


@get("competitions/{competition}/codes", scopes=ORGANISE)
def codes(name: str) -> Rows[Code]:
    """The codes of a competition."""


@post("competitions/{competition}/codes", NewCode, scopes=ORGANISE)
def new_code(
    name: str,
    uses: int,
    *,
    expires: str = "",
    group: str = "",
    late_until: str = "",
    why: str = "",
) -> Code:
    """Make a code by which so many students join."""


@delete("join-codes/{code}", scopes=ORGANISE)
def revoke_code(code: str) -> None:
    """Let nobody in by a code any more."""


@post("join", Join, personal=True)
def join(code: str, *, player: str = "") -> Joining:
    """Join a competition by a code; with a token, the account of that token joins."""


@get("versions", scopes=PLAY)
def versions(bot: str = "") -> Rows[Version]:
    """The versions of one's own bots, newest first, and where each is entered."""


@post("competitions/{competition}/enter", Submitting, scopes=PLAY)
def enter(name: str, bot: str, *, version: str = "", replace: str = "") -> Entry:
    """Choose which bot and version of one's own plays, until the freeze."""


# ---------------------------------------------------------- staff, announcements, regrades


@get("competitions/{competition}/staff", scopes=ORGANISE)
def staff(name: str) -> Rows[Staff]:
    """The staff of a competition, owners first; empty if every organiser is an owner."""


@post("competitions/{competition}/staff", NewStaff, scopes=ORGANISE)
def add_staff(name: str, player: str, role: Role, *, why: str = "") -> Staff:
    """Give a player a role in a competition; it replaces an earlier role."""


@delete("competitions/{competition}/staff/{player}", scopes=ORGANISE)
def remove_staff(name: str, player: str, *, why: str = "") -> None:
    """Take a player's role in a competition away."""


@get("competitions/{competition}/announcements", personal=True)
def announcements(name: str) -> Rows[Announcement]:
    """The announcements of a competition, newest first."""


@post("competitions/{competition}/announcements", NewAnnouncement, scopes=ORGANISE, status=201)
def announce(name: str, text: str) -> Announcement:
    """Publish a text on the page of a competition."""


@delete("competitions/{competition}/announcements/{number}", scopes=ORGANISE)
def remove_announcement(name: str, number: int) -> None:
    """Remove an announcement."""


@get("competitions/{competition}/regrades", scopes=PLAY + ORGANISE)
def regrades(name: str) -> Rows[Regrade]:
    """The requests for a regrade that one may see, open ones first."""


@post("competitions/{competition}/regrades", RegradeRequest, scopes=PLAY, status=201)
def ask_regrade(name: str, text: str, *, match: str = "") -> Regrade:
    """Ask the staff to look at a match of one's own, or at one's grade, again."""


@post("competitions/{competition}/regrades/{number}/answer", RegradeAnswer, scopes=ORGANISE)
def answer_regrade(name: str, number: int, text: str = "", *, close: bool = False) -> Regrade:
    """Answer a request for a regrade, close it, or both."""
