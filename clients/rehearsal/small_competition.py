"""A competition file made small enough to be played in a minute, with what was changed.

Games, format, mirroring, baselines and grades stay: they are what is rehearsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.file_reader import read_competition
from plyhouse.server.competition_rules.file_table import read_document
from plyhouse.server.competition_rules.rehearsals import toml
from plyhouse.server.match.time_control import SECOND, TimeControl

SHORT: Final = "move:1"
"""The time control instead of a long one."""
LONGEST_NS: Final = SECOND
"""Time for the first ply from which on a time control counts as long: a hung bot uses it up."""
FEW: Final = {"number": 3, "best_of": 1, "times": 1, "laps": 1, "most": 3}
"""Parameters of formats, and what is enough of them."""


@dataclass(frozen=True, slots=True)
class SmallCompetition:
    """A small competition."""

    text: str
    file: CompetitionFile
    changes: tuple[str, ...]
    """The differences from the file, one sentence each."""


def scaled(text: str, students: int, time_control: str = "") -> SmallCompetition:
    """Return a small copy of a competition file for this number of students.

    ``time_control`` replaces the file's, or that of `SHORT`.

    Raises `plyhouse.server.competition_rules.file_table.InvalidCompetition` for a file with
    mistakes; dates may be past, as none is waited for.
    """
    original = read_competition(text)
    values: dict[str, Any] = read_document(text)
    changes = []
    values.pop("late", None)  # it counts from a date
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
    return SmallCompetition(made, read_competition(made), tuple(changes))
