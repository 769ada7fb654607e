"""Viewers of a competition, and the entries that each viewer may see.

The same rules hold for boards, tables and rounds:

* Organisers see everything.
* Everybody else sees no hidden baselines, neither their lines nor their names.
* On an anonymous board a student sees by name only its own entries and the baselines.  It also
  sees the lines of the `AHEAD` entries just ahead of its best one, without their names.  It sees
  only its own pairings.

`plyhouse.server.accounts.privacy` decides which matches a viewer may watch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.grades.standings import Entrant
from plyhouse.server.match.presence import PRIVATE

AHEAD: Final = 3
"""Number of entries that an anonymous board shows ahead of the viewer's own."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person who looks at a competition."""

    organiser: bool = False
    student: str = ""
    """The viewer's account if it is a student who was not removed; otherwise empty."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """The entries of a competition that one viewer sees, by bot id."""

    anonymous: bool
    """True if the viewer sees names only for its own entries and baselines."""
    own: frozenset[int]
    staff: frozenset[int]
    """The baselines that the viewer sees."""
    hidden: frozenset[int]
    """The baselines that the viewer does not see."""

    def named(self, bot: int) -> bool:
        """Return whether the viewer may know the name of an entry."""
        if bot in self.hidden:
            return False
        return not self.anonymous or bot in self.own or bot in self.staff

    def name(self, bot: int, name: str) -> str:
        """Return the name under which the viewer sees an entry."""
        return name if self.named(bot) else PRIVATE

    def lines(self, ordered: Sequence[int]) -> list[int]:
        """Return the table lines that the viewer sees, given all in order."""
        seen = [bot for bot in ordered if bot not in self.hidden]
        if not self.anonymous:
            return seen
        first = next((place for place, bot in enumerate(seen) if bot in self.own), 0)
        ahead = [bot for bot in seen[:first] if not self.named(bot)][-AHEAD:]
        return [bot for bot in seen if self.named(bot) or bot in ahead]

    def meets(self, players: Collection[int]) -> bool:
        """Return whether the viewer sees a pairing between these entries."""
        return not self.anonymous or not self.own.isdisjoint(players)


def visible_entries(
    file: CompetitionFile, viewer: Viewer, entrants: Sequence[Entrant]
) -> Visibility:
    """Return which of these entries a viewer sees."""
    own = frozenset(
        each.bot_id
        for each in entrants
        if viewer.student and each.student.lower() == viewer.student.lower() and not each.baseline
    )
    staff = frozenset(each.bot_id for each in entrants if each.baseline)
    if viewer.organiser:
        return Visibility(False, own, staff, frozenset())
    shown = file.shown
    hidden = frozenset(
        each.bot_id
        for each in entrants
        if each.baseline and any(name.lower() not in shown for name in each.bots.values())
    )
    return Visibility(file.board == "anonymous", own, staff - hidden, hidden)
