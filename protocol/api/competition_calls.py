"""The calls of competitions; see `plyhouse.protocol.api.calls`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from plyhouse.protocol.api.boards import (
    BaselineCertainty,
    Board,
    BoardLine,
    GameRounds,
    NextPairing,
    Results,
)
from plyhouse.protocol.api.competitions import (
    Announcement,
    Change,
    Code,
    Competition,
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
from plyhouse.protocol.api.reports import Report
from plyhouse.protocol.api.routes import delete, get, post
from plyhouse.protocol.api.rows import Rows
from plyhouse.protocol.api.submissions import Submission, Version
from plyhouse.protocol.api.suspicions import Suspicions

__all__ = ["Role", "Step"]

Role: TypeAlias = Literal["owner", "assistant", "reader"]
Step: TypeAlias = Literal["open", "freeze", "run", "rerun", "pause", "resume"]


# --------------------------------------------------------------------------- competitions


@get("class/competitions")
def competitions() -> Rows[Competition]:
    """The competitions, newest first."""


@get("class/competitions/{competition}")
def competition(name: str) -> CompetitionDetail:
    """A competition with its students, entries and progress, for its organiser."""


@post("class/check")
def check_competition(file: str) -> Rows[Measure]:
    """Say whether a competition file (its text) could be opened; `ApiError` with its mistakes.

    Answers how long matches of its games took on the server.
    """


@post("class/competitions")
def open_competition(file: str, *, why: str = "") -> Competition:
    """Open a competition by the text of its file: at once, or at its date of opening."""


@post("class/competitions/{competition}/{step}")
def step_competition(name: str, step: Step, *, why: str = "", anyway: bool = False) -> Competition:
    """Take a step of a competition: open it, freeze what plays, run, pause or resume its final.

    ``anyway`` begins the final although somebody may still submit.  ``rerun`` plays a final that
    is over again, as far as its entries have changed.
    """


@post("class/competitions/{competition}/rehearse")
def rehearse_competition(name: str, *, why: str = "") -> Rehearsal:
    """Play the final with the submissions so far; its results do not count."""


@post("class/competitions/{competition}/finish")
def finish_competition(name: str, *, why: str = "") -> EndedFinal:
    """End a final with its current table; answers whose pairings are left out."""


@get("class/competitions/{competition}/file")
def competition_file(name: str) -> CompetitionText:
    """The competition file of a competition, as it is now."""


@post("class/competitions/{competition}/change")
def change_competition(
    name: str, file: str, *, apply: bool = False, digest: str = "", why: str = ""
) -> Change:
    """Say what an edited file (its text) changes; with ``apply``, change it.

    ``digest`` of `competition_file` refuses the change if somebody else was quicker.
    """


@post("class/competitions/{competition}/unfreeze")
def unfreeze_competition(name: str, *, until: str = "", why: str = "") -> Competition:
    """Open a frozen competition again, with a new date of the freeze if one is given."""


@get("class/competitions/{competition}/losses")
def competition_losses(name: str) -> Losses:
    """Return what deleting a competition would lose."""


@post("class/competitions/{competition}/copy")
def copy_competition(
    name: str, file: str, *, codes: bool = False, submissions: bool = False, why: str = ""
) -> Copied:
    """Open a competition by the text of its file, with the students of another one."""


@delete("class/competitions/{competition}")
def delete_competition(name: str, why: str = "") -> None:
    """Begin nothing more of a competition and list it nowhere; its matches stay."""


@post("class/competitions/{competition}/baselines")
def check_baseline(name: str, bot: str, *, reference: str = "", why: str = "") -> Submission:
    """Check a baseline again, or replace it by a reference bot."""


# -------------------------------------------------------------------- boards and results


@get("class/competitions/{competition}/board")
def board(name: str) -> Rows[BoardLine]:
    """Return the standings of a competition that you may see."""


@get("class/competitions/{competition}/table")
def table(name: str) -> Board:
    """The board with ratings, mean returns and their intervals, as far as one may see it."""


@get("class/competitions/{competition}/rounds")
def rounds(name: str, *, game: str = "") -> Rows[GameRounds]:
    """The rounds of each game of a final."""


@get("class/competitions/{competition}/certainty")
def certainty(name: str) -> Rows[BaselineCertainty]:
    """How certain the results against the baselines are."""


@get("class/competitions/{competition}/next")
def next_pairings(name: str, *, limit: int | None = 10) -> Rows[NextPairing]:
    """The pairings of each game of a final that come next, one's own first."""


