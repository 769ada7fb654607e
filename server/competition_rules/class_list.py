"""The list of a class as CSV: read whole, or refused with all bad rows.

The first row names the columns: ``name``, and optionally ``email``, ``group``,
``institution_id`` (or ``id``: the number by which your institution knows the student) and
``login``.
Exports of Moodle, Canvas and Gradescope are read as they are
(`plyhouse.server.competition_rules.class_list_columns`).  Commas, semicolons or tabs separate the
columns; a line ``sep=;`` before them may say which.  A name can be any text.  The account gets the
nearest possible name, and the list's name as its display name::

    name;email;group
    Zoë Müller;zoe@example.org;
    badger-7;;rockets
    badger-8;;rockets

Members of a group share one account, named after the group, and one entry; each has a token.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

from plyhouse.protocol.parts import LONGEST_DISPLAY, LONGEST_NAME
from plyhouse.server.competition_rules.class_list_columns import columns_of
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.names import (
    key_of,
    name_problem,
    normal,
    reserved,
    script_of,
    unseen,
    without_accents,
)

MAX_STUDENTS: Final = 10_000
MAX_EMAIL: Final = 254
MAX_ID: Final = 64
MAX_LOGIN: Final = 254
"""As long as an e-mail address, which is often the login."""

_SEPARATOR: Final = re.compile(r"\s*\"?sep=([,;\t|])\"?[ ,;\t]*(?:\r\n|\r|\n|$)", re.IGNORECASE)
_CHANGED: Final = re.compile(r"[0-9]+([.,][0-9]+)?[eE]\+?[0-9]+|[0-9]+[.,]0+|#+")
"""A number as a spreadsheet shows it that is too long for its column, or with decimals."""
_EMAIL: Final = re.compile(r"[^\s@,;<>\"]+@[^\s@,;<>\".]+(\.[^\s@,;<>\".]+)*")


@dataclass(frozen=True, slots=True)
class BadRow:
    """The mistake in a line of the list."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


class InvalidStudents(Exception):  # noqa: N818 - a condition of the list
    """A list has bad rows; ``rows`` has all of them, and no student was added."""

    code: ClassVar[str] = "competition/bad_list"

    def __init__(self, rows: Sequence[BadRow]) -> None:
        self.rows = tuple(rows)
        count = f"{len(rows)} bad lines" if len(rows) > 1 else "a bad line"
        lines = "\n".join(f"  {row}" for row in rows)
        super().__init__(f"The list of students has {count}, and nobody was taken in:\n{lines}")


@lru_cache(maxsize=1024)
def account_name(text: str, gap: str = "-", *, plain: bool = False) -> str:
    """Return an account name for a text, as `plyhouse.storage.names` allows.

    Letters that a name can have stay as they are.  Wide Latin letters
    become the usual ones; with ``plain`` all Latin letters lose their accents.
    ``gap`` replaces what a name cannot have, and separates letters of
    different scripts.  The name is empty if nothing is left.

    >>> account_name("Zoë Müller"), account_name("badger-7"), account_name("Łukasz Øster")
    ('Zoë-Müller', 'badger-7', 'Łukasz-Øster')
    >>> account_name("Ольга Петрова"), account_name("山田 太郎"), account_name("Команда A")
    ('Ольга-Петрова', '山田-太郎', 'Команда-A')
    """
    kept = ""
    for each in normal(text):
        latin = script_of(each) in ("LATIN", "FULLWIDTH") or each.isascii()
        for one in without_accents(each) if latin and (plain or not _fits(each)) else each:
            mark = unicodedata.category(one)[0] == "M"
            if mark and name_problem(kept[-1:] + one):
                continue
            if not mark and not _fits(one):
                one = gap
            elif not mark and not (kept + one).isascii() and name_problem(_run(kept) + one):
                one = gap + one  # A gap separates letters of different scripts.
            if one != gap or not kept.endswith(gap):
                kept += one
    kept = kept.strip("-.")[:LONGEST_NAME].strip("-.")
    return "" if name_problem(kept) else kept


def is_account_of(account: str, name: str) -> bool:
    """Return whether an account is named after one person, also in a class of an older release,
    whose accounts have no accents.

    >>> is_account_of("Zoe-Muller", "Zoë Müller"), is_account_of("crew", "Zoë Müller")
    (True, False)
    """
    made = account_name(name)
    return key_of(account) in {key_of(made), key_of(without_accents(made))}


@lru_cache(maxsize=4096)
def _fits(character: str) -> bool:
    """Return whether a name can contain a character that is no mark."""
    return not name_problem(f"x-{character}")


def _run(text: str) -> str:
    """Return the letters at the end of a name, after its last separator."""
    return re.split("[-_.]", text)[-1]


def people_left_out(text: str) -> list[str]:
    r"""Return the names of staff and test students in an export, which `read_students` skips.

    >>> people_left_out('Student,ID\n"Lovelace, Ada",901\n"Student, Test",904\n')
    ['Test Student']
    """
    (_, header), *rows = _rows(text.removeprefix("\ufeff"))
    columns = columns_of(header)
    return [name for _, cells in rows if (name := columns.left_out(cells))]


