"""The calls of competitions; see `plyhouse.protocol.api.calls`."""

from __future__ import annotations

from typing import Any, Final

from plyhouse.protocol.api.boards import (
    BaselineCertainty,
    Board,
    BoardLine,
    GameRounds,
    NextPairing,
    Results,
)
from plyhouse.protocol.api.calls import Call, delete, get, get_rows, post, post_rows
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
from plyhouse.protocol.api.rows import Rows
from plyhouse.protocol.api.submissions import Submission, Version
from plyhouse.protocol.api.suspicions import Suspicions

__all__: list[str] = []

_CLASS: Final = ("class", "competitions")


# --------------------------------------------------------------------------- competitions


def competitions() -> Call[Rows[Competition]]:
    return get_rows(Competition, *_CLASS)


def status(name: str) -> Call[CompetitionDetail]:
    return get(CompetitionDetail, *_CLASS, name)


def check(file: str) -> Call[Rows[Measure]]:
    return post_rows(Measure, "class", "check", file=file)


def open_file(file: str, why: str) -> Call[Competition]:
    return post(Competition, *_CLASS, file=file, why=why)


def step(name: str, step: str, why: str, anyway: bool) -> Call[Competition]:
    return post(Competition, *_CLASS, name, step, why=why, anyway=anyway)


def rehearse(name: str, why: str) -> Call[Rehearsal]:
    return post(Rehearsal, *_CLASS, name, "rehearse", why=why)


def finish(name: str, why: str) -> Call[EndedFinal]:
    return post(EndedFinal, *_CLASS, name, "finish", why=why)


def text(name: str) -> Call[CompetitionText]:
    return get(CompetitionText, *_CLASS, name, "file")


def change(name: str, file: str, apply: bool, digest: str, why: str) -> Call[Change]:
    body = {"file": file, "apply": apply, "digest": digest, "why": why}
    return post(Change, *_CLASS, name, "change", **body)


def unfreeze(name: str, until: str, why: str) -> Call[Competition]:
    return post(Competition, *_CLASS, name, "unfreeze", until=until, why=why)


def losses(name: str) -> Call[Losses]:
    return get(Losses, *_CLASS, name, "losses")


def copy(name: str, file: str, codes: bool, submissions: bool, why: str) -> Call[Copied]:
    body = {"file": file, "codes": codes, "submissions": submissions, "why": why}
    return post(Copied, *_CLASS, name, "copy", **body)


def drop(name: str, why: str) -> Call[None]:
    return delete(*_CLASS, name, why=why)


def check_baseline(name: str, bot: str, reference: str, why: str) -> Call[Submission]:
    body = {"bot": bot, "reference": reference, "why": why}
    return post(Submission, *_CLASS, name, "baselines", **body)


# -------------------------------------------------------------------- boards and results


def board(name: str) -> Call[Rows[BoardLine]]:
    return get_rows(BoardLine, *_CLASS, name, "board")


def table(name: str) -> Call[Board]:
    return get(Board, *_CLASS, name, "table")


def rounds(name: str, game: str = "") -> Call[Rows[GameRounds]]:
    return get_rows(GameRounds, *_CLASS, name, "rounds", game=game)


def certainty(name: str) -> Call[Rows[BaselineCertainty]]:
    return get_rows(BaselineCertainty, *_CLASS, name, "certainty")


def next_pairings(name: str, limit: int | None = None) -> Call[Rows[NextPairing]]:
    return get_rows(NextPairing, *_CLASS, name, "next", limit=limit)


def export(name: str) -> Call[Results]:
    return get(Results, *_CLASS, name, "export")


def report(name: str, student: str) -> Call[Report]:
    return get(Report, *_CLASS, name, "report", student=student)


def suspicions(name: str, level: float) -> Call[Suspicions]:
    return get(Suspicions, *_CLASS, name, "suspicious", level=level)


# ------------------------------------------------------------------------------- students


def students(name: str) -> Call[Rows[Student]]:
    return get_rows(Student, *_CLASS, name, "students")


def take_in(name: str, **body: Any) -> Call[Rows[Joining]]:
    return post_rows(Joining, *_CLASS, name, "students", **body)


def limit(name: str, students: int, why: str) -> Call[None]:
    return post(None, *_CLASS, name, "limit", students=students, why=why)


def extend(name: str, student: str, until: str, why: str) -> Call[Extended]:
    return post(Extended, *_CLASS, name, "extend", student=student, until=until, why=why)


def disqualify(name: str, who: str, why: str) -> Call[Rows[Entry]]:
    return post_rows(Entry, *_CLASS, name, "disqualify", who=who, why=why)


def revoke(name: str, student: str, why: str) -> Call[Rows[Entry]]:
    return post_rows(Entry, *_CLASS, name, "revoke", student=student, why=why)


def restore(name: str, student: str, why: str) -> Call[None]:
    return post(None, *_CLASS, name, "restore", student=student, why=why)


def reissue_token(name: str, student: str, member: str, why: str) -> Call[Joining]:
    body = {"student": student, "member": member, "why": why}
    return post(Joining, *_CLASS, name, "reissue-token", **body)


def codes(name: str) -> Call[Rows[Code]]:
    return get_rows(Code, *_CLASS, name, "codes")


def new_code(name: str, **body: Any) -> Call[Code]:
    return post(Code, *_CLASS, name, "codes", **body)


def revoke_code(code: str) -> Call[None]:
    return delete("class", "codes", code)


def join(code: str, player: str) -> Call[Joining]:
    return post(Joining, "class", "join", code=code, player=player)


def versions(bot: str) -> Call[Rows[Version]]:
    return get_rows(Version, "class", "versions", bot=bot)


def enter(name: str, bot: str, version: str, replace: str) -> Call[Entry]:
    return post(Entry, *_CLASS, name, "enter", bot=bot, version=version, replace=replace)


# ---------------------------------------------------------- staff, announcements, regrades


def staff(name: str) -> Call[Rows[Staff]]:
    return get_rows(Staff, *_CLASS, name, "staff")


def add_staff(name: str, player: str, role: str, why: str) -> Call[Staff]:
    return post(Staff, *_CLASS, name, "staff", player=player, role=role, why=why)


def remove_staff(name: str, player: str, why: str) -> Call[None]:
    return delete(*_CLASS, name, "staff", player, why=why)


def announcements(name: str) -> Call[Rows[Announcement]]:
    return get_rows(Announcement, *_CLASS, name, "announcements")


def announce(name: str, text: str) -> Call[Announcement]:
    return post(Announcement, *_CLASS, name, "announcements", text=text)


def remove_announcement(name: str, number: int) -> Call[None]:
    return delete(*_CLASS, name, "announcements", str(number))


def regrades(name: str) -> Call[Rows[Regrade]]:
    return get_rows(Regrade, *_CLASS, name, "regrades")


def ask_regrade(name: str, text: str, match: str) -> Call[Regrade]:
    return post(Regrade, *_CLASS, name, "regrades", text=text, match=match)


def answer_regrade(name: str, number: int, text: str, close: bool) -> Call[Regrade]:
    where = (*_CLASS, name, "regrades", str(number), "answer")
    return post(Regrade, *where, text=text, close=close)
