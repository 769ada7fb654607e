"""Reports of a runner, kept until the server has taken them.

A request has room for a fixed number of reports (`runner_messages`); the rest goes with the next
ones.  If the server refuses a request because of its reports, the runner sends halves of them until
it finds the refused report, and drops that one.  It sends a request again if the answer was lost:
the server counts flags and verdicts once by their subject, troubles once by their ids.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Final

from msgspec import structs

from plyhouse.protocol.hosting.runner_messages import (
    MAX_CHECKED,
    MAX_FLAGS,
    MAX_TROUBLES,
    CheckDone,
    FlagFell,
    Trouble,
)

__all__ = ["Batch", "Report", "ReportQueue"]

Report = CheckDone | Trouble | FlagFell

MOST_TROUBLES: Final = 1000
"""Troubles that wait for a server that is away; the oldest is dropped for another one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Reports for one request."""

    flags: list[FlagFell]
    checked: list[CheckDone]
    troubles: list[Trouble]

    def __len__(self) -> int:
        return len(self.flags) + len(self.checked) + len(self.troubles)

    @property
    def first(self) -> Report:
        """Return the first report; raise `IndexError` if there is none."""
        reports: list[Report] = [*self.flags, *self.checked, *self.troubles]
        return reports[0]


@dataclass(slots=True)
class ReportQueue:
    """Reports that the server has not taken yet."""

    _flags: list[FlagFell] = field(default_factory=list)
    _checked: list[CheckDone] = field(default_factory=list)
    _troubles: list[Trouble] = field(default_factory=list)
    _most: int | None = None
    """Reports in the next request, while a refused one is being looked for."""

    def __len__(self) -> int:
        return len(self._flags) + len(self._checked) + len(self._troubles)

    def add(self, report: Report) -> None:
        """Have a report sent with one of the next requests."""
        match report:
            case FlagFell():
                self._flags.append(report)
            case CheckDone():
                self._checked.append(report)
            case Trouble():
                self._troubles.append(structs.replace(report, id=secrets.token_hex(8)))
                del self._troubles[:-MOST_TROUBLES]

    def batch(self) -> Batch:
        """The reports of the next request: flags first, as the server waits for them."""
        room = len(self) if self._most is None else self._most
        flags = self._flags[: min(room, MAX_FLAGS)]
        room -= len(flags)
        checked = self._checked[: min(room, MAX_CHECKED)]
        room -= len(checked)
        return Batch(flags, checked, self._troubles[: min(room, MAX_TROUBLES)])

    def taken(self, batch: Batch) -> None:
        """The server has taken these reports."""
        gone = set(map(id, (*batch.flags, *batch.checked, *batch.troubles)))
        self._flags = [each for each in self._flags if id(each) not in gone]
        self._checked = [each for each in self._checked if id(each) not in gone]
        self._troubles = [each for each in self._troubles if id(each) not in gone]
        self._most = None

    def refused(self, batch: Batch) -> Report | None:
        """The server cannot read one of these reports; return it if it is known, and dropped."""
        if len(batch) > 1:
            self._most = len(batch) // 2
            return None
        self.taken(batch)
        return batch.first
