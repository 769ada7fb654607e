"""The list of a class as CSV: read whole, or refused with all bad rows.

The first row names the columns: ``name``, and optionally ``email``, ``group`` and
``institution_id`` (or ``id``: the number or login by which your institution knows the student).
Exports of Moodle, Canvas and Gradescope are read as they are
(`plyhouse.server.competition_rules.class_list`).  Commas, semicolons or tabs separate the
columns; a line ``sep=;`` before them may say which.  A name can be any text.  The account gets the
nearest possible name, and the list's name as its display name::

    name;email;group
    Zoë Müller;zoe@example.org;
    badger-7;;rockets
    badger-8;;rockets

Members of a group share one account, named after the group, and one entry; each has a token.

The columns of a class list: its own, or those of an export of Moodle, Canvas or Gradescope.

In a list of your own, an unknown column is a mistake.  An export is known by its columns for first
and last names, or by Canvas's `Student` and `ID`.  Only its names,
addresses and ids are used: groups and sections of a platform are often tutorials, and a group here
shares one account.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

from plyhouse.storage.names import key_of, name_problem, normal, reserved, script_of, unseen

COLUMNS: Final = ("name", "email", "group", "institution_id")
"""The columns of a list of your own; all but the first may be missing."""
CANVAS_ID: Final = "canvas:"
"""How an id begins that only Canvas knows, from its column `ID`."""

_OWN: Final = {"e-mail": "email", "id": "institution_id", "institution id": "institution_id"}
_EXPORTED: Final = {
    "first name": "first",
    "vorname": "first",
    "prénom": "first",
    "nombre": "first",
    "last name": "last",
    "surname": "last",
    "nachname": "last",
    "nom": "last",
    "nom de famille": "last",
    "apellido(s)": "last",
    "email address": "email",
    "email": "email",
    "e-mail": "email",
    "e-mail-adresse": "email",
    "adresse de courriel": "email",
    "dirección de correo": "email",
    "id number": "institution_id",
    "id-nummer": "institution_id",
    "matrikelnummer": "institution_id",
    "numéro d'identification": "institution_id",
    "número de id": "institution_id",
    "sid": "institution_id",
    "role": "role",
    "roles": "role",
}
"""Headers of Moodle and Gradescope, whose other columns are left out."""
_CANVAS: Final = {
    "student": "sorted",
    "id": "canvas",
    "sis user id": "institution_id",
    "sis login id": "login",
    "email": "email",
}
_STAFF: Final = (
    "administrator", "course creator", "designer", "grader", "instructor", "manager",
    "non-editing teacher", "observer", "reader", "ta", "teacher", "teaching assistant",
)  # fmt: skip
_TEST_STUDENT: Final = "student, test"
"""The student that Canvas makes for every course to look at it."""
_POINTS: Final = "points possible"
"""The first cell of Canvas's second row, which is no student."""


class Columns:
    """The meaning of a list's columns."""

    def __init__(self, names: Sequence[str], *, exported: bool) -> None:
        self._names = names
        self.exported = exported
        """True for an export, whose unknown columns are left out."""

    @property
    def unknown(self) -> bool:
        """True if the first row does not name the columns of a list."""
        known = [name for name in self._names if name]
        if self.exported:
            return False
        return "name" not in known or len({*known}) != len(known) or not {*known} <= {*COLUMNS}

    def __len__(self) -> int:
        return len(self._names)

    def values(self, cells: Iterable[str]) -> dict[str, str] | None:
        """Return the values of `COLUMNS` in a row; None for a row that is no student."""
        found = self._found(cells)
        if self.exported and not _is_student(found):
            return None
        return {name: _value(found, name) for name in COLUMNS}

    def left_out(self, cells: Iterable[str]) -> str:
        """Return the name in a row of a person who is no student; empty for all other rows."""
        found = self._found(cells)
        points = found.get("sorted", "").lower() == _POINTS
        if not self.exported or points or _is_student(found):
            return ""
        return _value(found, "name")

    def _found(self, cells: Iterable[str]) -> dict[str, str]:
        clean = [" ".join(cell.split()) for cell in cells]
        return {name: cell for name, cell in zip(self._names, clean, strict=False) if name}


