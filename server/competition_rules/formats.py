"""The interface of formats, which derive pairings from stored facts.

A format never takes back a pairing that has begun.  If an outcome is corrected after the next round
was drawn, begun pairings of that round stay.  Each answer draws the others again among the entries
left, so begin pairings as the last answer named them.

To play a competition, begin the pairings of `Format.ready`.  When a pairing is finished and the
format is `adaptive`, ask again.  When `Plan.done` is True, the competition is over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, Generic

from plyhouse.server.competition_rules.format_types import (
    EntryT,
    Facts,
    FormatError,
    LineState,
    Pairing,
    Round,
    RoundLine,
    TableLine,
)

__all__ = ["MANY_SEATS", "Format", "Plan", "checked"]


MANY_SEATS: Final = "tables, a gauntlet or a round_robin"
"""The formats for games of more than two seats, as errors name them."""


@dataclass(frozen=True, slots=True)
class Plan(Generic[EntryT]):
    """A format's complete answer to the facts."""

    rounds: list[Round[EntryT]]
    more: bool = False
    """True if rounds will follow that cannot be drawn yet."""

    def lines(self) -> Iterable[RoundLine[EntryT]]:
        """Yield the lines of all rounds in order."""
        for each in self.rounds:
            yield from each.lines

    @property
    def settled(self) -> bool:
        """True if nothing in its rounds is still to come."""
        return all(line.state.settled for line in self.lines())

    @property
    def done(self) -> bool:
        """True if everything is finished."""
        return not self.more and self.settled

    @property
    def next_round(self) -> int:
        """The first round of which nothing has begun.

        Entries that come now are in from this round; entries that leave now are withdrawn from it.
        """
        return max((line.round + 1 for line in self.lines() if line.state.begun), default=0)


@dataclass(frozen=True, kw_only=True)
class Format(ABC):
    """A competition format; its fields are its parameters."""

    name: ClassVar[str]
    adaptive: ClassVar[bool]
    """True if outcomes change which pairings are ready.  If False, all are ready from the
    beginning, and only a changed field is a reason to ask again."""
    round_by_round: ClassVar[bool] = False
    """True if outcomes change which pairings are ready only once all ready ones are finished."""
    admits_late: ClassVar[bool]
    """True if entries may join after a pairing has begun."""
    tie_breaks: ClassVar[tuple[str, ...]] = ()
    """The tie-breaks of the table, in this order, where points are equal."""

    reuses_by_key: ClassVar[bool] = False
    """True if a pairing of an earlier run can only replace the one with the same key.

    This is needed where two entries may meet twice and it matters who won which meeting."""
    decided_by: ClassVar[str] = "points"
    """The rule that decides the places, in words."""

    seats: int = 2
    """Seats of the game."""
    mirrored: bool = True
    """True if a pairing has a match for each rotation of the seats; otherwise it has one."""

    def __post_init__(self) -> None:
        if self.seats != 2:
            raise FormatError(
                f"a {self.name} competition pairs two seats, and the game has {self.seats}: "
                f"use {MANY_SEATS}"
            )

    @property
    def at_once(self) -> int:
        """The number of matches of a pairing."""
        return self.seats if self.mirrored else 1

    # ------------------------------------------------------------------------ to be asked

    def ready(self, plan: Plan[EntryT]) -> list[Pairing[EntryT]]:
        """Return the pairings of an answer that may begin, in the order to begin them."""
        return [
            Pairing(line.key, line.round, self.orders(line.players))
            for line in plan.lines()
            if line.state is LineState.READY
        ]

    @abstractmethod
    def plan(self, facts: Facts[EntryT]) -> Plan[EntryT]:
        """Return the complete answer to the facts."""

    @abstractmethod
    def table(self, facts: Facts[EntryT]) -> list[TableLine[EntryT]]:
        """Return the standings, best first."""

    @abstractmethod
    def count(self, entries: int, baselines: int = 0) -> int:
        """Return the largest number of matches; ``entries`` counts baselines too.

        Raises `FormatError` if the format is impossible with these numbers.
        """

    # --------------------------------------------------------------------------- for formats

    def orders(self, entries: tuple[EntryT, ...]) -> tuple[tuple[EntryT, ...], ...]:
        """Return the seat orders of a pairing's matches, beginning with this one."""
        return tuple([entries[turn:] + entries[:turn] for turn in range(self.at_once)])

    def _at_least(self, entries: int, least: int) -> None:
        if entries < least:
            raise FormatError(
                f"a {self.name} competition has at least {least} entries, not {entries}"
            )


def checked(name: str, value: int, least: int) -> None:
    """Raise `FormatError` if a parameter is too small."""
    if value < least:
        raise FormatError(f"{name} must be {least} or more, not {value}")
