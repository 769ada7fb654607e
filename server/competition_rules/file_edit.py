"""Edits of single values in a competition file; the other text stays."""

from __future__ import annotations

import copy
import re
from typing import Any, Final

from plyhouse.server.competition_rules.file_table import BOM, InvalidCompetition, read_document

__all__ = ["CannotEdit", "set_value"]

_HEADER: Final = re.compile(r"\s*\[(?!\[)\s*([\w.-]+)\s*\]\s*(#.*)?")
_ANY_HEADER: Final = re.compile(r"\s*\[")
_COMMENT: Final = re.compile(r"""\s+#[^"']*$""")


class CannotEdit(Exception):  # noqa: N818 - a condition of the text
    """A value cannot be edited alone; a person must edit the file."""


def set_value(text: str, key: str, value: str | None) -> str:
    """Return a TOML text with another value for a key; None removes the key.

    ``key`` is ``name`` or ``table.name``; ``value`` is written in TOML.  Raises `CannotEdit` unless
    exactly that value changes.  A byte-order mark is left out.

    >>> set_value('name = "Cup"  # ours', "name", '"Bowl"')
    'name = "Bowl"  # ours'
    """
    table, _, name = key.rpartition(".")
    text = text.removeprefix(BOM)
    try:
        values = read_document(text)
    except InvalidCompetition as error:
        raise CannotEdit(error.mistakes[0].text) from None
    wanted = _wanted(values, table, name, value)
    edited = _edited(text, table, name, value)
    try:
        same = read_document(edited) == wanted
    except InvalidCompetition:
        same = False
    if not same:
        raise CannotEdit(f"{key} cannot be changed by itself: edit the file, and give that")
    return edited


def _wanted(values: dict[str, Any], table: str, name: str, value: str | None) -> dict[str, Any]:
    found = copy.deepcopy(values)
    place = found.setdefault(table, {}) if table else found
    if not isinstance(place, dict):
        raise CannotEdit(f"{table} is no table: edit the file, and give that")
    if value is None:
        place.pop(name, None)
    else:
        try:
            place[name] = read_document(f"value = {value}")["value"]
        except InvalidCompetition as error:
            raise CannotEdit(
                f"{value[:60]!r} is no value of a competition file: {error.mistakes[0].text}"
            ) from None
    if table and not place and table not in values:
        del found[table]
    return found


def _edited(text: str, table: str, name: str, value: str | None) -> str:
    newline = "\n" if text.endswith("\n") else ""
    lines = text.removesuffix("\n").split("\n")
    begin, end = _section(lines, table)
    if begin is None:
        if value is None:
            return text
        return "\n".join([*lines, "", f"[{table}]", f"{name} = {value}"]) + (newline or "\n")
    pattern = re.compile(rf"\s*{re.escape(name)}\s*=")
    for number in range(begin, end):
        if pattern.match(lines[number]):
            comment = _COMMENT.search(lines[number])
            if value is None:
                del lines[number]
            else:
                lines[number] = f"{name} = {value}{comment[0] if comment else ''}"
            return "\n".join(lines) + newline
    if value is not None:
        lines.insert(begin, f"{name} = {value}")
    return "\n".join(lines) + newline


def _section(lines: list[str], table: str) -> tuple[int | None, int]:
    """Return the lines where a table begins, after its header, and ends.

    The first value is None if the table does not exist.
    """
    begin: int | None = None if table else 0
    for number, line in enumerate(lines):
        if not _ANY_HEADER.match(line):
            continue
        if begin is not None:
            return begin, number
        header = _HEADER.fullmatch(line)
        if header and header[1] == table:
            begin = number + 1
    return begin, len(lines)