def columns_of(header: Sequence[str]) -> Columns:
    """Return the columns that a first row names; empty ones at its end are left out."""
    names = [" ".join(each.split()).lower() for each in header]
    while names and not names[-1]:
        names.pop()
    given = {*names}
    if {"student", "id"} <= given:
        return Columns([_CANVAS.get(each, "") for each in names], exported=True)
    meanings = [_EXPORTED.get(each, "") for each in names]
    if {"first", "last"} <= {*meanings} or ("sid" in given and "name" in given):
        plain = [
            "name" if name == "name" else each for name, each in zip(names, meanings, strict=True)
        ]
        return Columns(_once(plain), exported=True)
    return Columns([_OWN.get(each, each) for each in names], exported=False)


def _once(names: Iterable[str]) -> list[str]:
    """Return the names without repetitions: the first column of a meaning counts."""
    found: list[str] = []
    for each in names:
        found.append("" if each in found else each)
    return found


def _is_student(found: Mapping[str, str]) -> bool:
    shown = found.get("sorted", "").lower()
    roles = {each.strip().lower() for each in found.get("role", "").split(",")} - {""}
    return shown not in (_TEST_STUDENT, _POINTS) and not (roles and roles <= {*_STAFF})


def _value(found: Mapping[str, str], name: str) -> str:
    if name == "name" and "sorted" in found:
        last, comma, first = found["sorted"].partition(",")
        return f"{first.strip()} {last.strip()}".strip() if comma else last
    if name == "name" and "first" in found:
        return f"{found['first']} {found.get('last', '')}".strip()
    if name == "email" and not found.get("email") and "@" in found.get("login", ""):
        return found["login"]
    if name == "institution_id" and not found.get(name):
        login, canvas = found.get("login", ""), found.get("canvas", "")
        return login or (f"{CANVAS_ID}{canvas}" if canvas else "")
    return found.get(name, "")


MAX_STUDENTS: Final = 10_000
MAX_NAME: Final = 64
MAX_ACCOUNT: Final = 32
MAX_EMAIL: Final = 254
MAX_ID: Final = 64

_SPECIAL: Final = {
    "ß": "ss",
    "ø": "o",
    "Ø": "O",
    "ł": "l",
    "Ł": "L",
    "æ": "ae",
    "Æ": "Ae",
    "đ": "d",
}
"""Letters that Unicode does not decompose into an ASCII letter and a mark."""

_SEPARATOR: Final = re.compile(r"\s*\"?sep=([,;\t|])\"?[ ,;\t]*(?:\r\n|\r|\n|$)", re.IGNORECASE)
_ROUNDED: Final = re.compile(r"[0-9]+([.,][0-9]+)?[eE]\+?[0-9]+")
"""A number as a spreadsheet shows it that is too long for its column."""
_EMAIL: Final = re.compile(r"[^\s@,;<>\"]+@[^\s@,;<>\".]+(\.[^\s@,;<>\".]+)*")


@dataclass(frozen=True, slots=True)
class Student:
    """One row: a student, alone or in a group."""

    name: str
    email: str = ""
    group: str = ""
    line: int = 0
    institution_id: str = ""

    @property
    def account(self) -> str:
        """The name of the account that plays: the student's own, or the group's."""
        return account_name(self.group or self.name)

    @property
    def display(self) -> str:
        """The account's display name; empty if the same as its name."""
        shown = self.group or self.name
        return "" if shown == self.account else shown


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


def without_accents(text: str) -> str:
    """Return a text in ASCII letters, as far as these have an equivalent.

    >>> without_accents("Größe"), without_accents("Łódź")
    ('Grosse', 'Lodz')
    """
    special = str.maketrans(_SPECIAL)
    plain = unicodedata.normalize("NFKD", text.translate(special))
    return "".join(each for each in plain if not unicodedata.combining(each))


@lru_cache(maxsize=1024)
def account_name(text: str, gap: str = "-") -> str:
    """Return an account name for a text, as `plyhouse.storage.names` allows.

    Latin letters lose their accents; other scripts stay as they are.  ``gap`` replaces characters
    that a name cannot have, and separates letters of different scripts.  The name is empty if
    nothing is left.

    >>> account_name("Zoë Müller"), account_name("badger-7"), account_name("Łukasz Øster")
    ('Zoe-Muller', 'badger-7', 'Lukasz-Oster')
    >>> account_name("Ольга Петрова"), account_name("山田 太郎"), account_name("Команда A")
    ('Ольга-Петрова', '山田-太郎', 'Команда-A')
    """
    kept = ""
    for each in normal(text):
        latin = without_accents(each) if script_of(each) == "LATIN" or each.isascii() else each
        for one in latin:
            mark = unicodedata.category(one)[0] == "M"
            if mark and name_problem(kept[-1:] + one):
                continue
            if not mark and not _fits(one):
                one = gap
            elif not mark and not (kept + one).isascii() and name_problem(_run(kept) + one):
                one = gap + one  # A gap separates letters of different scripts.
            if one != gap or not kept.endswith(gap):
                kept += one
    kept = kept.strip("-.")[:MAX_ACCOUNT].strip("-.")
    return "" if name_problem(kept) else kept


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