def read_students(text: str) -> tuple[NewMember, ...]:
    """Read a list; raises `InvalidStudents` with all bad rows.

    >>> rows = "name,group", "ada,", "bob,crew", "cy,crew"
    >>> [student.account for student in read_students(chr(10).join(rows))]
    ['ada', 'crew', 'crew']
    """
    bad: list[BadRow] = []
    try:
        rows = list(_rows(text.removeprefix("\ufeff")))
    except _NoTable as error:
        raise InvalidStudents([BadRow(error.line, f"this is no CSV: {error}")]) from error
    if not rows:
        text = "the list is empty; its first row is: name,email,group,institution_id,login"
        raise InvalidStudents([BadRow(1, text)])
    line, header = rows[0]
    columns = columns_of(header)
    if columns.unknown:
        found = ", ".join(repr(each.strip()) for each in header)
        bad.append(
            BadRow(line, "the first row names the columns name, email, group, institution_id, "
                   "login (all but the first may be missing), or is that of an export of Moodle, "
                   f"Canvas or Gradescope; here it has {found}")
        )  # fmt: skip
        raise InvalidStudents(bad)
    students: list[NewMember] = []
    for line, cells in rows[1:]:
        if any(cell.strip() for cell in cells[len(columns) :]):
            bad.append(BadRow(line, f"has {len(cells)} cells, and the first row {len(columns)}"))
            continue
        values = columns.values(cells)
        if values is None:
            continue
        student = _member(line, **{each: normal(value) for each, value in values.items()})
        why = _wrong(student)
        if why:
            bad.append(BadRow(line, why))
        else:
            students.append(student)
    bad += _doubles(students)
    if not students and not bad:
        bad.append(BadRow(line, "there is nobody below the first row"))
    if len(students) > MAX_STUDENTS:
        bad.append(BadRow(line, f"{len(students):,} students; {MAX_STUDENTS:,} at most"))
    if bad:
        raise InvalidStudents(sorted(bad, key=lambda row: row.line))
    return tuple(students)


class _NoTable(Exception):  # noqa: N818 - a condition of the text
    """A text that is no CSV from a line on."""

    def __init__(self, why: str, line: int) -> None:
        super().__init__(why)
        self.line = line


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, with their line numbers."""
    above = 0
    separator_line = _SEPARATOR.match(text)
    if separator_line:  # Excel writes and reads this line, which is no row.
        text, above = text[separator_line.end() :], 1
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = separator_line[1] if separator_line else max(",;\t|", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    found: list[tuple[int, list[str]]] = []
    last = 0
    try:
        for row in reader:
            last = reader.line_num
            if any(cell.strip() for cell in row):
                found.append((last + above, row))
    except csv.Error as error:
        raise _NoTable(str(error), last + 1 + above) from error
    return found


def _member(
    line: int,
    name: str = "",
    email: str = "",
    group: str = "",
    institution_id: str = "",
    login: str = "",
) -> NewMember:
    """Return a row, whose account is the student's own, or the group's."""
    shown = group or name
    account = account_name(shown)
    display = "" if shown == account else shown
    return NewMember(name, account, display, email, line, institution_id, login, group)


def _wrong(student: NewMember) -> str:
    """Return the mistake in a single row; empty if there is none."""
    if not student.name:
        return "there is no name"
    for what, value in (("name", student.name), ("group", student.group)):
        if len(value) > LONGEST_DISPLAY:
            return f"the {what} has {len(value)} characters; {LONGEST_DISPLAY} at most"
        hidden = [each for each in value if unseen(each)]
        if hidden:
            return f"the {what} has a character that cannot be seen (U+{ord(hidden[0]):04X})"
        if value and not account_name(value):
            return (
                f"no account can be named after {value!r}: give a pseudonym with letters or digits"
            )
    if reserved(student.account):
        return f"{student.account!r} is reserved for the server's own accounts: write another name"
    for what, value, most in (
        ("institution_id", student.institution_id, MAX_ID),
        ("login", student.login, MAX_LOGIN),
    ):
        if len(value) > most:
            return f"the {what} has {len(value)} characters; {most} at most"
        if _CHANGED.fullmatch(value):
            return (
                f"the {what} {value} was changed by a spreadsheet: set the column to text, enter "
                "the ids again, and save the list again"
            )
        if any(unicodedata.category(each)[0] == "C" for each in value):
            return f"the {what} has a character that cannot be seen"
    if student.email and (len(student.email) > MAX_EMAIL or not _EMAIL.fullmatch(student.email)):
        return f"{student.email!r} is no e-mail address; leave it empty if there is none"
    return ""


def _doubles(students: Sequence[NewMember]) -> list[BadRow]:
    """Return rows that conflict with an earlier one."""
    bad: list[BadRow] = []
    seen: dict[tuple[str, str], int] = {}
    mails: dict[str, int] = {}
    ids: dict[tuple[str, str], int] = {}
    groups: dict[str, tuple[str, int]] = {}
    for student in students:
        member = key_of(account_name(student.name))
        key = (key_of(student.account), member)
        if key in seen:
            bad.append(
                BadRow(
                    student.line,
                    f"{student.name!r} cannot be told from line {seen[key]}; give one of them "
                    "another name",
                )
            )
            continue
        seen[key] = student.line
        mail = student.email.lower()
        if mail and mails.setdefault(mail, student.line) != student.line:
            bad.append(BadRow(student.line, f"{student.email} is in line {mails[mail]} already"))
        for known_as in (("institution_id", student.institution_id), ("login", student.login)):
            if known_as[1] and ids.setdefault(known_as, student.line) != student.line:
                text = f"the {' '.join(known_as)} is in line {ids[known_as]} already"
                bad.append(BadRow(student.line, text))
        label = student.group or student.name
        alone = "" if student.group else "alone"
        known, first = groups.setdefault(key[0], (label + alone, student.line))
        if known != label + alone:
            bad.append(
                BadRow(
                    student.line,
                    f"{label!r} would have the account of line {first}, {student.account!r}; "
                    "give one of them another name",
                )
            )
    return bad