@get("class/competitions/{competition}/export")
def export(name: str) -> Results:
    """Return standings and grades, computed from the stored results."""


@get("class/competitions/{competition}/export/{form}", timeout=600.0)
def export_file(name: str, form: str) -> bytes:
    """A file of a competition, such as ``csv``, ``grades`` or ``pgn``."""


@get("class/competitions/{competition}/report")
def report(name: str, *, student: str) -> Report:
    """What a final says of one student."""


@get("class/competitions/{competition}/suspicious")
def suspicions(name: str, *, level: float) -> Suspicions:
    """Unlikely results, and bots that choose alike: a reason to look, no proof."""


# ------------------------------------------------------------------------------- students


@get("class/competitions/{competition}/students")
def students(name: str) -> Rows[Student]:
    """The students of a competition, with the members of groups."""


@post("class/competitions/{competition}/students")
def take_in(
    name: str, csv: str, *, late_until: str = "", adopt: Sequence[str] = (), why: str = ""
) -> Rows[Joining]:
    """Take a list of students in, all or none; new ones get a token, told only here.

    ``adopt`` names existing accounts that are these students'; ``*`` stands for all of them.
    """


@post("class/competitions/{competition}/limit")
def limit_students(name: str, students: int, *, why: str = "") -> None:
    """Let more, or fewer, students in than the file says."""


@post("class/competitions/{competition}/extend")
def extend(name: str, student: str, until: str, *, why: str = "") -> Extended:
    """Let one student submit until a later time than the freeze; say what that delays."""


@post("class/competitions/{competition}/disqualify")
def disqualify(name: str, who: str, why: str) -> Rows[Entry]:
    """Disqualify a student or an entry; return the entries that leave."""


@post("class/competitions/{competition}/revoke")
def revoke(name: str, student: str, *, why: str = "") -> Rows[Entry]:
    """Take a student out of a competition; answers the entries that leave."""


@post("class/competitions/{competition}/restore")
def restore(name: str, student: str, *, why: str = "") -> None:
    """Let a student back in that was taken out."""


@post("class/competitions/{competition}/reissue-token")
def reissue_token(name: str, student: str, *, member: str = "", why: str = "") -> Joining:
    """Revoke a student's lost token; the answer has a new one, shown only here."""


@get("class/competitions/{competition}/codes")
def codes(name: str) -> Rows[Code]:
    """The codes of a competition."""


@post("class/competitions/{competition}/codes")
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


@delete("class/codes/{code}")
def revoke_code(code: str) -> None:
    """Let nobody in by a code any more."""


@post("class/join")
def join(code: str, *, player: str = "") -> Joining:
    """Join a competition by a code; with a token, the account of that token joins."""


@get("class/versions")
def versions(bot: str = "") -> Rows[Version]:
    """The versions of one's own bots, newest first, and where each is entered."""


@post("class/competitions/{competition}/enter")
def enter(name: str, bot: str, *, version: str = "", replace: str = "") -> Entry:
    """Choose which bot and version of one's own plays, until the freeze."""


# ---------------------------------------------------------- staff, announcements, regrades


@get("class/competitions/{competition}/staff")
def staff(name: str) -> Rows[Staff]:
    """The staff of a competition, owners first; empty if every organiser is an owner."""


@post("class/competitions/{competition}/staff")
def add_staff(name: str, player: str, role: Role, *, why: str = "") -> Staff:
    """Give a player a role in a competition; it replaces an earlier role."""


@delete("class/competitions/{competition}/staff/{player}")
def remove_staff(name: str, player: str, *, why: str = "") -> None:
    """Take a player's role in a competition away."""


@get("class/competitions/{competition}/announcements")
def announcements(name: str) -> Rows[Announcement]:
    """The announcements of a competition, newest first."""


@post("class/competitions/{competition}/announcements")
def announce(name: str, text: str) -> Announcement:
    """Publish a text on the page of a competition."""


@delete("class/competitions/{competition}/announcements/{number}")
def remove_announcement(name: str, number: int) -> None:
    """Remove an announcement."""


@get("class/competitions/{competition}/regrades")
def regrades(name: str) -> Rows[Regrade]:
    """The requests for a regrade that one may see, open ones first."""


@post("class/competitions/{competition}/regrades")
def ask_regrade(name: str, text: str, *, match: str = "") -> Regrade:
    """Ask the staff to look at a match of one's own, or at one's grade, again."""


@post("class/competitions/{competition}/regrades/{number}/answer")
def answer_regrade(name: str, number: int, text: str = "", *, close: bool = False) -> Regrade:
    """Answer a request for a regrade, close it, or both."""
