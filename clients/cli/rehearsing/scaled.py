"""A competition file made small enough to be played in a minute, with what was changed.

Games, format, mirroring, baselines and grades stay: they are what is rehearsed.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from plyhouse.server.competition.file import CompetitionFile, read_competition
from plyhouse.server.match.clock import SECOND, TimeControl

__all__ = ["SHORT", "Scaled", "scaled", "toml"]

SHORT: Final = "move:1"
"""The time control instead of a long one."""
LONGEST_NS: Final = SECOND
"""Time for the first ply from which on a time control counts as long: a hung bot uses it up."""
FEW: Final = {"number": 3, "best_of": 1, "times": 1, "laps": 1, "most": 3}
"""Parameters of formats, and what is enough of them."""


@dataclass(frozen=True, slots=True)
class Scaled:
    """A small competition."""

    text: str
    file: CompetitionFile
    changes: tuple[str, ...]
    """What is not as in the file, one sentence each."""


def scaled(text: str, students: int, time_control: str = "") -> Scaled:
    """Make a file small for so many students; ``time_control`` instead of its own or of `SHORT`.

    Raises `plyhouse.server.competition.file.InvalidCompetition` for a file with mistakes; dates
    may be past, as none is waited for.
    """
    original = read_competition(text)
    values: dict[str, Any] = tomllib.loads(text.removeprefix("\ufeff"))
    changes = []
    if values.pop("dates", None):
        changes.append("Dates are left out: each step follows the one before.")
    if original.rounds > 1:
        values["rounds"] = 1
        changes.append(f"Rounds: 1 instead of {original.rounds}.")
    control = TimeControl.parse(time_control) if time_control else original.time_control
    if not time_control and control.initial_ns > LONGEST_NS:
        control = TimeControl.parse(SHORT)
    if str(control) != str(original.time_control):
        values["time_control"] = str(control)
        changes.append(
            f"Time control: {control} instead of {original.time_control}, as some bots use up all "
            "that there is."
        )
    style = values.get("format", {})
    for key, enough in FEW.items():
        given = original.format.parameters.get(key)
        if isinstance(given, int) and given > enough:
            style[key] = enough
            changes.append(f"Format: {key} = {enough} instead of {given}.")
    if original.limits.students < students:
        values.setdefault("limits", {})["students"] = students
        changes.append(f"Limit of students: {students} instead of {original.limits.students}.")
    made = toml(values)
    return Scaled(made, read_competition(made), tuple(changes))


def toml(values: Mapping[str, Any], at: str = "") -> str:
    """Write a table as TOML: texts, numbers, flags, times, lists, tables and lists of tables.

    >>> print(toml({"name": "Cup", "format": {"name": "swiss"}, "baselines": [{"bot": "a/b"}]}))
    name = "Cup"
    [format]
    name = "swiss"
    [[baselines]]
    bot = "a/b"
    """
    lines, tables = [], []
    for key, value in values.items():
        name = f"{at}.{key}" if at else key
        if isinstance(value, Mapping):
            tables.append(f"[{name}]\n{toml(value, name)}")
        elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
            tables += [f"[[{name}]]\n{toml(one, name)}" for one in value]
        else:
            lines.append(f"{key} = {_value(value)}")
    return "\n".join([*lines, *tables])


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the one control character that JSON leaves alone.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