def read_students(text: str) -> tuple[Student, ...]:
    """Read a list; raises `InvalidStudents` with all bad rows.

    >>> rows = "name,group", "ada,", "bob,crew", "cy,crew"
    >>> [student.account for student in read_students(chr(10).join(rows))]
    ['ada', 'crew', 'crew']
    """
    bad: list[BadRow] = []
    try:
        rows = list(_rows(text.removeprefix("\ufeff")))
    except csv.Error as error:
        raise InvalidStudents([BadRow(1, f"this is no CSV: {error}")]) from error
    if not rows:
        text = "the list is empty; its first row is: name,email,group,institution_id"
        raise InvalidStudents([BadRow(1, text)])
    line, header = rows[0]
    columns = columns_of(header)
    if columns.unknown:
        found = ", ".join(repr(each.strip()) for each in header)
        bad.append(
            BadRow(line, "the first row names the columns name, email, group, institution_id (all "
                   "but the first may be missing), or is that of an export of Moodle, Canvas or "
                   f"Gradescope; here it has {found}")
        )  # fmt: skip
        raise InvalidStudents(bad)
    students: list[Student] = []
    for line, cells in rows[1:]:
        if any(cell.strip() for cell in cells[len(columns) :]):
            bad.append(BadRow(line, f"has {len(cells)} cells, and the first row {len(columns)}"))
            continue
        values = columns.values(cells)
        if values is None:
            continue
        name, email, group, known_as = (
            unicodedata.normalize("NFC", values[each]) for each in COLUMNS
        )
        student = Student(name, email, group, line, known_as)
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


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, with their line numbers."""
    above = 0
    separator_line = _SEPARATOR.match(text)
    if separator_line:  # Excel writes and reads this line, which is no row.
        text, above = text[separator_line.end() :], 1
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = separator_line[1] if separator_line else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return [(reader.line_num + above, row) for row in reader if any(cell.strip() for cell in row)]


def _wrong(student: Student) -> str:
    """Return the mistake in a single row; empty if there is none."""
    if not student.name:
        return "there is no name"
    for what, value in (("name", student.name), ("group", student.group)):
        if len(value) > MAX_NAME:
            return f"the {what} has {len(value)} characters; {MAX_NAME} at most"
        hidden = [each for each in value if unseen(each)]
        if hidden:
            return f"the {what} has a character that cannot be seen (U+{ord(hidden[0]):04X})"
        if value and not account_name(value):
            return (
                f"no account can be named after {value!r}: give a pseudonym with letters or digits"
            )
    if reserved(student.account):
        return f"{student.account!r} is reserved for the server's own accounts: write another name"
    if len(student.institution_id) > MAX_ID:
        return f"the institution_id has {len(student.institution_id)} characters; {MAX_ID} at most"
    if _ROUNDED.fullmatch(student.institution_id):
        return (
            f"the institution_id {student.institution_id} was rounded by a spreadsheet: set the "
            "column to text, enter the ids again, and save the list again"
        )
    if any(unicodedata.category(each)[0] == "C" for each in student.institution_id):
        return "the institution_id has a character that cannot be seen"
    if student.email and (len(student.email) > MAX_EMAIL or not _EMAIL.fullmatch(student.email)):
        return f"{student.email!r} is no e-mail address; leave it empty if there is none"
    return ""


def _doubles(students: Sequence[Student]) -> list[BadRow]:
    """Return rows that conflict with an earlier one."""
    bad: list[BadRow] = []
    seen: dict[tuple[str, str], int] = {}
    mails: dict[str, int] = {}
    ids: dict[str, int] = {}
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
        known_as = student.institution_id
        if known_as and ids.setdefault(known_as, student.line) != student.line:
            text = f"the institution_id {known_as} is in line {ids[known_as]} already"
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
