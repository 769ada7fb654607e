"""Who looks at a competition, and which of its entries they may see: for boards, tables and rounds.

There is one rule, whatever is shown:

* Organisers see everything.
* Everybody else sees no hidden baselines, neither their lines nor their names.
* On an anonymous board a student sees by name its own entries and the baselines, and besides
  without a name the lines of the `AHEAD` entries just ahead of the best of its own; of pairings
  its own ones.

What of matches may be watched is `plyhouse.server.accounts.privacy`'s to say.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from plyhouse.server.competition.evidence import PRIVATE
from plyhouse.server.competition.file import CompetitionFile
from plyhouse.server.competition.standings import Entrant

__all__ = ["AHEAD", "Viewer", "Visibility", "eyes_of"]

AHEAD: Final = 3
"""Entries that an anonymous board shows ahead of one's own."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks at a competition."""

    organiser: bool = False
    student: str = ""
    """Its account, if it is a student that was not taken out."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """Which entries of a competition somebody sees; entries by the ids of their bots."""

    anonymous: bool
    """Whether it sees others than its own, and baselines, without their names only."""
    own: frozenset[int]
    staff: frozenset[int]
    """The baselines that it sees."""
    hidden: frozenset[int]
    """The baselines that it does not see."""

    def named(self, bot: int) -> bool:
        """Whether it may know what an entry is called."""
        if bot in self.hidden:
            return False
        return not self.anonymous or bot in self.own or bot in self.staff

    def name(self, bot: int, name: str) -> str:
        """What an entry is called for it."""
        return name if self.named(bot) else PRIVATE

    def lines(self, ordered: Sequence[int]) -> list[int]:
        """Which lines of a table it sees, given its entries from the first to the last."""
        seen = [bot for bot in ordered if bot not in self.hidden]
        if not self.anonymous:
            return seen
        first = next((place for place, bot in enumerate(seen) if bot in self.own), 0)
        ahead = [bot for bot in seen[:first] if not self.named(bot)][-AHEAD:]
        return [bot for bot in seen if self.named(bot) or bot in ahead]

    def meets(self, players: Collection[int]) -> bool:
        """Whether it sees a pairing between these entries."""
        return not self.anonymous or not self.own.isdisjoint(players)


def eyes_of(file: CompetitionFile, viewer: Viewer, entrants: Sequence[Entrant]) -> Visibility:
    """What a viewer sees of these entries."""
    own = frozenset(
        each.bot_id
        for each in entrants
        if viewer.student and each.student.lower() == viewer.student.lower() and not each.baseline
    )
    staff = frozenset(each.bot_id for each in entrants if each.baseline)
    if viewer.organiser:
        return Visibility(False, own, staff, frozenset())
    secret = {each.bot.lower() for each in file.baselines if each.hidden}
    hidden = frozenset(each.bot_id for each in entrants if each.name.lower() in secret)
    return Visibility(file.board == "anonymous", own, staff - hidden, hidden)
