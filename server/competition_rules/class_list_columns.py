"""The columns of a class list: its own, or those of an export of Moodle, Canvas or Gradescope.

In a list of your own, an unknown column is a mistake.  An export is known by its columns for first
and last names, by a full name beside others of its columns, or by Canvas's `Student` and `ID`.
Only its names, addresses and ids are used: groups and sections of a platform are often tutorials,
and a group here shares one account.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from plyhouse.storage.names import normal, unseen

COLUMNS: Final = ("name", "email", "group", "institution_id", "login")
"""The columns of a list of your own; all but the first may be missing."""
CANVAS_ID: Final = "canvas:"
"""How an id begins that only Canvas knows, from its column `ID`."""

_OWN: Final = {"e-mail": "email", "id": "institution_id", "institution id": "institution_id"}
_EXPORTED: Final = {
    "first name": "first",
    **dict.fromkeys(
        ("vorname", "prénom", "nombre", "nome", "voornaam", "förnamn", "fornavn", "imię"), "first"
    ),
    "last name": "last",
    "surname": "last",
    **dict.fromkeys(
        (
            "nachname",
            "nom",
            "nom de famille",
            "apellido(s)",
            "apellidos",
            "cognome",
            "sobrenome",
            "apelido",
            "achternaam",
            "efternamn",
            "efternavn",
            "etternavn",
            "nazwisko",
        ),
        "last",
    ),
    "full name": "name",
    **dict.fromkeys(
        ("vollständiger name", "nom complet", "nombre completo", "nome completo", "volledige naam"),
        "name",
    ),
    "email address": "email",
    "email": "email",
    "e-mail": "email",
    **dict.fromkeys(
        (
            "e-mail-adresse",
            "adresse de courriel",
            "dirección de correo",
            "indirizzo email",
            "endereço de email",
            "endereço de e-mail",
            "e-mailadres",
            "e-postadress",
            "e-mailadresse",
            "e-postadresse",
            "adres e-mail",
        ),
        "email",
    ),
    "id number": "institution_id",
    "student id": "institution_id",
    **dict.fromkeys(
        (
            "id-nummer",
            "matrikelnummer",
            "numéro d'identification",
            "número de id",
            "codice identificativo",
            "número de identificação",
            "numer id",
        ),
        "institution_id",
    ),
    "sid": "institution_id",
    "role": "role",
    "roles": "role",
}
"""Headers of Moodle and Gradescope, whose other columns are left out."""
_MARKS: Final = {"sid", "role", "roles"}
"""Headers that beside ``name`` show an export."""
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
_QUOTED: Final = re.compile(r'="([^"]*)"')
"""A formula by which lists keep a spreadsheet from changing an id."""
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
        points = found.get("sorted", "-").lower() in ("", _POINTS)
        if not self.exported or points or _is_student(found):
            return ""
        return _value(found, "name")

    def _found(self, cells: Iterable[str]) -> dict[str, str]:
        clean = [_QUOTED.sub(r"\1", " ".join(cell.split())) for cell in cells]
        return {name: cell for name, cell in zip(self._names, clean, strict=False) if name}


def columns_of(header: Sequence[str]) -> Columns:
    """Return the columns that a first row names; empty ones at its end are left out."""
    names = [_heading(each) for each in header]
    while names and not names[-1]:
        names.pop()
    given = {*names}
    if {"student", "id"} <= given:
        return Columns([_CANVAS.get(each, "") for each in names], exported=True)
    meanings = [_EXPORTED.get(each, "") for each in names]
    known = {*meanings} - {""}
    full = "name" in known and len(known) > 1
    titled = "name" in given and bool(given & _MARKS)
    if {"first", "last"} <= known or ((full or titled) and "group" not in given):
        plain = [
            "name" if name == "name" else each for name, each in zip(names, meanings, strict=True)
        ]
        return Columns(_once(plain), exported=True)
    return Columns([_OWN.get(each, each) for each in names], exported=False)


def _heading(cell: str) -> str:
    """Return a cell of the first row as the tables above write it."""
    plain = normal(cell.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    return " ".join("".join(each for each in plain if not unseen(each)).split()).lower()


def _once(names: Iterable[str]) -> list[str]:
    """Return the names without repetitions: the first column of a meaning counts."""
    found: list[str] = []
    for each in names:
        found.append("" if each in found else each)
    return found


def _is_student(found: Mapping[str, str]) -> bool:
    shown = found.get("sorted", "-").lower()  # no name: Canvas's row of posting policies
    roles = {each.strip().lower() for each in found.get("role", "").split(",")} - {""}
    return shown not in ("", _TEST_STUDENT, _POINTS) and not (roles and roles <= {*_STAFF})


def _value(found: Mapping[str, str], name: str) -> str:
    if name == "name" and "sorted" in found:
        last, comma, first = found["sorted"].partition(",")
        return f"{first.strip()} {last.strip()}".strip() if comma else last
    if name == "name" and "first" in found:
        return f"{found['first']} {found.get('last', '')}".strip()
    if name == "email" and not found.get("email") and "@" in found.get("login", ""):
        return found["login"]
    if name == "institution_id" and not found.get(name) and found.get("canvas"):
        return f"{CANVAS_ID}{found['canvas']}"
    return found.get(name, "")
