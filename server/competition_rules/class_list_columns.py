"""The columns of a class list: its own, or those of an export of Moodle, Canvas or Gradescope.

In a list of your own, an unknown column is a mistake.  An export is known by its columns for first
and last names, or by Canvas's `Student` and `ID`.  Only its names,
addresses and ids are used: groups and sections of a platform are often tutorials, and a group here
shares one account.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

__all__ = ["CANVAS_ID", "COLUMNS", "Columns", "columns_of"]

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
        clean = [" ".join(cell.split()) for cell in cells]
        found = {name: cell for name, cell in zip(self._names, clean, strict=False) if name}
        if self.exported and not _is_student(found):
            return None
        return {name: _value(found, name) for name in COLUMNS}


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
