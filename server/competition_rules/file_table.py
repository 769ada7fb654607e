"""A table of a competition file: read key by key, with its mistakes, and edited in place.

All mistakes of a file are collected, so that its author sees them at once.
"""

from __future__ import annotations

import copy
import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

BOM: Final = "\ufeff"
"""The byte-order mark with which some editors begin a text."""
HINTED: Final = 20
"""Mistakes of a file after which no near name is looked for, which takes milliseconds."""
MOST_PARTS: Final = 8
"""Parts of the longest key that is read: `tomllib` needs a time that grows with their square."""
_APART: Final = re.compile(
    r'''"""(?:\\.|.)*?(?:"{3,5}|\Z)|"(?:\\[^\n]|[^"\n])*"?|'''
    r"""'''.*?(?:'{3,5}|\Z)|'[^'\n]*'?|#[^\n]*""",
    re.DOTALL,
)
"""A text or a comment, also one without an end."""
_LONG_KEY: Final = re.compile(rf"(?:\.[\w\- \t]*){{{MOST_PARTS}}}")


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in a competition file."""

    code: str
    key: str
    """The key: ``dates.freeze``, ``baselines[1].bot``; empty for the file as a whole."""
    text: str
    """The mistake and its remedy."""

    def __str__(self) -> str:
        return f"{self.key}: {self.text}" if self.key else self.text


class InvalidCompetition(Exception):  # noqa: N818 - a condition of the file, as InvalidAction
    """A competition file has mistakes; ``mistakes`` lists all of them."""

    code: ClassVar[str] = "competition/invalid"

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        count = f"{len(mistakes)} mistakes" if len(mistakes) > 1 else "a mistake"
        lines = "\n".join(f"  {mistake}  [{mistake.code}]" for mistake in mistakes)
        super().__init__(f"The competition file has {count}:\n{lines}")


def read_document(text: str) -> dict[str, Any]:
    """Return the values of a competition file; a byte-order mark before them is skipped.

    Raises `InvalidCompetition` if it is no TOML.
    """
    try:
        _check_keys(text)
        found = tomllib.loads(text.removeprefix(BOM))
        _check_numbers(found)
    except (ValueError, RecursionError) as error:
        what = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        raise InvalidCompetition(
            [Mistake("competition/not_toml", "", f"the file is no TOML: {what}")]
        ) from error
    return found


def _check_keys(text: str) -> None:
    """Raise ValueError if a key has too many parts."""
    outside = _APART.sub("", text)
    if _LONG_KEY.search(outside) is None:
        return
    for number, line in enumerate(_APART.sub(_line_ends, text).split("\n"), 1):
        if _LONG_KEY.search(line):
            raise ValueError(f"the key in line {number} has more than {MOST_PARTS} parts")


def _line_ends(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _check_numbers(value: Any) -> None:
    """Raise ValueError if a whole number has more than the 64 bits of TOML."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("a number has more than 64 bits")
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _check_numbers(each)


class Table:
    """A table of the file; keys that were never taken are unknown."""

    def __init__(self, values: Mapping[str, Any], at: str, mistakes: list[Mistake]) -> None:
        self._values = dict(values)
        self._known: list[str] = []
        self.at = at
        self.mistakes = mistakes

    def key(self, name: str) -> str:
        """Return the place of a key in the file."""
        return f"{self.at}.{name}" if self.at else name

    def wrong(self, code: str, name: str, text: str) -> None:
        """Note a mistake at a key."""
        self.mistakes.append(Mistake(f"competition/{code}", self.key(name), text))

    def bad(self, name: str, text: str) -> None:
        """Note a value of the right type that is not permitted."""
        self.wrong("bad_value", name, text)

    def take(self, name: str, kind: type, words: str, example: str, *, needed: bool = False) -> Any:
        """Return and remove the value of a key.

        Returns None if it is missing or not of its kind, which is noted as a mistake.
        """
        self._known.append(name)
        if name not in self._values:
            if needed:
                self.wrong("missing_key", name, f"is missing; write it like {example}")
            return None
        value = self._values.pop(name)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            shown = repr(value) if len(repr(value)) < 60 else f"a {type(value).__name__}"
            self.wrong("bad_type", name, f"must be {words}, not {shown}; write it like {example}")
            return None
        return value

    def text(self, name: str, example: str, longest: int, *, needed: bool = False) -> str | None:
        """Return the text of a key; None if it is missing, too long or no text."""
        value: str | None = self.take(name, str, "a text", f'{name} = "{example}"', needed=needed)
        if value is None:
            return None
        if len(value) > longest:
            self.bad(name, f"has {len(value):,} characters; {longest:,} at most")
            return None
        if "\0" in value:
            self.bad(name, "has a NUL character, which cannot be stored")
            return None
        return value

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """Return the whole number of a key.

        Returns ``default`` if it is missing or out of bounds.
        """
        value = self.take(name, int, "a whole number", f"{name} = {default}")
        if value is None:
            return default
        if not least <= value <= most:
            self.bad(name, f"must be from {least} to {most:,}, not {value}")
            return default
        return int(value)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return the boolean of a key; ``default`` if it is missing or no boolean."""
        shown = "true" if default else "false"
        value = self.take(name, bool, "true or false", f"{name} = {shown}")
        return default if value is None else bool(value)

    def table(self, name: str) -> Table:
        """Return the table of a key; an empty one if it is missing."""
        value = self.take(name, dict, f"a table: [{self.key(name)}]", f"[{self.key(name)}]")
        return Table(value or {}, self.key(name), self.mistakes)

    def end(self) -> None:
        """Add a mistake for every key that was never taken, with the nearest known key."""
        for name in self._values:
            known_names = self._known if len(self.mistakes) < HINTED else ()
            near = difflib.get_close_matches(name, known_names, n=1, cutoff=0.5) or [
                known for known in self._known if known.startswith(name)
            ]
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(self._known)}"
            self.wrong("unknown_key", name, f"there is no such key; {hint}")


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
